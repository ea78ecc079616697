block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  leaf x3 bool [m, n]
  %0 = load x0
  %1 = number -inf
  loop n {
    %2 = load x3
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Where(%2, %5, %1)
    %7 = max n %6
    %8 = Sub(%6, %7)
    %9 = Exp(%8)
    %10 = before %7
    %11 = Sub(%10, %7)
    %12 = Exp(%11)
    %13 = sum n %9 rescaled %12
    %14 = load x2
    %15 = Mul(%9, %14)
    %16 = sum n %15 rescaled %12
  }
  %17 = Div(%16, %13)
  result %17
}
