block {
  axes m 16 grid, f 4096 grid, d 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [f, d]
  leaf x2 f32 [f, d]
  loop d {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = load x2
    %5 = Mul(%0, %4)
    %6 = sum d %5
  }
  %7 = Sigmoid(%3)
  %8 = Mul(%3, %7)
  %9 = Mul(%8, %6)
  result %9
}
