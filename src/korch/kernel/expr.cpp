#include "korch/kernel/expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "korch/kernel/implication.h"

namespace korch::tile {
namespace {

std::string key_of(const Expr& e) {
  std::string key =
      fmt::format("{}:{}:{:x}:{}:{}:{}:{}:{}:{}:{}:{}", static_cast<int>(e.kind), static_cast<int>(e.type),
                  std::bit_cast<uint64_t>(e.number), e.integer, e.buffer, e.value, static_cast<int>(e.fn),
                  e.decaying, fmt::join(e.args, ","), e.condition.key(), e.over.name);
  for (const Index& coord : e.coords) key += "|" + coord.key();
  return key;
}

}  // namespace

std::vector<int> ExprPool::operands(int id) const {
  const Expr& e = nodes_[id];
  std::vector<int> result = e.args;
  for (const Index& coord : e.coords)
    for (int dynamic : coord.dynamics()) result.push_back(dynamic);
  for (const Bound& bound : e.condition.bounds())
    for (int dynamic : bound.index.dynamics()) result.push_back(dynamic);
  return result;
}

int ExprPool::add(Expr expr) {
  const auto [place, inserted] = ids_.emplace(key_of(expr), size());
  if (!inserted) return place->second;
  nodes_.push_back(std::move(expr));
  const int id = size() - 1;
  const Expr& e = nodes_.back();
  std::set<std::string> names = e.condition.variables();
  for (const Index& coord : e.coords) names.merge(coord.variables());
  for (int operand : operands(id)) names.insert(variables_[operand].begin(), variables_[operand].end());
  if (e.kind == ExprKind::fold) names.erase(e.over.name);
  variables_.push_back(std::move(names));
  return id;
}

int ExprPool::constant(DType type, double number) {
  Expr e;
  e.type = type;
  if (is_float(type))
    e.number = number;
  else
    e.integer = static_cast<int64_t>(number);
  return add(std::move(e));
}

// tanh(softplus(x)), the gate of mish: with e = exp(-|x|) it is (1 + 2e) / (1 + 2e + 2e^2) for x >= 0 and
// (2e + e^2) / (2 + 2e + e^2) below; one exponential and one quotient instead of three of each. -1 for other
// operands.
int ExprPool::tanh_of_softplus(DType type, int operand) {
  const auto is = [&](int id, ScalarFn fn) {
    return nodes_[id].kind == ExprKind::call && nodes_[id].fn == fn;
  };
  if (!is(operand, ScalarFn::add)) return -1;
  const int positive = nodes_[operand].args[0], rest = nodes_[operand].args[1];
  if (!is(positive, ScalarFn::max) || !is(rest, ScalarFn::log1p)) return -1;
  const int x = nodes_[positive].args[0], e = nodes_[rest].args[0];
  const int zero = constant(type, 0);
  const int decay = call(ScalarFn::neg, type, {call(ScalarFn::abs, type, {x})});
  if (nodes_[positive].args[1] != zero || !is(e, ScalarFn::exp) || nodes_[e].args[0] != decay) return -1;
  const int two_e = call(ScalarFn::add, type, {e, e}), square = call(ScalarFn::mul, type, {e, e});
  const int below = call(ScalarFn::lt, DType::bool_, {x, zero});
  const auto choose = [&](int negative, int other) {
    return call(ScalarFn::select, type, {below, negative, other});
  };
  const int one = constant(type, 1), two = constant(type, 2);
  const int above = call(ScalarFn::add, type, {two_e, choose(square, one)});
  const int added = choose(two, call(ScalarFn::add, type, {square, square}));
  return call(ScalarFn::div, type, {above, call(ScalarFn::add, type, {above, added})});
}

// x / y as (x s) (1 / (y s)): the power of two s keeps the inverse of the smallest and the largest y a normal
// number; where x s is none, x / y is beyond all numbers or too small for one.
int ExprPool::times_inverse(DType type, int x, int y) {
  const int magnitude = call(ScalarFn::abs, type, {y});
  const auto less = [&](int a, int b) { return call(ScalarFn::lt, DType::bool_, {a, b}); };
  const auto power = [&](int exponent) { return constant(type, std::ldexp(1.0, exponent)); };
  const int up = call(ScalarFn::select, type, {less(magnitude, power(-100)), power(64), power(0)});
  const int scale = call(ScalarFn::select, type, {less(power(100), magnitude), power(-64), up});
  const int inverse = call(ScalarFn::reciprocal, type, {call(ScalarFn::mul, type, {y, scale})});
  return call(ScalarFn::mul, type, {call(ScalarFn::mul, type, {x, scale}), inverse});
}

int ExprPool::call(ScalarFn fn, DType type, std::vector<int> args) {
  if (fn == ScalarFn::pow && is_float(type) && nodes_[args[1]].kind == ExprKind::constant) {
    const double power = nodes_[args[1]].number;
    const int x = args[0];
    if (power == 1) return x;
    if (power == 2) return call(ScalarFn::mul, type, {x, x});
    if (power == 3) return call(ScalarFn::mul, type, {call(ScalarFn::mul, type, {x, x}), x});
    if (power == -1) return call(ScalarFn::reciprocal, type, {x});
  }
  if (fn == ScalarFn::tanh)
    if (const int gate = tanh_of_softplus(type, args[0]); gate >= 0) return gate;
  // What does not change while the dividend does is inverted once; costs at most one more rounding.
  if (fn == ScalarFn::div && type == DType::f32 && nodes_[args[1]].kind != ExprKind::constant) {
    const std::set<std::string>& above = variables_[args[0]];
    const std::set<std::string>& below = variables_[args[1]];
    if (below.size() < above.size() && std::includes(above.begin(), above.end(), below.begin(), below.end()))
      return times_inverse(type, args[0], args[1]);
  }
  if (fn == ScalarFn::cast && nodes_[args[0]].type == type) return args[0];
  Expr e;
  e.kind = ExprKind::call;
  e.type = type;
  e.fn = fn;
  e.args = std::move(args);
  return add(std::move(e));
}

int ExprPool::decaying_exp(int arg) {
  Expr e;
  e.kind = ExprKind::call;
  e.type = nodes_[arg].type;
  e.fn = ScalarFn::exp;
  e.decaying = true;
  e.args = {arg};
  return add(std::move(e));
}

int ExprPool::guard(const Condition& condition, int a, int b) {
  if (condition.always_true() || a == b) return a;
  if (condition.always_false()) return b;
  Expr e;
  e.kind = ExprKind::guard;
  e.type = nodes_[a].type;
  e.args = {a, b};
  e.condition = condition;
  return add(std::move(e));
}

std::vector<int> ExprPool::reachable(const std::vector<int>& roots,
                                     const std::function<bool(const Expr&)>& into) const {
  struct Visit {
    int id;
    std::vector<int> operands;
    size_t next = 0;
  };
  std::vector<int> order;
  std::vector<char> seen(nodes_.size(), 0);
  std::vector<Visit> path;
  const auto enter = [&](int id) {
    if (seen[id]) return;
    seen[id] = 1;
    path.push_back({id, into && !into(nodes_[id]) ? std::vector<int>{} : operands(id)});
  };
  for (int root : roots) {
    enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next < visit.operands.size()) {
        enter(visit.operands[visit.next++]);
        continue;
      }
      order.push_back(visit.id);
      path.pop_back();
    }
  }
  return order;
}

