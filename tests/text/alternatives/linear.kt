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
// EXPECT:
graph {
  input %low : f32[1x1x2x2] "low"
  input %high : f32[1x1x4x4] "high"
  %w = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %apart = Reshape(%low) {shape=[1,1,2,1,2,1]} : f32[1x1x2x1x2x1]
  %repeated = Expand(%apart) {shape=[1,1,2,2,2,2]} : f32[1x1x2x2x2x2]
  %up = Reshape(%repeated) {shape=[1,1,4,4]} : f32[1x1x4x4]
  %both = Concat(%up, %high) {axis=1} : f32[1x2x4x4]
  %y = Conv(%both, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x4]
  %y_0 = Constant() {value=[1,3]} : f32[2x1x1x1]
  %y_1 = Conv(%up, %y_0) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x4]
  %y_2 = Constant() {value=[2,4]} : f32[2x1x1x1]
  %y_3 = Conv(%high, %y_2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x4]
  %y |= Add(%y_1, %y_3)
  output %y "y"
}
applied convolution_over_concat: 1

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
// EXPECT:
graph {
  input %x : f32[1x2x2x2] "x"
  %w = Constant() {value=[1,2,3,4]} : f32[2x2x1x1]
  %apart = Reshape(%x) {shape=[1,2,2,1,2,1]} : f32[1x2x2x1x2x1]
  %repeated = Expand(%apart) {shape=[1,2,2,2,2,2]} : f32[1x2x2x2x2x2]
  %up = Reshape(%repeated) {shape=[1,2,4,4]} : f32[1x2x4x4]
  %y = Conv(%up, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x4x4]
  %y_0 = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x2x2]
  %y_1 = Reshape(%y_0) {shape=[1,2,2,1,2,1]} : f32[1x2x2x1x2x1]
  %y_2 = Expand(%y_1) {shape=[1,2,2,2,2,2]} : f32[1x2x2x2x2x2]
  %y |= Reshape(%y_2) {shape=[1,2,4,4]}
  output %y "y"
}
applied channel_map_before_upsampling: 1

// RUN: alternatives --only pointwise_convolution_as_matmul pointwise_convolution_as_matmul
graph {
  input %rows : f32[1x3x4x2] "rows"
  %w = Constant() {value=[1,2,3,4,5,6]} : f32[3x2x1x1]
  %x = Transpose(%rows) {perm=[0,3,1,2]}
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  output %y "y"
}
// EXPECT:
graph {
  input %rows : f32[1x3x4x2] "rows"
  %w = Constant() {value=[1,2,3,4,5,6]} : f32[3x2x1x1]
  %x = Transpose(%rows) {perm=[0,3,1,2]} : f32[1x2x3x4]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x3x3x4]
  %y_0 = Reshape(%rows) {shape=[1,12,2]} : f32[1x12x2]
  %y_1 = Constant() {value=[1,2,3,4,5,6]} : f32[3x2]
  %y_2 = MatMul(%y_0, %y_1) {transpose_b=true} : f32[1x12x3]
  %y_3 = Reshape(%y_2) {shape=[1,3,4,3]} : f32[1x3x4x3]
  %y |= Transpose(%y_3) {perm=[0,3,1,2]}
  output %y "y"
}
applied pointwise_convolution_as_matmul: 1

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
// EXPECT:
graph {
  input %x : f32[6x2] "x"
  %a = Constant() {value=[1,0,2,0,3,0,0,1,0,2,0,3]} : f32[2x6]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[6x2]
  %bias = Constant() {value=[1,1,1,1,1,2]} : f32[6]
  %xa = MatMul(%x, %a) : f32[6x6]
  %sum = Add(%xa, %bias) : f32[6x6]
  %y = MatMul(%sum, %b) : f32[6x2]
  %y_0 = Constant() {value=[38,44,50,56]} : f32[2x2]
  %y_1 = MatMul(%x, %y_0) : f32[6x2]
  %y_4 = Constant() {value=[47,54]} : f32[2]
  %y |= Add(%y_1, %y_4)
  output %y "y"
}
applied compose_constant_matmuls: 1

// RUN: alternatives --only compose_constant_matmuls --strict never_when_strict
graph {
  input %x : f32[6x2] "x"
  %a = Constant() {value=[1,0,2,0,3,0,0,1,0,2,0,3]} : f32[2x6]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[6x2]
  %xa = MatMul(%x, %a)
  %y = MatMul(%xa, %b)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[6x2] "x"
  %a = Constant() {value=[1,0,2,0,3,0,0,1,0,2,0,3]} : f32[2x6]
  %b = Constant() {value=[1,2,3,4,5,6,7,8,9,10,11,12]} : f32[6x2]
  %xa = MatMul(%x, %a) : f32[6x6]
  %y = MatMul(%xa, %b) : f32[6x2]
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
// EXPECT:
graph {
  input %x : f32[3x2] "x"
  %w1 = Constant() {value=[1,2,3,4]} : f32[2x2]
  %w2 = Constant() {value=[5,6,7,8,9,10]} : f32[2x3]
  %p1 = MatMul(%x, %w1) : f32[3x2]
  %p2 = MatMul(%x, %w2) : f32[3x3]
  %q = Relu(%p1) : f32[3x2]
  %k = Relu(%p2) : f32[3x3]
  %p1_0 = Constant() {value=[1,2,5,6,7,3,4,8,9,10]} : f32[2x5]
  %p1_1 = MatMul(%x, %p1_0) : f32[3x5]
  %p1_2 = Relu(%p1_1) : f32[3x5]
  %q |= Slice(%p1_2) {starts=[0,0], sizes=[3,2], steps=[1,1]}
  %k |= Slice(%p1_2) {starts=[0,2], sizes=[3,3], steps=[1,1]}
  output %q "q"
  output %k "k"
}
applied merge_linear: 2

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
// EXPECT:
graph {
  input %x : f32[2x3] "x"
  %w = Constant() {splat=0.5} : f32[3x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w) : f32[2x24]
  %s = Add(%p, %b) : f32[2x24]
  %y = Slice(%s) {starts=[0,2], sizes=[2,16], steps=[1,1]} : f32[2x16]
  %r = Relu(%s) : f32[2x24]
  %y_0 = Constant() {splat=0.5} : f32[3x16]
  %y_1 = MatMul(%x, %y_0) : f32[2x16]
  %y_2 = Constant() {value=[0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25,0.25]} : f32[16]
  %y |= Add(%y_1, %y_2)
  output %y "y"
  output %r "r"
}
applied slice_before_linear: 1

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
// EXPECT:
graph {
  input %x : f32[1x1x3x3] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7]} : f32[7x1x1x1]
  %b = Constant() {value=[10,20,30,40,50,60,70]} : f32[7x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x7x3x3]
  %s = Add(%c, %b) : f32[1x7x3x3]
  %last = Slice(%s) {starts=[0,4,0,0], sizes=[1,2,3,3], steps=[1,1,1,1]} : f32[1x2x3x3]
  %first = Slice(%s) {starts=[0,1,0,0], sizes=[1,3,3,3], steps=[1,1,1,1]} : f32[1x3x3x3]
  %y = Concat(%last, %first) {axis=1} : f32[1x5x3x3]
  %y_2 = Constant() {value=[5,6,2,3,4]} : f32[5x1x1x1]
  %y_3 = Conv(%x, %y_2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x5x3x3]
  %y_6 = Constant() {value=[50,60,20,30,40]} : f32[5x1x1]
  %y |= Add(%y_3, %y_6)
  output %y "y"
}
applied concat_of_slices_before_linear: 1
