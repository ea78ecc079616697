// Scalar semantics: what an elementwise primitive computes per element, as a small expression over base
// functions. The interpreter, the equivalence checker and every code generator read this one definition.
#pragma once

#include <vector>

namespace korch {

// Base functions. Arithmetic is IEEE in the type at hand, and the type at hand is that of the operands
// (arg1's for `select`, whose first operand is a condition). min/max propagate NaN; `lt`... yield 1 or 0 as a
// condition for `select` and the logical functions. `round` rounds half to even. On integers `div` truncates
// toward zero (a quotient or remainder by zero is 0), `mod` has the sign of the divisor (Python), `fmod` that
// of the dividend (C).
enum class ScalarFn {
  arg0,
  arg1,
  arg2,  // operands of the primitive
  alpha,
  beta,      // ScalarAttrs of the node
  constant,  // Term::value
  add,
  sub,
  mul,
  div,
  mod,
  fmod,
  pow,
  min,
  max,
  neg,
  abs,
  sign,
  floor,
  ceil,
  round,
  trunc,
  exp,
  expm1,
  log,
  log1p,
  sqrt,
  reciprocal,
  tanh,
  erf,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  eq,
  lt,
  le,
  is_nan,
  is_inf,
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  select,  // a ? b : c
  cast     // conversion to the node's output type
};

struct ScalarExpr {
  struct Term {
    ScalarFn fn;
    int a = -1, b = -1, c = -1;  // indices of earlier terms
    double value = 0;            // for ScalarFn::constant
  };
  std::vector<Term> terms;  // topological; the last one is the result
};

const char* name(ScalarFn fn);
int arity(ScalarFn fn);

}  // namespace korch
