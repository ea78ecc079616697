block {
  axes m 16 grid, d 4096
  leaf x0 f32 [m, d]
  leaf x1 f32 [m, d]
  leaf x2 f32 [d]
  %0 = load x0
  %1 = load x2
  %2 = load x1
  %3 = Mul(%2, %2)
  %4 = sum d %3
  %5 = Sqrt(%4)
  %6 = Div(%2, %5)
  %7 = Sub(%6, %0)
  %8 = Mul(%1, %7)
  %9 = Add(%0, %8)
  %10 = Mul(%9, %9)
  %11 = sum d %10
  %12 = Sqrt(%11)
  %13 = Div(%9, %12)
  result %13
}
