block {
  axes g 2 grid, h 8 grid, m 64 grid, n 1024, d 64, e 64
  leaf x0 f32 [g, h, m, d]
  leaf x1 f32 [g, n, d]
  leaf x2 f32 [g, n, e]
  %0 = load x0
  %1 = Mul(%0, %0)
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = number 1e-06
  %6 = Add(%4, %5)
  %7 = Sqrt(%6)
  %8 = Div(%0, %7)
  %9 = number 0.125
  loop n {
    %10 = load x1
    %11 = Mul(%10, %10)
    %12 = sum d %11
    %13 = Mul(%12, %3)
    %14 = Add(%13, %5)
    %15 = Sqrt(%14)
    %16 = Div(%10, %15)
    %17 = Mul(%8, %16)
    %18 = sum d %17
    %19 = Mul(%18, %9)
    %20 = max n %19
    %21 = Sub(%19, %20)
    %22 = Exp(%21)
    %23 = before %20
    %24 = Sub(%23, %20)
    %25 = Exp(%24)
    %26 = sum n %22 rescaled %25
    %27 = load x2
    %28 = Mul(%22, %27)
    %29 = sum n %28 rescaled %25
  }
  %30 = Div(%29, %26)
  result %30
}
