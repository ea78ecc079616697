// Reductions with arithmetic around the sum.

// RUN: fission reduce_mean
graph {
  input %a : f32[2x3x7] "a"
  %y = ReduceMean(%a) {axes=[1,2]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3x7] "a"
  %y.1 = ReduceSum(%a) {axes=[1,2]} : f32[2x1x1] @ "node"
  %y.2 = Constant() {value=[21]} : f32[] @ "node"
  %y = Div(%y.1, %y.2) : f32[2x1x1] @ "node"
  output %y "y"
}

// RUN: fission reduce_mean_of_eight
graph {
  input %a : f32[2x8] "a"
  %y = ReduceMean(%a) {axes=[1], keepdims=false} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x8] "a"
  %y.1 = ReduceSum(%a) {axes=[1], keepdims=false} : f32[2] @ "node"
  %y.2 = Constant() {value=[0.125]} : f32[] @ "node"
  %y = Mul(%y.1, %y.2) : f32[2] @ "node"
  output %y "y"
}

// RUN: fission reduce_l1
graph {
  input %a : f32[2x3] "a"
  %y = ReduceL1(%a) {axes=[1]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Abs(%a) : f32[2x3] @ "node"
  %y = ReduceSum(%y.1) {axes=[1]} : f32[2x1] @ "node"
  output %y "y"
}

// RUN: fission reduce_l2
graph {
  input %a : f32[2x3] "a"
  %y = ReduceL2(%a) {axes=[1]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Mul(%a, %a) : f32[2x3] @ "node"
  %y.2 = ReduceSum(%y.1) {axes=[1]} : f32[2x1] @ "node"
  %y = Sqrt(%y.2) : f32[2x1] @ "node"
  output %y "y"
}

// RUN: fission reduce_log_sum
graph {
  input %a : f32[2x3] "a"
  %y = ReduceLogSum(%a) {axes=[1]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = ReduceSum(%a) {axes=[1]} : f32[2x1] @ "node"
  %y = Log(%y.1) : f32[2x1] @ "node"
  output %y "y"
}

// RUN: fission reduce_log_sum_exp
graph {
  input %a : f32[2x3] "a"
  %y = ReduceLogSumExp(%a) {axes=[1], keepdims=false} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = ReduceMax(%a) {axes=[1]} : f32[2x1] @ "node"
  %y.2 = IsInf(%y.1) {alpha=1, beta=1} : bool[2x1] @ "node"
  %y.3 = Constant() {value=[0]} : f32[] @ "node"
  %y.4 = Where(%y.2, %y.3, %y.1) : f32[2x1] @ "node"
  %y.5 = Sub(%a, %y.4) : f32[2x3] @ "node"
  %y.6 = Exp(%y.5) : f32[2x3] @ "node"
  %y.7 = ReduceSum(%y.6) {axes=[1], keepdims=false} : f32[2] @ "node"
  %y.8 = Reshape(%y.4) {shape=[2]} : f32[2] @ "node"
  %y.9 = Log(%y.7) : f32[2] @ "node"
  %y = Add(%y.9, %y.8) : f32[2] @ "node"
  output %y "y"
}

// RUN: fission reduce_sum_square
graph {
  input %a : f32[2x3] "a"
  %y = ReduceSumSquare(%a) {axes=[1]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Mul(%a, %a) : f32[2x3] @ "node"
  %y = ReduceSum(%y.1) {axes=[1]} : f32[2x1] @ "node"
  output %y "y"
}
