// setting native 1 standard 1
// plans random:916300
graph {
  input %x0 : f32[27x2x24x1] "x0"
  %v1 = Sin(%x0) : f32[27x2x24x1]
  %v2 = Equal(%x0, %v1) : bool[27x2x24x1]
  output %v2 "y0"
}
