block {
  axes b 2 grid, o 24, h 56 grid, w 56, y 112, x 112, k 16, c 96, i 3, j 3
  leaf x0 f32 [b, y, x, k]
  leaf x1 f32 constant [k, c]
  leaf x2 f32 constant [c, i, j]
  leaf x3 f32 constant [o, c]
  %0 = load x0
  loop c {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum k %2
    %4 = Relu(%3)
    %5 = at y = 2 h + 1 i + -1 of %4
    %6 = at x = 2 w + 1 j + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum i, j %8
    %10 = Relu(%9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum c %12
  }
  result %13
}
