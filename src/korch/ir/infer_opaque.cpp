#include <fmt/format.h>

#include <map>

#include "korch/ir/infer.h"
#include "korch/ir/recurrence.h"

namespace korch {
namespace {

Shape gather_nd_shape(const InferArgs& args) {
  const int64_t batch = args.get<AxisAttrs>().axis;
  const Shape& data = args.shape(0);
  const Shape& indices = args.shape(1);
  infer_require(args, !indices.empty() && is_integer(args.inputs[1].dtype),
                "indices must be integers of rank 1 or more");
  const int64_t depth = indices.back();
  if (batch < 0 || batch >= args.rank(1) || depth < 1 || depth > args.rank(0) - batch)
    infer_fail(args,
               fmt::format("{} batch axes and index tuples of {} exceed the data's rank", batch, depth));
  for (int64_t i = 0; i < batch; ++i) infer_require(args, data[i] == indices[i], "batch extents differ");
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch + depth, data.end());
  return out;
}

void check_scatter_nd(const InferArgs& args) {
  const Shape& indices = args.shape(1);
  infer_require(args, !indices.empty() && is_integer(args.inputs[1].dtype),
                "indices must be integers of rank 1 or more");
  infer_require(args, indices.back() >= 1 && indices.back() <= args.rank(0),
                "index tuples exceed the data's rank");
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), args.shape(0).begin() + indices.back(), args.shape(0).end());
  if (args.shape(2) != updates)
    infer_fail(args, fmt::format("updates must have shape [{}]", to_string(updates)));
}

using Types = std::vector<TensorType>;

Types cum_sum(const InferArgs& args) {
  require_axis(args, args.get<ScanAttrs>().axis, args.rank(0));
  return {args.inputs[0]};
}

Types top_k(const InferArgs& args) {
  const TopKAttrs& top = args.get<TopKAttrs>();
  require_axis(args, top.axis, args.rank(0));
  require_axis(args, top.axis, args.rank(0));
  Shape shape = args.shape(0);
  if (top.k < 0 || top.k > shape[top.axis])
    infer_fail(args, fmt::format("k = {} exceeds axis {}", top.k, top.axis));
  shape[top.axis] = top.k;
  return {{args.inputs[0].dtype, shape}, {DType::i64, shape}};
}

Types non_max_suppression(const InferArgs& args) {
  const SuppressionAttrs& attrs = args.get<SuppressionAttrs>();
  const Shape &boxes = args.shape(0), &scores = args.shape(1);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    infer_fail(args, "boxes [N, B, 4] and scores [N, C, B]");
  if (args.inputs[0].dtype != DType::f32 || args.inputs[1].dtype != DType::f32) infer_fail(args, "f32 alone");
  if (attrs.k < 0 || attrs.k > scores[2])
    infer_fail(args, fmt::format("k = {} exceeds {} boxes", attrs.k, scores[2]));
  return {{DType::i64, {scores[0], scores[1], attrs.k}}};
}

Types gather_nd(const InferArgs& args) {
  return {{args.inputs[0].dtype, gather_nd_shape(args)}};
}

Types scatter_elements(const InferArgs& args) {
  require_element_indices(args);
  infer_require(args, args.shape(1) == args.shape(2), "updates need the shape of the indices");
  infer_require(args, args.inputs[2].dtype == args.inputs[0].dtype, "updates need the data's element type");
  return {args.inputs[0]};
}

Types scatter_nd(const InferArgs& args) {
  check_scatter_nd(args);
  infer_require(args, args.inputs[2].dtype == args.inputs[0].dtype, "updates need the data's element type");
  return {args.inputs[0]};
}

Types max_pool_indices(const InferArgs& args) {
  return {{DType::i64, infer_reduce(args)[0].shape}};
}

Types recurrence(const InferArgs& args) {
  const auto& attrs = args.get<RecurrenceAttrs>();
  const std::optional<RecurrenceOperands> operands = recurrence_operands(attrs);
  infer_require(args, operands.has_value(), "the cell is lstm, gru or rnn");
  infer_require(args, !activations_of(attrs).empty(), "activations are elementwise operators of one operand");
  infer_require(args, static_cast<int>(args.inputs.size()) == operands->count, "number of operands");
  infer_require(args, args.rank(0) == 3 && args.rank(1) == 3, "gates and weights need rank 3");
  const int64_t steps = args.shape(0)[0], batch = args.shape(0)[1], hidden = args.shape(1)[2];
  const Shape state = {operands->states, batch, hidden};
  infer_require(args, args.shape(0)[2] == operands->gates * hidden,
                "gates need one element per weights' row");
  infer_require(args, args.shape(1) == Shape({operands->gates, hidden, hidden}),
                "weights need [gates, hidden, hidden]");
  infer_require(args, args.shape(2) == state, "the state needs [states, batch, hidden]");
  if (operands->bias >= 0)
    infer_require(args, args.shape(operands->bias) == Shape({hidden}), "bias [hidden]");
  if (operands->peepholes >= 0)
    infer_require(args, args.shape(operands->peepholes) == Shape({3, hidden}), "peepholes [3, hidden]");
  if (operands->mask >= 0)
    infer_require(args, args.shape(operands->mask) == Shape({steps, batch}), "mask [steps, batch]");
  for (int i = 0; i < operands->count; ++i)
    infer_require(args,
                  args.inputs[i].dtype == (i == operands->mask ? DType::bool_ : args.inputs[0].dtype) &&
                      is_float(args.inputs[0].dtype),
                  "operands are floats of one type, the mask bool");
  return {{args.inputs[0].dtype, {steps, batch, hidden}}, {args.inputs[0].dtype, state}};
}

