// Normalizations: the variance takes a second pass over the differences from the mean.

// RUN: fission layer_normalization
graph {
  input %a : f32[2x3x768] "a"
  input %b : f32[768] "b"
  input %c : f32[768] "c"
  %y = LayerNormalization(%a, %b, %c) {axis=2, epsilon=1e-05} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3x768] "a"
  input %b : f32[768] "b"
  input %c : f32[768] "c"
  %y.1 = ReduceSum(%a) {axes=[2]} : f32[2x3x1] @ "node"
  %y.2 = Constant() {value=[768]} : f32[] @ "node"
  %y.3 = Div(%y.1, %y.2) : f32[2x3x1] @ "node"
  %y.4 = Sub(%a, %y.3) : f32[2x3x768] @ "node"
  %y.5 = Mul(%y.4, %y.4) : f32[2x3x768] @ "node"
  %y.6 = ReduceSum(%y.5) {axes=[2]} : f32[2x3x1] @ "node"
  %y.8 = Div(%y.6, %y.2) : f32[2x3x1] @ "node"
  %y.9 = Constant() {value=[1e-05]} : f32[] @ "node"
  %y.10 = Add(%y.8, %y.9) : f32[2x3x1] @ "node"
  %y.11 = Sqrt(%y.10) : f32[2x3x1] @ "node"
  %y.12 = Reciprocal(%y.11) : f32[2x3x1] @ "node"
  %y.13 = Mul(%y.4, %y.12) : f32[2x3x768] @ "node"
  %y.14 = Mul(%y.13, %b) : f32[2x3x768] @ "node"
  %y = Add(%y.14, %c) : f32[2x3x768] @ "node"
  output %y "y"
}

// RUN: fission instance_normalization
graph {
  input %a : f32[1x32x7x7] "a"
  input %b : f32[32] "b"
  input %c : f32[32] "c"
  %y = InstanceNormalization(%a, %b, %c) {epsilon=1e-05} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x32x7x7] "a"
  input %b : f32[32] "b"
  input %c : f32[32] "c"
  %y.1 = ReduceSum(%a) {axes=[2,3]} : f32[1x32x1x1] @ "node"
  %y.2 = Constant() {value=[49]} : f32[] @ "node"
  %y.3 = Div(%y.1, %y.2) : f32[1x32x1x1] @ "node"
  %y.4 = Sub(%a, %y.3) : f32[1x32x7x7] @ "node"
  %y.5 = Mul(%y.4, %y.4) : f32[1x32x7x7] @ "node"
  %y.6 = ReduceSum(%y.5) {axes=[2,3]} : f32[1x32x1x1] @ "node"
  %y.8 = Div(%y.6, %y.2) : f32[1x32x1x1] @ "node"
  %y.9 = Constant() {value=[1e-05]} : f32[] @ "node"
  %y.10 = Add(%y.8, %y.9) : f32[1x32x1x1] @ "node"
  %y.11 = Sqrt(%y.10) : f32[1x32x1x1] @ "node"
  %y.12 = Reciprocal(%y.11) : f32[1x32x1x1] @ "node"
  %y.13 = Reshape(%b) {shape=[32,1,1]} : f32[32x1x1] @ "node"
  %y.14 = Mul(%y.12, %y.13) : f32[1x32x1x1] @ "node"
  %y.15 = Reshape(%c) {shape=[32,1,1]} : f32[32x1x1] @ "node"
  %y.16 = Mul(%y.4, %y.14) : f32[1x32x7x7] @ "node"
  %y = Add(%y.16, %y.15) : f32[1x32x7x7] @ "node"
  output %y "y"
}

