// Windows of pooling that are larger than the data.
#pragma once

#include "korch/ir/op.h"
#include "korch/tensor/shape.h"

namespace korch {

// The same windows without taps that read only padding, for data of these spatial extents: as many windows,
// each over the same elements in the same order. A mean still counts the taps of `pool`.
PoolAttrs without_idle_taps(PoolAttrs pool, const Shape& spatial);

}  // namespace korch
