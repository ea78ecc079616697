block {
  axes m 16 grid, f 4096, d 1024, o 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [f, d]
  leaf x2 f32 [f, d]
  leaf x3 f32 [f, o]
  %0 = load x0
  %1 = Mul(%0, %0)
  %2 = sum d %1
  %3 = number 0.0009765625
  %4 = Mul(%2, %3)
  %5 = number 1e-06
  %6 = Add(%4, %5)
  %7 = Sqrt(%6)
  %8 = Div(%0, %7)
  loop f {
    %9 = load x1
    %10 = Mul(%8, %9)
    %11 = sum d %10
    %12 = Sigmoid(%11)
    %13 = Mul(%11, %12)
    %14 = load x2
    %15 = Mul(%8, %14)
    %16 = sum d %15
    %17 = Mul(%13, %16)
    %18 = load x3
    %19 = Mul(%17, %18)
    %20 = sum f %19
  }
  result %20
}