// RUN: fission instance_normalization_of_ones_and_zeros
graph {
  input %x : f32[1x32x7x7] "x"
  %one = Constant() {splat=1} : f32[32]
  %zero = Constant() {splat=0} : f32[32]
  %y = InstanceNormalization(%x, %one, %zero) {epsilon=1e-05} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x32x7x7] "x"
  %y.1 = ReduceSum(%x) {axes=[2,3]} : f32[1x32x1x1] @ "node"
  %y.2 = Constant() {value=[49]} : f32[] @ "node"
  %y.3 = Div(%y.1, %y.2) : f32[1x32x1x1] @ "node"
  %y.4 = Sub(%x, %y.3) : f32[1x32x7x7] @ "node"
  %y.5 = Mul(%y.4, %y.4) : f32[1x32x7x7] @ "node"
  %y.6 = ReduceSum(%y.5) {axes=[2,3]} : f32[1x32x1x1] @ "node"
  %y.8 = Div(%y.6, %y.2) : f32[1x32x1x1] @ "node"
  %y.9 = Constant() {value=[1e-05]} : f32[] @ "node"
  %y.10 = Add(%y.8, %y.9) : f32[1x32x1x1] @ "node"
  %y.11 = Sqrt(%y.10) : f32[1x32x1x1] @ "node"
  %y.12 = Reciprocal(%y.11) : f32[1x32x1x1] @ "node"
  %y.16 = Mul(%y.4, %y.12) : f32[1x32x7x7] @ "node"
  output %y.16 "y"
}

// RUN: fission group_normalization
graph {
  input %a : f32[1x32x8x8] "a"
  input %b : f32[32] "b"
  input %c : f32[32] "c"
  %y = GroupNormalization(%a, %b, %c) {groups=4, epsilon=1e-05} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x32x8x8] "a"
  input %b : f32[32] "b"
  input %c : f32[32] "c"
  %y.1 = Reshape(%a) {shape=[1,4,8,8,8]} : f32[1x4x8x8x8] @ "node"
  %y.2 = ReduceSum(%y.1) {axes=[2,3,4]} : f32[1x4x1x1x1] @ "node"
  %y.3 = Constant() {value=[0.001953125]} : f32[] @ "node"
  %y.4 = Mul(%y.2, %y.3) : f32[1x4x1x1x1] @ "node"
  %y.5 = Sub(%y.1, %y.4) : f32[1x4x8x8x8] @ "node"
  %y.6 = Mul(%y.5, %y.5) : f32[1x4x8x8x8] @ "node"
  %y.7 = ReduceSum(%y.6) {axes=[2,3,4]} : f32[1x4x1x1x1] @ "node"
  %y.9 = Mul(%y.7, %y.3) : f32[1x4x1x1x1] @ "node"
  %y.10 = Constant() {value=[1e-05]} : f32[] @ "node"
  %y.11 = Add(%y.9, %y.10) : f32[1x4x1x1x1] @ "node"
  %y.12 = Sqrt(%y.11) : f32[1x4x1x1x1] @ "node"
  %y.13 = Reciprocal(%y.12) : f32[1x4x1x1x1] @ "node"
  %y.14 = Reshape(%b) {shape=[4,8,1,1]} : f32[4x8x1x1] @ "node"
  %y.15 = Mul(%y.13, %y.14) : f32[1x4x8x1x1] @ "node"
  %y.16 = Reshape(%c) {shape=[4,8,1,1]} : f32[4x8x1x1] @ "node"
  %y.17 = Mul(%y.5, %y.15) : f32[1x4x8x8x8] @ "node"
  %y.18 = Add(%y.17, %y.16) : f32[1x4x8x8x8] @ "node"
  %y = Reshape(%y.18) {shape=[1,32,8,8]} : f32[1x32x8x8] @ "node"
  output %y "y"
}

// RUN: fission batch_normalization
graph {
  input %x : f32[1x2x8x8] "x"
  %scale = Constant() {value=[1,4]} : f32[2]
  %bias = Constant() {value=[0,1]} : f32[2]
  %mean = Constant() {value=[0.5,-0.5]} : f32[2]
  %variance = Constant() {value=[1,4]} : f32[2]
  %y = BatchNormalization(%x, %scale, %bias, %mean, %variance) {epsilon=0} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x2x8x8] "x"
  %y.7 = Constant() {value=[1,2]} : f32[2x1x1] @ "node"
  %y.8 = Mul(%x, %y.7) : f32[1x2x8x8] @ "node"
  %y.6 = Constant() {value=[-0.5,2]} : f32[2x1x1] @ "node"
  %y = Add(%y.8, %y.6) : f32[1x2x8x8] @ "node"
  output %y "y"
}

