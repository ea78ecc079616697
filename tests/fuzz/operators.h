// A random node of a given operator: operands and attributes by what the operator table says of it.
#pragma once

#include "graph_maker.h"

namespace korch::fuzz {

// The result, or nothing: no operands fit this time, or the numbers are none.
std::optional<ValueId> grow(GraphMaker& maker, Op op);

// Random attributes that fit these shapes, shared with motifs.
PoolAttrs random_pool(GraphMaker& maker, const Shape& spatial, bool may_pad_more);
ConvAttrs random_conv(GraphMaker& maker, const Shape& spatial, const std::vector<int64_t>& kernel);
std::vector<int64_t> random_permutation(GraphMaker& maker, size_t rank);
Shape random_factors(GraphMaker& maker, int64_t count, size_t rank);
SliceAttrs random_slice(GraphMaker& maker, const Shape& shape);
PadAttrs random_pad(GraphMaker& maker, const Shape& shape);

}  // namespace korch::fuzz
