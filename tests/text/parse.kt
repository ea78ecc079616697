// The textual form itself (korch/ir/text.h).

// RUN: parse round_trip
graph {
  // defaults are left out, names sanitized
  input %x : f32[1x3x8x8] "image"
  %w = Constant() {splat=0.5} : f32[4x3x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], group=1}
  %z = Relu(%y) @ "Relu_0"
  %zero = Constant() {value=[0]} : f32[]
  %z |= Max(%y, %zero) @ "Relu_0", "rule"
  output %z "out"
}
// EXPECT:
graph {
  input %image : f32[1x3x8x8] "image"
  %w = Constant() {splat=0.5} : f32[4x3x3x3]
  %y = Conv(%image, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]} : f32[1x4x8x8]
  %z = Relu(%y) : f32[1x4x8x8] @ "Relu_0"
  %zero = Constant() {value=[0]} : f32[]
  %z |= Max(%y, %zero) @ "Relu_0", "rule"
  output %z "out"
}

// RUN: parse shape_error
graph {
  input %x : f32[2x3] "x"
  %y = MatMul(%x, %x)
  output %y "y"
}
// EXPECT:
error: line 3, column 3: MatMul(f32[2x3], f32[2x3]): inner extents 3 and 2 differ
