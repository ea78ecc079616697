block {
  axes b 12 grid, m 1024 grid, n 1024, d 64, e 64
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d]
  leaf x2 f32 [b, n, e]
  %0 = load x0
  %1 = number 400
  %2 = number 50
  loop n {
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Div(%5, %1)
    %7 = Tanh(%6)
    %8 = Mul(%7, %2)
    %9 = max n %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum n %11 rescaled %14
    %16 = load x2
    %17 = Mul(%11, %16)
    %18 = sum n %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
