block {
  axes m 16 grid, f 4096 grid, d 4096, r 16
  leaf x0 f32 [m, d]
  leaf x1 f32 [f, d]
  leaf x2 f32 [d, r]
  leaf x3 f32 [f, r]
  %0 = load x3
  loop d {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum d %3
    %5 = load x2
    %6 = Mul(%1, %5)
    %7 = sum d %6
  }
  %8 = Mul(%7, %0)
  %9 = sum r %8
  %10 = Add(%4, %9)
  result %10
}
