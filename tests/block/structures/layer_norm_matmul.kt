block {
  axes m 16 grid, f 4096 grid, d 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [d]
  leaf x2 f32 [f, d]
  %0 = number 0.0009765625
  %1 = number 1e-05
  loop d {
    %2 = load x0
    %3 = sum d %2
    %4 = Mul(%2, %2)
    %5 = sum d %4
    %6 = load x1
    %7 = load x2
    %8 = Mul(%2, %6)
    %9 = Mul(%8, %7)
    %10 = sum d %9
    %11 = Mul(%6, %7)
    %12 = sum d %11
  }
  %13 = Mul(%3, %3)
  %14 = Mul(%13, %0)
  %15 = Sub(%5, %14)
  %16 = Mul(%15, %0)
  %17 = Add(%16, %1)
  %18 = Sqrt(%17)
  %19 = Mul(%3, %12)
  %20 = Mul(%19, %0)
  %21 = Sub(%10, %20)
  %22 = Div(%21, %18)
  result %22
}
