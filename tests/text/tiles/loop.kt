// Nests of memory-bound primitives (codegen/loop).

// RUN: tiles loop elementwise_with_broadcasts
// A bias per column, a number of one element.
graph {
  input %x : f32[4x6] "x"
  %b = Constant() {value=[1,2,3,4,5,6]} : f32[6]
  %half = Constant() {value=[0.5]} : f32[]
  %s = Add(%x, %b)
  %h = Mul(%s, %half)
  %y = Relu(%h)
  output %y "y"
}

// RUN: tiles loop channel_bias
graph {
  input %x : f32[2x3x4x5] "x"
  input %b : f32[1x3x1x1] "b"
  %y = Add(%x, %b)
  output %y "y"
}

// RUN: tiles loop row_sum
graph {
  input %x : f32[6x20] "x"
  %y = ReduceSum(%x) {axes=[1]}
  output %y "y"
}

// RUN: tiles loop column_maximum
graph {
  input %x : f32[6x20] "x"
  %y = ReduceMax(%x) {axes=[0]}
  output %y "y"
}

// RUN: tiles loop softmax
graph {
  input %x : f32[4x10] "x"
  %max = ReduceMax(%x) {axes=[1]}
  %d = Sub(%x, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[1]}
  %y = Div(%e, %sum)
  output %y "y"
}

// RUN: tiles loop statistics_beside_their_rows
// Two outputs of different sizes.
graph {
  input %a : f32[4x10] "a"
  input %b : f32[4x10] "b"
  %y = Add(%a, %b)
  %s = ReduceSum(%y) {axes=[1]}
  output %y "y"
  output %s "s"
}

// RUN: tiles loop arg_max
graph {
  input %x : f32[3x7] "x"
  %y = ArgMax(%x) {axis=1}
  output %y "y"
}

// RUN: tiles loop transpose
graph {
  input %x : f32[2x9x12] "x"
  %t = Transpose(%x) {perm=[0,2,1]}
  %y = Relu(%t)
  output %y "y"
}

// RUN: tiles loop padded_window
graph {
  input %x : f32[1x2x6x7] "x"
  %y = WindowMax(%x) {kernel=[3,3], strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: tiles loop concat
graph {
  input %a : f32[2x3] "a"
  input %b : f32[2x4] "b"
  %y = Concat(%a, %b) {axis=1}
  output %y "y"
}

// RUN: tiles loop reflected_border
graph {
  input %x : f32[3x5] "x"
  %y = Pad(%x) {before=[0,2], after=[1,2], mode=reflect}
  output %y "y"
}

// RUN: tiles loop gather_by_data
// An index from data is checked, and counts from the end where it is negative.
graph {
  input %x : f32[5x8] "x"
  input %i : i64[3] "i"
  %y = Gather(%x, %i) {axis=0}
  output %y "y"
}

// RUN: tiles loop two_products
graph {
  input %x : f32[4x4] "x"
  %a = MatMul(%x, %x)
  %y = MatMul(%a, %x)
  output %y "y"
}