// RUN: fission mean_variance_normalization
graph {
  input %a : f32[2x3x4x4] "a"
  %y = MeanVarianceNormalization(%a) {axes=[0,2,3]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3x4x4] "a"
  %y.1 = ReduceSum(%a) {axes=[0,2,3]} : f32[1x3x1x1] @ "node"
  %y.2 = Constant() {value=[0.03125]} : f32[] @ "node"
  %y.3 = Mul(%y.1, %y.2) : f32[1x3x1x1] @ "node"
  %y.4 = Sub(%a, %y.3) : f32[2x3x4x4] @ "node"
  %y.5 = Mul(%y.4, %y.4) : f32[2x3x4x4] @ "node"
  %y.6 = ReduceSum(%y.5) {axes=[0,2,3]} : f32[1x3x1x1] @ "node"
  %y.8 = Mul(%y.6, %y.2) : f32[1x3x1x1] @ "node"
  %y.9 = Sqrt(%y.8) : f32[1x3x1x1] @ "node"
  %y.10 = Constant() {value=[1e-09]} : f32[] @ "node"
  %y.11 = Add(%y.9, %y.10) : f32[1x3x1x1] @ "node"
  %y.12 = Reciprocal(%y.11) : f32[1x3x1x1] @ "node"
  %y = Mul(%y.4, %y.12) : f32[2x3x4x4] @ "node"
  output %y "y"
}

// RUN: fission lp_normalization
graph {
  input %a : f32[2x3] "a"
  %y = LpNormalization(%a) {axis=1, groups=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Mul(%a, %a) : f32[2x3] @ "node"
  %y.2 = ReduceSum(%y.1) {axes=[1]} : f32[2x1] @ "node"
  %y.3 = Sqrt(%y.2) : f32[2x1] @ "node"
  %y.4 = Constant() {value=[0]} : f32[] @ "node"
  %y.5 = Equal(%y.3, %y.4) : bool[2x1] @ "node"
  %y.6 = Constant() {value=[1]} : f32[] @ "node"
  %y.7 = Where(%y.5, %y.6, %y.3) : f32[2x1] @ "node"
  %y = Div(%a, %y.7) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission lp_normalization_of_order_three
graph {
  input %a : f32[2x3] "a"
  %y = LpNormalization(%a) {axis=1, groups=3} @ "node"
  output %y "y"
}
// EXPECT:
error: LpNormalization node 'node' with inputs f32[2x3]: p = 3, only 1 and 2 are known

// RUN: fission lrn
graph {
  input %a : f32[1x8x4x4] "a"
  %y = LRN(%a) {alpha=0.0001, beta=0.75, bias=1, size=5} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x8x4x4] "a"
  %y.1 = Mul(%a, %a) : f32[1x8x4x4] @ "node"
  %y.2 = Reshape(%y.1) {shape=[1,1,8,16]} : f32[1x1x8x16] @ "node"
  %y.3 = WindowSum(%y.2) {kernel=[5,1], strides=[1,1], dilations=[1,1], pads_before=[2,0], pads_after=[2,0]} : f32[1x1x8x16] @ "node"
  %y.4 = Reshape(%y.3) {shape=[1,8,4,4]} : f32[1x8x4x4] @ "node"
  %y.5 = Constant() {value=[2e-05]} : f32[] @ "node"
  %y.6 = Mul(%y.4, %y.5) : f32[1x8x4x4] @ "node"
  %y.7 = Constant() {value=[1]} : f32[] @ "node"
  %y.8 = Add(%y.6, %y.7) : f32[1x8x4x4] @ "node"
  %y.9 = Constant() {value=[0.75]} : f32[] @ "node"
  %y.10 = Pow(%y.8, %y.9) : f32[1x8x4x4] @ "node"
  %y = Div(%a, %y.10) : f32[1x8x4x4] @ "node"
  output %y "y"
}
