#include <fmt/format.h>

#include <map>

#include "korch/ir/infer.h"

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

// An index replaces a coordinate on one axis; on the others its own coordinate is used, so it must be one of
// the data's.
void check_elements(const InferArgs& args) {
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

Types gather_elements(const InferArgs& args) {
  check_elements(args);
  return {{args.inputs[0].dtype, args.shape(1)}};
}

Types gather_nd(const InferArgs& args) {
  return {{args.inputs[0].dtype, gather_nd_shape(args)}};
}

Types scatter_elements(const InferArgs& args) {
  check_elements(args);
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

}  // namespace

std::vector<TensorType> infer_opaque(const InferArgs& args) {
  static const std::map<Op, Types (*)(const InferArgs&)> rules = {
      {Op::CumSum, cum_sum},
      {Op::TopK, top_k},
      {Op::GatherElements, gather_elements},
      {Op::GatherND, gather_nd},
      {Op::ScatterElements, scatter_elements},
      {Op::ScatterND, scatter_nd},
      {Op::MaxPoolIndices, max_pool_indices},
  };
  const auto rule = rules.find(args.op);
  KORCH_ASSERT(rule != rules.end(), std::string("no shape rule for ") + name(args.op));
  return rule->second(args);
}

}  // namespace korch
