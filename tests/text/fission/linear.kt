// Linear operators: what is added to the product becomes elementwise.

// RUN: fission convolution_with_bias
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[4x3x3x3] "b"
  input %c : f32[4] "c"
  %y = Conv(%a, %b, %c) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[4x3x3x3] "b"
  input %c : f32[4] "c"
  %y.1 = Conv(%a, %b) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} : f32[1x4x8x8] @ "node"
  %y.2 = Reshape(%c) {shape=[4,1,1]} : f32[4x1x1] @ "node"
  %y = Add(%y.1, %y.2) : f32[1x4x8x8] @ "node"
  output %y "y"
}

// RUN: fission convolution_without_bias
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[4x3x3x3] "b"
  %y = Conv(%a, %b) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[4x3x3x3] "b"
  %y = Conv(%a, %b) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} : f32[1x4x8x8] @ "node"
  output %y "y"
}

// RUN: fission transposed_convolution_with_bias
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[3x4x3x3] "b"
  input %c : f32[4] "c"
  %y = ConvTranspose(%a, %b, %c) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x3x8x8] "a"
  input %b : f32[3x4x3x3] "b"
  input %c : f32[4] "c"
  %y.1 = ConvTranspose(%a, %b) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]} : f32[1x4x8x8] @ "node"
  %y.2 = Reshape(%c) {shape=[4,1,1]} : f32[4x1x1] @ "node"
  %y = Add(%y.1, %y.2) : f32[1x4x8x8] @ "node"
  output %y "y"
}

// RUN: fission gemm
graph {
  input %a : f32[2x16] "a"
  input %b : f32[10x16] "b"
  input %c : f32[10] "c"
  %y = Gemm(%a, %b, %c) {transpose_b=true} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x16] "a"
  input %b : f32[10x16] "b"
  input %c : f32[10] "c"
  %y.1 = MatMul(%a, %b) {transpose_b=true} : f32[2x10] @ "node"
  %y = Add(%y.1, %c) : f32[2x10] @ "node"
  output %y "y"
}

// RUN: fission gemm_scaled
graph {
  input %a : f32[2x16] "a"
  input %b : f32[16x10] "b"
  input %c : f32[10] "c"
  %y = Gemm(%a, %b, %c) {alpha=0.5, beta=2} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x16] "a"
  input %b : f32[16x10] "b"
  input %c : f32[10] "c"
  %y.1 = MatMul(%a, %b) : f32[2x10] @ "node"
  %y.2 = Constant() {value=[0.5]} : f32[] @ "node"
  %y.3 = Mul(%y.1, %y.2) : f32[2x10] @ "node"
  %y.4 = Constant() {value=[2]} : f32[] @ "node"
  %y.5 = Mul(%c, %y.4) : f32[10] @ "node"
  %y = Add(%y.3, %y.5) : f32[2x10] @ "node"
  output %y "y"
}

// RUN: fission einsum_attention
graph {
  input %a : f32[1x6x128x64] "a"
  input %b : f32[1x6x77x64] "b"
  %y = Einsum(%a, %b) {equation="bhid,bhjd->bhij"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x6x128x64] "a"
  input %b : f32[1x6x77x64] "b"
  %y = MatMul(%a, %b) {transpose_b=true} : f32[1x6x128x77] @ "node"
  output %y "y"
}

// RUN: fission einsum_heads_inside
graph {
  input %a : f32[1x128x6x64] "a"
  input %b : f32[1x77x6x64] "b"
  %y = Einsum(%a, %b) {equation="bihd,bjhd->bhij"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[1x128x6x64] "a"
  input %b : f32[1x77x6x64] "b"
  %y.1 = Transpose(%a) {perm=[0,2,1,3]} : f32[1x6x128x64] @ "node"
  %y.2 = Transpose(%b) {perm=[0,2,1,3]} : f32[1x6x77x64] @ "node"
  %y = MatMul(%y.1, %y.2) {transpose_b=true} : f32[1x6x128x77] @ "node"
  output %y "y"
}

// RUN: fission einsum_three_operands
graph {
  input %a : f32[3x4] "a"
  input %b : f32[4x5] "b"
  input %c : f32[5] "c"
  %y = Einsum(%a, %b, %c) {equation="ij,jk,k->i"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[3x4] "a"
  input %b : f32[4x5] "b"
  input %c : f32[5] "c"
  %y.1 = MatMul(%a, %b) : f32[3x5] @ "node"
  %y.2 = Reshape(%c) {shape=[5,1]} : f32[5x1] @ "node"
  %y.3 = MatMul(%y.1, %y.2) : f32[3x1] @ "node"
  %y = Reshape(%y.3) {shape=[3]} : f32[3] @ "node"
  output %y "y"
}

// RUN: fission einsum_diagonal
graph {
  input %a : f32[3x3] "a"
  %y = Einsum(%a) {equation="ii->i"} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[3x3] "a"
  %y.1 = Reshape(%a) {shape=[9]} : f32[9] @ "node"
  %y = Slice(%y.1) {starts=[0], sizes=[3], steps=[4]} : f32[3] @ "node"
  output %y "y"
}
