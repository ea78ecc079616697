// Average pooling: a window sum and a division by the number of elements of each window.

// RUN: fission average_pool
graph {
  input %a : f32[1x4x6x6] "a"
  %y = AveragePool(%a) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x6x6] "a"
  %y.1 = WindowSum(%a) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x4x3x3] @ "node"
  %y.2 = Constant() {value=[0.25]} : f32[] @ "node"
  %y = Mul(%y.1, %y.2) : f32[1x4x3x3] @ "node"
  output %y "y"
}

// RUN: fission average_pool_with_padding
graph {
  input %a : f32[1x4x3x4] "a"
  %y = AveragePool(%a) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x3x4] "a"
  %y.1 = WindowSum(%a) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x4x3x4] @ "node"
  %y.2 = Constant() {value=[4,6,6,4,6,9,9,6,4,6,6,4]} : f32[3x4] @ "node"
  %y = Div(%y.1, %y.2) : f32[1x4x3x4] @ "node"
  output %y "y"
}

// RUN: fission average_pool_that_counts_padding
graph {
  input %a : f32[1x4x3x4] "a"
  %y = AveragePool(%a) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=true} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x4x3x4] "a"
  %y.1 = WindowSum(%a) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=true} : f32[1x4x3x4] @ "node"
  %y.2 = Constant() {value=[9]} : f32[] @ "node"
  %y = Div(%y.1, %y.2) : f32[1x4x3x4] @ "node"
  output %y "y"
}
