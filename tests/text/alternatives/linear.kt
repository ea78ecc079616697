// Matrix products and convolutions with other linear primitives (rewrite/linear.cpp, linear_merge.cpp).

// RUN: alternatives --only convolution_over_concat convolution_over_concat
graph {
  input %low : f32[1x1x2x2] "low"
  input %high : f32[1x1x4x4] "high"
  %w = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %apart = Reshape(%low) {shape=[1,1,2,1,2,1]}
  %repeated = Expand(%apart) {shape=[1,1,2,2,2,2]}
  %up = Reshape(%repeated) {shape=[1,1,4,4]}
  %both = Concat(%up, %high) {axis=1}
  %y = Conv(%both, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

// RUN: alternatives --only channel_map_before_upsampling channel_map_before_upsampling
graph {
  input %x : f32[1x2x2x2] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %apart = Reshape(%x) {shape=[1,2,2,1,2,1]}
  %repeated = Expand(%apart) {shape=[1,2,2,2,2,2]}
  %up = Reshape(%repeated) {shape=[1,2,4,4]}
  %y = Conv(%up, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

// RUN: alternatives --only pointwise_convolution_as_matmul pointwise_convolution_as_matmul
graph {
  input %rows : f32[1x3x4x2] "rows"
  %w = Constant() {value=[1,2,3,4,5,6]} : f32[3x2x1x1]
  %x = Transpose(%rows) {perm=[0,3,1,2]}
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}

// RUN: alternatives --only compose_constant_matmuls compose_constant_matmuls
graph {
  input %x : f32[6x2] "x"
  %a = Constant() {value=[1,0,2,0,3,0,0,1,0,2,0,3]} : f32[2x6]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[6x2]
  %bias = Constant() {value=[1,1,1,1,1,2]} : f32[6]
  %xa = MatMul(%x, %a)
  %sum = Add(%xa, %bias)
  %y = MatMul(%sum, %b)
  output %y "y"
}

// RUN: alternatives --only compose_constant_matmuls --strict never_when_strict
graph {
  input %x : f32[6x2] "x"
  %a = Constant() {value=[1,0,2,0,3,0,0,1,0,2,0,3]} : f32[2x6]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[6x2]
  %xa = MatMul(%x, %a)
  %y = MatMul(%xa, %b)
  output %y "y"
}

// RUN: alternatives --only merge_linear merge_linear
graph {
  input %x : f32[3x2] "x"
  %w1 = Constant() {value=[1,2,3,4]} : f32[2x2]
  %w2 = Constant() {value=[5,6,7,8,9,10]} : f32[2x3]
  %p1 = MatMul(%x, %w1)
  %p2 = MatMul(%x, %w2)
  %q = Relu(%p1)
  %k = Relu(%p2)
  output %q "q"
  output %k "k"
}

// RUN: alternatives --only slice_before_linear slice_before_linear
// Others read the whole product: the slice may have a product of its own.
graph {
  input %x : f32[2x3] "x"
  %w = Constant() {splat=0.5} : f32[3x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Slice(%s) {starts=[0,2], sizes=[2,16], steps=[1,1]}
  %r = Relu(%s)
  output %y "y"
  output %r "r"
}

// RUN: alternatives --only concat_of_slices_before_linear concat_of_slices_before_linear
// The second slice comes first.
graph {
  input %x : f32[1x1x3x3] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7]} : f32[7x1x1x1]
  %b = Constant() {value=[10,20,30,40,50,60,70]} : f32[7x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %s = Add(%c, %b)
  %last = Slice(%s) {starts=[0,4,0,0], sizes=[1,2,3,3], steps=[1,1,1,1]}
  %first = Slice(%s) {starts=[0,1,0,0], sizes=[1,3,3,3], steps=[1,1,1,1]}
  %y = Concat(%last, %first) {axis=1}
  output %y "y"
}
