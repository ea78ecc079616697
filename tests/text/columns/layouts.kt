// Candidates in their implementations and layouts, changes of layout, and views: the same bytes under another name.

// RUN: columns elementwise_chain
graph {
  input %x : f32[4x6] "x"
  %e = Exp(%x)
  %y = Sqrt(%e)
  output %y "y"
}

// RUN: columns matrix_product
// Data or result may have their last axes exchanged.
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
}

// RUN: columns --target x86-64-v4 matrix_product_on_wider_vectors
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
}

// RUN: columns convolution
// Row-major and channels-last, and what turns one into the other.
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: columns one_channel_has_one_layout
graph {
  input %x : f32[1x1x6x6] "x"
  %w = Constant() {splat=0.5} : f32[1x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: columns depthwise_convolution
graph {
  input %x : f32[1x8x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=8}
  output %y "y"
}

// RUN: columns views
// A reshape, and a slice of whole rows.
graph {
  input %x : f32[4x6] "x"
  %r = Reshape(%x) {shape=[2,2,6]}
  %s = Slice(%r) {starts=[1,0,0], sizes=[1,2,6], steps=[1,1,1]}
  %y = Exp(%s)
  output %y "y"
}

// RUN: columns slice_of_columns_is_no_view
graph {
  input %x : f32[4x6] "x"
  %s = Slice(%x) {starts=[0,2], sizes=[4,3], steps=[1,1]}
  output %s "s"
}

// RUN: columns transpose_as_layout
// Channels last are the same bytes as the transposed Value.
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %y = Transpose(%c) {perm=[0,2,3,1]}
  output %y "y"
}

// RUN: columns integers_have_no_attention
graph {
  input %a : i32[3x4] "a"
  input %b : i32[4x5] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}

// RUN: columns refused
// A sum over all of a large tensor and what reads it: only one slice would not repeat the sum.
graph {
  input %x : f32[64x4096] "x"
  %s = ReduceSum(%x) {axes=[0,1]}
  %y = Div(%x, %s)
  output %y "y"
}
