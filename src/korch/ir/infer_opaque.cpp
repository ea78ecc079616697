#include <fmt/format.h>

#include "korch/ir/infer.h"

namespace korch {
namespace {

Shape gather_nd_shape(const InferArgs& args) {
  const int64_t batch = args.get<AxisAttrs>().axis;
  const Shape& data = args.shape(0);
  const Shape& indices = args.shape(1);
  infer_require(args, !indices.empty() && is_integer(args.inputs[1].dtype), "indices must be integers of rank 1 or more");
  const int64_t depth = indices.back();
  if (batch < 0 || batch >= args.rank(1) || depth < 1 || batch + depth > args.rank(0))
    infer_fail(args, fmt::format("{} batch axes and index tuples of {} exceed the data's rank", batch, depth));
  for (int64_t i = 0; i < batch; ++i) infer_require(args, data[i] == indices[i], "batch extents differ");
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch + depth, data.end());
  return out;
}

void check_scatter_nd(const InferArgs& args) {
  const Shape& indices = args.shape(1);
  infer_require(args, !indices.empty() && is_integer(args.inputs[1].dtype), "indices must be integers of rank 1 or more");
  infer_require(args, indices.back() >= 1 && indices.back() <= args.rank(0), "index tuples exceed the data's rank");
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), args.shape(0).begin() + indices.back(), args.shape(0).end());
  if (args.shape(2) != updates)
    infer_fail(args, fmt::format("updates must have shape [{}]", to_string(updates)));
}

void check_elements(const InferArgs& args) {
  require_axis(args, args.get<AxisAttrs>().axis, args.rank(0));
  infer_require(args, is_integer(args.inputs[1].dtype), "indices must be integers");
  infer_require(args, args.rank(1) == args.rank(0), "indices need the data's rank");
}

}  // namespace

std::vector<TensorType> infer_opaque(const InferArgs& args) {
  const TensorType& data = args.inputs[0];
  switch (args.op) {
    case Op::CumSum: require_axis(args, args.get<ScanAttrs>().axis, args.rank(0)); return {data};
    case Op::TopK: {
      const TopKAttrs& top = args.get<TopKAttrs>();
      require_axis(args, top.axis, args.rank(0));
      Shape shape = data.shape;
      if (top.k < 0 || top.k > shape[top.axis]) infer_fail(args, fmt::format("k = {} exceeds axis {}", top.k, top.axis));
      shape[top.axis] = top.k;
      return {{data.dtype, shape}, {DType::i64, shape}};
    }
    case Op::GatherElements:
      check_elements(args);
      return {{data.dtype, args.shape(1)}};
    case Op::GatherND: return {{data.dtype, gather_nd_shape(args)}};
    case Op::ScatterElements:
      check_elements(args);
      infer_require(args, args.shape(1) == args.shape(2), "updates need the shape of the indices");
      infer_require(args, args.inputs[2].dtype == data.dtype, "updates need the data's element type");
      return {data};
    case Op::ScatterND:
      check_scatter_nd(args);
      infer_require(args, args.inputs[2].dtype == data.dtype, "updates need the data's element type");
      return {data};
    case Op::MaxPoolIndices: return {{DType::i64, infer_reduce(args)[0].shape}};
    default: KORCH_ASSERT(false, std::string("no shape rule for ") + name(args.op));
  }
  return {};
}

}  // namespace korch
