// Candidates: {the Values its primitives make} -> the Values it makes available. With the default pruning.

// RUN: candidates epilogue
// Prologue and epilogue of a convolution; bias and relu are one chain, which is not cut.
graph {
  input %x : f32[1x4x8x8] "x"
  input %r : f32[1x4x8x8] "r"
  %w = Constant() {splat=0.5} : f32[4x4x3x3]
  %b4 = Constant() {value=[1,2,3,4]} : f32[1x4x1x1]
  %pre = Relu(%x)
  %pad = Pad(%pre) {before=[0,0,1,1], after=[0,0,1,1], mode=reflect}
  %c = Conv(%pad, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %cb = Add(%c, %b4)
  %act = Relu(%cb)
  %sum = Add(%act, %r)
  output %sum "y"
}
// EXPECT:
{pre} -> pre
{pad} -> pad
{pre pad} -> pad
{c} -> c
{pad c} -> c
{pre pad c} -> c
{cb} -> cb
{act} -> act
{cb act} -> act
{c cb act} -> act
{pad c cb act} -> act
{pre pad c cb act} -> act
{sum} -> sum
{cb act sum} -> sum
{c cb act sum} -> sum
{pad c cb act sum} -> sum
{pre pad c cb act sum} -> sum
pruned chain: 1

// RUN: candidates residual_layer_norm
// Statistics alone make mean and std available, not x - mean.
graph {
  input %a : f32[16x64] "a"
  input %b : f32[16x64] "b"
  %n = Constant() {value=[0.015625]} : f32[]
  %eps = Constant() {value=[1e-5]} : f32[]
  %g = Constant() {splat=2} : f32[64]
  %r = Add(%a, %b)
  %s = ReduceSum(%r) {axes=[1]}
  %mean = Mul(%s, %n)
  %d = Sub(%r, %mean)
  %sq = Mul(%d, %d)
  %s2 = ReduceSum(%sq) {axes=[1]}
  %var = Mul(%s2, %n)
  %ve = Add(%var, %eps)
  %std = Sqrt(%ve)
  %nd = Div(%d, %std)
  %y = Mul(%nd, %g)
  output %y "y"
  output %r "r"
}
// EXPECT:
{r} -> r
{s} -> s
{mean} -> mean
{s mean} -> mean
{r s mean} -> r mean
{r s mean} -> mean
{d} -> d
{s mean d} -> d
{r s mean d} -> r d
{r s mean d} -> d
{sq} -> sq
{d sq} -> d sq
{d sq} -> sq
{s mean d sq} -> d sq
{s mean d sq} -> sq
{r s mean d sq} -> r d sq
{r s mean d sq} -> sq
{s2} -> s2
{var} -> var
{ve} -> ve
{std} -> std
{s2 var ve std} -> std
{sq s2 var ve std} -> std
{d sq s2 var ve std} -> d std
{d sq s2 var ve std} -> std
{s mean d sq s2 var ve std} -> d std
{s mean d sq s2 var ve std} -> std
{s mean d sq s2 var ve std} -> mean std
{r s mean d sq s2 var ve std} -> r d std
{r s mean d sq s2 var ve std} -> std
{r s mean d sq s2 var ve std} -> r mean std
{nd} -> nd
{y} -> y
{nd y} -> y
{s2 var ve std nd y} -> y
{sq s2 var ve std nd y} -> y
{d sq s2 var ve std nd y} -> y
{s mean d sq s2 var ve std nd y} -> y
{r s mean d sq s2 var ve std nd y} -> r y
{r s mean d sq s2 var ve std nd y} -> y
pruned chain: 5

// RUN: candidates shared_input
// Q and K read one Value: at most one linear primitive in a kernel.
graph {
  input %x : f32[16x64] "x"
  %w = Constant() {splat=0.5} : f32[64x64]
  %h = Relu(%x)
  %q = MatMul(%h, %w)
  %k = MatMul(%h, %w)
  %e = Exp(%x)
  output %q "q"
  output %k "k"
  output %e "e"
}
// EXPECT:
{h} -> h
{q} -> q
{h q} -> q
{k} -> k
{h k} -> k
{e} -> e
{e h} -> e h
pruned linear: 1
pruned linear_sinks: 2
pruned sharing: 4

// RUN: candidates slices
// Siblings that iterate over one domain are joined by their shared input.
graph {
  input %x : f32[16x64] "x"
  %a = Slice(%x) {starts=[0,0], sizes=[16,32], steps=[1,1]}
  %b = Slice(%x) {starts=[0,32], sizes=[16,32], steps=[1,1]}
  %g = Sigmoid(%b)
  %y = Mul(%a, %g)
  output %y "y"
}
// EXPECT:
{b} -> b
{g} -> g
{b g} -> g
{a} -> a
{y} -> y
{a y} -> y
{b a g y} -> y
pruned chain: 2

// RUN: candidates alternatives
// Several producers: a candidate holds one of them.
graph {
  input %x : f32[16x64] "x"
  %zero = Constant() {value=[0]} : f32[]
  %a = Exp(%x)
  %b = Relu(%a)
  %b |= Max(%a, %zero)
  %c = Neg(%b)
  output %c "y"
}
// EXPECT:
{a} -> a
{b} -> b
{a b} -> a b
{a b} -> b
{b} -> b
{a b} -> a b
{a b} -> b
{c} -> c
{b c} -> c
{b c} -> c
{a b c} -> a c
{a b c} -> c
{a b c} -> a c
{a b c} -> c
