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

// RUN: alternatives --only winograd winograd
graph {
  input %x : f32[1x2x16x16] "x"
  %w = Constant() {splat=0.5} : f32[3x2x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: alternatives --only strassen strassen
graph {
  input %x : f32[1x128x2x4] "x"
  %w = Constant() {splat=0.5} : f32[128x128x1x1]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

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

// RUN: alternatives --only transposed_convolution_as_convolution transposed_convolution_as_convolution
graph {
  input %x : f32[1x1x3x4] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[1x1x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}

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

// RUN: alternatives --only large_kernel_as_small_ones large_kernel_as_small_ones
graph {
  input %x : f32[1x18x11x10] "x"
  %w = Constant() {splat=0.5} : f32[1x18x6x6]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

// RUN: alternatives --only strided_convolution_by_phases strided_convolution_by_phases
graph {
  input %x : f32[1x1x76x76] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8,9]} : f32[1x1x3x3]
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[0,0]}
  output %y "y"
}
