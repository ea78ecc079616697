// setting native 1 standard 90001060
// plans random:1
// constant 60be9e3c2fdd40c39a1a9497a4654a0d f32[13x6] random 0 0
// constant 8323c8026373e1349eed7ca5b9369764 f32[12x13] random 0 0
graph {
  input %x0 : f32[19x12] "x0"
  %v1 = Constant() {hash="8323c8026373e1349eed7ca5b9369764"} : f32[12x13]
  %v2 = MatMul(%x0, %v1) : f32[19x13]
  %v3 = Constant() {hash="60be9e3c2fdd40c39a1a9497a4654a0d"} : f32[13x6]
  %v4 = MatMul(%v2, %v3) : f32[19x6]
  %v5 = Mul(%v4, %v4) : f32[19x6]
  %v6 = Softmax(%v5) {axis=1} : f32[19x6]
  output %v6 "y0"
}
