block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  %0 = load x0
  %1 = number 0.125
  loop n {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max n %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum n %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum n %14 rescaled %11
  }
  %16 = Div(%15, %12)
  result %16
}
