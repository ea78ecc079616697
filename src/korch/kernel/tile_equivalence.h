// Do two tile graphs compute the same? Random tests over finite fields, as for graphs
// (rewrite/equivalence.h).
#pragma once

#include <cstdint>

#include "korch/ir/field_result.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

struct FieldTests {
  int count = 64;
  uint64_t seed = 1;
};

// Graphs with the same arguments in the same order. First with maxima of which nothing is known, which has a
// bound; where that tells the graphs apart, or there is no bound, with maxima by an order, which has none.
// Elements of no float are drawn from 0 and 1. Throws Error{invalid} where arguments differ.
FieldResult compare_over_field(const TileGraph& a, const TileGraph& b, const FieldTests& tests = {});

}  // namespace korch::tile
