// setting native 2 standard 210
// plans random:762937 random:156456 greedy
graph {
  input %x1 : f32[32x1x1x1] "x1"
  input %x2 : f32[32x1x1x8] "x2"
  %v5 = Constant() {value=[-0.6771543,-1.7117556,-1.7360215,-1.6112833,0.27303752,1.1484747,0.9791321,-0.24266368]} : f32[1x8]
  %v6 = MatMul(%x1, %v5) : f32[32x1x1x8]
  %v8 = Add(%v6, %x2) : f32[32x1x1x8]
  output %v8 "y0"
}
