// Layout primitives moved through functions (rewrite/layout.cpp).

// RUN: alternatives --only layouts_cancel transposes
// The constant is turned instead, the reduction gets another axis.
graph {
  input %x : f32[2x3x4] "x"
  %c = Constant() {value=[1,2,3]} : f32[3x1x1]
  %t = Transpose(%x) {perm=[1,2,0]}
  %m = Mul(%t, %c)
  %s = ReduceSum(%m) {axes=[1]}
  %y = Transpose(%s) {perm=[2,0,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x3x4] "x"
  %y_0 = Constant() {value=[1,2,3]} : f32[1x3x1]
  %y_1 = Mul(%x, %y_0) : f32[2x3x4]
  %y = ReduceSum(%y_1) {axes=[2]} : f32[2x3x1]
  output %y "y"
}
applied layouts_cancel: 1

// RUN: alternatives --only layouts_cancel reshapes
graph {
  input %x : f32[2x3x4] "x"
  %a = Reshape(%x) {shape=[6,4]}
  %b = Tanh(%a)
  %y = Reshape(%b) {shape=[2,3,4]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x3x4] "x"
  %y = Tanh(%x) : f32[2x3x4]
  output %y "y"
}
applied layouts_cancel: 1

// RUN: alternatives --only layouts_cancel slice_of_concat
graph {
  input %a : f32[2x3] "a"
  input %b : f32[2x4] "b"
  %c = Concat(%a, %b) {axis=1}
  %t = Tanh(%c)
  %y = Slice(%t) {starts=[0,4], sizes=[2,2], steps=[1,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  input %b : f32[2x4] "b"
  %y_0 = Slice(%b) {starts=[0,1], sizes=[2,2], steps=[1,1]} : f32[2x2]
  %y = Tanh(%y_0) : f32[2x2]
  output %y "y"
}
applied layouts_cancel: 1

// RUN: alternatives --only layouts_cancel slice_of_pad
graph {
  input %x : f32[3x4] "x"
  %p = Pad(%x) {before=[1,2], after=[0,1]}
  %t = Tanh(%p)
  %y = Slice(%t) {starts=[1,3], sizes=[2,3], steps=[1,1]}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[3x4] "x"
  %y_0 = Slice(%x) {starts=[0,1], sizes=[2,3], steps=[1,1]} : f32[2x3]
  %y = Tanh(%y_0) : f32[2x3]
  output %y "y"
}
applied layouts_cancel: 1

// RUN: alternatives --only layouts_cancel concat_of_slices
graph {
  input %x : f32[2x5] "x"
  %a = Slice(%x) {starts=[0,0], sizes=[2,2], steps=[1,1]}
  %b = Slice(%x) {starts=[0,2], sizes=[2,3], steps=[1,1]}
  %ta = Tanh(%a)
  %tb = Tanh(%b)
  %y = Concat(%ta, %tb) {axis=1}
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[2x5] "x"
  %y = Tanh(%x) : f32[2x5]
  output %y "y"
}
applied layouts_cancel: 1

// RUN: alternatives --only function_before_repetition function_before_repetition
graph {
  input %x : f32[1x2x2x3] "x"
  %apart = Reshape(%x) {shape=[1,2,2,1,3,1]}
  %repeated = Expand(%apart) {shape=[1,2,2,2,3,2]}
  %up = Reshape(%repeated) {shape=[1,2,4,6]}
  %y = Exp(%up)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x2x2x3] "x"
  %apart = Reshape(%x) {shape=[1,2,2,1,3,1]} : f32[1x2x2x1x3x1]
  %repeated = Expand(%apart) {shape=[1,2,2,2,3,2]} : f32[1x2x2x2x3x2]
  %up = Reshape(%repeated) {shape=[1,2,4,6]} : f32[1x2x4x6]
  %y = Exp(%up) : f32[1x2x4x6]
  %y_0 = Exp(%x) : f32[1x2x2x3]
  %y_1 = Reshape(%y_0) {shape=[1,2,2,1,3,1]} : f32[1x2x2x1x3x1]
  %y_2 = Expand(%y_1) {shape=[1,2,2,2,3,2]} : f32[1x2x2x2x3x2]
  %y |= Reshape(%y_2) {shape=[1,2,4,6]}
  output %y "y"
}
applied function_before_repetition: 1
