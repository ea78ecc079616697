block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  %0 = load x0
  loop n {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max n %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = before %4
    %8 = Sub(%7, %4)
    %9 = Exp(%8)
    %10 = sum n %6 rescaled %9
    %11 = load x2
    %12 = Mul(%6, %11)
    %13 = sum n %12 rescaled %9
  }
  %14 = Div(%13, %10)
  result %14
}
