block {
  axes b 12 grid, m 1024, n 1024, d 64, e 64 grid
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  loop n {
    %4 = load x1
    %5 = Elu(%4) alpha 1 beta 0
    %6 = Add(%5, %2)
    %7 = sum n %6
    %8 = load x2
    %9 = sum n %8
    %10 = Mul(%8, %5)
    %11 = sum n %10
  }
  %12 = Mul(%3, %7)
  %13 = sum d %12
  %14 = Add(%9, %11)
  %15 = Mul(%3, %14)
  %16 = sum d %15
  %17 = Div(%16, %13)
  result %17
}
