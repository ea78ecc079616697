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
{r d} -> d
{r s mean d} -> r d
{r s mean d} -> d
{sq} -> sq
{d sq} -> d sq
{d sq} -> sq
{r d sq} -> d sq
{r d sq} -> sq
{r s mean d sq} -> r d sq
{r s mean d sq} -> sq
{s mean d sq} -> d sq
{s mean d sq} -> sq
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
{d nd y} -> y
{s2 var ve std nd y} -> y
{sq s2 var ve std nd y} -> y
{r d nd y} -> y
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
// Siblings that iterate over one domain are joined by their shared input. A slice goes with its reader.
graph {
  input %x : f32[16x64] "x"
  %a = Slice(%x) {starts=[0,0], sizes=[16,32], steps=[1,1]}
  %b = Slice(%x) {starts=[0,32], sizes=[16,32], steps=[1,1]}
  %ea = Exp(%a)
  %eb = Exp(%b)
  %s = ReduceSum(%x) {axes=[1]}
  output %ea "ea"
  output %eb "eb"
  output %s "s"
}
// EXPECT:
{a} -> a
{ea} -> ea
{a ea} -> ea
{b} -> b
{eb} -> eb
{b eb} -> eb
{b eb a ea} -> eb ea
{s} -> s
pruned chain: 2
pruned sharing: 6

// RUN: candidates gelu
// The bias is an epilogue, is read twice, and may be made available beside the result.
graph {
  input %x : f32[16x64] "x"
  %w = Constant() {splat=0.5} : f32[64x64]
  %bias = Constant() {splat=0.5} : f32[64]
  %one = Constant() {value=[1]} : f32[]
  %half = Constant() {value=[0.5]} : f32[]
  %m = MatMul(%x, %w)
  %h = Add(%m, %bias)
  %s = Mul(%h, %half)
  %e = Erf(%s)
  %e1 = Add(%e, %one)
  %g = Mul(%h, %e1)
  %y = Mul(%g, %half)
  output %y "y"
}
// EXPECT:
{m} -> m
{h} -> h
{m h} -> h
{s} -> s
{e} -> e
{e1} -> e1
{s e e1} -> e1
{h s e e1} -> h e1
{h s e e1} -> e1
{m h s e e1} -> h e1
{g} -> g
{y} -> y
{g y} -> y
{s e e1 g y} -> y
{h s e e1 g y} -> y
{m h s e e1 g y} -> y
pruned chain: 3

// RUN: candidates softmax_prologue
// Softmax before a matmul: max and sum are made available by one kernel, the quotient computed by the next.
graph {
  input %q : f32[16x64] "q"
  input %v : f32[64x32] "v"
  %max = ReduceMax(%q) {axes=[1]}
  %d = Sub(%q, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[1]}
  %p = Div(%e, %sum)
  %y = MatMul(%p, %v)
  output %y "y"
}
// EXPECT:
{max} -> max
{d} -> d
{e} -> e
{d e} -> e
{max d e} -> e
{sum} -> sum
{d e sum} -> e sum
{d e sum} -> sum
{max d e sum} -> e sum
{max d e sum} -> sum
{max d e sum} -> max sum
{p} -> p
{sum p} -> p
{d e p} -> p
{d e sum p} -> p
{max d e sum p} -> p
{y} -> y
{p y} -> y
{d e p y} -> y
pruned chain: 1
pruned linear_prologue: 3

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

// RUN: candidates one_mask_two_layers
// The second layer's scores follow from the first's, or from what an alternative computes in their place. Both in
// one kernel would be of use to nobody.
graph {
  input %x : f32[8x8] "x"
  input %mask : f32[8x8] "mask"
  %a = Add(%x, %mask)
  %b = Exp(%a)
  %c = MatMul(%b, %x)
  %c |= MatMul(%x, %x)
  %d = Add(%c, %mask)
  %e = MatMul(%d, %x)
  output %e "e"
}
// EXPECT:
{a} -> a
{b} -> b
{a b} -> b
{c} -> c
{a b c} -> c
{c} -> c
{d} -> d
{c d} -> d
{c d} -> d
{a b c d} -> d
{e} -> e
{d e} -> e
pruned chain: 1
pruned linear: 4
pruned sharing: 41

// RUN: candidates depthwise_window
// A depthwise window goes into the pointwise convolution that reads what follows it, without what it reads itself,
// and into nothing else; the same Value's convolution is fused as ever.
graph {
  input %x : f32[1x4x8x8] "x"
  input %taps : f32[3x3x4] "taps"
  input %filters : f32[4x1x3x3] "filters"
  input %w : f32[6x4x1x1] "w"
  %a = Exp(%x)
  %c = Conv(%a, %filters) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0], group=4}
  %c |= WindowDot(%a, %taps) {kernel=[3,3], strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], count_include_pad=false}
  %d = Tanh(%c)
  %y = Conv(%d, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0], group=1}
  output %y "y"
}
// EXPECT:
{a} -> a
{c} -> c
{a c} -> c
{c} -> c
{d} -> d
{c d} -> d
{a c d} -> d
{y} -> y
{d y} -> y
{c d y} -> y
pruned linear: 2
pruned sharing: 6
pruned weighted_window: 4

// RUN: candidates winograd
// Of Winograd's three primitives a candidate has one or all; all of them are fused as the convolution is.
graph {
  input %x : f32[1x4x8x8] "x"
  input %w : f32[6x4x3x3] "w"
  %a = Exp(%x)
  %c = Conv(%a, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0], group=1}
  %v = WinogradInput(%a) {tile=4, pads_before=[1,1], pads_after=[1,1]}
  %p = WinogradProduct(%v, %w) {tile=4}
  %c |= WinogradOutput(%p) {tile=4, shape=[1,6,8,8]}
  %y = Tanh(%c)
  output %y "y"
}
// EXPECT:
{a} -> a
{c} -> c
{a c} -> c
{v} -> v
{p} -> p
{c} -> c
{v p c} -> c
{a v p c} -> c
{y} -> y
{v p c y} -> y
{c y} -> y
{a v p c y} -> y
{a c y} -> y
pruned linear: 3
pruned linear_parts: 3
pruned sharing: 18

// RUN: candidates stored_as_bfloat16
// %r may be left to those who convert %c back, and they do so for themselves: no kernel gives %r from %c.
graph {
  input %x : f32[64x32] "x"
  input %z : f32[64x32] "z"
  %r = Add(%x, %z)
  %c = Cast(%r) {to=bf16}
  %m = ReduceMax(%r) {axes=[1],keepdims=true}
  %y = Div(%r, %m)
  %r |= Cast(%c) {to=f32}
  output %y "y"
}
// EXPECT:
{r} -> r
{c} -> c
{r c} -> r c
{r c} -> c
{m} -> m
{r m} -> r m
{r m} -> m
{r m} -> m
{r c m} -> r c m
{r c m} -> c m
{y} -> y
{m y} -> y
{r y} -> y
{r m y} -> r y
{r m y} -> y
{r y} -> y
{r m c y} -> c y
{r m y} -> y
pruned sharing: 38
