#include <map>

#include "korch/ir/infer.h"

namespace korch {
namespace {

enum class Rule {
  same,      // any numeric operands of one type; the result has it
  floating,  // float operands only
  power,     // the result has the base's type
  compare,   // operands of one type; the result is bool
  logical,   // bool operands and result
  test,      // one float operand; the result is bool
  cast,
  select
};

// Every elementwise row of the operator table that is not real-valued arithmetic.
Rule rule_of(Op op) {
  static const std::map<Op, Rule> rules = {
      {Op::Neg, Rule::same},
      {Op::Abs, Rule::same},
      {Op::Sign, Rule::same},
      {Op::Relu, Rule::same},
      {Op::Add, Rule::same},
      {Op::Sub, Rule::same},
      {Op::Mul, Rule::same},
      {Op::Div, Rule::same},
      {Op::Mod, Rule::same},
      {Op::Fmod, Rule::same},
      {Op::Max, Rule::same},
      {Op::Min, Rule::same},
      {Op::PRelu, Rule::same},
      {Op::Pow, Rule::power},
      {Op::Equal, Rule::compare},
      {Op::Less, Rule::compare},
      {Op::LessOrEqual, Rule::compare},
      {Op::Greater, Rule::compare},
      {Op::GreaterOrEqual, Rule::compare},
      {Op::Not, Rule::logical},
      {Op::And, Rule::logical},
      {Op::Or, Rule::logical},
      {Op::Xor, Rule::logical},
      {Op::IsNaN, Rule::test},
      {Op::IsInf, Rule::test},
      {Op::Cast, Rule::cast},
      {Op::Where, Rule::select},
  };
  const auto found = rules.find(op);
  return found == rules.end() ? Rule::floating : found->second;
}

}  // namespace

std::vector<TensorType> infer_elementwise(const InferArgs& args) {
  Shape shape = args.shape(0);
  for (size_t i = 1; i < args.inputs.size(); ++i) shape = broadcast_shapes(args, shape, args.shape(i));
  const DType first = args.inputs[0].dtype;
  switch (rule_of(args.op)) {
    case Rule::same:
      require_same_dtype(args);
      infer_require(args, first != DType::bool_, "arithmetic on bool");
      return {{first, shape}};
    case Rule::floating:
      infer_require(args, is_float(first), "needs a float operand");
      return {{first, shape}};
    case Rule::power:
      return {{first, shape}};
    case Rule::compare:
      require_same_dtype(args);
      return {{DType::bool_, shape}};
    case Rule::logical:
      require_same_dtype(args);
      infer_require(args, first == DType::bool_, "needs bool operands");
      return {{DType::bool_, shape}};
    case Rule::test:
      infer_require(args, is_float(first), "needs a float operand");
      return {{DType::bool_, shape}};
    case Rule::cast:
      infer_require(args, args.get<CastAttrs>().to != DType::f8e8m0 || args.get<CastAttrs>().saturate,
                    "casts to f8e8m0 saturate");
      return {{args.get<CastAttrs>().to, shape}};
    case Rule::select:
      infer_require(args, first == DType::bool_, "the condition must be bool");
      infer_require(args, args.inputs[1].dtype == args.inputs[2].dtype,
                    "branches of different element types");
      return {{args.inputs[1].dtype, shape}};
  }
  return {};
}

}  // namespace korch
