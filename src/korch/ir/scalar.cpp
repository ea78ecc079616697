#include "korch/ir/scalar.h"

#include <map>

#include "korch/ir/op.h"

namespace korch {
namespace {

struct FnRow {
  ScalarFn fn;
  const char* name;
  int arity;
};

using enum ScalarFn;

constexpr FnRow kFns[] = {
    {arg0, "arg0", 0},
    {arg1, "arg1", 0},
    {arg2, "arg2", 0},
    {alpha, "alpha", 0},
    {beta, "beta", 0},
    {constant, "constant", 0},
    {add, "add", 2},
    {sub, "sub", 2},
    {mul, "mul", 2},
    {div, "div", 2},
    {mod, "mod", 2},
    {fmod, "fmod", 2},
    {pow, "pow", 2},
    {min, "min", 2},
    {max, "max", 2},
    {neg, "neg", 1},
    {abs, "abs", 1},
    {sign, "sign", 1},
    {floor, "floor", 1},
    {ceil, "ceil", 1},
    {round, "round", 1},
    {trunc, "trunc", 1},
    {exp, "exp", 1},
    {expm1, "expm1", 1},
    {log, "log", 1},
    {log1p, "log1p", 1},
    {sqrt, "sqrt", 1},
    {reciprocal, "reciprocal", 1},
    {tanh, "tanh", 1},
    {erf, "erf", 1},
    {sin, "sin", 1},
    {cos, "cos", 1},
    {tan, "tan", 1},
    {asin, "asin", 1},
    {acos, "acos", 1},
    {atan, "atan", 1},
    {sinh, "sinh", 1},
    {cosh, "cosh", 1},
    {asinh, "asinh", 1},
    {acosh, "acosh", 1},
    {atanh, "atanh", 1},
    {eq, "eq", 2},
    {lt, "lt", 2},
    {le, "le", 2},
    {is_nan, "is_nan", 1},
    {is_inf, "is_inf", 1},
    {logical_and, "logical_and", 2},
    {logical_or, "logical_or", 2},
    {logical_xor, "logical_xor", 2},
    {logical_not, "logical_not", 1},
    {select, "select", 3},
    {cast, "cast", 1},
};

// An expression under construction. Combining two expressions shares equal terms.
struct Expr {
  ScalarExpr expr;

