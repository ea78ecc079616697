// Convolutions (codegen/linear).

// RUN: tiles conv_direct --layouts p0231->p0231 padded
graph {
  input %x : f32[1x4x6x6] "x"
  %w = Constant() {splat=0.5} : f32[16x4x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: tiles conv_direct --layouts rm->rm strided_row_major
graph {
  input %x : f32[1x3x8x8] "x"
  %w = Constant() {splat=0.5} : f32[16x3x2x2]
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

// RUN: tiles conv_direct --layouts p0231->p0231 pointwise_with_bias_and_relu
graph {
  input %x : f32[1x8x3x4] "x"
  %w = Constant() {splat=0.5} : f32[16x8x1x1]
  %b = Constant() {splat=0.25} : f32[16x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %s = Add(%c, %b)
  %y = Relu(%s)
  output %y "y"
}

// RUN: tiles conv_pixels --layouts rm->rm few_features
graph {
  input %x : f32[1x3x6x16] "x"
  %w = Constant() {splat=0.5} : f32[2x3x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: tiles depthwise depthwise
graph {
  input %x : f32[1x8x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x1x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=8}
  output %y "y"
}

// RUN: tiles conv_winograd winograd
graph {
  input %x : f32[1x2x6x6] "x"
  %w = Constant() {splat=0.5} : f32[8x2x3x3]
  %v = WinogradInput(%x) {tile=2, pads_before=[1,1], pads_after=[1,1]}
  %p = WinogradProduct(%v, %w) {tile=2}
  %y = WinogradOutput(%p) {tile=2, shape=[1,8,6,6]}
  output %y "y"
}

// RUN: tiles winograd_part transformed_data
graph {
  input %x : f32[1x2x6x6] "x"
  %y = WinogradInput(%x) {tile=2, pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: tiles winograd_part product_of_tiles
graph {
  input %v : f32[16x9x2] "v"
  %w = Constant() {splat=0.5} : f32[8x2x3x3]
  %y = WinogradProduct(%v, %w) {tile=2}
  output %y "y"
}

// RUN: tiles linear_generic transposed_convolution
// Each output meets only the taps that are a whole number of strides away.
graph {
  input %x : f32[1x2x3x4] "x"
  %w = Constant() {splat=0.5} : f32[2x3x2x2]
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
}
