// Average pooling: the sum of each window divided by the number of elements it counts.
#include <algorithm>

#include "korch/fission/rules.h"
#include "korch/ir/idle_taps.h"
#include "korch/ir/index_map.h"

namespace korch::rules {
ValueId average_pool(Emitter& e, const Node& node, const Inputs& in) {
  const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
  const Shape in_shape = e.shape(in[0]);
  const PoolAttrs reading = without_idle_taps(pool, Shape(in_shape.begin() + 2, in_shape.end()));
  const ValueId total = e.emit(Op::WindowSum, reading, {in[0]});
  if (pool.count_include_pad) return e.divided_by_count(total, element_count(pool.kernel));

  const Shape out_shape = e.shape(total);
  const IndexMaps maps = index_maps(Op::WindowSum, pool, {{e.dtype(in[0]), in_shape}}, out_shape);
  Shape counts_shape = {1, 1};
  std::vector<double> counts = {1};
  for (size_t axis = 0; axis < pool.kernel.size(); ++axis) {
    const std::vector<int64_t> along = taps_inside(maps.operands[0].coordinates[axis + 2], pool.kernel[axis],
                                                   in_shape[axis + 2], out_shape[axis + 2]);
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
