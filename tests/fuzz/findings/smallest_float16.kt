// setting native 1 standard 1
// plans random:872109
graph {
  input %x0 : f16[1x1x6x3] "x0"
  %v1 = ReduceProd(%x0) {axes=[2,3], keepdims=false} : f16[1x1]
  output %v1 "y0"
}
