// Convolutions as other convolutions and products (rewrite/convolution.cpp, convolution_pieces.cpp, im2col.cpp,
// upsampling.cpp).

// RUN: alternatives --only convolution_as_matmul convolution_as_matmul
// Every pixel is read once.
graph {
  input %x : f32[1x1x4x6] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[2x1x2x3]
  %y = Conv(%x, %w) {strides=[2,3], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x4x6] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[2x1x2x3]
  %y = Conv(%x, %w) {strides=[2,3], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x2x2]
  %y_0 = Reshape(%x) {shape=[1,1,2,2,6]} : f32[1x1x2x2x6]
  %y_1 = Transpose(%y_0) {perm=[0,1,3,2,4]} : f32[1x1x2x2x6]
  %y_2 = Reshape(%y_1) {shape=[1,1,2,2,2,3]} : f32[1x1x2x2x2x3]
  %y_4 = Transpose(%y_2) {perm=[0,1,2,5,3,4]} : f32[1x1x2x3x2x2]
  %y_5 = Reshape(%y_4) {shape=[1,6,2,2]} : f32[1x6x2x2]
  %y_6 = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[2x6x1x1]
  %y |= Conv(%y_5, %y_6) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
applied convolution_as_matmul: 1

// RUN: alternatives --only winograd winograd
graph {
  input %x : f32[1x2x16x16] "x"
  %w = Constant() {splat=0.5} : f32[3x2x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x2x16x16] "x"
  %w = Constant() {splat=0.5} : f32[3x2x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x3x16x16]
  %y_0 = WinogradInput(%x) {tile=4, pads_before=[1,1], pads_after=[1,1]} : f32[36x16x2]
  %y_1 = WinogradProduct(%y_0, %w) {tile=4} : f32[36x16x3]
  %y |= WinogradOutput(%y_1) {tile=4, shape=[1,3,16,16]}
  %y_3 = WinogradInput(%x) {pads_before=[1,1], pads_after=[1,1]} : f32[16x64x2]
  %y_4 = WinogradProduct(%y_3, %w) : f32[16x64x3]
  %y |= WinogradOutput(%y_4) {shape=[1,3,16,16]}
  output %y "y"
}
applied winograd: 2

// RUN: alternatives --only strassen strassen
graph {
  input %x : f32[1x128x2x4] "x"
  %w = Constant() {splat=0.5} : f32[128x128x1x1]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x128x2x4] "x"
  %w = Constant() {splat=0.5} : f32[128x128x1x1]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x128x2x4]
  %y_0 = WinogradInput(%x) {taps=1} : f32[7x4x64]
  %y_1 = WinogradProduct(%y_0, %w) {taps=1} : f32[7x4x64]
  %y |= WinogradOutput(%y_1) {taps=1, shape=[1,128,2,4]}
  output %y "y"
}
applied strassen: 1

// RUN: alternatives --only phases_into_strided_convolution phases_into_strided_convolution
// The phases in another order than that of their pixels.
graph {
  input %x : f32[1x1x4x4] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[1x4x1x1]
  %p00 = Slice(%x) {starts=[0,0,0,0], sizes=[1,1,2,2], steps=[1,1,2,2]}
  %p10 = Slice(%x) {starts=[0,0,1,0], sizes=[1,1,2,2], steps=[1,1,2,2]}
  %p01 = Slice(%x) {starts=[0,0,0,1], sizes=[1,1,2,2], steps=[1,1,2,2]}
  %p11 = Slice(%x) {starts=[0,0,1,1], sizes=[1,1,2,2], steps=[1,1,2,2]}
  %all = Concat(%p00, %p10, %p01, %p11) {axis=1}
  %y = Conv(%all, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x4x4] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[1x4x1x1]
  %p00 = Slice(%x) {starts=[0,0,0,0], sizes=[1,1,2,2], steps=[1,1,2,2]} : f32[1x1x2x2]
  %p10 = Slice(%x) {starts=[0,0,1,0], sizes=[1,1,2,2], steps=[1,1,2,2]} : f32[1x1x2x2]
  %p01 = Slice(%x) {starts=[0,0,0,1], sizes=[1,1,2,2], steps=[1,1,2,2]} : f32[1x1x2x2]
  %p11 = Slice(%x) {starts=[0,0,1,1], sizes=[1,1,2,2], steps=[1,1,2,2]} : f32[1x1x2x2]
  %all = Concat(%p00, %p10, %p01, %p11) {axis=1} : f32[1x4x2x2]
  %y = Conv(%all, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x1x2x2]
  %y_5 = Constant() {value=[1,3,2,4]} : f32[1x1x2x2]
  %y |= Conv(%x, %y_5) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
applied phases_into_strided_convolution: 1

// RUN: alternatives --only transposed_convolution_as_convolution transposed_convolution_as_convolution
graph {
  input %x : f32[1x1x3x4] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[1x1x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x3x4] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[1x1x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]} : f32[1x1x6x8]
  %y_2 = Constant() {value=[1,2,3,4]} : f32[4x1x1x1]
  %y_3 = Conv(%x, %y_2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x4x3x4]
  %y_4 = Reshape(%y_3) {shape=[1,2,2,1,3,4]} : f32[1x2x2x1x3x4]
  %y_5 = Transpose(%y_4) {perm=[0,3,4,1,5,2]} : f32[1x1x3x2x4x2]
  %y |= Reshape(%y_5) {shape=[1,1,6,8]}
  output %y "y"
}
applied transposed_convolution_as_convolution: 1

