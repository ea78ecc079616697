// Softmax and its relatives: the max is subtracted before the exponential.

// RUN: fission softmax
graph {
  input %a : f32[2x3x5] "a"
  %y = Softmax(%a) {axis=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3x5] "a"
  %y.1 = ReduceMax(%a) {axes=[2]} : f32[2x3x1] @ "node"
  %y.2 = Sub(%a, %y.1) : f32[2x3x5] @ "node"
  %y.3 = Exp(%y.2) : f32[2x3x5] @ "node"
  %y.4 = ReduceSum(%y.3) {axes=[2]} : f32[2x3x1] @ "node"
  %y.5 = Reciprocal(%y.4) : f32[2x3x1] @ "node"
  %y = Mul(%y.3, %y.5) : f32[2x3x5] @ "node"
  output %y "y"
}

// RUN: fission log_softmax
graph {
  input %a : f32[2x5] "a"
  %y = LogSoftmax(%a) {axis=1} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x5] "a"
  %y.1 = ReduceMax(%a) {axes=[1]} : f32[2x1] @ "node"
  %y.2 = Sub(%a, %y.1) : f32[2x5] @ "node"
  %y.3 = Exp(%y.2) : f32[2x5] @ "node"
  %y.4 = ReduceSum(%y.3) {axes=[1]} : f32[2x1] @ "node"
  %y.5 = Log(%y.4) : f32[2x1] @ "node"
  %y = Sub(%y.2, %y.5) : f32[2x5] @ "node"
  output %y "y"
}

// RUN: fission hardmax
graph {
  input %a : f32[2x5] "a"
  %y = Hardmax(%a) {axis=1} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x5] "a"
  %y.1 = ArgMax(%a) {axis=1} : i64[2x1] @ "node"
  %y.2 = Constant() {value=[0,1,2,3,4]} : i64[5] @ "node"
  %y.3 = Equal(%y.2, %y.1) : bool[2x5] @ "node"
  %y = Cast(%y.3) : f32[2x5] @ "node"
  output %y "y"
}
