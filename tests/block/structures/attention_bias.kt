block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  leaf x3 f32 [b, m, n]
  %0 = load x0
  %1 = number 0.125
  loop n {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x3
    %7 = Add(%5, %6)
    %8 = max n %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum n %10 rescaled %13
    %15 = load x2
    %16 = Mul(%10, %15)
    %17 = sum n %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
