// What a search for block graphs begins with: terms of all primitives as one group, and the workloads of a network.

// RUN: terms attention_with_heads_from_columns
// Queries come from a projection, whose columns are split into heads; the mask is broadcast over heads.
graph {
  input %x : f32[128x64] "x"
  input %k : f32[2x128x32] "k"
  input %v : f32[2x128x32] "v"
  input %mask : bool[1x1x128] "mask"
  %w = Constant() {splat=0.5} : f32[64x64]
  %low = Constant() {value=[-10000]} : f32[]
  %q = MatMul(%x, %w)
  %qh = Reshape(%q) {shape=[128,2,32]}
  %qt = Transpose(%qh) {perm=[1,0,2]}
  %s = MatMul(%qt, %k) {transpose_b=true}
  %t = Where(%mask, %s, %low)
  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  %yt = Transpose(%y) {perm=[1,0,2]}
  %z = Reshape(%yt) {shape=[128,64]}
  output %z "z"
}
// EXPECT:
axes a=128 b=2 c=32 d=128 e=64 f=32
leaf bool [d]
leaf f32 [a,e]
leaf f32 [b,e,f] constant
leaf f32 [b,d,f]
leaf f32 [b,c,d]
%0 = leaf 0
%1 = leaf 1
%2 = leaf 2
%3 = Mul(%1, %2)
%4 = sum e (%3)
%5 = leaf 3
%6 = Mul(%4, %5)
%7 = sum f (%6)
%8 = -10000
%9 = Where(%0, %7, %8)
%10 = max d (%9)
%11 = Sub(%9, %10)
%12 = Exp(%11)
%13 = sum d (%12)
%14 = Div(%12, %13)
%15 = leaf 4
%16 = Mul(%14, %15)
%17 = sum d (%16)
result %17
leaf 0 is %mask at [][][d]
leaf 1 is %x at [a][e]
leaf 2 is %w at [e][b,f]
leaf 3 is %k at [b][d][f]
leaf 4 is %v at [b][d][c]
result 0 is %z at [a][b,c]

// RUN: terms shared_keys
// Heads 0 to 3 read the first keys, 4 to 7 the second.
graph {
  input %q : f32[8x16x4] "q"
  input %k : f32[2x16x4] "k"
  %k1 = Reshape(%k) {shape=[2,1,16,4]}
  %k4 = Expand(%k1) {shape=[2,4,16,4]}
  %kh = Reshape(%k4) {shape=[8,16,4]}
  %s = MatMul(%q, %kh) {transpose_b=true}
  output %s "s"
}
// EXPECT:
axes a=2 b=4 c=16 d=16 e=4
leaf f32 [a,b,c,e]
leaf f32 [a,d,e]
%0 = leaf 0
%1 = leaf 1
%2 = Mul(%0, %1)
%3 = sum e (%2)
result %3
leaf 0 is %q at [a,b][c][e]
leaf 1 is %k at [a][d][e]
result 0 is %s at [a,b][c][d]

// RUN: terms leaves_below_what_mixes
// Half of the rows, padded again: the sum reads the padded Value, which plain primitives make; what is above is a term.
graph {
  input %x : f32[8x4] "x"
  %e = Exp(%x)
  %h = Slice(%e) {starts=[2,0], sizes=[4,4], steps=[1,1]}
  %p = Pad(%h) {before=[0,0], after=[2,0]}
  %n = Neg(%p)
  %s = ReduceSum(%n) {axes=[0]}
  output %s "s"
}
// EXPECT:
axes a=4 b=6
leaf f32 [a,b]
%0 = leaf 0
%1 = Neg(%0)
%2 = sum b (%1)
result %2
leaf 0 is %p at [b][a]
result 0 is %s at [][a]

// RUN: terms two_rows_of_one_value
graph {
  input %x : f32[8x4] "x"
  input %w : f32[4x6] "w"
  %y = MatMul(%x, %w)
  %s = MatMul(%y, %y) {transpose_b=true}
  output %s "s"
}
// EXPECT:
refused (unsupported layout): MatMul that makes %s: two of its axes are one

// RUN: terms convolution
graph {
  input %x : f32[1x4x8x8] "x"
  %w = Constant() {splat=0.5} : f32[4x4x3x3]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %c "c"
}
// EXPECT:
refused (no kernel family): Conv that makes %c: a window over several channels

// RUN: workloads soft_cap
graph {
  input %q : f32[4x512x64] "q"
  input %k : f32[4x512x64] "k"
  input %v : f32[4x512x64] "v"
  %scale = Constant() {value=[0.125]} : f32[]
  %cap = Constant() {value=[32]} : f32[]
  %kt = Transpose(%k) {perm=[0,2,1]}
  %s = MatMul(%q, %kt)
  %sc = Mul(%s, %scale)
  %th = Tanh(%sc)
  %t = Mul(%th, %cap)
  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  %yt = Transpose(%y) {perm=[1,0,2]}
  %z = Reshape(%yt) {shape=[512,256]}
  output %z "z"
}
// EXPECT:
MatMul+Mul+Tanh+Mul+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul -> y: saves 175 of 1573 us
MatMul+Mul+Tanh+Mul+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul+Transpose+Reshape -> z: saves 175 of 1573 us
Transpose+MatMul+Mul+Tanh+Mul+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul -> y: saves 175 of 1573 us
Transpose+MatMul+Mul+Tanh+Mul+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul+Transpose+Reshape -> z: saves 175 of 1573 us
ReduceMax+Sub+Exp+ReduceSum+Div+MatMul -> y: saves 87 of 786 us
ReduceMax+Sub+Exp+ReduceSum+Div+MatMul+Transpose+Reshape -> z: saves 87 of 786 us
links 5, sets 4
dropped needed_outside: 2
