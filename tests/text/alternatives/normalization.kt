// Sums, softmax and activations (rewrite/normalization.cpp, attention.cpp, activation.cpp).

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

// RUN: alternatives --only sum_as_matmul sum_as_matmul
graph {
  input %x : f32[2x3x4] "x"
  input %b : f32[2x4x5] "b"
  %y = MatMul(%x, %b)
  %s = ReduceSum(%x) {axes=[2]}
  output %y "y"
  output %s "s"
}

// RUN: alternatives --only online_attention online_attention
// A factor, a mask, keys by rows.
graph {
  input %q : f32[2x256x8] "q"
  input %k : f32[2x512x8] "k"
  input %v : f32[2x512x4] "v"
  input %mask : f32[256x512] "mask"
  %c = Constant() {value=[0.5]} : f32[]
  %qk = MatMul(%q, %k) {transpose_b=true}
  %scaled = Mul(%qk, %c)
  %scores = Add(%scaled, %mask)
  %max = ReduceMax(%scores) {axes=[2]}
  %d = Sub(%scores, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %sum)
  %y = MatMul(%p, %v)
  output %y "y"
}

// RUN: alternatives --only online_attention scores_fit_the_cache
graph {
  input %q : f32[2x16x8] "q"
  input %k : f32[2x32x8] "k"
  input %v : f32[2x32x4] "v"
  %scores = MatMul(%q, %k) {transpose_b=true}
  %max = ReduceMax(%scores) {axes=[2]}
  %d = Sub(%scores, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %sum)
  %y = MatMul(%p, %v)
  output %y "y"
}

// RUN: alternatives --only tanh_of_softplus tanh_of_softplus
graph {
  input %x : f32[7] "x"
  %s = Softplus(%x)
  %y = Tanh(%s)
  output %y "y"
}
