block {
  axes b 12 grid, m 1024, n 1024, d 64, e 64 grid
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = number 1024
  loop n {
    %5 = load x1
    %6 = Elu(%5) alpha 1 beta 0
    %7 = sum n %6
    %8 = load x2
    %9 = sum n %8
    %10 = Mul(%8, %6)
    %11 = sum n %10
  }
  %12 = Add(%7, %4)
  %13 = Mul(%3, %12)
  %14 = sum d %13
  %15 = Add(%9, %11)
  %16 = Mul(%3, %15)
  %17 = sum d %16
  %18 = Div(%17, %14)
  result %18
}
