block {
  axes m 256 grid, n 4096
  leaf x0 f32 [m, n]
  loop n {
    %0 = load x0
    %1 = max n %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum n %3 rescaled %6
  }
  %8 = Log(%7)
  %9 = Add(%1, %8)
  result %9
}
