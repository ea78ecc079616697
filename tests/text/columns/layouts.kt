// Candidates in their implementations and layouts, changes of layout, and views: the same bytes under another name.

// RUN: columns elementwise_chain
graph {
  input %x : f32[4x6] "x"
  %e = Exp(%x)
  %y = Sqrt(%e)
  output %y "y"
}
// EXPECT:
Exp -> %e | loop() rm->rm | 384 flops, 192 bytes, bound 0.022 us
Sqrt -> %y | loop() rm->rm | 96 flops, 192 bytes, bound 0.021 us
Exp Sqrt -> %y | loop() rm->rm | 480 flops, 192 bytes, bound 0.022 us

// RUN: columns matrix_product
// Data or result may have their last axes exchanged.
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
}
// EXPECT:
MatMul -> %p | matmul(1,10) rm->rm | 3840 flops, 2048 bytes, bound 0.040 us
Relu -> %y | loop() rm->rm | 240 flops, 1920 bytes, bound 0.025 us
MatMul Relu -> %y | matmul(1,10) rm->rm | 3840 flops, 2048 bytes, bound 0.040 us

// RUN: columns --target x86-64-v4 matrix_product_on_wider_vectors
graph {
  input %x : f32[10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
}
// EXPECT:
MatMul -> %p | matmul(2,10) rm->rm | 3840 flops, 2048 bytes, bound 0.030 us
Relu -> %y | loop() rm->rm | 240 flops, 1920 bytes, bound 0.022 us
MatMul Relu -> %y | matmul(2,10) rm->rm | 3840 flops, 2048 bytes, bound 0.030 us

// RUN: columns convolution
// Row-major and channels-last, and what turns one into the other.
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
Conv -> %y | conv_direct(2,6) p0231->p0231 | 41472 flops, 5184 bytes, bound 0.236 us
Conv -> %y | conv_direct(2,6) p0231->rm | 41472 flops, 5184 bytes, bound 0.236 us
Conv -> %y | conv_direct(2,6) rm->p0231 | 41472 flops, 5184 bytes, bound 0.236 us
Conv -> %y | conv_direct(2,6) rm->rm | 41472 flops, 5184 bytes, bound 0.236 us
reorder %x p0231 -> %x rm | 0 flops, 1152 bytes, bound 0.023 us
reorder %x rm -> %x p0231 | 0 flops, 1152 bytes, bound 0.023 us
reorder %y p0231 -> %y rm | 0 flops, 4608 bytes, bound 0.032 us
reorder %y rm -> %y p0231 | 0 flops, 4608 bytes, bound 0.032 us

// RUN: columns one_channel_has_one_layout
graph {
  input %x : f32[1x1x6x6] "x"
  %w = Constant() {splat=0.5} : f32[1x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
Conv -> %y | conv_direct(1,6) rm->rm | 648 flops, 324 bytes, bound 0.023 us
Conv -> %y | conv_pixels(1,1) rm->rm | 648 flops, 324 bytes, bound 0.023 us

// RUN: columns depthwise_convolution
graph {
  input %x : f32[1x8x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=8}
  output %y "y"
}
// EXPECT:
Conv -> %y | depthwise(4) p0231->p0231 | 4096 flops, 2592 bytes, bound 0.041 us
reorder %x p0231 -> %x rm | 0 flops, 2304 bytes, bound 0.026 us
reorder %x rm -> %x p0231 | 0 flops, 2304 bytes, bound 0.026 us
reorder %y p0231 -> %y rm | 0 flops, 2304 bytes, bound 0.026 us
reorder %y rm -> %y p0231 | 0 flops, 2304 bytes, bound 0.026 us

// RUN: columns views
// A reshape, and a slice of whole rows.
graph {
  input %x : f32[4x6] "x"
  %r = Reshape(%x) {shape=[2,2,6]}
  %s = Slice(%r) {starts=[1,0,0], sizes=[1,2,6], steps=[1,1,1]}
  %y = Exp(%s)
  output %y "y"
}
// EXPECT:
Reshape -> %r | loop() rm->rm | 0 flops, 192 bytes, bound 0.021 us
Slice -> %s | loop() rm->rm | 0 flops, 96 bytes, bound 0.020 us
Exp -> %y | loop() rm->rm | 192 flops, 96 bytes, bound 0.021 us
Reshape Slice Exp -> %y | loop() rm->rm | 192 flops, 96 bytes, bound 0.021 us
view Reshape %x rm -> %r rm | at byte 0
view Slice %r rm -> %s rm | at byte 48

// RUN: columns slice_of_columns_is_no_view
graph {
  input %x : f32[4x6] "x"
  %s = Slice(%x) {starts=[0,2], sizes=[4,3], steps=[1,1]}
  output %s "s"
}
// EXPECT:
Slice -> %s | loop() rm->rm | 0 flops, 96 bytes, bound 0.020 us

// RUN: columns transpose_as_layout
// Channels last are the same bytes as the transposed Value.
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %y = Transpose(%c) {perm=[0,2,3,1]}
  output %y "y"
}
// EXPECT:
Conv -> %c | conv_direct(2,6) p0231->p0231 | 4608 flops, 3136 bytes, bound 0.044 us
Conv -> %c | conv_direct(2,6) p0231->rm | 4608 flops, 3136 bytes, bound 0.044 us
Conv -> %c | conv_direct(2,6) rm->p0231 | 4608 flops, 3136 bytes, bound 0.044 us
Conv -> %c | conv_direct(2,6) rm->rm | 4608 flops, 3136 bytes, bound 0.044 us
Transpose -> %y | loop() rm->rm | 0 flops, 4608 bytes, bound 0.032 us
Transpose -> %y | loop() p0231->p0231 | 0 flops, 4608 bytes, bound 0.032 us
Transpose -> %y | loop() p0231->rm | 0 flops, 4608 bytes, bound 0.032 us
Transpose -> %y | loop() rm->p0231 | 0 flops, 4608 bytes, bound 0.032 us
Conv Transpose -> %y | conv_direct(2,6) p0231->p0231 | 4608 flops, 3136 bytes, bound 0.044 us
Conv Transpose -> %y | conv_direct(2,6) p0231->rm | 4608 flops, 3136 bytes, bound 0.044 us
Conv Transpose -> %y | conv_direct(2,6) rm->p0231 | 4608 flops, 3136 bytes, bound 0.044 us
Conv Transpose -> %y | conv_direct(2,6) rm->rm | 4608 flops, 3136 bytes, bound 0.044 us
view Transpose %c rm -> %y p0312 | at byte 0
view Transpose %c p0231 -> %y rm | at byte 0
reorder %x p0231 -> %x rm | 0 flops, 1152 bytes, bound 0.023 us
reorder %x rm -> %x p0231 | 0 flops, 1152 bytes, bound 0.023 us
reorder %c p0231 -> %c rm | 0 flops, 4608 bytes, bound 0.032 us
reorder %c rm -> %c p0231 | 0 flops, 4608 bytes, bound 0.032 us
reorder %y rm -> %y p0231 | 0 flops, 4608 bytes, bound 0.032 us
reorder %y rm -> %y p0312 | 0 flops, 4608 bytes, bound 0.032 us
reorder %y p0231 -> %y rm | 0 flops, 4608 bytes, bound 0.032 us
reorder %y p0231 -> %y p0312 | 0 flops, 4608 bytes, bound 0.032 us
reorder %y p0312 -> %y rm | 0 flops, 4608 bytes, bound 0.032 us
reorder %y p0312 -> %y p0231 | 0 flops, 4608 bytes, bound 0.032 us

// RUN: columns integers_have_no_attention
graph {
  input %a : i32[3x4] "a"
  input %b : i32[4x5] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(1,3) rm,rm->rm | 120 flops, 188 bytes, bound 0.021 us

// RUN: columns refused
// A sum over all of a large tensor and what reads it: only one slice would not repeat the sum.
graph {
  input %x : f32[64x4096] "x"
  %s = ReduceSum(%x) {axes=[0,1]}
  %y = Div(%x, %s)
  output %y "y"
}
// EXPECT:
ReduceSum -> %s | loop() rm->rm | 262144 flops, 1048580 bytes, bound 2.751 us
Div -> %y | loop() rm,rm->rm | 1048576 flops, 2097156 bytes, bound 5.481 us
ReduceSum Div -> %y | loop() rm->rm | 1310720 flops, 2097152 bytes, bound 6.847 us
