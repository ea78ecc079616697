// setting native 1 standard 1
// plans random:3
graph {
  input %x0 : bf16[2x1x1] "x0"
  %v1 = Constant() {value=[-0.734375]} : bf16[1x1]
  %v2 = MatMul(%x0, %v1) : bf16[2x1x1]
  output %v2 "y0"
}
