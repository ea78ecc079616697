// Activations made of primitives, and operators over any number of operands.

// RUN: fission sum
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y = Sum(%a, %b, %c) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y.1 = Add(%a, %b) : f32[2x3] @ "node"
  %y = Add(%y.1, %c) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission mean
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y = Mean(%a, %b, %c) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y.1 = Add(%a, %b) : f32[2x3] @ "node"
  %y.2 = Add(%y.1, %c) : f32[2x3] @ "node"
  %y.3 = Constant() {value=[3]} : f32[] @ "node"
  %y = Div(%y.2, %y.3) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission variadic_max
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y = VariadicMax(%a, %b, %c) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  input %c : f32[2x1] "c"
  %y.1 = Max(%a, %b) : f32[2x3] @ "node"
  %y = Max(%y.1, %c) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission variadic_min
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  %y = VariadicMin(%a, %b) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  input %b : f32[3] "b"
  %y = Min(%a, %b) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission gelu
graph {
  input %a : f32[2x3] "a"
  %y = Gelu(%a) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Constant() {value=[0.70710677]} : f32[] @ "node"
  %y.2 = Mul(%a, %y.1) : f32[2x3] @ "node"
  %y.3 = Erf(%y.2) : f32[2x3] @ "node"
  %y.4 = Constant() {value=[1]} : f32[] @ "node"
  %y.5 = Add(%y.3, %y.4) : f32[2x3] @ "node"
  %y.6 = Constant() {value=[0.5]} : f32[] @ "node"
  %y.7 = Mul(%a, %y.6) : f32[2x3] @ "node"
  %y = Mul(%y.7, %y.5) : f32[2x3] @ "node"
  output %y "y"
}

// RUN: fission mish
graph {
  input %a : f32[2x3] "a"
  %y = Mish(%a) @ "node"
  output %y "y"
}
// EXPECT:
graph {
  input %a : f32[2x3] "a"
  %y.1 = Softplus(%a) : f32[2x3] @ "node"
  %y.2 = Tanh(%y.1) : f32[2x3] @ "node"
  %y = Mul(%a, %y.2) : f32[2x3] @ "node"
  output %y "y"
}
