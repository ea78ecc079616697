// All rules at once: what one makes, another goes on from.

// RUN: alternatives batch_normalization_after_a_convolution
// Factor, bias and shift end in the weights and one vector.
graph {
  input %x : f32[1x1x4x4] "x"
  %w = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[2x1x2x2]
  %b = Constant() {value=[1,2]} : f32[2x1x1]
  %scale = Constant() {value=[10,100]} : f32[2x1x1]
  %shift = Constant() {value=[5,6]} : f32[2x1x1]
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}
  %biased = Add(%c, %b)
  %s = Mul(%biased, %scale)
  %y = Add(%s, %shift)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[1x1x4x4] "x"
  %s_1 = Constant() {value=[10,20,30,40,500,600,700,800]} : f32[2x1x2x2]
  %s_2 = Conv(%x, %s_1) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x3x3]
  %y_5 = Constant() {value=[15,206]} : f32[2x1x1]
  %s_7 = WinogradInput(%x) {tile=5, taps=2} : f32[36x1x1]
  %s_8 = WinogradProduct(%s_7, %s_1) {tile=5, taps=2} : f32[36x1x2]
  %s_2 |= WinogradOutput(%s_8) {tile=5, taps=2, shape=[1,2,3,3]}
  %s_10 = WinogradInput(%x) {tile=3, taps=2} : f32[16x1x1]
  %s_11 = WinogradProduct(%s_10, %s_1) {tile=3, taps=2} : f32[16x1x2]
  %s_2 |= WinogradOutput(%s_11) {tile=3, taps=2, shape=[1,2,3,3]}
  %y = Add(%s_2, %y_5) : f32[1x2x3x3]
  output %y "y"
}
applied constants_together: 1
applied factors_after_linear: 1
applied winograd: 2

// RUN: alternatives small_attention
// The factor goes into K's weights, one product makes Q, K and V, and the sum is a column of the last product.
graph {
  input %x : f32[6x4] "x"
  %wq = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %wk = Constant() {value=[8,7,6,5,4,3,2,1]} : f32[4x2]
  %wv = Constant() {value=[1,0,1,0,1,0,1,0]} : f32[4x2]
  %c = Constant() {value=[0.5]} : f32[]
  %q = MatMul(%x, %wq)
  %k = MatMul(%x, %wk)
  %v = MatMul(%x, %wv)
  %qk = MatMul(%q, %k) {transpose_b=true}
  %scores = Mul(%qk, %c)
  %max = ReduceMax(%scores) {axes=[1]}
  %d = Sub(%scores, %max)
  %e = Exp(%d)
  %sum = ReduceSum(%e) {axes=[1]}
  %p = Div(%e, %sum)
  %y = MatMul(%p, %v)
  output %y "y"
}
// EXPECT:
graph {
  input %x : f32[6x4] "x"
  %wq = Constant() {value=[1,2,3,4,5,6,7,8]} : f32[4x2]
  %wv = Constant() {value=[1,0,1,0,1,0,1,0]} : f32[4x2]
  %q = MatMul(%x, %wq) : f32[6x2]
  %v = MatMul(%x, %wv) : f32[6x2]
  %scores_0 = Constant() {value=[4,3.5,3,2.5,2,1.5,1,0.5]} : f32[4x2]
  %scores_1 = MatMul(%x, %scores_0) : f32[6x2]
  %q_3 = Constant() {hash="d378d70c1978250f158d2fb10b5c8e46"} : f32[4x6]
  %q_4 = MatMul(%x, %q_3) : f32[6x6]
  %q |= Slice(%q_4) {starts=[0,0], sizes=[6,2], steps=[1,1]}
  %v |= Slice(%q_4) {starts=[0,2], sizes=[6,2], steps=[1,1]}
  %scores_1 |= Slice(%q_4) {starts=[0,4], sizes=[6,2], steps=[1,1]}
  %scores = MatMul(%q, %scores_1) {transpose_b=true} : f32[6x6]
  %max = ReduceMax(%scores) {axes=[1]} : f32[6x1]
  %d = Sub(%scores, %max) : f32[6x6]
  %e = Exp(%d) : f32[6x6]
  %sum = ReduceSum(%e) {axes=[1]} : f32[6x1]
  %y_8 = MatMul(%e, %v) : f32[6x2]
  %sum_10 = Pad(%v) {before=[0,0], after=[0,1], value=1} : f32[6x3]
  %sum_11 = MatMul(%e, %sum_10) : f32[6x3]
  %y_8 |= Slice(%sum_11) {starts=[0,0], sizes=[6,2], steps=[1,1]}
  %sum |= Slice(%sum_11) {starts=[0,2], sizes=[6,1], steps=[1,1]}
  %p = Div(%e, %sum) : f32[6x6]
  %y = MatMul(%p, %v) : f32[6x2]
  %y |= Div(%y_8, %sum)
  output %y "y"
}
applied factor_after_matmul: 1
applied factor_into_constant: 1
applied merge_linear: 3
applied sum_as_matmul: 2
