// Factors and constant vectors around linear primitives (rewrite/scaling.cpp, constant_vectors.cpp).

// RUN: alternatives --only factor_into_constant factor_into_constant
// Through the second product, into the first one's weights and bias.
graph {
  input %x : f32[3x2] "x"
  input %k : f32[3x5] "k"
  %w = Constant() {value=[1,2,3,4]} : f32[2x2]
  %b = Constant() {value=[5,6]} : f32[2]
  %c = Constant() {value=[4]} : f32[]
  %p = MatMul(%x, %w)
  %q = Add(%p, %b)
  %t = Transpose(%q) {perm=[1,0]}
  %scores = MatMul(%t, %k)
  %y = Div(%scores, %c)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3x2] "x"
  input %k : f32[3x5] "k"
  %y_1 = Constant() {value=[0.25,0.5,0.75,1]} : f32[2x2]
  %y_2 = MatMul(%x, %y_1) : f32[3x2]
  %y_3 = Constant() {value=[1.25,1.5]} : f32[2]
  %y_4 = Add(%y_2, %y_3) : f32[3x2]
  %y_5 = Transpose(%y_4) {perm=[1,0]} : f32[2x3]
  %y = MatMul(%y_5, %k) : f32[2x5]
  output %y "y"
}
applied factor_into_constant: 1

// RUN: alternatives --only factor_after_matmul factor_after_matmul
// Softmax's division comes after the product.
graph {
  input %e : f32[2x3x8] "e"
  input %v : f32[2x8x4] "v"
  %sum = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %sum)
  %y = MatMul(%p, %v)
  output %y "y"
}
// EXPECT:
graph {
  input %e : f32[2x3x8] "e"
  input %v : f32[2x8x4] "v"
  %sum = ReduceSum(%e) {axes=[2]} : f32[2x3x1]
  %p = Div(%e, %sum) : f32[2x3x8]
  %y = MatMul(%p, %v) : f32[2x3x4]
  %y_0 = MatMul(%e, %v) : f32[2x3x4]
  %y |= Div(%y_0, %sum)
  output %y "y"
}
applied factor_after_matmul: 1

// RUN: alternatives --only vector_before_linear vector_before_linear
graph {
  input %x : f32[3x2] "x"
  %scale = Constant() {value=[2,4]} : f32[2]
  %shift = Constant() {value=[1,3]} : f32[2]
  %w = Constant() {value=[1,2,3,4,5,6]} : f32[2x3]
  %b = Constant() {value=[10,20,30]} : f32[3]
  %scaled = Mul(%x, %scale)
  %shifted = Add(%scaled, %shift)
  %p = MatMul(%shifted, %w)
  %y = Add(%p, %b)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3x2] "x"
  %b = Constant() {value=[10,20,30]} : f32[3]
  %p_4 = Constant() {value=[13,17,21]} : f32[3]
  %p_7 = Constant() {value=[2,4,6,16,20,24]} : f32[2x3]
  %p_0 = MatMul(%x, %p_7) : f32[3x3]
  %p = Add(%p_0, %p_4) : f32[3x3]
  %y = Add(%p, %b) : f32[3x3]
  output %y "y"
}
applied vector_before_linear: 2

// RUN: alternatives --only factors_after_linear factors_after_linear
graph {
  input %x : f32[1x1x3x3] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[2x1x2x2]
  %b = Constant() {value=[1,2]} : f32[2x1x1]
  %v = Constant() {value=[10,100]} : f32[2x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %s = Add(%c, %b)
  %y = Mul(%s, %v)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x3x3] "x"
  %y_1 = Constant() {value=[10,20,30,40,500,600,700,800]} : f32[2x1x2x2]
  %y_2 = Conv(%x, %y_1) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x2x2]
  %y_3 = Constant() {value=[10,200]} : f32[2x1x1]
  %y = Add(%y_2, %y_3) : f32[1x2x2x2]
  output %y "y"
}
applied factors_after_linear: 1

// RUN: alternatives --only constants_together constants_together
graph {
  input %x : f32[3x2] "x"
  %c = Constant() {value=[1,2]} : f32[2]
  %d = Constant() {value=[10]} : f32[1]
  %s = Add(%x, %c)
  %y = Add(%s, %d)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3x2] "x"
  %y_0 = Constant() {value=[11,12]} : f32[2]
  %y = Add(%x, %y_0) : f32[3x2]
  output %y "y"
}
applied constants_together: 1