  Expr(double value) { expr.terms.push_back({constant, -1, -1, -1, value}); }
  Expr(ScalarFn leaf) { expr.terms.push_back({leaf}); }
};

int append_term(ScalarExpr& to, const ScalarExpr::Term& term) {
  for (size_t i = 0; i < to.terms.size(); ++i) {
    const ScalarExpr::Term& t = to.terms[i];
    if (t.fn == term.fn && t.a == term.a && t.b == term.b && t.c == term.c && t.value == term.value)
      return static_cast<int>(i);
  }
  to.terms.push_back(term);
  return static_cast<int>(to.terms.size()) - 1;
}

int append(ScalarExpr& to, const ScalarExpr& from) {
  std::vector<int> place;
  const auto moved = [&](int i) { return i < 0 ? i : place[i]; };
  for (const ScalarExpr::Term& t : from.terms)
    place.push_back(append_term(to, {t.fn, moved(t.a), moved(t.b), moved(t.c), t.value}));
  return place.back();
}

Expr call(ScalarFn fn, const Expr& a) {
  Expr result = a;
  const int i = static_cast<int>(result.expr.terms.size()) - 1;
  result.expr.terms.push_back({fn, i});
  return result;
}

Expr call(ScalarFn fn, const Expr& a, const Expr& b) {
  Expr result = a;
  const int i = static_cast<int>(result.expr.terms.size()) - 1;
  const int j = append(result.expr, b.expr);
  result.expr.terms.push_back({fn, i, j});
  return result;
}

Expr call(ScalarFn fn, const Expr& a, const Expr& b, const Expr& c) {
  Expr result = a;
  const int i = static_cast<int>(result.expr.terms.size()) - 1;
  const int j = append(result.expr, b.expr);
  const int k = append(result.expr, c.expr);
  result.expr.terms.push_back({fn, i, j, k});
  return result;
}

Expr operator+(const Expr& a, const Expr& b) {
  return call(add, a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  return call(sub, a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
  return call(mul, a, b);
}
Expr operator/(const Expr& a, const Expr& b) {
  return call(div, a, b);
}
Expr operator-(const Expr& a) {
  return call(neg, a);
}
Expr operator<(const Expr& a, const Expr& b) {
  return call(lt, a, b);
}
Expr operator<=(const Expr& a, const Expr& b) {
  return call(le, a, b);
}

// A NaN fails every comparison: the branches below that return x itself where a comparison fails propagate
// it; ThresholdedRelu and Shrink make it 0.
std::map<Op, ScalarExpr> make_table() {
  const Expr x = arg0, y = arg1, z = arg2, a = alpha, b = beta;
  // tanh(log(1 + e^x)) = n / (n + 2); from x = 20 on it is 1, in double precision too.
  const Expr e = call(exp, call(min, x, 20.0)), n = e * (e + 2.0);
  const std::vector<std::pair<Op, Expr>> rows = {
      {Op::Neg, -x},
      {Op::Abs, call(abs, x)},
      {Op::Exp, call(exp, x)},
      {Op::Log, call(log, x)},
      {Op::Sqrt, call(sqrt, x)},
      {Op::Reciprocal, call(reciprocal, x)},
      {Op::Tanh, call(tanh, x)},
      // exp overflows to infinity, whose quotient is the right 0. Below -80 it does not change 1 + exp, and
      // its subnormal results would cost a hundred cycles each.
      {Op::Sigmoid, 1.0 / (1.0 + call(exp, call(max, -x, -80.0)))},
      {Op::Erf, call(erf, x)},
      {Op::Relu, call(max, x, 0.0)},
      {Op::Softplus, call(max, x, 0.0) + call(log1p, call(exp, -call(abs, x)))},
      {Op::Softsign, x / (1.0 + call(abs, x))},
      {Op::TanhSoftplus, n / (n + 2.0)},
      {Op::Sin, call(sin, x)},
      {Op::Cos, call(cos, x)},
      {Op::Tan, call(tan, x)},
      {Op::Asin, call(asin, x)},
      {Op::Acos, call(acos, x)},
      {Op::Atan, call(atan, x)},
      {Op::Sinh, call(sinh, x)},
      {Op::Cosh, call(cosh, x)},
      {Op::Asinh, call(asinh, x)},
      {Op::Acosh, call(acosh, x)},
      {Op::Atanh, call(atanh, x)},
      {Op::Floor, call(floor, x)},
      {Op::Ceil, call(ceil, x)},
      {Op::Round, call(round, x)},
      {Op::Sign, call(sign, x)},
      {Op::Not, call(logical_not, x)},
      {Op::IsNaN, call(is_nan, x)},
      {Op::IsInf,
       call(logical_and, call(is_inf, x),
            call(logical_or, call(logical_and, x < 0.0, 0.0 < a), call(logical_and, 0.0 < x, 0.0 < b)))},
      {Op::LeakyRelu, call(select, x < 0.0, a * x, x)},
      {Op::Elu, call(select, x < 0.0, a * call(expm1, x), x)},
      {Op::Celu, call(select, x < 0.0, a * call(expm1, x / a), x)},
      {Op::Selu, b * call(select, x < 0.0, a * call(expm1, x), x)},  // beta is ONNX's gamma
      {Op::HardSigmoid, call(max, call(min, a * x + b, 1.0), 0.0)},
      {Op::HardSwish, x * call(max, call(min, x / 6.0 + 0.5, 1.0), 0.0)},
      {Op::ThresholdedRelu, call(select, a < x, x, 0.0)},
      {Op::Shrink, call(select, x < -a, x + b, call(select, a < x, x - b, 0.0))},  // alpha: lambd, beta: bias
      {Op::Cast, call(cast, x)},
      {Op::Add, x + y},
      {Op::Sub, x - y},
      {Op::Mul, x * y},
      {Op::Div, x / y},
      {Op::Pow, call(pow, x, y)},
      {Op::Mod, call(mod, x, y)},
      {Op::Fmod, call(fmod, x, y)},
      {Op::Max, call(max, x, y)},
      {Op::Min, call(min, x, y)},
      {Op::PRelu, call(select, x < 0.0, x * y, x)},
      {Op::And, call(logical_and, x, y)},
      {Op::Or, call(logical_or, x, y)},
      {Op::Xor, call(logical_xor, x, y)},
      {Op::Equal, call(eq, x, y)},
      {Op::Less, x < y},
      {Op::LessOrEqual, x <= y},
      {Op::Greater, y < x},
      {Op::GreaterOrEqual, y <= x},
      {Op::Where, call(select, x, y, z)},
  };
  std::map<Op, ScalarExpr> table;
  for (const auto& [op, expr] : rows) table.emplace(op, expr.expr);
  return table;
}

}  // namespace

const char* name(ScalarFn fn) {
  return kFns[static_cast<size_t>(fn)].name;
}

int arity(ScalarFn fn) {
  return kFns[static_cast<size_t>(fn)].arity;
}

const ScalarExpr& scalar_semantics(Op op) {
  static const std::map<Op, ScalarExpr> table = make_table();
  const auto found = table.find(op);
  KORCH_ASSERT(found != table.end(), std::string("no scalar semantics for ") + name(op));
  return found->second;
}

}  // namespace korch