// RUN: alternatives --only upsampling_into_convolution upsampling_into_convolution
graph {
  input %x : f32[1x1x3x2] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9]} : f32[1x1x3x3]
  %apart = Reshape(%x) {shape=[1,1,3,1,2,1]}
  %repeated = Expand(%apart) {shape=[1,1,3,2,2,2]}
  %up = Reshape(%repeated) {shape=[1,1,6,4]}
  %y = Conv(%up, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x3x2] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9]} : f32[1x1x3x3]
  %apart = Reshape(%x) {shape=[1,1,3,1,2,1]} : f32[1x1x3x1x2x1]
  %repeated = Expand(%apart) {shape=[1,1,3,2,2,2]} : f32[1x1x3x2x2x2]
  %up = Reshape(%repeated) {shape=[1,1,6,4]} : f32[1x1x6x4]
  %y = Conv(%up, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x1x6x4]
  %y_6 = Constant() {value=[12,9,15,9,5,16,7,17,3,3,24,15,1,5,11,28]} : f32[4x1x2x2]
  %y_7 = Conv(%x, %y_6) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x4x4x3]
  %y_8 = Reshape(%y_7) {shape=[1,2,2,1,4,3]} : f32[1x2x2x1x4x3]
  %y_9 = Transpose(%y_8) {perm=[0,3,4,1,5,2]} : f32[1x1x4x2x3x2]
  %y_10 = Reshape(%y_9) {shape=[1,1,8,6]} : f32[1x1x8x6]
  %y |= Slice(%y_10) {starts=[0,0,1,1], sizes=[1,1,6,4], steps=[1,1,1,1]}
  output %y "y"
}
applied upsampling_into_convolution: 1

// RUN: alternatives --only large_kernel_as_small_ones large_kernel_as_small_ones
graph {
  input %x : f32[1x18x11x10] "x"
  %w = Constant() {splat=0.5} : f32[1x18x6x6]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x18x11x10] "x"
  %w = Constant() {splat=0.5} : f32[1x18x6x6]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x1x6x5]
  %y_2 = Constant() {splat=0.5} : f32[4x18x3x3]
  %y_3 = Conv(%x, %y_2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x4x9x8]
  %y_4 = Slice(%y_3) {starts=[0,0,0,0], sizes=[1,1,6,5], steps=[1,1,1,1]} : f32[1x1x6x5]
  %y_5 = Slice(%y_3) {starts=[0,1,0,3], sizes=[1,1,6,5], steps=[1,1,1,1]} : f32[1x1x6x5]
  %y_6 = Add(%y_4, %y_5) : f32[1x1x6x5]
  %y_7 = Slice(%y_3) {starts=[0,2,3,0], sizes=[1,1,6,5], steps=[1,1,1,1]} : f32[1x1x6x5]
  %y_8 = Add(%y_6, %y_7) : f32[1x1x6x5]
  %y_9 = Slice(%y_3) {starts=[0,3,3,3], sizes=[1,1,6,5], steps=[1,1,1,1]} : f32[1x1x6x5]
  %y |= Add(%y_8, %y_9)
  output %y "y"
}
applied large_kernel_as_small_ones: 1

// RUN: alternatives --only strided_convolution_by_phases strided_convolution_by_phases
graph {
  input %x : f32[1x1x76x76] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9]} : f32[1x1x3x3]
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x76x76] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9]} : f32[1x1x3x3]
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[0,0]} : f32[1x1x38x38]
  %y_3 = Pad(%x) {before=[0,0,1,1], after=[0,0,1,1]} : f32[1x1x78x78]
  %y_4 = Reshape(%y_3) {shape=[1,1,39,2,39,2]} : f32[1x1x39x2x39x2]
  %y_5 = Transpose(%y_4) {perm=[0,3,5,1,2,4]} : f32[1x2x2x1x39x39]
  %y_6 = Reshape(%y_5) {shape=[1,4,39,39]} : f32[1x4x39x39]
  %y_7 = Constant() {value=[1,3,7,9,2,0,8,0,4,6,0,0,5,0,0,0]} : f32[1x4x2x2]
  %y |= Conv(%y_6, %y_7) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
applied strided_convolution_by_phases: 1
