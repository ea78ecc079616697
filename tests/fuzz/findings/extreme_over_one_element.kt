// setting x86-64-v3 2 standard 100110 specials
// plans random:63679 random:954346 random:780759 random:606711 random:537643 greedy unfused
graph {
  input %x0 : f32[63x17x1x1] "x0"
  %v2 = ArgMax(%x0) {axis=3} : i64[63x17x1x1]
  output %v2 "y0"
}