std::vector<int> ExprPool::unconditional(const std::vector<int>& roots) const {
  return reachable(roots,
                   [](const Expr& e) { return e.kind != ExprKind::guard && e.kind != ExprKind::fold; });
}

std::vector<int> Rewriter::rewrite(const std::vector<int>& roots) {
  for (int id : from_.reachable(roots))
    if (ids_.count(id) == 0) ids_.emplace(id, rewrite_one(from_[id]));
  std::vector<int> result;
  for (int root : roots) result.push_back(renamed(root));
  return result;
}

Index Rewriter::rewrite(const Index& index) const {
  return substitute(index, replacements_, [this](int id) { return renamed(id); });
}

int Rewriter::rewrite_one(Expr e) {
  for (int& arg : e.args) arg = renamed(arg);
  for (Index& coord : e.coords) coord = rewrite(coord);
  switch (e.kind) {
    case ExprKind::call:
      if (e.decaying) break;
      return to_.call(e.fn, e.type, std::move(e.args));
    case ExprKind::guard:
      return rewrite_guard(e);
    case ExprKind::load:
    case ExprKind::stage:
      return to_.add(access_ ? access_(std::move(e)) : std::move(e));
    case ExprKind::constant:
    case ExprKind::fold:
    case ExprKind::checked:
      break;
  }
  return to_.add(std::move(e));
}

// Guards inside of each other with the same alternative are one guard of all their bounds.
int Rewriter::rewrite_guard(const Expr& e) {
  const Condition condition =
      remaining(substitute(e.condition, replacements_, [this](int id) { return renamed(id); }), known_);
  if (!refuted_.always_true()) {
    Condition all = condition;
    for (int inner = e.args[0]; to_[inner].kind == ExprKind::guard && to_[inner].args[1] == e.args[1];
         inner = to_[inner].args[0])
      all.require(to_[inner].condition);
    if (implies(all, refuted_)) return e.args[1];
  }
  return to_.guard(condition, e.args[0], e.args[1]);
}

int identity_of(ExprPool& pool, ScalarFn combine, DType type) {
  const bool sum = combine == ScalarFn::add, product = combine == ScalarFn::mul,
             max = combine == ScalarFn::max;
  if (sum || product) return pool.constant(type, product ? 1 : 0);
  if (is_float(type)) return pool.constant(type, max ? -INFINITY : INFINITY);
  Expr e;
  e.type = type;
  const int bits = static_cast<int>(size_bytes(type)) * 8;
  if (type == DType::bool_)
    e.integer = max ? 0 : 1;
  else if (is_signed(type))
    e.integer = max ? std::numeric_limits<int64_t>::min() >> (64 - bits)
                    : std::numeric_limits<int64_t>::max() >> (64 - bits);
  else
    e.integer = max ? 0 : static_cast<int64_t>(std::numeric_limits<uint64_t>::max() >> (64 - bits));
  return pool.add(std::move(e));
}

}  // namespace korch::tile
