block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  leaf x3 f32 [b, m, n, d]
  %0 = load x0
  %1 = number 0.125
  loop n {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = load x3
    %6 = Mul(%0, %5)
    %7 = sum d %6
    %8 = Add(%4, %7)
    %9 = Mul(%8, %1)
    %10 = max n %9
    %11 = Sub(%9, %10)
    %12 = Exp(%11)
    %13 = before %10
    %14 = Sub(%13, %10)
    %15 = Exp(%14)
    %16 = sum n %12 rescaled %15
    %17 = load x2
    %18 = Mul(%12, %17)
    %19 = sum n %18 rescaled %15
  }
  %20 = Div(%19, %16)
  result %20
}
