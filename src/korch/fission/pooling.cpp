// Average pooling: the sum of each window divided by the number of elements it counts.
#include <algorithm>

#include "korch/fission/rules.h"
#include "korch/ir/idle_taps.h"

namespace korch::rules {
namespace {

// Elements of each window along one spatial axis, padding not counted.
std::vector<int64_t> window_counts(const PoolAttrs& pool, size_t axis, int64_t in_extent,
                                   int64_t out_extent) {
  std::vector<int64_t> counts(static_cast<size_t>(out_extent), 0);
  for (int64_t o = 0; o < out_extent; ++o) {
    for (int64_t k = 0; k < pool.kernel[axis]; ++k) {
      const int64_t i = o * pool.strides[axis] - pool.pads_before[axis] + k * pool.dilations[axis];
      counts[static_cast<size_t>(o)] += i >= 0 && i < in_extent;
    }
  }
  return counts;
}

}  // namespace

ValueId average_pool(Emitter& e, const Node& node, const Inputs& in) {
  const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
  const Shape in_shape = e.shape(in[0]);
  const PoolAttrs reading = without_idle_taps(pool, Shape(in_shape.begin() + 2, in_shape.end()));
  const ValueId total = e.emit(Op::WindowSum, reading, {in[0]});
  if (pool.count_include_pad) return e.divided_by_count(total, element_count(pool.kernel));

  const Shape out_shape = e.shape(total);
  Shape counts_shape = {1, 1};
  std::vector<double> counts = {1};
  for (size_t axis = 0; axis < pool.kernel.size(); ++axis) {
    const std::vector<int64_t> along = window_counts(pool, axis, in_shape[axis + 2], out_shape[axis + 2]);
    const bool all_equal =
        std::adjacent_find(along.begin(), along.end(), std::not_equal_to<>()) == along.end();
    const size_t extent = all_equal ? std::min<size_t>(along.size(), 1) : along.size();
    counts_shape.push_back(static_cast<int64_t>(extent));
    std::vector<double> product;
    for (double outer : counts) {
      for (size_t i = 0; i < extent; ++i) product.push_back(outer * static_cast<double>(along[i]));
    }
    counts = std::move(product);
  }
  if (counts.size() == 1) return e.divided_by_count(total, static_cast<int64_t>(counts[0]));
  return e.div(total, e.constant_like(total, counts_shape, counts));
}

}  // namespace korch::rules
