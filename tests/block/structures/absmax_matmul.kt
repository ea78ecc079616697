block {
  axes m 16 grid, f 4096 grid, d 1024
  leaf x0 f32 [m, d]
  leaf x1 f32 [f, d]
  loop d {
    %0 = load x0
    %1 = Abs(%0)
    %2 = max d %1
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
  }
  %6 = Div(%5, %2)
  result %6
}
