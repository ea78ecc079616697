// Sums, softmax and activations (rewrite/normalization.cpp, activation.cpp).

// RUN: alternatives --only squares_in_one_pass squares_in_one_pass
// The first element stands for the mean.
graph {
  input %x : f32[1x262208] "x"
  %n = Constant() {value=[262208]} : f32[]
  %sum = ReduceSum(%x) {axes=[1]}
  %mean = Div(%sum, %n)
  %d = Sub(%x, %mean)
  %sq = Mul(%d, %d)
  %y = ReduceSum(%sq) {axes=[1]}
  output %y "y"
  output %mean "mean"
}
// EXPECT:
graph {
  input %x : f32[1x262208] "x"
  %n = Constant() {value=[262208]} : f32[]
  %sum = ReduceSum(%x) {axes=[1]} : f32[1x1]
  %mean = Div(%sum, %n) : f32[1x1]
  %y_0 = Slice(%x) {starts=[0,0], sizes=[1,1], steps=[1,1]} : f32[1x1]
  %y_1 = Sub(%x, %y_0) : f32[1x262208]
  %y_2 = ReduceSum(%y_1) {axes=[1]} : f32[1x1]
  %y_3 = Mul(%y_1, %y_1) : f32[1x262208]
  %y_4 = ReduceSum(%y_3) {axes=[1]} : f32[1x1]
  %y_5 = Mul(%y_2, %y_2) : f32[1x1]
  %y_6 = Div(%y_5, %n) : f32[1x1]
  %y = Sub(%y_4, %y_6) : f32[1x1]
  %y_8 = Div(%y_2, %n) : f32[1x1]
  %mean |= Add(%y_0, %y_8)
  %d = Sub(%x, %mean) : f32[1x262208]
  %sq = Mul(%d, %d) : f32[1x262208]
  %y |= ReduceSum(%sq) {axes=[1]}
  output %y "y"
  output %mean "mean"
}
applied squares_in_one_pass: 2

// RUN: alternatives --only sum_as_matmul sum_as_matmul
graph {
  input %x : f32[2x3x4] "x"
  input %b : f32[2x4x5] "b"
  %y = MatMul(%x, %b)
  %s = ReduceSum(%x) {axes=[2]}
  output %y "y"
  output %s "s"
}
// EXPECT:
graph {
  input %x : f32[2x3x4] "x"
  input %b : f32[2x4x5] "b"
  %y = MatMul(%x, %b) : f32[2x3x5]
  %s = ReduceSum(%x) {axes=[2]} : f32[2x3x1]
  %s_0 = Pad(%b) {before=[0,0,0], after=[0,0,1], value=1} : f32[2x4x6]
  %s_1 = MatMul(%x, %s_0) : f32[2x3x6]
  %y |= Slice(%s_1) {starts=[0,0,0], sizes=[2,3,5], steps=[1,1,1]}
  %s |= Slice(%s_1) {starts=[0,0,5], sizes=[2,3,1], steps=[1,1,1]}
  output %y "y"
  output %s "s"
}
applied sum_as_matmul: 2

// RUN: alternatives --only tanh_of_softplus tanh_of_softplus
graph {
  input %x : f32[7] "x"
  %s = Softplus(%x)
  %y = Tanh(%s)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[7] "x"
  %y = TanhSoftplus(%x) : f32[7]
  output %y "y"
}
applied tanh_of_softplus: 1
