// The simplifications after the rules.

// RUN: fission views
graph {
  input %x : f32[2x3x4] "x"
  %a = Reshape(%x) {shape=[6,4]} @ "first"
  %b = Reshape(%a) {shape=[1,6,4]} @ "second"
  %c = Transpose(%b) {perm=[1,0,2]} @ "third"
  %y = Exp(%c) @ "fourth"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x3x4] "x"
  %c = Reshape(%x) {shape=[6,1,4]} : f32[6x1x4] @ "first", "second", "third"
  %y = Exp(%c) : f32[6x1x4] @ "fourth"
  output %y "y"
}

// RUN: fission select_one_of_qkv
graph {
  input %x : f32[3x4x5] "x"
  %i = Constant() {value=[1]} : i64[]
  %y = Gather(%x, %i) {axis=0} @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3x4x5] "x"
  %y.slice = Slice(%x) {starts=[1,0,0], sizes=[1,4,5], steps=[1,1,1]} : f32[1x4x5] @ "node"
  %y = Reshape(%y.slice) {shape=[4,5]} : f32[4x5] @ "node"
  output %y "y"
}

// RUN: fission common_subexpressions
graph {
  input %x : f32[3] "x"
  %two = Constant() {value=[2]} : f32[]
  %also_two = Constant() {value=[2]} : f32[]
  %a = Pow(%x, %two) @ "first"
  %b = Pow(%x, %also_two) @ "second"
  %y = Add(%a, %b) @ "third"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3] "x"
  %a = Mul(%x, %x) : f32[3] @ "first", "second"
  %y = Add(%a, %a) : f32[3] @ "third"
  output %y "y"
}

// RUN: fission attention_scale
graph {
  input %x : f32[4x4] "x"
  %c = Constant() {value=[8]} : f32[]
  %y = Div(%x, %c) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[4x4] "x"
  %c.reciprocal = Constant() {value=[0.125]} : f32[] @ "node"
  %y = Mul(%x, %c.reciprocal) : f32[4x4] @ "node"
  output %y "y"
}

// RUN: fission keys_of_attention
graph {
  input %q : f32[1x12x128x64] "q"
  input %k : f32[1x128x12x64] "k"
  %t = Transpose(%k) {perm=[0,2,3,1]} @ "keys"
  %y = MatMul(%q, %t) @ "scores"
  output %y "y"
}
// EXPECT:
graph {
  input %q : f32[1x12x128x64] "q"
  input %k : f32[1x128x12x64] "k"
  %t.rows = Transpose(%k) {perm=[0,2,1,3]} : f32[1x12x128x64] @ "keys"
  %y = MatMul(%q, %t.rows) {transpose_b=true} : f32[1x12x128x128] @ "keys", "scores"
  output %y "y"
}

// RUN: fission image_to_rows_and_back
graph {
  input %x : f32[1x32x16x16] "x"
  %a = Reshape(%x) {shape=[1,32,256]} @ "flatten"
  %b = Transpose(%a) {perm=[0,2,1]} @ "to_rows"
  %c = Exp(%b) @ "exp"
  %d = Transpose(%c) {perm=[0,2,1]} @ "from_rows"
  %y = Reshape(%d) {shape=[1,32,16,16]} @ "unflatten"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x32x16x16] "x"
  %b.axes = Transpose(%x) {perm=[0,2,3,1]} : f32[1x16x16x32] @ "to_rows"
  %b = Reshape(%b.axes) {shape=[1,256,32]} : f32[1x256x32] @ "flatten", "to_rows"
  %c = Exp(%b) : f32[1x256x32] @ "exp"
  %y.axes = Reshape(%c) {shape=[1,16,16,32]} : f32[1x16x16x32] @ "unflatten"
  %y = Transpose(%y.axes) {perm=[0,3,1,2]} : f32[1x32x16x16] @ "from_rows", "unflatten"
  output %y "y"
}

// RUN: fission small_floats
graph {
  input %x : f16[2x8] "x"
  %c = Constant() {value=[1.5]} : f16[1]
  %a = Add(%x, %c) @ "add"
  %t = Transpose(%a) {perm=[1,0]} @ "transpose"
  %y = Exp(%t) @ "exp"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f16[2x8] "x"
  %x.f32 = Cast(%x) : f32[2x8] @ "add"
  %c.f32 = Constant() {value=[1.5]} : f32[] @ "add"
  %a.f32 = Add(%x.f32, %c.f32) : f32[2x8] @ "add"
  %a = Cast(%a.f32) {to=f16} : f16[2x8] @ "add"
  %t = Transpose(%a) {perm=[1,0]} : f16[8x2] @ "transpose"
  %t.f32 = Cast(%t) : f32[8x2] @ "exp"
  %y.f32 = Exp(%t.f32) : f32[8x2] @ "exp"
  %y = Cast(%y.f32) {to=f16} : f16[8x2] @ "exp"
  output %y "y"
}

// RUN: fission nothing_there
graph {
  input %x : f32[0x3] "x"
  input %z : f32[2x3] "z"
  %s = ReduceSum(%x) {axes=[0], keepdims=true} @ "sum"
  %c = Concat(%x, %z) {axis=0} @ "concat"
  %y = Mul(%c, %s) @ "mul"
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[0x3] "x"
  input %z : f32[2x3] "z"
  %s.fill = Constant() {value=[0]} : f32[] @ "sum"
  %y = Mul(%z, %s.fill) : f32[2x3] @ "sum", "mul"
  output %y "y"
}
