block {
  axes m 16 grid, f 4096 grid, d 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [f, d]
  leaf x2 f32 [f, d]
  %0 = number 0.0009765625
  %1 = number 1e-06
  loop d {
    %2 = load x0
    %3 = Mul(%2, %2)
    %4 = sum d %3
    %5 = load x1
    %6 = Mul(%2, %5)
    %7 = sum d %6
    %8 = load x2
    %9 = Mul(%2, %8)
    %10 = sum d %9
  }
  %11 = Mul(%4, %0)
  %12 = Add(%11, %1)
  %13 = Sqrt(%12)
  %14 = Div(%7, %13)
  %15 = Sigmoid(%14)
  %16 = Mul(%14, %15)
  %17 = Div(%10, %13)
  %18 = Mul(%16, %17)
  result %18
}
