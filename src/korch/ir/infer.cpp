#include "korch/ir/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/ir/index_map.h"
#include "korch/ir/winograd.h"

namespace korch {

void infer_fail(const InferArgs& args, const std::string& what) {
  std::vector<std::string> types;
  for (const TensorType& type : args.inputs) types.push_back(to_string(type));
  throw Error(ErrorKind::invalid, fmt::format("{}({}): {}", name(args.op), fmt::join(types, ", "), what));
}

void infer_require(const InferArgs& args, bool condition, const char* what) {
  if (!condition) infer_fail(args, what);
}

void require_axis(const InferArgs& args, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank) infer_fail(args, fmt::format("axis {} is not in [0, {})", axis, rank));
}

int64_t checked_add(const InferArgs& args, int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) infer_fail(args, fmt::format("{} + {} is too large", a, b));
  return sum;
}

int64_t checked_multiply(const InferArgs& args, int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) infer_fail(args, fmt::format("{} * {} is too large", a, b));
  return product;
}

void require_same_dtype(const InferArgs& args) {
  for (const TensorType& type : args.inputs)
    infer_require(args, type.dtype == args.inputs[0].dtype, "operands of different element types");
}

void require_winograd(const InferArgs& args, const WinogradAttrs& attrs) {
  infer_require(
      args, is_winograd(attrs.tile, attrs.taps),
      "tiles must have 4 or 6 inputs, at least two outputs, and 2 to 5 taps; or two outputs and one tap");
  infer_require(args, is_float(args.inputs[0].dtype), "operands must be floats");
}

void require_element_indices(const InferArgs& args) {
  const int64_t axis = args.get<AxisAttrs>().axis;
  require_axis(args, axis, args.rank(0));
  infer_require(args, is_integer(args.inputs[1].dtype), "indices must be integers");
  infer_require(args, args.rank(1) == args.rank(0), "indices need the data's rank");
  const Shape &data = args.shape(0), &indices = args.shape(1);
  for (int64_t i = 0; i < args.rank(0); ++i) {
    if (i != axis && indices[i] > data[i])
      infer_fail(args, fmt::format("the indices' extent {} on axis {} exceeds the data's {}", indices[i], i,
                                   data[i]));
  }
}

Shape broadcast_shapes(const InferArgs& args, const Shape& a, const Shape& b) {
  try {
    return broadcast(a, b);
  } catch (const Error& error) {
    infer_fail(args, error.what());
  }
}

std::vector<TensorType> infer_types(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs,
                                    const std::vector<const HostTensor*>& constants) {
  std::vector<const HostTensor*> known = constants;
  known.resize(inputs.size(), nullptr);
  const InferArgs args{op, attrs, inputs, known};
  const OpInfo& row = info(op);
  KORCH_ASSERT(attrs.index() == row.attrs_index, std::string("attribute struct of ") + row.name);
  const int count = static_cast<int>(inputs.size());
  if (count < row.min_inputs || (row.max_inputs >= 0 && count > row.max_inputs))
    infer_fail(args, fmt::format("{} inputs, expected {}{}", count, row.min_inputs,
                                 row.max_inputs < 0                 ? " or more"
                                 : row.max_inputs == row.min_inputs ? std::string()
                                                                    : fmt::format(" to {}", row.max_inputs)));
  const bool moves = row.category == Category::layout || row.category == Category::constant || op == Op::Cast;
  for (const TensorType& input : inputs)
    if (!moves && is_storage(input.dtype))
      infer_fail(args, fmt::format("{} is stored and cast, not computed with", name(input.dtype)));
  std::vector<TensorType> result;
  switch (row.category) {
    case Category::constant:
      result = {args.get<ConstantAttrs>().value.type()};
      break;
    case Category::elementwise:
      result = infer_elementwise(args);
      break;
    case Category::reduce:
    case Category::window:
      result = infer_reduce(args);
      break;
    case Category::layout:
      result = {{inputs[0].dtype, checked_maps(args).result}};
      break;
    case Category::linear:
      result = infer_linear(args);
      break;
    case Category::opaque:
      result = infer_opaque(args);
      break;
    case Category::composite:
      result = infer_composite(args);
      break;
  }
  for (const TensorType& type : result) type.bytes();  // throws when the extents overflow
  return result;
}

}  // namespace korch
