block {
  axes b 12 grid, m 1024 grid, n 128, d 64, e 64, n_part 8 grid
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d, n_part]
  leaf x2 f32 [b, n, e, n_part]
  %0 = load x0
  %1 = number 0.125
  loop n {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max n %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum n %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum n %14 rescaled %11
  }
  result %6
  result %15
  result %12
}
block {
  axes b 12 grid, m 1024 grid, n 128, d 64, e 64, n_part 8
  leaf x0 f32 [b, m, d]
  leaf x1 f32 [b, n, d, n_part]
  leaf x2 f32 [b, n, e, n_part]
  leaf part0 f32 [b, m, n_part]
  leaf part1 f32 [b, m, e, n_part]
  leaf part2 f32 [b, m, n_part]
  %0 = load part1
  %1 = load part0
  %2 = max n_part %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = Mul(%0, %4)
  %6 = sum n_part %5
  %7 = load part2
  %8 = Mul(%7, %4)
  %9 = sum n_part %8
  %10 = Div(%6, %9)
  result %10
}
