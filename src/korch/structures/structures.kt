// Block graphs that ship: what `korch search --write` found in the networks that docs/results/structures.md names.
// Each is checked again when a compilation offers it (docs/design/structures.md).
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = number 0.125
  %5 = Mul(%3, %4)
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = max e %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum e %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %12)
  %14 = load x3
  %15 = Mul(%13, %14)
  %16 = sum e %15
  result %16
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  loop d {
    %0 = load x0
    %1 = max d %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum d %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum d %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  loop d {
    %0 = load x0
    %1 = max d %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum d %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum d %9 rescaled %6
  }
  %11 = Div(%10, %7)
  result %11
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  loop d {
    %0 = load x0
    %1 = max d %0
  }
  loop d {
    %2 = load x0
    %3 = Sub(%2, %1)
    %4 = Exp(%3)
    %5 = sum d %4
    %6 = load x1
    %7 = Mul(%4, %6)
    %8 = sum d %7
  }
  %9 = Reciprocal(%5)
  %10 = Mul(%9, %8)
  result %10
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  loop d {
    %0 = load x0
    %1 = max d %0
  }
  loop d {
    %2 = load x0
    %3 = Sub(%2, %1)
    %4 = Exp(%3)
    %5 = sum d %4
    %6 = load x1
    %7 = Mul(%4, %6)
    %8 = sum d %7
  }
  %9 = Reciprocal(%5)
  %10 = Mul(%9, %8)
  result %10
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = number 0.0883883461356163
  %5 = Mul(%3, %4)
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = max e %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum e %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %12)
  %14 = load x3
  %15 = Mul(%13, %14)
  %16 = sum e %15
  result %16
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Add(%5, %6)
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x3
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = number 0.0883883461356163
  %5 = Mul(%3, %4)
  %6 = load x2
  %7 = Mul(%6, %4)
  %8 = Add(%5, %7)
  %9 = max e %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum e %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x3
  %16 = Mul(%14, %15)
  %17 = sum e %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Mul(%6, %1)
    %8 = Add(%5, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Mul(%6, %1)
    %8 = Add(%5, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Mul(%6, %1)
    %8 = Add(%5, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0883883461356163
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = load x2
    %7 = Mul(%6, %1)
    %8 = Add(%5, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x1
  %5 = Elu(%4) alpha 1 beta 0
  %6 = Add(%5, %2)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum e %8
  %10 = Mul(%3, %9)
  %11 = sum d %10
  %12 = sum e %6
  %13 = Mul(%3, %12)
  %14 = sum d %13
  %15 = number 9.999999974752427e-07
  %16 = Add(%14, %15)
  %17 = Reciprocal(%16)
  %18 = Mul(%11, %17)
  result %18
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x2
  %5 = sum e %4
  %6 = load x1
  %7 = Elu(%6) alpha 1 beta 0
  %8 = Mul(%7, %4)
  %9 = sum e %8
  %10 = Add(%5, %9)
  %11 = Mul(%3, %10)
  %12 = sum d %11
  %13 = Add(%7, %2)
  %14 = sum e %13
  %15 = Mul(%3, %14)
  %16 = sum d %15
  %17 = number 9.999999974752427e-07
  %18 = Add(%16, %17)
  %19 = Reciprocal(%18)
  %20 = Mul(%12, %19)
  result %20
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = number 1
  %1 = load x2
  %2 = sum e %1
  %3 = number 9.999999974752427e-07
  loop d {
    %4 = load x0
    %5 = Elu(%4) alpha 1 beta 0
    %6 = Add(%5, %0)
    %7 = load x1
    %8 = Elu(%7) alpha 1 beta 0
    %9 = Mul(%8, %1)
    %10 = sum e %9
    %11 = Add(%2, %10)
    %12 = Mul(%6, %11)
    %13 = sum d %12
    %14 = Add(%8, %0)
    %15 = sum e %14
    %16 = Mul(%6, %15)
    %17 = sum d %16
  }
  %18 = Add(%17, %3)
  %19 = Reciprocal(%18)
  %20 = Mul(%13, %19)
  result %20
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = number 9.999999974752427e-07
  loop e {
    %5 = load x2
    %6 = sum e %5
    %7 = load x1
    %8 = Elu(%7) alpha 1 beta 0
    %9 = Mul(%8, %5)
    %10 = sum e %9
    %11 = Add(%8, %2)
    %12 = sum e %11
  }
  %13 = Add(%6, %10)
  %14 = Mul(%3, %13)
  %15 = sum d %14
  %16 = Mul(%3, %12)
  %17 = sum d %16
  %18 = Add(%17, %4)
  %19 = Reciprocal(%18)
  %20 = Mul(%15, %19)
  result %20
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x2
  %5 = sum e %4
  %6 = load x1
  %7 = Elu(%6) alpha 1 beta 0
  %8 = Mul(%7, %4)
  %9 = sum e %8
  %10 = Add(%5, %9)
  %11 = Mul(%3, %10)
  %12 = sum d %11
  %13 = Add(%7, %2)
  %14 = sum e %13
  %15 = sum d %14
  %16 = Mul(%1, %14)
  %17 = sum d %16
  %18 = number 9.999999974752427e-07
  %19 = Add(%15, %18)
  %20 = Add(%19, %17)
  %21 = Reciprocal(%20)
  %22 = Mul(%12, %21)
  result %22
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  leaf x2 f32 [a, d]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x1
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x2
  %8 = Mul(%3, %7)
  %9 = sum d %8
  %10 = number 9.999999974752427e-07
  %11 = Add(%9, %10)
  %12 = Reciprocal(%11)
  %13 = Mul(%6, %12)
  result %13
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  leaf x2 f32 [a, d]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x1
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x2
  %8 = Mul(%3, %7)
  %9 = sum d %8
  %10 = number 9.999999974752427e-07
  %11 = Add(%9, %10)
  %12 = Reciprocal(%11)
  %13 = Mul(%6, %12)
  result %13
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  leaf x2 f32 [a, d]
  %0 = number 1
  %1 = number 9.999999974752427e-07
  loop d {
    %2 = load x0
    %3 = Elu(%2) alpha 1 beta 0
    %4 = Add(%3, %0)
    %5 = load x1
    %6 = Mul(%4, %5)
    %7 = sum d %6
    %8 = load x2
    %9 = Mul(%4, %8)
    %10 = sum d %9
  }
  %11 = Add(%10, %1)
  %12 = Reciprocal(%11)
  %13 = Mul(%7, %12)
  result %13
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  leaf x2 f32 [a, d]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x1
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x2
  %8 = Mul(%1, %7)
  %9 = Add(%7, %8)
  %10 = sum d %9
  %11 = number 9.999999974752427e-07
  %12 = Add(%10, %11)
  %13 = Reciprocal(%12)
  %14 = Mul(%6, %13)
  result %14
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, c, d]
  leaf x2 f32 [a, d]
  %0 = load x0
  %1 = Elu(%0) alpha 1 beta 0
  %2 = number 1
  %3 = Add(%1, %2)
  %4 = load x1
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x2
  %8 = Mul(%1, %7)
  %9 = Add(%7, %8)
  %10 = sum d %9
  %11 = number 9.999999974752427e-07
  %12 = Add(%10, %11)
  %13 = Div(%6, %12)
  result %13
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = number 0.125
  %5 = Mul(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x2
  %13 = Mul(%11, %12)
  %14 = sum e %13
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Reciprocal(%12)
  %17 = Mul(%16, %15)
  result %17
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Reciprocal(%12)
  %17 = Mul(%16, %15)
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Div(%15, %12)
  result %16
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.125
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Mul(%4, %1)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x2
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Div(%15, %12)
  result %16
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = max e %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum e %6
  %8 = Reciprocal(%7)
  %9 = Mul(%6, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum e %11
  result %12
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max e %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = before %4
    %8 = Sub(%7, %4)
    %9 = Exp(%8)
    %10 = sum e %6 rescaled %9
    %11 = load x2
    %12 = Mul(%6, %11)
    %13 = sum e %12 rescaled %9
  }
  %14 = Reciprocal(%10)
  %15 = Mul(%14, %13)
  result %15
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max e %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = before %4
    %8 = Sub(%7, %4)
    %9 = Exp(%8)
    %10 = sum e %6 rescaled %9
    %11 = load x2
    %12 = Mul(%6, %11)
    %13 = sum e %12 rescaled %9
  }
  %14 = Reciprocal(%10)
  %15 = Mul(%14, %13)
  result %15
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max e %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = before %4
    %8 = Sub(%7, %4)
    %9 = Exp(%8)
    %10 = sum e %6 rescaled %9
    %11 = load x2
    %12 = Mul(%6, %11)
    %13 = sum e %12 rescaled %9
  }
  %14 = Div(%13, %10)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max e %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = before %4
    %8 = Sub(%7, %4)
    %9 = Exp(%8)
    %10 = sum e %6 rescaled %9
    %11 = load x2
    %12 = Mul(%6, %11)
    %13 = sum e %12 rescaled %9
  }
  %14 = Div(%13, %10)
  result %14
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 constant [d]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = load x2
  %4 = load x3
  %5 = Mul(%3, %4)
  %6 = Mul(%2, %5)
  %7 = sum d %6
  %8 = max e %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum e %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %12)
  %14 = load x4
  %15 = Mul(%13, %14)
  %16 = sum e %15
  result %16
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 constant [d]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x3
  loop e {
    %3 = load x2
    %4 = Mul(%1, %2)
    %5 = Mul(%0, %4)
    %6 = Mul(%5, %3)
    %7 = sum d %6
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x4
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 constant [d]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x3
  loop e {
    %3 = load x2
    %4 = Mul(%1, %2)
    %5 = Mul(%0, %4)
    %6 = Mul(%5, %3)
    %7 = sum d %6
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x4
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Reciprocal(%14)
  %19 = Mul(%18, %17)
  result %19
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 constant [d]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x3
  loop e {
    %3 = load x2
    %4 = Mul(%1, %2)
    %5 = Mul(%0, %4)
    %6 = Mul(%5, %3)
    %7 = sum d %6
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x4
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 constant [d]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x3
  loop e {
    %3 = load x2
    %4 = Mul(%1, %2)
    %5 = Mul(%0, %4)
    %6 = Mul(%5, %3)
    %7 = sum d %6
    %8 = max e %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = before %8
    %12 = Sub(%11, %8)
    %13 = Exp(%12)
    %14 = sum e %10 rescaled %13
    %15 = load x4
    %16 = Mul(%10, %15)
    %17 = sum e %16 rescaled %13
  }
  %18 = Div(%17, %14)
  result %18
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, c, d]
  leaf x3 f32 [a, c, e]
  leaf x4 f32 constant [d]
  %0 = load x0
  %1 = number 1
  %2 = Mul(%0, %0)
  %3 = sum d %2
  %4 = number 0.015625
  %5 = Mul(%3, %4)
  %6 = number 9.999999974752427e-07
  %7 = Add(%5, %6)
  %8 = Sqrt(%7)
  %9 = Div(%1, %8)
  %10 = Mul(%0, %9)
  %11 = load x1
  %12 = Mul(%10, %11)
  %13 = load x2
  %14 = load x3
  %15 = sum e %14
  %16 = Mul(%15, %4)
  %17 = Add(%16, %6)
  %18 = Sqrt(%17)
  %19 = Div(%1, %18)
  %20 = Mul(%13, %19)
  %21 = load x4
  %22 = Mul(%20, %21)
  %23 = Mul(%12, %22)
  %24 = sum d %23
  result %24
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, c, d]
  leaf x3 f32 [a, c, e]
  leaf x4 f32 constant [d]
  %0 = load x0
  %1 = Mul(%0, %0)
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = number 9.999999974752427e-07
  %6 = Add(%4, %5)
  %7 = Sqrt(%6)
  %8 = Reciprocal(%7)
  %9 = load x1
  %10 = load x2
  %11 = load x3
  %12 = sum e %11
  %13 = Mul(%12, %3)
  %14 = Add(%13, %5)
  %15 = Sqrt(%14)
  %16 = Reciprocal(%15)
  %17 = Mul(%10, %16)
  %18 = load x4
  %19 = Mul(%9, %18)
  %20 = Mul(%0, %19)
  %21 = Mul(%20, %17)
  %22 = sum d %21
  %23 = Mul(%8, %22)
  result %23
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, c, d]
  leaf x3 f32 [a, c, e]
  leaf x4 f32 constant [d]
  %0 = number 0.015625
  %1 = number 9.999999974752427e-07
  %2 = load x3
  %3 = sum e %2
  %4 = Mul(%3, %0)
  %5 = Add(%4, %1)
  %6 = Sqrt(%5)
  %7 = Reciprocal(%6)
  loop d {
    %8 = load x0
    %9 = Mul(%8, %8)
    %10 = sum d %9
    %11 = load x1
    %12 = load x2
    %13 = Mul(%12, %7)
    %14 = load x4
    %15 = Mul(%11, %14)
    %16 = Mul(%8, %15)
    %17 = Mul(%16, %13)
    %18 = sum d %17
  }
  %19 = Mul(%10, %0)
  %20 = Add(%19, %1)
  %21 = Sqrt(%20)
  %22 = Reciprocal(%21)
  %23 = Mul(%22, %18)
  result %23
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, c, d]
  leaf x3 f32 [a, c, e]
  leaf x4 f32 constant [d]
  %0 = load x0
  %1 = Mul(%0, %0)
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = number 9.999999974752427e-07
  %6 = Add(%4, %5)
  %7 = Sqrt(%6)
  %8 = Reciprocal(%7)
  %9 = load x1
  %10 = load x2
  %11 = load x4
  loop e {
    %12 = load x3
    %13 = sum e %12
  }
  %14 = Mul(%13, %3)
  %15 = Add(%14, %5)
  %16 = Sqrt(%15)
  %17 = Reciprocal(%16)
  %18 = Mul(%10, %17)
  %19 = Mul(%9, %11)
  %20 = Mul(%0, %19)
  %21 = Mul(%20, %18)
  %22 = sum d %21
  %23 = Mul(%8, %22)
  result %23
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 [a, c, d]
  leaf x3 f32 [a, c, e]
  leaf x4 f32 constant [d]
  %0 = number 0.015625
  %1 = number 9.999999974752427e-07
  loop e {
    %2 = load x3
    %3 = sum e %2
  }
  %4 = Mul(%3, %0)
  %5 = Add(%4, %1)
  %6 = Sqrt(%5)
  %7 = Reciprocal(%6)
  loop d {
    %8 = load x0
    %9 = Mul(%8, %8)
    %10 = sum d %9
    %11 = load x1
    %12 = load x2
    %13 = Mul(%12, %7)
    %14 = load x4
    %15 = Mul(%11, %14)
    %16 = Mul(%8, %15)
    %17 = Mul(%16, %13)
    %18 = sum d %17
  }
  %19 = Mul(%10, %0)
  %20 = Add(%19, %1)
  %21 = Sqrt(%20)
  %22 = Reciprocal(%21)
  %23 = Mul(%22, %18)
  result %23
}
group {
  axes a, b, c, d, e
  leaf x0 bool constant [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = load x0
  %1 = number -1000000000
  %2 = load x1
  %3 = load x2
  %4 = Mul(%2, %3)
  %5 = sum e %4
  %6 = number 0.125
  %7 = Mul(%5, %6)
  %8 = Where(%0, %1, %7)
  %9 = max d %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum d %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x3
  %16 = Mul(%14, %15)
  %17 = sum d %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool constant [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -1000000000
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool constant [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -1000000000
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool constant [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -1000000000
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool constant [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -1000000000
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = number 0.0024999999441206455
  %5 = Mul(%3, %4)
  %6 = Tanh(%5)
  %7 = number 50
  %8 = Mul(%6, %7)
  %9 = max e %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum e %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x2
  %16 = Mul(%14, %15)
  %17 = sum e %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0024999999441206455
  %2 = number 50
  loop e {
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Mul(%5, %1)
    %7 = Tanh(%6)
    %8 = Mul(%7, %2)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x2
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0024999999441206455
  %2 = number 50
  loop e {
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Mul(%5, %1)
    %7 = Tanh(%6)
    %8 = Mul(%7, %2)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x2
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0024999999441206455
  %2 = number 50
  loop e {
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Mul(%5, %1)
    %7 = Tanh(%6)
    %8 = Mul(%7, %2)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x2
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [a, c, e]
  %0 = load x0
  %1 = number 0.0024999999441206455
  %2 = number 50
  loop e {
    %3 = load x1
    %4 = Mul(%0, %3)
    %5 = sum d %4
    %6 = Mul(%5, %1)
    %7 = Tanh(%6)
    %8 = Mul(%7, %2)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x2
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum e %13
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = load x2
    %5 = Add(%3, %4)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x3
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Reciprocal(%12)
  %17 = Mul(%16, %15)
  result %17
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = load x2
    %5 = Add(%3, %4)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x3
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Reciprocal(%12)
  %17 = Mul(%16, %15)
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = load x2
    %5 = Add(%3, %4)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x3
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Div(%15, %12)
  result %16
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [a, b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = load x2
    %5 = Add(%3, %4)
    %6 = max e %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = before %6
    %10 = Sub(%9, %6)
    %11 = Exp(%10)
    %12 = sum e %8 rescaled %11
    %13 = load x3
    %14 = Mul(%8, %13)
    %15 = sum e %14 rescaled %11
  }
  %16 = Div(%15, %12)
  result %16
}
group {
  axes a, b, c, d, e
  leaf x0 bool [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  %3 = load x2
  %4 = Mul(%2, %3)
  %5 = sum e %4
  %6 = number 0.125
  %7 = Mul(%5, %6)
  %8 = Where(%0, %1, %7)
  %9 = max d %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum d %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x3
  %16 = Mul(%14, %15)
  %17 = sum d %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -3.4028234663852886e+38
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -3.4028234663852886e+38
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -3.4028234663852886e+38
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool [a, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 [b, d, e]
  leaf x3 f32 [b, c, d]
  %0 = number -3.4028234663852886e+38
  %1 = load x1
  %2 = number 0.125
  loop d {
    %3 = load x0
    %4 = load x2
    %5 = Mul(%1, %4)
    %6 = sum e %5
    %7 = Mul(%6, %2)
    %8 = Where(%3, %0, %7)
    %9 = max d %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum d %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum d %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Tanh(%3)
  %5 = number 50
  %6 = Mul(%4, %5)
  %7 = load x2
  %8 = Add(%6, %7)
  %9 = max e %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum e %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x3
  %16 = Mul(%14, %15)
  %17 = sum e %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 50
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 50
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 50
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = number 50
  loop e {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = Tanh(%3)
  %5 = number 50
  %6 = Mul(%4, %5)
  %7 = load x2
  %8 = Add(%6, %7)
  %9 = max f %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum f %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x3
  %16 = Mul(%14, %15)
  %17 = sum f %16
  result %17
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = number 50
  loop f {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum e %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max f %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum f %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum f %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = number 50
  loop f {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum e %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max f %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum f %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum f %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = number 50
  loop f {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum e %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max f %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum f %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum f %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = number 50
  loop f {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum e %3
    %5 = Tanh(%4)
    %6 = Mul(%5, %1)
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = max f %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum f %11 rescaled %14
    %16 = load x3
    %17 = Mul(%11, %16)
    %18 = sum f %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, d, e]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum e %8
  result %9
}
block {
  axes a grid, b grid, c grid, d grid, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum e %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum e %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
block {
  axes a grid, b grid, c grid, d grid, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum e %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum e %9 rescaled %6
  }
  %11 = Div(%10, %7)
  result %11
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
  }
  loop e {
    %2 = load x0
    %3 = Sub(%2, %1)
    %4 = Exp(%3)
    %5 = sum e %4
    %6 = load x1
    %7 = Mul(%4, %6)
    %8 = sum e %7
  }
  %9 = Reciprocal(%5)
  %10 = Mul(%9, %8)
  result %10
}
block {
  axes a grid, b grid, c grid, d grid, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
  }
  loop e {
    %2 = load x0
    %3 = Sub(%2, %1)
    %4 = Exp(%3)
    %5 = sum e %4
    %6 = load x1
    %7 = Mul(%4, %6)
    %8 = sum e %7
  }
  %9 = Reciprocal(%5)
  %10 = Mul(%9, %8)
  result %10
}
group {
  axes a, b, c, d, e
  leaf x0 bool constant []
  leaf x1 f32 [a, b, d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 [a, b, e]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  %3 = load x2
  %4 = Mul(%2, %3)
  %5 = sum d %4
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = Where(%0, %1, %7)
  %9 = max e %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum e %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %13)
  %15 = load x4
  %16 = Mul(%14, %15)
  %17 = sum e %16
  result %17
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool constant []
  leaf x1 f32 [a, b, d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 [a, b, e]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  loop e {
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum d %4
    %6 = load x3
    %7 = Add(%5, %6)
    %8 = Where(%0, %1, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x4
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool constant []
  leaf x1 f32 [a, b, d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 [a, b, e]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  loop e {
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum d %4
    %6 = load x3
    %7 = Add(%5, %6)
    %8 = Where(%0, %1, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x4
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Reciprocal(%15)
  %20 = Mul(%19, %18)
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 bool constant []
  leaf x1 f32 [a, b, d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 [a, b, e]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  loop e {
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum d %4
    %6 = load x3
    %7 = Add(%5, %6)
    %8 = Where(%0, %1, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x4
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 bool constant []
  leaf x1 f32 [a, b, d]
  leaf x2 f32 [a, d, e]
  leaf x3 f32 [a, b, e]
  leaf x4 f32 [a, c, e]
  %0 = load x0
  %1 = number -3.4028234663852886e+38
  %2 = load x1
  loop e {
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum d %4
    %6 = load x3
    %7 = Add(%5, %6)
    %8 = Where(%0, %1, %7)
    %9 = max e %8
    %10 = Sub(%8, %9)
    %11 = Exp(%10)
    %12 = before %9
    %13 = Sub(%12, %9)
    %14 = Exp(%13)
    %15 = sum e %11 rescaled %14
    %16 = load x4
    %17 = Mul(%11, %16)
    %18 = sum e %17 rescaled %14
  }
  %19 = Div(%18, %15)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum e %13
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum e %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum e %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [e]
  leaf x3 f32 [a, c, e]
  %0 = load x2
  %1 = load x3
  loop d {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum d %4
  }
  %6 = Add(%5, %0)
  %7 = max e %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum e %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum e %12
  %14 = Mul(%11, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 [e]
  leaf x3 f32 [a, c, e]
  %0 = load x2
  %1 = load x3
  loop d {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum d %4
  }
  %6 = Add(%5, %0)
  %7 = max e %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum e %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum e %12
  %14 = Mul(%11, %13)
  result %14
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = number 1.4142135381698608
  %5 = Div(%3, %4)
  %6 = Erf(%5)
  %7 = number 1
  %8 = Add(%6, %7)
  %9 = Mul(%3, %8)
  %10 = number 0.5
  %11 = Mul(%9, %10)
  %12 = load x2
  %13 = Mul(%11, %12)
  %14 = sum d %13
  result %14
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = number 1.4142135381698608
  %2 = number 1
  %3 = number 0.5
  loop d {
    %4 = load x1
    %5 = Mul(%0, %4)
    %6 = sum c %5
    %7 = Div(%6, %1)
    %8 = Erf(%7)
    %9 = Add(%8, %2)
    %10 = Mul(%6, %9)
    %11 = load x2
    %12 = Mul(%10, %11)
    %13 = sum d %12
  }
  %14 = Mul(%13, %3)
  result %14
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = number 1.4142135381698608
  %2 = number 1
  %3 = number 0.5
  loop d {
    %4 = load x1
    %5 = Mul(%0, %4)
    %6 = sum c %5
    %7 = Div(%6, %1)
    %8 = Erf(%7)
    %9 = Add(%8, %2)
    %10 = load x2
    %11 = Mul(%6, %9)
    %12 = Mul(%11, %10)
    %13 = sum d %12
  }
  %14 = Mul(%13, %3)
  result %14
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = number 1.4142135381698608
  %5 = Div(%3, %4)
  %6 = Erf(%5)
  %7 = number 1
  %8 = Add(%6, %7)
  %9 = Mul(%3, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d %11
  %13 = number 0.5
  %14 = Mul(%12, %13)
  result %14
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = number 1.4142135381698608
  %5 = Div(%3, %4)
  %6 = Erf(%5)
  %7 = number 1
  %8 = Add(%6, %7)
  %9 = load x2
  %10 = Mul(%3, %8)
  %11 = Mul(%10, %9)
  %12 = sum d %11
  %13 = number 0.5
  %14 = Mul(%12, %13)
  result %14
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b]
  leaf x1 f32 [a, c]
  leaf x2 f32 constant [c, d]
  leaf x3 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum c %3
  %5 = number 1.4142135381698608
  %6 = Div(%4, %5)
  %7 = Erf(%6)
  %8 = number 1
  %9 = Add(%7, %8)
  %10 = Mul(%4, %9)
  %11 = number 0.5
  %12 = Mul(%10, %11)
  %13 = load x3
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = Add(%0, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, b]
  leaf x1 f32 [a, c]
  leaf x2 f32 constant [c, d]
  leaf x3 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = number 1.4142135381698608
  %3 = number 1
  %4 = number 0.5
  loop d {
    %5 = load x2
    %6 = Mul(%1, %5)
    %7 = sum c %6
    %8 = Div(%7, %2)
    %9 = Erf(%8)
    %10 = Add(%9, %3)
    %11 = Mul(%7, %10)
    %12 = load x3
    %13 = Mul(%11, %12)
    %14 = sum d %13
  }
  %15 = Mul(%14, %4)
  %16 = Add(%0, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, b]
  leaf x1 f32 [a, c]
  leaf x2 f32 constant [c, d]
  leaf x3 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = number 1.4142135381698608
  %3 = number 1
  %4 = number 0.5
  loop d {
    %5 = load x2
    %6 = Mul(%1, %5)
    %7 = sum c %6
    %8 = Div(%7, %2)
    %9 = Erf(%8)
    %10 = Add(%9, %3)
    %11 = load x3
    %12 = Mul(%7, %10)
    %13 = Mul(%12, %11)
    %14 = sum d %13
  }
  %15 = Mul(%14, %4)
  %16 = Add(%0, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, b]
  leaf x1 f32 [a, c]
  leaf x2 f32 constant [c, d]
  leaf x3 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum c %3
  %5 = number 1.4142135381698608
  %6 = Div(%4, %5)
  %7 = Erf(%6)
  %8 = number 1
  %9 = Add(%7, %8)
  %10 = Mul(%4, %9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum d %12
  %14 = number 0.5
  %15 = Mul(%13, %14)
  %16 = Add(%0, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, b]
  leaf x1 f32 [a, c]
  leaf x2 f32 constant [c, d]
  leaf x3 f32 constant [b, d]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum c %3
  %5 = number 1.4142135381698608
  %6 = Div(%4, %5)
  %7 = Erf(%6)
  %8 = number 1
  %9 = Add(%7, %8)
  %10 = load x3
  %11 = Mul(%4, %9)
  %12 = Mul(%11, %10)
  %13 = sum d %12
  %14 = number 0.5
  %15 = Mul(%13, %14)
  %16 = Add(%0, %15)
  result %16
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 384
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 384
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
  }
  %4 = Div(%3, %0)
  loop d {
    %5 = load x0
    %6 = Sub(%5, %4)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x1
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Div(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Reciprocal(%14)
  %16 = Mul(%15, %11)
  result %16
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 384
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum d %5
    %7 = sum d %4
  }
  %8 = Div(%3, %0)
  %9 = Mul(%8, %7)
  %10 = Sub(%6, %9)
  loop d {
    %11 = load x0
    %12 = Sub(%11, %8)
    %13 = Mul(%12, %12)
    %14 = sum d %13
  }
  %15 = Div(%14, %0)
  %16 = Add(%15, %1)
  %17 = Sqrt(%16)
  %18 = Reciprocal(%17)
  %19 = Mul(%18, %10)
  result %19
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 384
  %1 = load x0
  %2 = sum d %1
  %3 = Div(%2, %0)
  %4 = Sub(%1, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %0)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%4, %12)
  %14 = sum d %13
  %15 = Mul(%11, %14)
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 384
  %1 = load x0
  %2 = sum d %1
  %3 = Div(%2, %0)
  %4 = Sub(%1, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %0)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%1, %12)
  %14 = sum d %13
  %15 = sum d %12
  %16 = Mul(%3, %15)
  %17 = Sub(%14, %16)
  %18 = Mul(%11, %17)
  result %18
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum f %13
  result %14
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum f %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum f %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 [a, b, d, f]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Add(%5, %0)
  %7 = max f %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum f %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum f %12
  %14 = Mul(%11, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 [a, b, d, f]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Add(%5, %0)
  %7 = max f %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum f %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum f %12
  %14 = Mul(%11, %13)
  result %14
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 constant [b, c, f]
  leaf x4 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %12)
  %14 = load x4
  %15 = Mul(%13, %14)
  %16 = sum f %15
  result %16
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 constant [b, c, f]
  leaf x4 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = load x4
  %14 = Mul(%10, %13)
  %15 = sum f %14
  %16 = Mul(%12, %15)
  result %16
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 constant [b, c, f]
  leaf x4 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = load x4
  %14 = Mul(%10, %13)
  %15 = sum f %14
  %16 = Mul(%12, %15)
  result %16
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 constant [b, c, f]
  leaf x4 f32 [a, b, d, f]
  %0 = load x2
  %1 = load x3
  %2 = load x4
  loop e {
    %3 = load x0
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum e %5
  }
  %7 = Add(%6, %0)
  %8 = Add(%7, %1)
  %9 = max f %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum f %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %2)
  %15 = sum f %14
  %16 = Mul(%13, %15)
  result %16
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 constant [a, c, f]
  leaf x3 f32 constant [b, c, f]
  leaf x4 f32 [a, b, d, f]
  %0 = load x2
  %1 = load x3
  %2 = load x4
  loop e {
    %3 = load x0
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum e %5
  }
  %7 = Add(%6, %0)
  %8 = Add(%7, %1)
  %9 = max f %8
  %10 = Sub(%8, %9)
  %11 = Exp(%10)
  %12 = sum f %11
  %13 = Reciprocal(%12)
  %14 = Mul(%11, %2)
  %15 = sum f %14
  %16 = Mul(%13, %15)
  result %16
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, d, e]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum e %8
  result %9
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, d, e]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum e %7
  %9 = Mul(%5, %8)
  result %9
}
block {
  axes a grid, b grid, c grid, d grid, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, d, e]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum e %7
  %9 = Mul(%5, %8)
  result %9
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum e %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum e %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
block {
  axes a grid, b grid, c grid, d grid, e
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, d, e]
  loop e {
    %0 = load x0
    %1 = max e %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum e %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum e %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum e %8
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d, f %11
  result %12
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum e %7
  %9 = Mul(%5, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d, f %11
  result %12
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  loop d {
    %0 = load x0
    %1 = max e %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = sum e %3
    %5 = Reciprocal(%4)
    %6 = load x1
    %7 = Mul(%3, %6)
    %8 = sum e %7
    %9 = Mul(%5, %8)
    %10 = load x2
    %11 = Mul(%9, %10)
    %12 = sum d, f %11
  }
  result %12
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  loop f {
    %6 = load x1
    %7 = Mul(%3, %6)
    %8 = sum e %7
    %9 = Mul(%5, %8)
    %10 = load x2
    %11 = Mul(%9, %10)
    %12 = sum d, f %11
  }
  result %12
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = max e %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum e %3
  %5 = Reciprocal(%4)
  %6 = load x2
  %7 = load x1
  %8 = Mul(%3, %7)
  %9 = sum e %8
  %10 = Mul(%5, %9)
  %11 = Mul(%10, %6)
  %12 = sum d, f %11
  result %12
}
group {
  axes a, b, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum f %13
  %15 = load x4
  %16 = Mul(%14, %15)
  %17 = sum d, g %16
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum f %12
  %14 = Mul(%10, %13)
  %15 = load x4
  %16 = Mul(%14, %15)
  %17 = sum d, g %16
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  loop d {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum e %2
    %4 = load x2
    %5 = Add(%3, %4)
    %6 = max f %5
    %7 = Sub(%5, %6)
    %8 = Exp(%7)
    %9 = sum f %8
    %10 = Reciprocal(%9)
    %11 = load x3
    %12 = Mul(%8, %11)
    %13 = sum f %12
    %14 = Mul(%10, %13)
    %15 = load x4
    %16 = Mul(%14, %15)
    %17 = sum d, g %16
  }
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x2
  %1 = load x3
  %2 = load x4
  loop e {
    %3 = load x0
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum e %5
  }
  %7 = Add(%6, %0)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %1)
  %14 = sum f %13
  %15 = Mul(%12, %14)
  %16 = Mul(%15, %2)
  %17 = sum d, g %16
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x2
  loop e {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum e %3
  }
  %5 = Add(%4, %0)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  loop g {
    %11 = load x3
    %12 = Mul(%8, %11)
    %13 = sum f %12
    %14 = Mul(%10, %13)
    %15 = load x4
    %16 = Mul(%14, %15)
    %17 = sum d, g %16
  }
  result %17
}
group {
  axes a, b, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 constant [a, b, f]
  leaf x4 f32 [a, d, f, g]
  leaf x5 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = Mul(%10, %12)
  %14 = load x4
  %15 = Mul(%13, %14)
  %16 = sum f %15
  %17 = load x5
  %18 = Mul(%16, %17)
  %19 = sum d, g %18
  result %19
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 constant [a, b, f]
  leaf x4 f32 [a, d, f, g]
  leaf x5 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = load x3
  %7 = Add(%5, %6)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  %13 = load x4
  %14 = Mul(%10, %13)
  %15 = sum f %14
  %16 = Mul(%12, %15)
  %17 = load x5
  %18 = Mul(%16, %17)
  %19 = sum d, g %18
  result %19
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 constant [a, b, f]
  leaf x4 f32 [a, d, f, g]
  leaf x5 f32 constant [c, d, g]
  %0 = load x3
  loop d {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum e %3
    %5 = load x2
    %6 = Add(%4, %5)
    %7 = Add(%6, %0)
    %8 = max f %7
    %9 = Sub(%7, %8)
    %10 = Exp(%9)
    %11 = sum f %10
    %12 = Reciprocal(%11)
    %13 = load x4
    %14 = Mul(%10, %13)
    %15 = sum f %14
    %16 = Mul(%12, %15)
    %17 = load x5
    %18 = Mul(%16, %17)
    %19 = sum d, g %18
  }
  result %19
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 constant [a, b, f]
  leaf x4 f32 [a, d, f, g]
  leaf x5 f32 constant [c, d, g]
  %0 = load x2
  %1 = load x3
  %2 = load x4
  %3 = load x5
  loop e {
    %4 = load x0
    %5 = load x1
    %6 = Mul(%4, %5)
    %7 = sum e %6
  }
  %8 = Add(%7, %0)
  %9 = Add(%8, %1)
  %10 = max f %9
  %11 = Sub(%9, %10)
  %12 = Exp(%11)
  %13 = sum f %12
  %14 = Reciprocal(%13)
  %15 = Mul(%12, %2)
  %16 = sum f %15
  %17 = Mul(%14, %16)
  %18 = Mul(%17, %3)
  %19 = sum d, g %18
  result %19
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [b, d, f]
  leaf x3 f32 constant [a, b, f]
  leaf x4 f32 [a, d, f, g]
  leaf x5 f32 constant [c, d, g]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Add(%5, %0)
  %7 = Add(%6, %1)
  %8 = max f %7
  %9 = Sub(%7, %8)
  %10 = Exp(%9)
  %11 = sum f %10
  %12 = Reciprocal(%11)
  loop g {
    %13 = load x4
    %14 = Mul(%10, %13)
    %15 = sum f %14
    %16 = Mul(%12, %15)
    %17 = load x5
    %18 = Mul(%16, %17)
    %19 = sum d, g %18
  }
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 constant [c, d]
  %0 = load x0
  %1 = load x1
  %2 = sum e %1
  %3 = number 384
  %4 = Div(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  %14 = load x2
  %15 = Mul(%13, %14)
  %16 = sum d %15
  result %16
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 constant [c, d]
  %0 = number 384
  %1 = load x1
  %2 = sum e %1
  %3 = Div(%2, %0)
  %4 = number 9.999999747378752e-06
  loop d {
    %5 = load x0
    %6 = Sub(%5, %3)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x2
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Div(%8, %0)
  %13 = Add(%12, %4)
  %14 = Sqrt(%13)
  %15 = Reciprocal(%14)
  %16 = Mul(%15, %11)
  result %16
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 constant [c, d]
  %0 = number 384
  %1 = number 9.999999747378752e-06
  loop e {
    %2 = load x1
    %3 = sum e %2
  }
  %4 = Div(%3, %0)
  loop d {
    %5 = load x0
    %6 = Sub(%5, %4)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x2
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Div(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Reciprocal(%14)
  %16 = Mul(%15, %11)
  result %16
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 constant [c, d]
  %0 = number 384
  %1 = load x1
  %2 = sum e %1
  %3 = Div(%2, %0)
  %4 = number 9.999999747378752e-06
  loop d {
    %5 = load x0
    %6 = Sub(%5, %3)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x2
    %10 = Mul(%5, %9)
    %11 = sum d %10
    %12 = sum d %9
  }
  %13 = Div(%8, %0)
  %14 = Add(%13, %4)
  %15 = Sqrt(%14)
  %16 = Reciprocal(%15)
  %17 = Mul(%3, %12)
  %18 = Sub(%11, %17)
  %19 = Mul(%16, %18)
  result %19
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, b, e]
  leaf x2 f32 constant [c, d]
  %0 = number 384
  %1 = number 9.999999747378752e-06
  loop e {
    %2 = load x1
    %3 = sum e %2
  }
  %4 = Div(%3, %0)
  loop d {
    %5 = load x0
    %6 = Sub(%5, %4)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x2
    %10 = Mul(%5, %9)
    %11 = sum d %10
    %12 = sum d %9
  }
  %13 = Div(%8, %0)
  %14 = Add(%13, %1)
  %15 = Sqrt(%14)
  %16 = Reciprocal(%15)
  %17 = Mul(%4, %12)
  %18 = Sub(%11, %17)
  %19 = Mul(%16, %18)
  result %19
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum d, f %5
  result %6
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum d, f %5
  result %6
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  loop d {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum e %2
    %4 = load x2
    %5 = Mul(%3, %4)
    %6 = sum d, f %5
  }
  result %6
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x2
  loop e {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum e %3
  }
  %5 = Mul(%4, %0)
  %6 = sum d, f %5
  result %6
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 constant [c, d, f]
  %0 = load x0
  loop f {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum e %2
    %4 = load x2
    %5 = Mul(%3, %4)
    %6 = sum d, f %5
  }
  result %6
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = max d %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum d %6
  %8 = Reciprocal(%7)
  %9 = Mul(%6, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d %11
  result %12
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = max d %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum d %6
  %8 = Reciprocal(%7)
  %9 = load x2
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%8, %11)
  result %12
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 [b, d]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum c %2
  %4 = max d %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum d %6
  %8 = Reciprocal(%7)
  %9 = load x2
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%8, %11)
  result %12
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 [b, d]
  %0 = load x2
  loop c {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum c %3
  }
  %5 = max d %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum d %7
  %9 = Reciprocal(%8)
  %10 = Mul(%7, %0)
  %11 = sum d %10
  %12 = Mul(%9, %11)
  result %12
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 [b, d]
  %0 = load x2
  loop c {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum c %3
  }
  %5 = max d %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum d %7
  %9 = Reciprocal(%8)
  %10 = Mul(%7, %0)
  %11 = sum d %10
  %12 = Mul(%9, %11)
  result %12
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 [b, c]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum c %8
  result %9
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 [b, c]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum c %7
  %9 = Mul(%5, %8)
  result %9
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 [b, c]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum c %7
  %9 = Mul(%5, %8)
  result %9
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 [b, c]
  loop c {
    %0 = load x0
    %1 = max c %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum c %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum c %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 [b, c]
  loop c {
    %0 = load x0
    %1 = max c %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum c %3 rescaled %6
    %8 = load x1
    %9 = Mul(%3, %8)
    %10 = sum c %9 rescaled %6
  }
  %11 = Reciprocal(%7)
  %12 = Mul(%11, %10)
  result %12
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum c %8
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d %11
  result %12
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x2
  %7 = load x1
  %8 = Mul(%3, %7)
  %9 = sum c %8
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%5, %11)
  result %12
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x2
  %7 = load x1
  %8 = Mul(%3, %7)
  %9 = sum c %8
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%5, %11)
  result %12
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  loop d {
    %6 = load x2
    %7 = load x1
    %8 = Mul(%3, %7)
    %9 = sum c %8
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Mul(%5, %11)
  result %12
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  loop d {
    %6 = load x2
    %7 = load x1
    %8 = Mul(%3, %7)
    %9 = sum c %8
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Mul(%5, %11)
  result %12
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum c %8
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum d %11
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x2
  %7 = load x1
  %8 = Mul(%3, %7)
  %9 = sum c %8
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%5, %11)
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x2
  %7 = load x1
  %8 = Mul(%3, %7)
  %9 = sum c %8
  %10 = Mul(%6, %9)
  %11 = sum d %10
  %12 = Mul(%5, %11)
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x3
  %7 = load x4
  loop d {
    %8 = load x2
    %9 = load x1
    %10 = Mul(%3, %9)
    %11 = sum c %10
    %12 = Mul(%8, %11)
    %13 = sum d %12
  }
  %14 = Mul(%5, %13)
  %15 = Add(%14, %6)
  %16 = Add(%15, %7)
  result %16
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [c, d]
  leaf x2 f32 constant [b, d]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max c %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum c %3
  %5 = Reciprocal(%4)
  %6 = load x3
  %7 = load x4
  loop d {
    %8 = load x2
    %9 = load x1
    %10 = Mul(%3, %9)
    %11 = sum c %10
    %12 = Mul(%8, %11)
    %13 = sum d %12
  }
  %14 = Mul(%5, %13)
  %15 = Add(%14, %6)
  %16 = Add(%15, %7)
  result %16
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  result %12
}
block {
  axes a grid, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum d %7
  %9 = Mul(%5, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  result %12
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum d %7
  %9 = Mul(%5, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  result %12
}
block {
  axes a grid, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  loop c {
    %0 = load x0
    %1 = max d %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = sum d %3
    %5 = Reciprocal(%4)
    %6 = load x1
    %7 = Mul(%3, %6)
    %8 = sum d %7
    %9 = Mul(%5, %8)
    %10 = load x2
    %11 = Mul(%9, %10)
    %12 = sum c, e %11
  }
  result %12
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  loop c {
    %0 = load x0
    %1 = max d %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = sum d %3
    %5 = Reciprocal(%4)
    %6 = load x1
    %7 = Mul(%3, %6)
    %8 = sum d %7
    %9 = Mul(%5, %8)
    %10 = load x2
    %11 = Mul(%9, %10)
    %12 = sum c, e %11
  }
  result %12
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum d %7
  %9 = Mul(%5, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = Mul(%3, %6)
  %8 = sum d %7
  %9 = Mul(%5, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum c, e %11
  %13 = load x3
  %14 = Add(%12, %13)
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x3
  %1 = load x4
  loop c {
    %2 = load x0
    %3 = max d %2
    %4 = Sub(%2, %3)
    %5 = Exp(%4)
    %6 = sum d %5
    %7 = Reciprocal(%6)
    %8 = load x1
    %9 = Mul(%5, %8)
    %10 = sum d %9
    %11 = Mul(%7, %10)
    %12 = load x2
    %13 = Mul(%11, %12)
    %14 = sum c, e %13
  }
  %15 = Add(%14, %0)
  %16 = Add(%15, %1)
  result %16
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, c, d]
  leaf x1 f32 [c, d, e]
  leaf x2 f32 constant [b, c, e]
  leaf x3 f32 constant [b]
  leaf x4 f32 [a, b]
  %0 = load x3
  %1 = load x4
  loop c {
    %2 = load x0
    %3 = max d %2
    %4 = Sub(%2, %3)
    %5 = Exp(%4)
    %6 = sum d %5
    %7 = Reciprocal(%6)
    %8 = load x1
    %9 = Mul(%5, %8)
    %10 = sum d %9
    %11 = Mul(%7, %10)
    %12 = load x2
    %13 = Mul(%11, %12)
    %14 = sum c, e %13
  }
  %15 = Add(%14, %0)
  %16 = Add(%15, %1)
  result %16
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = number 0.03125
  %1 = number 9.999999747378752e-06
  loop c {
    %2 = load x0
    %3 = sum c %2
  }
  loop c {
    %4 = load x0
    %5 = Mul(%3, %0)
    %6 = Sub(%4, %5)
    %7 = Mul(%6, %6)
    %8 = sum c %7
    %9 = load x1
    %10 = Mul(%6, %9)
    %11 = sum c %10
  }
  %12 = Mul(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Div(%11, %14)
  result %15
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = number 0.03125
  %1 = number 9.999999747378752e-06
  loop c {
    %2 = load x0
    %3 = sum c %2
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum c %5
    %7 = sum c %4
  }
  %8 = Mul(%3, %7)
  %9 = Mul(%8, %0)
  %10 = Sub(%6, %9)
  loop c {
    %11 = load x0
    %12 = Mul(%3, %0)
    %13 = Sub(%11, %12)
    %14 = Mul(%13, %13)
    %15 = sum c %14
  }
  %16 = Mul(%15, %0)
  %17 = Add(%16, %1)
  %18 = Sqrt(%17)
  %19 = Div(%10, %18)
  result %19
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = number 0.03125
  %1 = number 9.999999747378752e-06
  %2 = load x2
  loop c {
    %3 = load x0
    %4 = sum c %3
  }
  loop c {
    %5 = load x0
    %6 = Mul(%4, %0)
    %7 = Sub(%5, %6)
    %8 = Mul(%7, %7)
    %9 = sum c %8
    %10 = load x1
    %11 = Mul(%7, %10)
    %12 = sum c %11
  }
  %13 = Mul(%9, %0)
  %14 = Add(%13, %1)
  %15 = Sqrt(%14)
  %16 = Div(%12, %15)
  %17 = Add(%16, %2)
  result %17
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = number 0.03125
  %1 = number 9.999999747378752e-06
  %2 = load x2
  loop c {
    %3 = load x0
    %4 = sum c %3
    %5 = load x1
    %6 = Mul(%3, %5)
    %7 = sum c %6
    %8 = sum c %5
  }
  %9 = Mul(%4, %8)
  %10 = Mul(%9, %0)
  %11 = Sub(%7, %10)
  loop c {
    %12 = load x0
    %13 = Mul(%4, %0)
    %14 = Sub(%12, %13)
    %15 = Mul(%14, %14)
    %16 = sum c %15
  }
  %17 = Mul(%16, %0)
  %18 = Add(%17, %1)
  %19 = Sqrt(%18)
  %20 = Div(%11, %19)
  %21 = Add(%20, %2)
  result %21
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = sum c %13
  result %14
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = number 0.015625
  %1 = number 9.999999747378752e-06
  loop c {
    %2 = load x0
    %3 = sum c %2
  }
  loop c {
    %4 = load x0
    %5 = Mul(%3, %0)
    %6 = Sub(%4, %5)
    %7 = Mul(%6, %6)
    %8 = sum c %7
    %9 = load x1
    %10 = Mul(%6, %9)
    %11 = sum c %10
  }
  %12 = Mul(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Div(%11, %14)
  result %15
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  %0 = number 0.015625
  %1 = number 9.999999747378752e-06
  loop c {
    %2 = load x0
    %3 = sum c %2
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum c %5
    %7 = sum c %4
  }
  %8 = Mul(%3, %7)
  %9 = Mul(%8, %0)
  %10 = Sub(%6, %9)
  loop c {
    %11 = load x0
    %12 = Mul(%3, %0)
    %13 = Sub(%11, %12)
    %14 = Mul(%13, %13)
    %15 = sum c %14
  }
  %16 = Mul(%15, %0)
  %17 = Add(%16, %1)
  %18 = Sqrt(%17)
  %19 = Div(%10, %18)
  result %19
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = sum c %13
  %15 = load x2
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = number 0.015625
  %1 = number 9.999999747378752e-06
  %2 = load x2
  loop c {
    %3 = load x0
    %4 = sum c %3
  }
  loop c {
    %5 = load x0
    %6 = Mul(%4, %0)
    %7 = Sub(%5, %6)
    %8 = Mul(%7, %7)
    %9 = sum c %8
    %10 = load x1
    %11 = Mul(%7, %10)
    %12 = sum c %11
  }
  %13 = Mul(%9, %0)
  %14 = Add(%13, %1)
  %15 = Sqrt(%14)
  %16 = Div(%12, %15)
  %17 = Add(%16, %2)
  result %17
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [b, c]
  leaf x2 f32 constant [b]
  %0 = number 0.015625
  %1 = number 9.999999747378752e-06
  %2 = load x2
  loop c {
    %3 = load x0
    %4 = sum c %3
    %5 = load x1
    %6 = Mul(%3, %5)
    %7 = sum c %6
    %8 = sum c %5
  }
  %9 = Mul(%4, %8)
  %10 = Mul(%9, %0)
  %11 = Sub(%7, %10)
  loop c {
    %12 = load x0
    %13 = Mul(%4, %0)
    %14 = Sub(%12, %13)
    %15 = Mul(%14, %14)
    %16 = sum c %15
  }
  %17 = Mul(%16, %0)
  %18 = Add(%17, %1)
  %19 = Sqrt(%18)
  %20 = Div(%11, %19)
  %21 = Add(%20, %2)
  result %21
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [d, e]
  leaf x2 f32 constant [a, c, e]
  leaf x3 f32 constant [a, c]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = Mul(%3, %5)
  %7 = load x1
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum e %9
  %11 = load x3
  %12 = Add(%10, %11)
  %13 = Mul(%6, %12)
  %14 = sum d %13
  result %14
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [d, e]
  leaf x2 f32 constant [a, c, e]
  leaf x3 f32 constant [a, c]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x1
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum e %8
  %10 = load x3
  %11 = Add(%9, %10)
  %12 = Mul(%3, %11)
  %13 = sum d %12
  %14 = Mul(%5, %13)
  result %14
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [d, e]
  leaf x2 f32 constant [a, c, e]
  leaf x3 f32 constant [a, c]
  %0 = load x0
  %1 = max d %0
  %2 = Sub(%0, %1)
  %3 = Exp(%2)
  %4 = sum d %3
  %5 = Reciprocal(%4)
  %6 = load x3
  loop e {
    %7 = load x1
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum e %9
  }
  %11 = Add(%10, %6)
  %12 = Mul(%3, %11)
  %13 = sum d %12
  %14 = Mul(%5, %13)
  result %14
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [d, e]
  leaf x2 f32 constant [a, c, e]
  leaf x3 f32 constant [a, c]
  %0 = load x3
  %1 = load x0
  %2 = max d %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum d %4
  %6 = Reciprocal(%5)
  %7 = load x1
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum e %9
  %11 = Mul(%4, %10)
  %12 = sum d %11
  %13 = Mul(%6, %12)
  %14 = Add(%0, %13)
  result %14
}
block {
  axes a grid, b, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [d, e]
  leaf x2 f32 constant [a, c, e]
  leaf x3 f32 constant [a, c]
  %0 = load x3
  %1 = load x0
  %2 = max d %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum d %4
  %6 = Reciprocal(%5)
  loop e {
    %7 = load x1
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum e %9
  }
  %11 = Mul(%4, %10)
  %12 = sum d %11
  %13 = Mul(%6, %12)
  %14 = Add(%0, %13)
  result %14
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.03125
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 160
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  result %18
}
group {
  axes a, b, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c
  leaf x0 f32 [a, c]
  leaf x1 f32 constant [c]
  leaf x2 f32 constant [c]
  leaf x3 f32 constant [b, c]
  leaf x4 f32 constant [b]
  %0 = load x0
  %1 = sum c %0
  %2 = number 0.015625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum c %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum c %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  result %18
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Div(%4, %10)
  %12 = load x1
  %13 = Mul(%11, %12)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [c, d]
  leaf x4 f32 constant [c]
  %0 = load x0
  %1 = sum d %0
  %2 = number 0.00390625
  %3 = Mul(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Mul(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = load x1
  %12 = Div(%4, %10)
  %13 = Mul(%12, %11)
  %14 = load x2
  %15 = Add(%13, %14)
  %16 = load x3
  %17 = Mul(%15, %16)
  %18 = sum d %17
  %19 = load x4
  %20 = Add(%18, %19)
  result %20
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Div(%5, %11)
  %13 = load x2
  %14 = Mul(%12, %13)
  %15 = sum c %14
  result %15
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Div(%5, %11)
  %13 = load x2
  %14 = Mul(%12, %13)
  %15 = sum c %14
  result %15
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  %0 = load x0
  %1 = number 0.015625
  %2 = number 9.999999747378752e-06
  %3 = load x2
  loop d {
    %4 = load x1
    %5 = sum d %4
  }
  %6 = Mul(%5, %1)
  %7 = Sub(%0, %6)
  %8 = Mul(%7, %7)
  %9 = sum c %8
  %10 = Mul(%9, %1)
  %11 = Add(%10, %2)
  %12 = Sqrt(%11)
  %13 = Div(%7, %12)
  %14 = Mul(%13, %3)
  %15 = sum c %14
  result %15
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = load x2
  %13 = Div(%5, %11)
  %14 = Mul(%13, %12)
  %15 = sum c %14
  result %15
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  %0 = load x1
  %1 = sum d %0
  %2 = number 0.015625
  %3 = number 9.999999747378752e-06
  loop c {
    %4 = load x0
    %5 = Mul(%1, %2)
    %6 = Sub(%4, %5)
    %7 = Mul(%6, %6)
    %8 = sum c %7
    %9 = load x2
    %10 = Mul(%6, %9)
    %11 = sum c %10
  }
  %12 = Mul(%8, %2)
  %13 = Add(%12, %3)
  %14 = Sqrt(%13)
  %15 = Div(%11, %14)
  result %15
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  leaf x3 f32 constant [b]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Div(%5, %11)
  %13 = load x2
  %14 = Mul(%12, %13)
  %15 = sum c %14
  %16 = load x3
  %17 = Add(%15, %16)
  result %17
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  leaf x3 f32 constant [b]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Div(%5, %11)
  %13 = load x2
  %14 = Mul(%12, %13)
  %15 = sum c %14
  %16 = load x3
  %17 = Add(%15, %16)
  result %17
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  leaf x3 f32 constant [b]
  %0 = load x0
  %1 = number 0.015625
  %2 = number 9.999999747378752e-06
  %3 = load x2
  %4 = load x3
  loop d {
    %5 = load x1
    %6 = sum d %5
  }
  %7 = Mul(%6, %1)
  %8 = Sub(%0, %7)
  %9 = Mul(%8, %8)
  %10 = sum c %9
  %11 = Mul(%10, %1)
  %12 = Add(%11, %2)
  %13 = Sqrt(%12)
  %14 = Div(%8, %13)
  %15 = Mul(%14, %3)
  %16 = sum c %15
  %17 = Add(%16, %4)
  result %17
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  leaf x3 f32 constant [b]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 0.015625
  %4 = Mul(%2, %3)
  %5 = Sub(%0, %4)
  %6 = Mul(%5, %5)
  %7 = sum c %6
  %8 = Mul(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = load x2
  %13 = Div(%5, %11)
  %14 = Mul(%13, %12)
  %15 = sum c %14
  %16 = load x3
  %17 = Add(%15, %16)
  result %17
}
block {
  axes a grid, b grid, c, d
  leaf x0 f32 [a, c]
  leaf x1 f32 [a, d]
  leaf x2 f32 constant [b, c]
  leaf x3 f32 constant [b]
  %0 = load x1
  %1 = sum d %0
  %2 = number 0.015625
  %3 = number 9.999999747378752e-06
  %4 = load x3
  loop c {
    %5 = load x0
    %6 = Mul(%1, %2)
    %7 = Sub(%5, %6)
    %8 = Mul(%7, %7)
    %9 = sum c %8
    %10 = load x2
    %11 = Mul(%7, %10)
    %12 = sum c %11
  }
  %13 = Mul(%9, %2)
  %14 = Add(%13, %3)
  %15 = Sqrt(%14)
  %16 = Div(%12, %15)
  %17 = Add(%16, %4)
  result %17
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum e %13
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum e %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max e %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum e %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum e %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x2
  %1 = load x3
  loop d {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum d %4
  }
  %6 = Add(%5, %0)
  %7 = max e %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum e %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum e %12
  %14 = Mul(%11, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 [a, d, e]
  leaf x2 f32 constant [b, e]
  leaf x3 f32 [a, c, e]
  %0 = load x2
  %1 = load x3
  loop d {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum d %4
  }
  %6 = Add(%5, %0)
  %7 = max e %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum e %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum e %12
  %14 = Mul(%11, %13)
  result %14
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum f %13
  result %14
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum f %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = load x3
  %12 = Mul(%8, %11)
  %13 = sum f %12
  %14 = Mul(%10, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Add(%5, %0)
  %7 = max f %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum f %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum f %12
  %14 = Mul(%11, %13)
  result %14
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, e, f]
  leaf x2 f32 constant [b, f]
  leaf x3 f32 [a, d, f]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Add(%5, %0)
  %7 = max f %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum f %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum f %12
  %14 = Mul(%11, %13)
  result %14
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  %9 = Mul(%6, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum f %11
  result %12
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  %9 = load x2
  %10 = Mul(%6, %9)
  %11 = sum f %10
  %12 = Mul(%8, %11)
  result %12
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 [a, b, d, f]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  %9 = load x2
  %10 = Mul(%6, %9)
  %11 = sum f %10
  %12 = Mul(%8, %11)
  result %12
}
block {
  axes a grid, b grid, c grid, d, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 [a, b, d, f]
  %0 = load x2
  loop e {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum e %3
  }
  %5 = max f %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum f %7
  %9 = Reciprocal(%8)
  %10 = Mul(%7, %0)
  %11 = sum f %10
  %12 = Mul(%9, %11)
  result %12
}
block {
  axes a grid, b grid, c grid, d grid, e, f
  leaf x0 f32 [a, b, c, e]
  leaf x1 f32 [a, b, e, f]
  leaf x2 f32 [a, b, d, f]
  %0 = load x2
  loop e {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum e %3
  }
  %5 = max f %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum f %7
  %9 = Reciprocal(%8)
  %10 = Mul(%7, %0)
  %11 = sum f %10
  %12 = Mul(%9, %11)
  result %12
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = max e %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum e %4
  %6 = Reciprocal(%5)
  %7 = Mul(%4, %6)
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum e %9
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum d, f %12
  %14 = Add(%0, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = max e %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum e %4
  %6 = Reciprocal(%5)
  %7 = load x2
  %8 = Mul(%4, %7)
  %9 = sum e %8
  %10 = Mul(%6, %9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum d, f %12
  %14 = Add(%0, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  loop d {
    %1 = load x1
    %2 = max e %1
    %3 = Sub(%1, %2)
    %4 = Exp(%3)
    %5 = sum e %4
    %6 = Reciprocal(%5)
    %7 = load x2
    %8 = Mul(%4, %7)
    %9 = sum e %8
    %10 = Mul(%6, %9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum d, f %12
  }
  %14 = Add(%0, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = max e %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum e %4
  %6 = Reciprocal(%5)
  loop f {
    %7 = load x2
    %8 = Mul(%4, %7)
    %9 = sum e %8
    %10 = Mul(%6, %9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum d, f %12
  }
  %14 = Add(%0, %13)
  result %14
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = max e %1
  %3 = Sub(%1, %2)
  %4 = Exp(%3)
  %5 = sum e %4
  %6 = Reciprocal(%5)
  %7 = load x3
  %8 = load x2
  %9 = Mul(%4, %8)
  %10 = sum e %9
  %11 = Mul(%6, %10)
  %12 = Mul(%11, %7)
  %13 = sum d, f %12
  %14 = Add(%0, %13)
  result %14
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  loop e {
    %13 = load x1
    %14 = Mul(%12, %13)
    %15 = sum d %14
    %16 = Sigmoid(%15)
    %17 = Mul(%15, %16)
    %18 = load x2
    %19 = Mul(%17, %18)
    %20 = sum e %19
  }
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%4, %11)
  %14 = Mul(%13, %12)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  loop e {
    %13 = load x1
    %14 = Mul(%12, %13)
    %15 = sum d %14
    %16 = Sigmoid(%15)
    %17 = load x2
    %18 = Mul(%15, %16)
    %19 = Mul(%18, %17)
    %20 = sum e %19
  }
  result %20
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 96
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  %14 = load x2
  %15 = Mul(%13, %14)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 96
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  %14 = load x2
  %15 = Mul(%13, %14)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 96
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  loop e {
    %14 = load x2
    %15 = Mul(%13, %14)
    %16 = sum d %15
    %17 = Sigmoid(%16)
    %18 = Mul(%16, %17)
    %19 = load x3
    %20 = Mul(%18, %19)
    %21 = sum e %20
  }
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 96
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = load x2
  %14 = Mul(%5, %12)
  %15 = Mul(%14, %13)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = number 96
  %2 = load x1
  %3 = sum d %2
  %4 = Div(%3, %1)
  %5 = Sub(%2, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %1)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  loop e {
    %13 = load x2
    %14 = Mul(%5, %13)
    %15 = sum d %14
    %16 = Mul(%12, %15)
    %17 = Sigmoid(%16)
    %18 = Mul(%16, %17)
    %19 = load x3
    %20 = Mul(%18, %19)
    %21 = sum e %20
  }
  %22 = Add(%0, %21)
  result %22
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = load x2
  %7 = Mul(%5, %6)
  %8 = sum e %7
  result %8
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = load x2
  %7 = Mul(%5, %6)
  %8 = sum e %7
  result %8
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x2
  loop d {
    %1 = load x0
    %2 = load x1
    %3 = Mul(%1, %2)
    %4 = sum d %3
  }
  %5 = Sigmoid(%4)
  %6 = Mul(%4, %5)
  %7 = Mul(%6, %0)
  %8 = sum e %7
  result %8
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = Sigmoid(%3)
    %5 = Mul(%3, %4)
    %6 = load x2
    %7 = Mul(%5, %6)
    %8 = sum e %7
  }
  result %8
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = load x2
  %6 = Mul(%3, %4)
  %7 = Mul(%6, %5)
  %8 = sum e %7
  result %8
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum d %3
  %5 = Sigmoid(%4)
  %6 = Mul(%4, %5)
  %7 = load x3
  %8 = Mul(%6, %7)
  %9 = sum e %8
  %10 = Add(%0, %9)
  result %10
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum d %3
  %5 = Sigmoid(%4)
  %6 = Mul(%4, %5)
  %7 = load x3
  %8 = Mul(%6, %7)
  %9 = sum e %8
  %10 = Add(%0, %9)
  result %10
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x3
  loop d {
    %2 = load x1
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum d %4
  }
  %6 = Sigmoid(%5)
  %7 = Mul(%5, %6)
  %8 = Mul(%7, %1)
  %9 = sum e %8
  %10 = Add(%0, %9)
  result %10
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  loop e {
    %2 = load x2
    %3 = Mul(%1, %2)
    %4 = sum d %3
    %5 = Sigmoid(%4)
    %6 = Mul(%4, %5)
    %7 = load x3
    %8 = Mul(%6, %7)
    %9 = sum e %8
  }
  %10 = Add(%0, %9)
  result %10
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum d %3
  %5 = Sigmoid(%4)
  %6 = load x3
  %7 = Mul(%4, %5)
  %8 = Mul(%7, %6)
  %9 = sum e %8
  %10 = Add(%0, %9)
  result %10
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 96
  %1 = load x0
  %2 = sum d %1
  %3 = Div(%2, %0)
  %4 = Sub(%1, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %0)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%4, %12)
  %14 = sum d %13
  %15 = Mul(%11, %14)
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 96
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 96
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
  }
  %4 = Div(%3, %0)
  loop d {
    %5 = load x0
    %6 = Sub(%5, %4)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x1
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Div(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Reciprocal(%14)
  %16 = Mul(%15, %11)
  result %16
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 96
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum d %5
    %7 = sum d %4
  }
  %8 = Div(%3, %0)
  %9 = Mul(%8, %7)
  %10 = Sub(%6, %9)
  loop d {
    %11 = load x0
    %12 = Sub(%11, %8)
    %13 = Mul(%12, %12)
    %14 = sum d %13
  }
  %15 = Div(%14, %0)
  %16 = Add(%15, %1)
  %17 = Sqrt(%16)
  %18 = Reciprocal(%17)
  %19 = Mul(%18, %10)
  result %19
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  loop e {
    %13 = load x1
    %14 = Mul(%12, %13)
    %15 = sum d %14
    %16 = Sigmoid(%15)
    %17 = Mul(%15, %16)
    %18 = load x2
    %19 = Mul(%17, %18)
    %20 = sum e %19
  }
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%4, %11)
  %14 = Mul(%13, %12)
  %15 = sum d %14
  %16 = Sigmoid(%15)
  %17 = Mul(%15, %16)
  %18 = load x2
  %19 = Mul(%17, %18)
  %20 = sum e %19
  result %20
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [d, e]
  leaf x2 f32 constant [c, e]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  loop e {
    %13 = load x1
    %14 = Mul(%12, %13)
    %15 = sum d %14
    %16 = Sigmoid(%15)
    %17 = load x2
    %18 = Mul(%15, %16)
    %19 = Mul(%18, %17)
    %20 = sum e %19
  }
  result %20
}
group {
  axes a, b, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 120
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  %14 = load x2
  %15 = Mul(%13, %14)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 120
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  %14 = load x2
  %15 = Mul(%13, %14)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 120
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = Mul(%5, %12)
  loop e {
    %14 = load x2
    %15 = Mul(%13, %14)
    %16 = sum d %15
    %17 = Sigmoid(%16)
    %18 = Mul(%16, %17)
    %19 = load x3
    %20 = Mul(%18, %19)
    %21 = sum e %20
  }
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = load x1
  %2 = sum d %1
  %3 = number 120
  %4 = Div(%2, %3)
  %5 = Sub(%1, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %3)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  %13 = load x2
  %14 = Mul(%5, %12)
  %15 = Mul(%14, %13)
  %16 = sum d %15
  %17 = Sigmoid(%16)
  %18 = Mul(%16, %17)
  %19 = load x3
  %20 = Mul(%18, %19)
  %21 = sum e %20
  %22 = Add(%0, %21)
  result %22
}
block {
  axes a grid, b grid, c, d, e
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d]
  leaf x2 f32 constant [d, e]
  leaf x3 f32 constant [c, e]
  %0 = load x0
  %1 = number 120
  %2 = load x1
  %3 = sum d %2
  %4 = Div(%3, %1)
  %5 = Sub(%2, %4)
  %6 = Mul(%5, %5)
  %7 = sum d %6
  %8 = Div(%7, %1)
  %9 = number 9.999999747378752e-06
  %10 = Add(%8, %9)
  %11 = Sqrt(%10)
  %12 = Reciprocal(%11)
  loop e {
    %13 = load x2
    %14 = Mul(%5, %13)
    %15 = sum d %14
    %16 = Mul(%12, %15)
    %17 = Sigmoid(%16)
    %18 = Mul(%16, %17)
    %19 = load x3
    %20 = Mul(%18, %19)
    %21 = sum e %20
  }
  %22 = Add(%0, %21)
  result %22
}
group {
  axes a, b, c, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 120
  %1 = load x0
  %2 = sum d %1
  %3 = Div(%2, %0)
  %4 = Sub(%1, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %0)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = load x1
  %13 = Mul(%4, %12)
  %14 = sum d %13
  %15 = Mul(%11, %14)
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = load x0
  %1 = sum d %0
  %2 = number 120
  %3 = Div(%1, %2)
  %4 = Sub(%0, %3)
  %5 = Mul(%4, %4)
  %6 = sum d %5
  %7 = Div(%6, %2)
  %8 = number 9.999999747378752e-06
  %9 = Add(%7, %8)
  %10 = Sqrt(%9)
  %11 = Reciprocal(%10)
  %12 = Mul(%4, %11)
  %13 = load x1
  %14 = Mul(%12, %13)
  %15 = sum d %14
  result %15
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 120
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
  }
  %4 = Div(%3, %0)
  loop d {
    %5 = load x0
    %6 = Sub(%5, %4)
    %7 = Mul(%6, %6)
    %8 = sum d %7
    %9 = load x1
    %10 = Mul(%6, %9)
    %11 = sum d %10
  }
  %12 = Div(%8, %0)
  %13 = Add(%12, %1)
  %14 = Sqrt(%13)
  %15 = Reciprocal(%14)
  %16 = Mul(%15, %11)
  result %16
}
block {
  axes a grid, b grid, c grid, d
  leaf x0 f32 [a, b, d]
  leaf x1 f32 constant [c, d]
  %0 = number 120
  %1 = number 9.999999747378752e-06
  loop d {
    %2 = load x0
    %3 = sum d %2
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum d %5
    %7 = sum d %4
  }
  %8 = Div(%3, %0)
  %9 = Mul(%8, %7)
  %10 = Sub(%6, %9)
  loop d {
    %11 = load x0
    %12 = Sub(%11, %8)
    %13 = Mul(%12, %12)
    %14 = sum d %13
  }
  %15 = Div(%14, %0)
  %16 = Add(%15, %1)
  %17 = Sqrt(%16)
  %18 = Reciprocal(%17)
  %19 = Mul(%18, %10)
  result %19
}
group {
  axes a, b, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 [a, d, f, g]
  leaf x3 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  %9 = Mul(%6, %8)
  %10 = load x2
  %11 = Mul(%9, %10)
  %12 = sum f %11
  %13 = load x3
  %14 = Mul(%12, %13)
  %15 = sum d, g %14
  result %15
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 [a, d, f, g]
  leaf x3 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum e %2
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  %9 = load x2
  %10 = Mul(%6, %9)
  %11 = sum f %10
  %12 = Mul(%8, %11)
  %13 = load x3
  %14 = Mul(%12, %13)
  %15 = sum d, g %14
  result %15
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 [a, d, f, g]
  leaf x3 f32 constant [c, d, g]
  loop d {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum e %2
    %4 = max f %3
    %5 = Sub(%3, %4)
    %6 = Exp(%5)
    %7 = sum f %6
    %8 = Reciprocal(%7)
    %9 = load x2
    %10 = Mul(%6, %9)
    %11 = sum f %10
    %12 = Mul(%8, %11)
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum d, g %14
  }
  result %15
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 [a, d, f, g]
  leaf x3 f32 constant [c, d, g]
  %0 = load x2
  %1 = load x3
  loop e {
    %2 = load x0
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = max f %5
  %7 = Sub(%5, %6)
  %8 = Exp(%7)
  %9 = sum f %8
  %10 = Reciprocal(%9)
  %11 = Mul(%8, %0)
  %12 = sum f %11
  %13 = Mul(%10, %12)
  %14 = Mul(%13, %1)
  %15 = sum d, g %14
  result %15
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, d, e]
  leaf x1 f32 [a, d, e, f]
  leaf x2 f32 [a, d, f, g]
  leaf x3 f32 constant [c, d, g]
  loop e {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum e %2
  }
  %4 = max f %3
  %5 = Sub(%3, %4)
  %6 = Exp(%5)
  %7 = sum f %6
  %8 = Reciprocal(%7)
  loop g {
    %9 = load x2
    %10 = Mul(%6, %9)
    %11 = sum f %10
    %12 = Mul(%8, %11)
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum d, g %14
  }
  result %15
}
group {
  axes a, b, c, d, e, f, g
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum e %3
  %5 = max f %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum f %7
  %9 = Reciprocal(%8)
  %10 = Mul(%7, %9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum f %12
  %14 = load x4
  %15 = Mul(%13, %14)
  %16 = sum d, g %15
  %17 = Add(%0, %16)
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum e %3
  %5 = max f %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum f %7
  %9 = Reciprocal(%8)
  %10 = load x3
  %11 = Mul(%7, %10)
  %12 = sum f %11
  %13 = Mul(%9, %12)
  %14 = load x4
  %15 = Mul(%13, %14)
  %16 = sum d, g %15
  %17 = Add(%0, %16)
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  loop d {
    %1 = load x1
    %2 = load x2
    %3 = Mul(%1, %2)
    %4 = sum e %3
    %5 = max f %4
    %6 = Sub(%4, %5)
    %7 = Exp(%6)
    %8 = sum f %7
    %9 = Reciprocal(%8)
    %10 = load x3
    %11 = Mul(%7, %10)
    %12 = sum f %11
    %13 = Mul(%9, %12)
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum d, g %15
  }
  %17 = Add(%0, %16)
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  %1 = load x3
  %2 = load x4
  loop e {
    %3 = load x1
    %4 = load x2
    %5 = Mul(%3, %4)
    %6 = sum e %5
  }
  %7 = max f %6
  %8 = Sub(%6, %7)
  %9 = Exp(%8)
  %10 = sum f %9
  %11 = Reciprocal(%10)
  %12 = Mul(%9, %1)
  %13 = sum f %12
  %14 = Mul(%11, %13)
  %15 = Mul(%14, %2)
  %16 = sum d, g %15
  %17 = Add(%0, %16)
  result %17
}
block {
  axes a grid, b grid, c, d, e, f, g
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 [a, d, f, g]
  leaf x4 f32 constant [c, d, g]
  %0 = load x0
  loop e {
    %1 = load x1
    %2 = load x2
    %3 = Mul(%1, %2)
    %4 = sum e %3
  }
  %5 = max f %4
  %6 = Sub(%4, %5)
  %7 = Exp(%6)
  %8 = sum f %7
  %9 = Reciprocal(%8)
  loop g {
    %10 = load x3
    %11 = Mul(%7, %10)
    %12 = sum f %11
    %13 = Mul(%9, %12)
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum d, g %15
  }
  %17 = Add(%0, %16)
  result %17
}
group {
  axes a, b, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum e %3
  %5 = load x3
  %6 = Mul(%4, %5)
  %7 = sum d, f %6
  %8 = Add(%0, %7)
  result %8
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum e %3
  %5 = load x3
  %6 = Mul(%4, %5)
  %7 = sum d, f %6
  %8 = Add(%0, %7)
  result %8
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  loop d {
    %1 = load x1
    %2 = load x2
    %3 = Mul(%1, %2)
    %4 = sum e %3
    %5 = load x3
    %6 = Mul(%4, %5)
    %7 = sum d, f %6
  }
  %8 = Add(%0, %7)
  result %8
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x3
  loop e {
    %2 = load x1
    %3 = load x2
    %4 = Mul(%2, %3)
    %5 = sum e %4
  }
  %6 = Mul(%5, %1)
  %7 = sum d, f %6
  %8 = Add(%0, %7)
  result %8
}
block {
  axes a grid, b grid, c, d, e, f
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [a, b, d, e]
  leaf x2 f32 [a, d, e, f]
  leaf x3 f32 constant [c, d, f]
  %0 = load x0
  %1 = load x1
  loop f {
    %2 = load x2
    %3 = Mul(%1, %2)
    %4 = sum e %3
    %5 = load x3
    %6 = Mul(%4, %5)
    %7 = sum d, f %6
  }
  %8 = Add(%0, %7)
  result %8
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a]
  leaf x3 f32 constant [a, g, h]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = number 0
  %7 = Max(%5, %6)
  %8 = number 6
  %9 = Min(%7, %8)
  %10 = at e = 2 b + 1 g + -1 of %9
  %11 = at f = 2 c + 1 h + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum g, h %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%16, %6)
  %18 = Min(%17, %8)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a]
  leaf x3 f32 constant [a, g, h]
  leaf x4 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum d %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = Max(%7, %1)
  %9 = Min(%8, %0)
  %10 = at e = 2 b + 1 g + -1 of %9
  %11 = at f = 2 c + 1 h + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum g, h %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%1, %16)
  %18 = Min(%0, %17)
  result %18
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = number 0
  %7 = Max(%5, %6)
  %8 = number 6
  %9 = Min(%7, %8)
  %10 = at e = 2 b + 1 h + -1 of %9
  %11 = at f = 2 c + 1 i + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum h, i %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%16, %6)
  %18 = Min(%17, %8)
  %19 = load x5
  %20 = Mul(%18, %19)
  %21 = sum g %20
  %22 = load x6
  %23 = Add(%21, %22)
  result %23
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum d %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = Max(%7, %1)
  %9 = Min(%8, %0)
  %10 = at e = 2 b + 1 h + -1 of %9
  %11 = at f = 2 c + 1 i + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum h, i %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%1, %16)
  %18 = Min(%0, %17)
  %19 = load x5
  %20 = Mul(%18, %19)
  %21 = sum g %20
  %22 = load x6
  %23 = Add(%21, %22)
  result %23
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x6
  loop g {
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum d %5
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = Max(%8, %1)
    %10 = Min(%9, %0)
    %11 = at e = 2 b + 1 h + -1 of %10
    %12 = at f = 2 c + 1 i + -1 of %11
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum h, i %14
    %16 = load x4
    %17 = Add(%15, %16)
    %18 = Max(%1, %17)
    %19 = Min(%0, %18)
    %20 = load x5
    %21 = Mul(%19, %20)
    %22 = sum g %21
  }
  %23 = Add(%22, %3)
  result %23
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g]
  leaf x3 f32 constant [g]
  leaf x4 f32 constant [g, h, i]
  leaf x5 f32 constant [g]
  leaf x6 f32 constant [a, g]
  leaf x7 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = load x2
  %3 = Mul(%1, %2)
  %4 = sum d %3
  %5 = load x3
  %6 = Add(%4, %5)
  %7 = number 0
  %8 = Max(%6, %7)
  %9 = number 6
  %10 = Min(%8, %9)
  %11 = at e = 1 b + 1 h + -1 of %10
  %12 = at f = 1 c + 1 i + -1 of %11
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum h, i %14
  %16 = load x5
  %17 = Add(%15, %16)
  %18 = Max(%17, %7)
  %19 = Min(%18, %9)
  %20 = load x6
  %21 = Mul(%19, %20)
  %22 = sum g %21
  %23 = load x7
  %24 = Add(%22, %23)
  %25 = Add(%0, %24)
  result %25
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g]
  leaf x3 f32 constant [g]
  leaf x4 f32 constant [g, h, i]
  leaf x5 f32 constant [g]
  leaf x6 f32 constant [a, g]
  leaf x7 f32 constant [a]
  %0 = load x0
  %1 = number 6
  %2 = number 0
  %3 = load x1
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x3
  %8 = Add(%6, %7)
  %9 = Max(%8, %2)
  %10 = Min(%9, %1)
  %11 = at e = 1 b + 1 h + -1 of %10
  %12 = at f = 1 c + 1 i + -1 of %11
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum h, i %14
  %16 = load x5
  %17 = Add(%15, %16)
  %18 = Max(%2, %17)
  %19 = Min(%1, %18)
  %20 = load x6
  %21 = Mul(%19, %20)
  %22 = sum g %21
  %23 = load x7
  %24 = Add(%22, %23)
  %25 = Add(%0, %24)
  result %25
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g]
  leaf x3 f32 constant [g]
  leaf x4 f32 constant [g, h, i]
  leaf x5 f32 constant [g]
  leaf x6 f32 constant [a, g]
  leaf x7 f32 constant [a]
  %0 = load x0
  %1 = number 6
  %2 = number 0
  %3 = load x1
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum d %5
  %7 = load x3
  %8 = Add(%6, %7)
  %9 = Max(%8, %2)
  %10 = Min(%9, %1)
  %11 = at e = 1 b + 1 h + -1 of %10
  %12 = at f = 1 c + 1 i + -1 of %11
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum h, i %14
  %16 = load x5
  %17 = Add(%15, %16)
  %18 = Max(%2, %17)
  %19 = Min(%1, %18)
  %20 = load x6
  %21 = Mul(%19, %20)
  %22 = sum g %21
  %23 = load x7
  %24 = Add(%0, %22)
  %25 = Add(%24, %23)
  result %25
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g]
  leaf x3 f32 constant [g]
  leaf x4 f32 constant [g, h, i]
  leaf x5 f32 constant [g]
  leaf x6 f32 constant [a, g]
  leaf x7 f32 constant [a]
  %0 = load x0
  %1 = number 6
  %2 = number 0
  %3 = load x1
  %4 = load x7
  loop g {
    %5 = load x2
    %6 = Mul(%3, %5)
    %7 = sum d %6
    %8 = load x3
    %9 = Add(%7, %8)
    %10 = Max(%9, %2)
    %11 = Min(%10, %1)
    %12 = at e = 1 b + 1 h + -1 of %11
    %13 = at f = 1 c + 1 i + -1 of %12
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum h, i %15
    %17 = load x5
    %18 = Add(%16, %17)
    %19 = Max(%2, %18)
    %20 = Min(%1, %19)
    %21 = load x6
    %22 = Mul(%20, %21)
    %23 = sum g %22
  }
  %24 = Add(%23, %4)
  %25 = Add(%0, %24)
  result %25
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g]
  leaf x3 f32 constant [g]
  leaf x4 f32 constant [g, h, i]
  leaf x5 f32 constant [g]
  leaf x6 f32 constant [a, g]
  leaf x7 f32 constant [a]
  %0 = load x0
  %1 = number 6
  %2 = number 0
  %3 = load x1
  %4 = load x7
  loop g {
    %5 = load x2
    %6 = Mul(%3, %5)
    %7 = sum d %6
    %8 = load x3
    %9 = Add(%7, %8)
    %10 = Max(%9, %2)
    %11 = Min(%10, %1)
    %12 = at e = 1 b + 1 h + -1 of %11
    %13 = at f = 1 c + 1 i + -1 of %12
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum h, i %15
    %17 = load x5
    %18 = Add(%16, %17)
    %19 = Max(%2, %18)
    %20 = Min(%1, %19)
    %21 = load x6
    %22 = Mul(%20, %21)
    %23 = sum g %22
  }
  %24 = Add(%0, %23)
  %25 = Add(%24, %4)
  result %25
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a]
  leaf x3 f32 constant [a, g, h]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = number 0
  %7 = Max(%5, %6)
  %8 = number 6
  %9 = Min(%7, %8)
  %10 = at e = 1 b + 1 g + -1 of %9
  %11 = at f = 1 c + 1 h + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum g, h %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%16, %6)
  %18 = Min(%17, %8)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a]
  leaf x3 f32 constant [a, g, h]
  leaf x4 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum d %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = Max(%7, %1)
  %9 = Min(%8, %0)
  %10 = at e = 1 b + 1 g + -1 of %9
  %11 = at f = 1 c + 1 h + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum g, h %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%1, %16)
  %18 = Min(%0, %17)
  result %18
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g, h]
  leaf x3 f32 constant [d]
  leaf x4 f32 constant [a, d]
  leaf x5 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = at e = 1 b + 1 g + -1 of %1
  %3 = at f = 1 c + 1 h + -1 of %2
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum g, h %5
  %7 = load x3
  %8 = Add(%6, %7)
  %9 = number 0
  %10 = Max(%8, %9)
  %11 = number 6
  %12 = Min(%10, %11)
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = load x5
  %17 = Add(%15, %16)
  %18 = Add(%0, %17)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g, h]
  leaf x3 f32 constant [d]
  leaf x4 f32 constant [a, d]
  leaf x5 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = at e = 1 b + 1 g + -1 of %1
  %3 = at f = 1 c + 1 h + -1 of %2
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum g, h %5
  %7 = load x3
  %8 = Add(%6, %7)
  %9 = number 0
  %10 = Max(%8, %9)
  %11 = number 6
  %12 = Min(%10, %11)
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = load x5
  %17 = Add(%15, %16)
  %18 = Add(%0, %17)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g, h]
  leaf x3 f32 constant [d]
  leaf x4 f32 constant [a, d]
  leaf x5 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = at e = 1 b + 1 g + -1 of %1
  %3 = at f = 1 c + 1 h + -1 of %2
  %4 = load x2
  %5 = Mul(%3, %4)
  %6 = sum g, h %5
  %7 = load x3
  %8 = Add(%6, %7)
  %9 = number 0
  %10 = Max(%8, %9)
  %11 = number 6
  %12 = Min(%10, %11)
  %13 = load x4
  %14 = Mul(%12, %13)
  %15 = sum d %14
  %16 = load x5
  %17 = Add(%0, %15)
  %18 = Add(%17, %16)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g, h]
  leaf x3 f32 constant [d]
  leaf x4 f32 constant [a, d]
  leaf x5 f32 constant [a]
  %0 = load x0
  %1 = number 0
  %2 = number 6
  %3 = load x5
  loop d {
    %4 = load x1
    %5 = at e = 1 b + 1 g + -1 of %4
    %6 = at f = 1 c + 1 h + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum g, h %8
    %10 = load x3
    %11 = Add(%9, %10)
    %12 = Max(%11, %1)
    %13 = Min(%12, %2)
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum d %15
  }
  %17 = Add(%16, %3)
  %18 = Add(%0, %17)
  result %18
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [a, b, c]
  leaf x1 f32 [d, e, f]
  leaf x2 f32 constant [d, g, h]
  leaf x3 f32 constant [d]
  leaf x4 f32 constant [a, d]
  leaf x5 f32 constant [a]
  %0 = load x0
  %1 = number 0
  %2 = number 6
  %3 = load x5
  loop d {
    %4 = load x1
    %5 = at e = 1 b + 1 g + -1 of %4
    %6 = at f = 1 c + 1 h + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum g, h %8
    %10 = load x3
    %11 = Add(%9, %10)
    %12 = Max(%11, %1)
    %13 = Min(%12, %2)
    %14 = load x4
    %15 = Mul(%13, %14)
    %16 = sum d %15
  }
  %17 = Add(%0, %16)
  %18 = Add(%17, %3)
  result %18
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = number 0
  %9 = Max(%7, %8)
  %10 = number 6
  %11 = Min(%9, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum d %13
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = number 0
  %9 = Max(%7, %8)
  %10 = number 6
  %11 = Min(%9, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum d %13
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = number 0
  %1 = number 6
  %2 = load x4
  loop d {
    %3 = load x0
    %4 = at e = 1 b + 1 g + -1 of %3
    %5 = at f = 1 c + 1 h + -1 of %4
    %6 = load x1
    %7 = Mul(%5, %6)
    %8 = sum g, h %7
    %9 = load x2
    %10 = Add(%8, %9)
    %11 = Max(%10, %0)
    %12 = Min(%11, %1)
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum d %14
  }
  %16 = Add(%15, %2)
  result %16
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = number 0
  %9 = Max(%7, %8)
  %10 = number 6
  %11 = Min(%9, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum d %13
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = number 0
  %9 = Max(%7, %8)
  %10 = number 6
  %11 = Min(%9, %10)
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum d %13
  %15 = load x4
  %16 = Add(%14, %15)
  result %16
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [d]
  leaf x3 f32 constant [a, d]
  leaf x4 f32 constant [a]
  %0 = number 0
  %1 = number 6
  %2 = load x4
  loop d {
    %3 = load x0
    %4 = at e = 2 b + 1 g + -1 of %3
    %5 = at f = 2 c + 1 h + -1 of %4
    %6 = load x1
    %7 = Mul(%5, %6)
    %8 = sum g, h %7
    %9 = load x2
    %10 = Add(%8, %9)
    %11 = Max(%10, %0)
    %12 = Min(%11, %1)
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum d %14
  }
  %16 = Add(%15, %2)
  result %16
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = load x2
  %5 = Add(%3, %4)
  %6 = number 0
  %7 = Max(%5, %6)
  %8 = number 6
  %9 = Min(%7, %8)
  %10 = at e = 1 b + 1 h + -1 of %9
  %11 = at f = 1 c + 1 i + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum h, i %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%16, %6)
  %18 = Min(%17, %8)
  %19 = load x5
  %20 = Mul(%18, %19)
  %21 = sum g %20
  %22 = load x6
  %23 = Add(%21, %22)
  result %23
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x6
  loop g {
    %4 = load x1
    %5 = Mul(%2, %4)
    %6 = sum d %5
    %7 = load x2
    %8 = Add(%6, %7)
    %9 = Max(%8, %1)
    %10 = Min(%9, %0)
    %11 = at e = 1 b + 1 h + -1 of %10
    %12 = at f = 1 c + 1 i + -1 of %11
    %13 = load x3
    %14 = Mul(%12, %13)
    %15 = sum h, i %14
    %16 = load x4
    %17 = Add(%15, %16)
    %18 = Max(%1, %17)
    %19 = Min(%0, %18)
    %20 = load x5
    %21 = Mul(%19, %20)
    %22 = sum g %21
  }
  %23 = Add(%22, %3)
  result %23
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g]
  leaf x3 f32 constant [g, h, i]
  leaf x4 f32 constant [g]
  leaf x5 f32 constant [a, g]
  leaf x6 f32 constant [a]
  %0 = number 6
  %1 = number 0
  %2 = load x0
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum d %4
  %6 = load x2
  %7 = Add(%5, %6)
  %8 = Max(%7, %1)
  %9 = Min(%8, %0)
  %10 = at e = 1 b + 1 h + -1 of %9
  %11 = at f = 1 c + 1 i + -1 of %10
  %12 = load x3
  %13 = Mul(%11, %12)
  %14 = sum h, i %13
  %15 = load x4
  %16 = Add(%14, %15)
  %17 = Max(%1, %16)
  %18 = Min(%0, %17)
  %19 = load x5
  %20 = Mul(%18, %19)
  %21 = sum g %20
  %22 = load x6
  %23 = Add(%21, %22)
  result %23
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 g + -1 of %4
  %6 = at f = 2 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 g + -1 of %4
  %6 = at f = 2 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 h + -1 of %4
  %6 = at f = 2 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 h + -1 of %4
  %6 = at f = 2 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  loop g {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = Relu(%3)
    %5 = at e = 2 b + 1 h + -1 of %4
    %6 = at f = 2 c + 1 i + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum h, i %8
    %10 = Relu(%9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum g %12
  }
  result %13
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  loop d {
    %0 = load x0
    %1 = at e = 1 b + 1 g + -1 of %0
    %2 = at f = 1 c + 1 h + -1 of %1
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum g, h %4
    %6 = Relu(%5)
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum d %8
  }
  result %9
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x4
  loop g {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Relu(%4)
    %6 = at e = 1 b + 1 h + -1 of %5
    %7 = at f = 1 c + 1 i + -1 of %6
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum h, i %9
    %11 = Relu(%10)
    %12 = load x3
    %13 = Mul(%11, %12)
    %14 = sum g %13
  }
  %15 = Add(%14, %1)
  result %15
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 g + -1 of %4
  %6 = at f = 1 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 g + -1 of %4
  %6 = at f = 1 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x3
  loop d {
    %1 = load x0
    %2 = at e = 1 b + 1 g + -1 of %1
    %3 = at f = 1 c + 1 h + -1 of %2
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum g, h %5
    %7 = Relu(%6)
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum d %9
  }
  %11 = Add(%10, %0)
  result %11
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 g + -2 of %4
  %6 = at f = 2 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 g + -2 of %4
  %6 = at f = 2 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  loop d {
    %0 = load x0
    %1 = at e = 2 b + 1 g + -1 of %0
    %2 = at f = 2 c + 1 h + -1 of %1
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum g, h %4
    %6 = Relu(%5)
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum d %8
  }
  result %9
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 h + -2 of %4
  %6 = at f = 2 c + 1 i + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 2 b + 1 h + -2 of %4
  %6 = at f = 2 c + 1 i + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  loop g {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = Relu(%3)
    %5 = at e = 2 b + 1 h + -2 of %4
    %6 = at f = 2 c + 1 i + -2 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum h, i %8
    %10 = Relu(%9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum g %12
  }
  result %13
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -2 of %4
  %6 = at f = 1 c + 1 i + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -2 of %4
  %6 = at f = 1 c + 1 i + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x4
  loop g {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = Relu(%4)
    %6 = at e = 1 b + 1 h + -2 of %5
    %7 = at f = 1 c + 1 i + -2 of %6
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum h, i %9
    %11 = Relu(%10)
    %12 = load x3
    %13 = Mul(%11, %12)
    %14 = sum g %13
  }
  %15 = Add(%14, %1)
  result %15
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  loop g {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = Relu(%3)
    %5 = at e = 1 b + 1 h + -1 of %4
    %6 = at f = 1 c + 1 i + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum h, i %8
    %10 = Relu(%9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum g %12
  }
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = Relu(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 g + -2 of %4
  %6 = at f = 1 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = at e = 1 b + 1 g + -2 of %4
  %6 = at f = 1 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = Relu(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -2 of %0
  %2 = at f = 1 c + 1 h + -2 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -2 of %0
  %2 = at f = 1 c + 1 h + -2 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x3
  loop d {
    %1 = load x0
    %2 = at e = 1 b + 1 g + -2 of %1
    %3 = at f = 1 c + 1 h + -2 of %2
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum g, h %5
    %7 = Relu(%6)
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum d %9
  }
  %11 = Add(%10, %0)
  result %11
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -2 of %0
  %2 = at f = 2 c + 1 h + -2 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -2 of %0
  %2 = at f = 2 c + 1 h + -2 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = Relu(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  loop d {
    %0 = load x0
    %1 = at e = 2 b + 1 g + -2 of %0
    %2 = at f = 2 c + 1 h + -2 of %1
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum g, h %4
    %6 = Relu(%5)
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum d %8
  }
  result %9
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 2 b + 1 g + -1 of %5
  %7 = at f = 2 c + 1 h + -1 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 2 b + 1 g + -1 of %5
  %7 = at f = 2 c + 1 h + -1 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 1 b + 1 g + -1 of %5
  %7 = at f = 1 c + 1 h + -1 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 1 b + 1 g + -1 of %5
  %7 = at f = 1 c + 1 h + -1 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 2 b + 1 g + -2 of %5
  %7 = at f = 2 c + 1 h + -2 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 2 b + 1 g + -2 of %5
  %7 = at f = 2 c + 1 h + -2 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 1 b + 1 g + -2 of %5
  %7 = at f = 1 c + 1 h + -2 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Sigmoid(%3)
  %5 = Mul(%3, %4)
  %6 = at e = 1 b + 1 g + -2 of %5
  %7 = at f = 1 c + 1 h + -2 of %6
  %8 = load x2
  %9 = Mul(%7, %8)
  %10 = sum g, h %9
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 g + -1 of %4
  %6 = at f = 2 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 g + -1 of %4
  %6 = at f = 2 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 g + -1 of %4
  %6 = at f = 1 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 g + -1 of %4
  %6 = at f = 1 c + 1 h + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 g + -2 of %4
  %6 = at f = 2 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 g + -2 of %4
  %6 = at f = 2 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 h + -1 of %4
  %6 = at f = 2 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = HardSwish(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  loop g {
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = HardSwish(%3)
    %5 = at e = 2 b + 1 h + -1 of %4
    %6 = at f = 2 c + 1 i + -1 of %5
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum h, i %8
    %10 = HardSwish(%9)
    %11 = load x3
    %12 = Mul(%10, %11)
    %13 = sum g %12
  }
  result %13
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 2 b + 1 h + -1 of %4
  %6 = at f = 2 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = HardSwish(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  result %13
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = HardSwish(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  loop d {
    %0 = load x0
    %1 = at e = 2 b + 1 g + -1 of %0
    %2 = at f = 2 c + 1 h + -1 of %1
    %3 = load x1
    %4 = Mul(%2, %3)
    %5 = sum g, h %4
    %6 = HardSwish(%5)
    %7 = load x2
    %8 = Mul(%6, %7)
    %9 = sum d %8
  }
  result %9
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  %0 = load x0
  %1 = at e = 2 b + 1 g + -1 of %0
  %2 = at f = 2 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = HardSwish(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  result %9
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 g + -2 of %4
  %6 = at f = 1 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [a, d]
  leaf x2 f32 constant [a, g, h]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 g + -2 of %4
  %6 = at f = 1 c + 1 h + -2 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum g, h %8
  %10 = HardSwish(%9)
  result %10
}
group {
  axes a, b, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = HardSwish(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x4
  loop g {
    %2 = load x1
    %3 = Mul(%0, %2)
    %4 = sum d %3
    %5 = HardSwish(%4)
    %6 = at e = 1 b + 1 h + -1 of %5
    %7 = at f = 1 c + 1 i + -1 of %6
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum h, i %9
    %11 = HardSwish(%10)
    %12 = load x3
    %13 = Mul(%11, %12)
    %14 = sum g %13
  }
  %15 = Add(%14, %1)
  result %15
}
block {
  axes a, b grid, c, d, e, f, g, h, i
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g]
  leaf x2 f32 constant [g, h, i]
  leaf x3 f32 constant [a, g]
  leaf x4 f32 [a, b, c]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = HardSwish(%3)
  %5 = at e = 1 b + 1 h + -1 of %4
  %6 = at f = 1 c + 1 i + -1 of %5
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum h, i %8
  %10 = HardSwish(%9)
  %11 = load x3
  %12 = Mul(%10, %11)
  %13 = sum g %12
  %14 = load x4
  %15 = Add(%13, %14)
  result %15
}
group {
  axes a, b, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = HardSwish(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x3
  loop d {
    %1 = load x0
    %2 = at e = 1 b + 1 g + -1 of %1
    %3 = at f = 1 c + 1 h + -1 of %2
    %4 = load x1
    %5 = Mul(%3, %4)
    %6 = sum g, h %5
    %7 = HardSwish(%6)
    %8 = load x2
    %9 = Mul(%7, %8)
    %10 = sum d %9
  }
  %11 = Add(%10, %0)
  result %11
}
block {
  axes a, b grid, c, d, e, f, g, h
  leaf x0 f32 [d, e, f]
  leaf x1 f32 constant [d, g, h]
  leaf x2 f32 constant [a, d]
  leaf x3 f32 [a, b, c]
  %0 = load x0
  %1 = at e = 1 b + 1 g + -1 of %0
  %2 = at f = 1 c + 1 h + -1 of %1
  %3 = load x1
  %4 = Mul(%2, %3)
  %5 = sum g, h %4
  %6 = HardSwish(%5)
  %7 = load x2
  %8 = Mul(%6, %7)
  %9 = sum d %8
  %10 = load x3
  %11 = Add(%9, %10)
  result %11
}
