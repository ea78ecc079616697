#include "cases.h"

namespace korch::testing {

const std::vector<Case>& opaque_primitives() {
  static const std::vector<Case> cases = {
      {"gather_slices", R"(graph {
  input %x : f32[2x6x6x21] "x"
  input %i : i64[2x3x2] "i"
  %y = GatherND(%x, %i) {axis=1}
  output %y "y"
})"},
      {"scatter_elements", R"(graph {
  input %x : f32[3x8x5] "x"
  input %i : i64[2x6x5] "i"
  input %u : f32[2x6x5] "u"
  %y = ScatterElements(%x, %i, %u) {axis=1}
  output %y "y"
})"},
      {"scatter_bytes", R"(graph {
  input %x : u8[300x3] "x"
  input %i : i64[40x3] "i"
  input %u : u8[40x3] "u"
  %y = ScatterElements(%x, %i, %u) {axis=0}
  output %y "y"
})"},
      {"scatter_slices", R"(graph {
  input %x : f32[6x5x41] "x"
  input %i : i64[9x2] "i"
  input %u : f32[9x41] "u"
  %y = ScatterND(%x, %i, %u)
  output %y "y"
})"},
      {"scatter_points", R"(graph {
  input %x : i32[7x4] "x"
  input %i : i64[9x2] "i"
  input %u : i32[9] "u"
  %y = ScatterND(%x, %i, %u)
  output %y "y"
})"},
      {"cum_sum", R"(graph {
  input %x : f32[3x9x53] "x"
  %y = CumSum(%x) {axis=1, exclusive=false, reverse=false}
  output %y "y"
})"},
      {"cum_sum_in_chunks", R"(graph {
  input %x : f32[2x90x149] "x"
  %y = CumSum(%x) {axis=1, exclusive=false, reverse=false}
  output %y "y"
})",
       2e-5},
      {"cum_sum_of_others_from_the_end", R"(graph {
  input %x : f64[3x9] "x"
  %y = CumSum(%x) {axis=1, exclusive=true, reverse=true}
  output %y "y"
})"},
      {"cum_sum_of_bytes", R"(graph {
  input %x : i8[70x5] "x"
  %y = CumSum(%x) {axis=0, exclusive=true, reverse=false}
  output %y "y"
})"},
      {"top_k", R"(graph {
  input %x : f32[5x301] "x"
  %v, %p = TopK(%x) {axis=1, k=17, largest=true}
  output %v "v"
  output %p "p"
})"},
      {"top_k_positions", R"(graph {
  input %x : u64[2x30x7] "x"
  %v, %p = TopK(%x) {axis=1, k=30, largest=false}
  output %p "p"
})"},
      {"top_k_values", R"(graph {
  input %x : i32[4x30x3] "x"
  %v, %p = TopK(%x) {axis=1, k=6, largest=true}
  output %v "v"
})"},
      {"suppression", R"(graph {
  input %b : f32[2x19x4] "b"
  input %s : f32[2x3x19] "s"
  %y = NonMaxSuppression(%b, %s) {k=7, threshold=0.25}
  output %y "y"
})"},
      {"top_one", R"(graph {
  input %x : f32[4x9] "x"
  %v, %p = TopK(%x) {axis=1, k=1, largest=true}
  output %v "v"
  output %p "p"
})"},
      {"suppression_of_one_box", R"(graph {
  input %b : f32[2x1x4] "b"
  input %s : f32[2x3x1] "s"
  %y = NonMaxSuppression(%b, %s) {k=1, threshold=0.25}
  output %y "y"
})"},
      {"max_pool_positions", R"(graph {
  input %x : f32[2x3x11x14] "x"
  %y = MaxPoolIndices(%x) {kernel=[3,3], strides=[2,1], dilations=[1,2], pads_before=[1,2], pads_after=[1,0], count_include_pad=false}
  output %y "y"
})"},
      {"max_pool_positions_of_bytes", R"(graph {
  input %x : u8[1x2x19] "x"
  %y = MaxPoolIndices(%x) {kernel=[3], strides=[1], dilations=[1], pads_before=[1], pads_after=[1], count_include_pad=false}
  output %y "y"
})"},
  };
  return cases;
}

}  // namespace korch::testing
