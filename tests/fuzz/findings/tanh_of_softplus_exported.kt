// setting native 1 standard 1
// plans unfused
graph {
  input %x0 : f32[2x3] "x0"
  %v1 = TanhSoftplus(%x0) : f32[2x3]
  output %v1 "y0"
}
