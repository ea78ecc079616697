#include <fmt/format.h>

#include <algorithm>

#include "korch/ir/index_map.h"
#include "korch/ir/infer.h"
#include "korch/ir/winograd.h"

namespace korch {
namespace {

int64_t tile_count(const InferArgs& args, const WinogradAttrs& attrs, const Shape& result) {
  const int64_t down = checked_add(args, result[2], attrs.tile),
                across = checked_add(args, result[3], attrs.tile);
  checked_multiply(args, result[0], checked_multiply(args, down, across));
  return WinogradTiles(attrs, result).count();
}

Shape tiled(const InferArgs& args, const WinogradAttrs& attrs) {
  require_winograd(args, attrs);
  infer_require(args, args.rank(0) == 4, "data must have rank 4");
  infer_require(args, attrs.pads_before.size() == 2 && attrs.pads_after.size() == 2,
                "pads need one entry per spatial axis");
  for (size_t axis = 0; axis < 2; ++axis)
    window_extent(args, args.shape(0)[axis + 2], attrs.taps, 1, 1, attrs.pads_before[axis],
                  attrs.pads_after[axis]);
  const Shape result = winograd_result(attrs, args.shape(0));
  infer_require(args, !is_strassen(attrs) || (result[2] == args.shape(0)[2] && result[3] == args.shape(0)[3]),
                "one tap takes no padding");
  infer_require(args, args.shape(0)[1] % channel_parts(attrs) == 0, "channels must have halves");
  return {tile_elements(attrs), tile_count(args, attrs, result), args.shape(0)[1] / channel_parts(attrs)};
}

Shape untiled(const InferArgs& args, const WinogradAttrs& attrs) {
  require_winograd(args, attrs);
  infer_require(args, attrs.shape.size() == 4, "the result must have rank 4");
  infer_require(args, *std::min_element(attrs.shape.begin(), attrs.shape.end()) >= 0,
                "the result's extents must not be negative");
  infer_require(args, attrs.shape[1] % channel_parts(attrs) == 0, "channels must have halves");
  const Shape expected = {tile_elements(attrs), tile_count(args, attrs, attrs.shape),
                          attrs.shape[1] / channel_parts(attrs)};
  infer_require(args, args.shape(0) == expected, "there must be one row per tile of the result");
  return attrs.shape;
}

}  // namespace

int64_t window_extent(const InferArgs& args, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t before, int64_t after) {
  infer_require(args, kernel > 0 && stride > 0 && dilation > 0,
                "kernel, strides and dilations must be positive");
  const int64_t span = checked_add(args, checked_multiply(args, kernel - 1, dilation), 1);
  const int64_t padded = checked_add(args, checked_add(args, in, before), after);
  if (padded < span)
    infer_fail(args, fmt::format("a window of {} does not fit an axis of {} with padding {}+{}", span, in,
                                 before, after));
  return (padded - span) / stride + 1;
}

std::vector<TensorType> infer_reduce(const InferArgs& args) {
  const DType dtype = args.inputs[0].dtype;
  if (const auto* winograd = std::get_if<WinogradAttrs>(&args.attrs))
    return {{dtype, args.op == Op::WinogradInput ? tiled(args, *winograd) : untiled(args, *winograd)}};
  const Shape shape = checked_maps(args).result;
  if (args.op == Op::ArgMax || args.op == Op::ArgMin) return {{DType::i64, shape}};
  if (args.op == Op::WindowDot) {
    Shape weights = args.get<PoolAttrs>().kernel;
    weights.push_back(shape[1]);
    infer_require(args, args.shape(1) == weights, "weights need the kernel's axes, then one for channels");
    infer_require(args, args.inputs[1].dtype == dtype, "operands of different types");
  }
  return {{dtype, shape}};
}

}  // namespace korch
