#include "korch/kernel/expr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "korch/kernel/implication.h"

namespace korch::tile {
namespace {

size_t hash_of(const Expr& e) {
  size_t hash = std::hash<std::string>()(e.over.name);
  const auto mix = [&](auto part) { hash = mixed(hash, static_cast<size_t>(part)); };
  mix(e.kind);
  mix(e.type);
  mix(std::bit_cast<uint64_t>(e.number));
  mix(e.integer);
  mix(e.buffer);
  mix(e.value);
  mix(e.fn);
  mix(e.decaying);
  for (int arg : e.args) mix(arg);
  mix(e.condition.hash());
  for (const Index& coord : e.coords) mix(coord.hash());
  return hash;
}

// Two zeros of different sign are different, a NaN is what it is.
bool same(const Expr& a, const Expr& b) {
  return a.kind == b.kind && a.type == b.type &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) && a.integer == b.integer &&
         a.buffer == b.buffer && a.value == b.value && a.fn == b.fn && a.decaying == b.decaying &&
         a.args == b.args && a.condition == b.condition && a.over.name == b.over.name && a.coords == b.coords;
}

}  // namespace

std::vector<int> ExprPool::operands(int id) const {
  const Expr& e = nodes_[id];
  std::vector<int> result = e.args;
  const auto add = [&](const Index& index) {
    const std::set<int> dynamics = index.dynamics();
    result.insert(result.end(), dynamics.begin(), dynamics.end());
  };
  for (const Index& coord : e.coords) add(coord);
  for (const Bound& bound : e.condition.bounds()) add(bound.index);
  return result;
}

size_t ExprPool::slot_of(const Expr& expr, size_t hash) const {
  for (size_t slot = hash % slots_.size();; slot = (slot + 1) % slots_.size()) {
    const int id = slots_[slot];
    if (id < 0 || (hashes_[id] == hash && same(nodes_[id], expr))) return slot;
  }
}

void ExprPool::grow() {
  slots_.assign(std::max<size_t>(16, slots_.size() * 2), -1);
  for (int id = 0; id < size(); ++id) slots_[slot_of(nodes_[id], hashes_[id])] = id;
}

ExprPool::Names ExprPool::names_of(const Expr& e, int id) const {
  std::set<std::string> names = e.condition.variables();
  for (const Index& coord : e.coords) names.merge(coord.variables());
  Names most;  // of an operand: often they are all that there are
  for (int operand : operands(id)) {
    Names here = variables_[operand];
    if (most == nullptr || here->size() > most->size()) std::swap(here, most);
    if (here != nullptr && here != most) names.insert(here->begin(), here->end());
  }
  if (most != nullptr && e.kind != ExprKind::fold &&
      std::includes(most->begin(), most->end(), names.begin(), names.end()))
    return most;
  if (most != nullptr) names.insert(most->begin(), most->end());
  if (e.kind == ExprKind::fold) names.erase(e.over.name);
  return std::make_shared<const std::set<std::string>>(std::move(names));
}

int ExprPool::add(Expr expr) {
  if (nodes_.size() * 2 >= slots_.size()) grow();
  const size_t hash = hash_of(expr), slot = slot_of(expr, hash);
  if (slots_[slot] >= 0) return slots_[slot];
  const int id = size();
  nodes_.push_back(std::move(expr));
  hashes_.push_back(hash);
  slots_[slot] = id;
  variables_.push_back(names_of(nodes_.back(), id));
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
  if (fn == ScalarFn::div && type == DType::f32 && !keeps_quotients_ &&
      nodes_[args[1]].kind != ExprKind::constant) {
    const std::set<std::string>&above = variables(args[0]), &below = variables(args[1]);
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
    case ExprKind::intermediate:
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

Index checked_index(ExprPool& pool, int expression, int64_t extent) {
  const DType type = pool[expression].type;
  const bool fits = size_bytes(type) < 4 || type == DType::i32;
  Expr checked;
  checked.kind = ExprKind::checked;
  checked.type = fits && extent <= std::numeric_limits<int32_t>::max() ? DType::i32 : DType::i64;
  checked.integer = extent;
  checked.args = {pool.call(ScalarFn::cast, checked.type, {expression})};
  return Index::dynamic(pool.add(std::move(checked)), extent);
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
