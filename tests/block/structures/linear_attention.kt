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
    %4 = load x2
    %5 = sum n %4
    %6 = load x1
    %7 = Elu(%6) alpha 1 beta 0
    %8 = Mul(%7, %4)
    %9 = sum n %8
    %10 = Add(%7, %2)
    %11 = sum n %10
  }
  %12 = Add(%5, %9)
  %13 = Mul(%3, %12)
  %14 = sum d %13
  %15 = Mul(%3, %11)
  %16 = sum d %15
  %17 = Div(%14, %16)
  result %17
}