Types append_types(const InferArgs& args) {
  const auto& attrs = args.get<AppendAttrs>();
  require_axis(args, attrs.axis, args.rank(0));
  Shape shape = args.shape(0);
  infer_require(args, args.rank(1) == args.rank(0), "the new rows need the rank of the old ones");
  const auto axis = static_cast<size_t>(attrs.axis);
  const int64_t rows = args.shape(1)[axis];
  for (size_t i = 0; i < shape.size(); ++i)
    infer_require(args, i == axis || shape[i] == args.shape(1)[i], "extents differ off the axis");
  infer_require(args, args.inputs[0].dtype == args.inputs[1].dtype, "rows of one element type");
  for (const size_t count : {2, 3, 4})
    infer_require(args, args.inputs[count] == TensorType{DType::i64, {}}, "numbers of rows are i64[]");
  if (attrs.capacity < std::max(shape[axis], rows))
    infer_fail(args, fmt::format("a capacity of {} for {} and {} rows", attrs.capacity, shape[axis], rows));
  shape[axis] = attrs.capacity;
  return {{args.inputs[0].dtype, shape}};
}

void require_loop_scalars(const InferArgs& args, size_t count, size_t condition) {
  infer_require(args, args.inputs[count] == TensorType{DType::i64, {}}, "the number of steps is i64[]");
  infer_require(args, args.inputs[condition] == TensorType{DType::bool_, {}}, "the condition is bool[]");
}

Types loop_begin(const InferArgs& args) {
  require_loop_scalars(args, 0, 1);
  const int64_t carried = args.get<LoopAttrs>().carried;
  infer_require(args, carried >= 0 && carried <= static_cast<int64_t>(args.inputs.size()) - 2,
                "more tensors are carried than given");
  return args.inputs;
}

Types loop_end(const InferArgs& args) {
  require_loop_scalars(args, 0, 2);
  require_loop_scalars(args, 1, 2);
  const auto given = static_cast<int64_t>(args.inputs.size());
  const int64_t carried = args.get<LoopAttrs>().carried, stacked = (given - 3 - carried) / 2;
  infer_require(args, carried >= 0 && carried <= given - 3 && (given - 3 - carried) % 2 == 0,
                "the carried tensors, what is stacked, and a row for each of that");
  Types made = {args.inputs[0], args.inputs[2]};
  for (int64_t i = 0; i < carried; ++i) made.push_back(args.inputs[3 + i]);
  for (int64_t i = 0; i < stacked; ++i) {
    const TensorType &whole = args.inputs[3 + carried + i], &row = args.inputs[3 + carried + stacked + i];
    const bool fits = !whole.shape.empty() && whole.dtype == row.dtype &&
                      row.shape == Shape(whole.shape.begin() + 1, whole.shape.end());
    infer_require(args, fits, "a row has the shape of what is stacked without the first axis");
    made.push_back(whole);
  }
  return made;
}

}  // namespace

std::vector<TensorType> infer_opaque(const InferArgs& args) {
  static const std::map<Op, Types (*)(const InferArgs&)> rules = {
      {Op::CumSum, cum_sum},
      {Op::TopK, top_k},
      {Op::NonMaxSuppression, non_max_suppression},
      {Op::GatherND, gather_nd},
      {Op::ScatterElements, scatter_elements},
      {Op::ScatterND, scatter_nd},
      {Op::MaxPoolIndices, max_pool_indices},
      {Op::Recurrence, recurrence},
      {Op::LoopBegin, loop_begin},
      {Op::LoopEnd, loop_end},
      {Op::Append, append_types},
  };
  const auto rule = rules.find(args.op);
  KORCH_ASSERT(rule != rules.end(), std::string("no shape rule for ") + name(args.op));
  return rule->second(args);
}

}  // namespace korch
