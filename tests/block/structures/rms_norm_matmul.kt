block {
  axes m 16 grid, f 4096 grid, d 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [d]
  leaf x2 f32 [f, d]
  %0 = number 0.0009765625
  %1 = number 1e-06
  loop d {
    %2 = load x0
    %3 = Mul(%2, %2)
    %4 = sum d %3
    %5 = load x1
    %6 = load x2
    %7 = Mul(%2, %5)
    %8 = Mul(%7, %6)
    %9 = sum d %8
  }
  %10 = Mul(%4, %0)
  %11 = Add(%10, %1)
  %12 = Sqrt(%11)
  %13 = Div(%9, %12)
  result %13
}
