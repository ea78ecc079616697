// Whole plans on bounds alone: what is fused, in which layouts, where tensors lie, which tasks wait for which.

// RUN: plan product_bias_relu
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}

// RUN: plan --target x86-64-v4 product_bias_relu_on_wider_vectors
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}

// RUN: plan --target x86-64 product_bias_relu_on_any_machine
graph {
  input %x : f32[16x32] "x"
  %w = Constant() {splat=0.5} : f32[32x24]
  %b = Constant() {splat=0.25} : f32[24]
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Relu(%s)
  output %y "y"
}

// RUN: plan --threads 1 softmax
graph {
  input %x : f32[32x40] "x"
  %y = Softmax(%x) {axis=1}
  output %y "y"
}

// RUN: plan convolutions
// The images stay channels last between the convolutions.
graph {
  input %x : f32[1x3x16x16] "x"
  %w1 = Constant() {splat=0.5} : f32[16x3x3x3]
  %b1 = Constant() {splat=0.25} : f32[16x1x1]
  %w2 = Constant() {splat=0.5} : f32[16x16x1x1]
  %w3 = Constant() {splat=0.5} : f32[16x10]
  %c1 = Conv(%x, %w1) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  %s1 = Add(%c1, %b1)
  %r1 = Relu(%s1)
  %pool = WindowMax(%r1) {kernel=[2,2], strides=[2,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %c2 = Conv(%pool, %w2) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %r2 = Relu(%c2)
  %mean = ReduceMean(%r2) {axes=[2,3]}
  %flat = Reshape(%mean) {shape=[1,16]}
  %y = MatMul(%flat, %w3)
  output %y "y"
}

// RUN: plan recomputed_diamond
// What both products read is cheaper to compute twice than to store.
graph {
  input %x : f32[64x64] "x"
  %w1 = Constant() {splat=0.5} : f32[64x32]
  %w2 = Constant() {splat=0.25} : f32[64x32]
  %r = Relu(%x)
  %a = MatMul(%r, %w1)
  %b = MatMul(%r, %w2)
  %ta = Tanh(%a)
  %tb = Sigmoid(%b)
  %y = Mul(%ta, %tb)
  output %y "y"
}

// RUN: plan views_and_copies
// The reshape is the same bytes; one output is an input, which is copied.
graph {
  input %x : f32[4x6] "x"
  %e = Exp(%x)
  %m = ReduceMax(%e) {axes=[0]}
  %r = Reshape(%e) {shape=[6,4]}
  %w = Constant() {splat=0.5} : f32[4x8]
  %y = MatMul(%r, %w)
  output %y "y"
  output %m "m"
  output %r "r"
  output %x "same"
}

// RUN: plan memory_is_used_again
graph {
  input %x : f32[32x32] "x"
  %w = Constant() {splat=0.5} : f32[32x32]
  %a = MatMul(%x, %w)
  %b = MatMul(%a, %w)
  %c = MatMul(%b, %w)
  %y = MatMul(%c, %w)
  output %y "y"
}

// RUN: plan open_rows
// Slices beyond the rows that a run has are left out.
graph {
  input %x : f32[64x16] "x"
  input %n : i64[] "n" open 1 64 of 0 0
  %w = Constant() {splat=0.5} : f32[16x24]
  %p = MatMul(%x, %w)
  %y = Relu(%p)
  output %y "y"
  output %n "n" extent 0 0
}

// RUN: plan --threads 4 branches_as_tasks
// Neither branch waits for the other.
graph {
  input %a : f32[64x64] "a"
  input %b : f32[64x64] "b"
  %w = Constant() {splat=0.5} : f32[64x64]
  %p = MatMul(%a, %w)
  %sp = Softmax(%p) {axis=0}
  %q = MatMul(%b, %w)
  %sq = Softmax(%q) {axis=0}
  %y = MatMul(%sp, %sq)
  output %y "y"
}

// RUN: plan --strict no_rule_that_adds_error
graph {
  input %x : f32[1x16x32x32] "x"
  %w = Constant() {splat=0.5} : f32[16x16x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: plan winograd
graph {
  input %x : f32[1x16x32x32] "x"
  %w = Constant() {splat=0.5} : f32[16x16x3x3]
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
}

// RUN: plan attention
graph {
  input %q : f32[2x64x16] "q"
  input %k : f32[2x4096x16] "k"
  input %v : f32[2x4096x16] "v"
  %s = MatMul(%q, %k) {transpose_b=true}
  %p = Softmax(%s) {axis=2}
  %y = MatMul(%p, %v)
  output %y "y"
}
