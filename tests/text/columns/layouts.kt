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
  input %x : f32[2x10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(3,4) rm->rm | 7680 flops, 3328 bytes, bound 0.060 us
MatMul -> %y | matmul(3,4) rm->p021 | 7680 flops, 3328 bytes, bound 0.060 us
MatMul -> %y | matmul(3,4) p021->rm | 7680 flops, 3328 bytes, bound 0.060 us
reorder %x rm -> %x p021 | 0 flops, 1280 bytes, bound 0.023 us
reorder %x p021 -> %x rm | 0 flops, 1280 bytes, bound 0.023 us
reorder %y rm -> %y p021 | 0 flops, 3840 bytes, bound 0.030 us
reorder %y p021 -> %y rm | 0 flops, 3840 bytes, bound 0.030 us

// RUN: columns --target x86-64-v4 matrix_product_on_wider_vectors
graph {
  input %x : f32[2x10x8] "x"
  %w = Constant() {splat=0.5} : f32[8x24]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(2,10) rm->rm | 7680 flops, 3328 bytes, bound 0.040 us
MatMul -> %y | matmul(2,10) rm->p021 | 7680 flops, 3328 bytes, bound 0.040 us
MatMul -> %y | matmul(2,10) p021->rm | 7680 flops, 3328 bytes, bound 0.040 us
reorder %x rm -> %x p021 | 0 flops, 1280 bytes, bound 0.022 us
reorder %x p021 -> %x rm | 0 flops, 1280 bytes, bound 0.022 us
reorder %y rm -> %y p021 | 0 flops, 3840 bytes, bound 0.025 us
reorder %y p021 -> %y rm | 0 flops, 3840 bytes, bound 0.025 us

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
Conv -> %y | depthwise() p0231->p0231 | 4096 flops, 2592 bytes, bound 0.041 us
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

// RUN: columns integers
graph {
  input %a : i32[3x4] "a"
  input %b : i32[4x5] "b"
  %y = MatMul(%a, %b)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(1,3) rm,rm->rm | 120 flops, 188 bytes, bound 0.021 us

// RUN: columns two_readers_of_one_value
// With the Value, without it, and both readers in one kernel.
graph {
  input %x : f32[4x6] "x"
  %e = Exp(%x)
  %a = Sqrt(%e)
  %b = Neg(%e)
  output %a "a"
  output %b "b"
}
// EXPECT:
Exp -> %e | loop() rm->rm | 384 flops, 192 bytes, bound 0.022 us
Sqrt -> %a | loop() rm->rm | 96 flops, 192 bytes, bound 0.021 us
Exp Sqrt -> %e %a | loop() rm->rm,rm | 480 flops, 288 bytes, bound 0.022 us
Exp Sqrt -> %a | loop() rm->rm | 480 flops, 192 bytes, bound 0.022 us
Neg -> %b | loop() rm->rm | 24 flops, 192 bytes, bound 0.021 us
Exp Neg -> %e %b | loop() rm->rm,rm | 408 flops, 288 bytes, bound 0.022 us
Exp Neg -> %b | loop() rm->rm | 408 flops, 192 bytes, bound 0.022 us
Neg Sqrt -> %b %a | loop() rm->rm,rm | 120 flops, 288 bytes, bound 0.021 us
Exp Neg Sqrt -> %b %a | loop() rm->rm,rm | 504 flops, 288 bytes, bound 0.023 us

// RUN: columns refused
// No kernel computes in float16: fission leaves conversions.
graph {
  input %x : f16[4x6] "x"
  %y = Add(%x, %x)
  output %y "y"
}
// EXPECT:
refused unsupported type: 1

// RUN: columns winograd_and_its_parts
graph {
  input %x : f32[1x2x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x2x3x3]
  %v = WinogradInput(%x) {tile=2, pads_before=[1,1], pads_after=[1,1]}
  %p = WinogradProduct(%v, %w) {tile=2}
  %y = WinogradOutput(%p) {tile=2, shape=[1,8,6,6]}
  output %y "y"
}
// EXPECT:
WinogradInput -> %v | winograd_part(2) p0231->rm | 0 flops, 1440 bytes, bound 0.024 us
WinogradProduct -> %p | winograd_part(2,1,9) rm->rm | 4608 flops, 6784 bytes, bound 0.044 us
WinogradOutput -> %y | winograd_part(2) rm->p0231 | 0 flops, 5760 bytes, bound 0.035 us
WinogradInput WinogradProduct WinogradOutput -> %y | conv_winograd(2,1,9) p0231->p0231 | 4608 flops, 2464 bytes, bound 0.044 us
reorder %x p0231 -> %x rm | 0 flops, 576 bytes, bound 0.022 us
reorder %x rm -> %x p0231 | 0 flops, 576 bytes, bound 0.022 us
reorder %y p0231 -> %y rm | 0 flops, 2304 bytes, bound 0.026 us
reorder %y rm -> %y p0231 | 0 flops, 2304 bytes, bound 0.026 us

// RUN: columns --target x86-64-v4-vnni product_of_bytes
// Four products at a time: a quarter of the arithmetic.
graph {
  input %x : u8[16x64] "x"
  %w = Constant() {splat=3} : i8[64x32]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(2,8) rm->rm | 16384 flops, 5120 bytes, bound 0.063 us

// RUN: columns --target x86-64-v4-amx product_of_bytes_in_tiles
// 64 products at a time, of sixteen rows: a 32nd of the arithmetic.
graph {
  input %x : u8[16x64] "x"
  %w = Constant() {splat=3} : i8[64x32]
  %y = MatMul(%x, %w)
  output %y "y"
}
// EXPECT:
MatMul -> %y | matmul(2,16) rm->rm | 2048 flops, 5120 bytes, bound 0.027 us
