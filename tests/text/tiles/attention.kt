// Softmax between two products (codegen/linear/attention.cpp).

// RUN: tiles attention masked_heads
graph {
  input %q : f32[2x6x8] "q"
  input %k : f32[2x10x8] "k"
  input %v : f32[2x10x8] "v"
  input %mask : f32[6x10] "mask"
  %y = Attention(%q, %k, %v, %mask)
  output %y "y"
}
