#include "korch/ir/infer.h"

namespace korch {
namespace {

enum class Rule {
  same,        // any numeric operands of one type; the result has it
  floating,    // float operands only
  power,       // the result has the base's type
  compare,     // operands of one type; the result is bool
  logical,     // bool operands and result
  test,        // one float operand; the result is bool
  cast,
  select
};

Rule rule_of(const InferArgs& args) {
  switch (args.op) {
    case Op::Pow: return Rule::power;
    case Op::Equal:
    case Op::Less:
    case Op::LessOrEqual:
    case Op::Greater:
    case Op::GreaterOrEqual: return Rule::compare;
    case Op::Not:
    case Op::And:
    case Op::Or:
    case Op::Xor: return Rule::logical;
    case Op::IsNaN:
    case Op::IsInf: return Rule::test;
    case Op::Cast: return Rule::cast;
    case Op::Where: return Rule::select;
    default: break;  // the remaining elementwise rows of the table: arithmetic
  }
  // Arithmetic that exists on integers; everything else with one operand is a real function.
  const bool integral = info(args.op).min_inputs > 1 || args.op == Op::Neg || args.op == Op::Abs ||
                        args.op == Op::Sign || args.op == Op::Relu || args.op == Op::Reciprocal;
  return integral ? Rule::same : Rule::floating;
}

}  // namespace

std::vector<TensorType> infer_elementwise(const InferArgs& args) {
  Shape shape = args.shape(0);
  for (size_t i = 1; i < args.inputs.size(); ++i) shape = broadcast_shapes(args, shape, args.shape(i));
  const DType first = args.inputs[0].dtype;
  switch (rule_of(args)) {
    case Rule::same:
      require_same_dtype(args);
      infer_require(args, first != DType::bool_, "arithmetic on bool");
      return {{first, shape}};
    case Rule::floating:
      infer_require(args, is_float(first), "needs a float operand");
      return {{first, shape}};
    case Rule::power: return {{first, shape}};
    case Rule::compare: require_same_dtype(args); return {{DType::bool_, shape}};
    case Rule::logical:
      require_same_dtype(args);
      infer_require(args, first == DType::bool_, "needs bool operands");
      return {{DType::bool_, shape}};
    case Rule::test:
      infer_require(args, is_float(first), "needs a float operand");
      return {{DType::bool_, shape}};
    case Rule::cast: return {{args.get<CastAttrs>().to, shape}};
    case Rule::select:
      infer_require(args, first == DType::bool_, "the condition must be bool");
      infer_require(args, args.inputs[1].dtype == args.inputs[2].dtype, "branches of different element types");
      return {{args.inputs[1].dtype, shape}};
  }
  return {};
}

}  // namespace korch
