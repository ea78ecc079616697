// Products of operands rounded to bfloat16, and results stored as it (rewrite/bfloat16_products.cpp,
// rewrite/bfloat16_storage.cpp).

// RUN: alternatives --bfloat16 --only layouts_cancel operands_and_results
// The residual %r is an operand and is read by the sum: both may read it as it is stored. %m goes on in its one
// reader.
graph {
  input %x : f32[256x64] "x"
  %w = Constant() {splat=0.5} : f32[64x64]
  %r = Relu(%x) @ "first"
  %m = MatMul(%r, %w) @ "product"
  %e = Exp(%m) @ "exp"
  %s = Add(%e, %r) @ "sum"
  output %s "s"
}
// EXPECT:
graph {
  input %x : f32[256x64] "x"
  %w = Constant() {splat=0.5} : f32[64x64]
  %r = Relu(%x) : f32[256x64] @ "first"
  %m_1 = Constant() {splat=0.5} : bf16[64x64]
  %m = MatMul(%r, %w) : f32[256x64] @ "product"
  %e = Exp(%m) : f32[256x64] @ "exp"
  %s = Add(%e, %r) : f32[256x64] @ "sum"
  %m_0 = Cast(%r) {to=bf16} : bf16[256x64] @ "product"
  %m |= MatMul(%m_0, %m_1) {wide_result=true} @ "product"
  %r |= Cast(%m_0) @ "first"
  %e_4 = Cast(%e) {to=bf16} : bf16[256x64] @ "exp"
  %e |= Cast(%e_4) @ "exp"
  output %s "s"
}
applied product_of_bfloat16: 1
applied storage_as_bfloat16: 2

// RUN: alternatives --bfloat16 --only layouts_cancel too_small_to_be_stored
// 16 KiB stay in the nearest caches; eight terms are too few for products of bfloat16.
graph {
  input %x : f32[64x64] "x"
  %w = Constant() {splat=0.5} : f32[8x64]
  %r = Relu(%x) @ "first"
  %t = ReduceSum(%r) {axes=[1],keepdims=true} @ "reduced"
  %s = Add(%t, %r) @ "sum"
  output %s "s"
}
// EXPECT:
graph {
  input %x : f32[64x64] "x"
  %r = Relu(%x) : f32[64x64] @ "first"
  %t = ReduceSum(%r) {axes=[1]} : f32[64x1] @ "reduced"
  %s = Add(%t, %r) : f32[64x64] @ "sum"
  output %s "s"
}
