#include "korch/kernel/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "korch/base/error.h"
#include "korch/kernel/atom_table.h"

namespace korch::tile {

int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

void Index::Terms::add(const Term& term) {
  if (size_ < kFew) {
    few_[size_] = term;
  } else {
    if (more_.empty()) more_.assign(few_.begin(), few_.end());
    more_.push_back(term);
  }
  ++size_;
}

// Gets summands in the order of their keys; adds up what has one key.
class SumBuilder {
 public:
  explicit SumBuilder(int64_t constant) : sum_(constant) {}

  void add(const Index::Term& term) {
    if (last_.atom != nullptr && last_.atom->identity == term.atom->identity) {
      last_.coefficient += term.coefficient;
    } else {
      flush();
      last_ = term;
    }
  }
  Index finish() {
    flush();
    return std::move(sum_);
  }

 private:
  void flush() {
    if (last_.coefficient != 0) sum_.terms_.add(last_);
  }

  Index sum_;
  Index::Term last_;
};

namespace {

using Term = Index::Term;

bool comes_before(const Term& x, const Term& y) {
  return x.atom->identity != y.atom->identity && x.atom->key < y.atom->key;
}

Index single(const Term& term) {
  SumBuilder sum(0);
  sum.add(term);
  return sum.finish();
}

Index single(const Atom* atom) {
  return single(Term{1, atom});
}

// The one that `index` is, or null.
const Atom* only_atom(const Index& index) {
  const Index::Terms& terms = index.terms();
  return index.constant() == 0 && terms.size() == 1 && terms[0].coefficient == 1 ? terms[0].atom : nullptr;
}

bool atom_depends(const Atom& atom, const std::string& variable) {
  return atom.variables.count(variable) != 0;
}

// c*d*(x/d) + c*(x%d) = c*x, and c*d*((x/d)%e) + c*(x%d) = c*(x % (d*e)).
std::optional<Index> recombine(const Index& index) {
  const Index::Terms& terms = index.terms();
  for (size_t i = 0; i < terms.size(); ++i) {
    const Atom& low = *terms[i].atom;
    if (low.kind != AtomKind::mod) continue;
    for (size_t j = 0; j < terms.size(); ++j) {
      if (terms[j].coefficient != terms[i].coefficient * low.a) continue;
      const Index quotient = floor_div(low.arg, low.a);
      const Atom& high = *terms[j].atom;
      const Index high_index = single(terms[j].atom);
      Index whole;
      if (quotient == high_index)
        whole = low.arg;
      else if (high.kind == AtomKind::mod && high.arg == quotient)
        whole = floor_mod(low.arg, low.a * high.a);
      else
        continue;
      SumBuilder rest(index.constant());
      for (size_t k = 0; k < terms.size(); ++k)
        if (k != i && k != j) rest.add(terms[k]);
      return rest.finish() + whole * terms[i].coefficient;
    }
  }
  return std::nullopt;
}

// Parts of a sum under a division by d: what d divides, and the rest.
struct Parted {
  Index quotient;
  Index rest;
};

Parted part(const Index& index, int64_t d) {
  const int64_t whole = floor_quotient(index.constant(), d);
  SumBuilder quotient(whole), rest(index.constant() - whole * d);
  for (const Term& term : index.terms()) {
    if (term.coefficient % d == 0)
      quotient.add({term.coefficient / d, term.atom});
    else
      rest.add(term);
  }
  return {quotient.finish(), rest.finish()};
}

// q*x + r with 0 <= r < q and q a divisor of d.
struct Factored {
  int64_t q;
  Index x, r;
};

// With the largest such q > 1.
std::optional<Factored> factor(const Index& rest, int64_t d) {
  std::vector<int64_t> candidates;
  int64_t all = d;
  for (const Term& term : rest.terms()) {
    const int64_t c = std::gcd(std::abs(term.coefficient), d);
    candidates.push_back(c);
    all = std::gcd(all, c);
  }
  candidates.push_back(all);
  std::sort(candidates.rbegin(), candidates.rend());
  for (int64_t candidate : candidates) {
    if (candidate <= 1) continue;
    const Parted parts = part(rest, candidate);
    const IndexRange range = parts.rest.range();
    if (range.low < 0 || range.high >= candidate) continue;
    return Factored{candidate, parts.quotient, parts.rest};
  }
  return std::nullopt;
}

// The smallest x with coefficient*x + rest >= value (coefficient > 0), or the first x with ... < value
// otherwise.
void add_crossing(const Index& arg, const std::string& variable, int64_t value, std::set<int64_t>& points) {
  if (!arg.affine_in(variable) || arg.terms().size() != 1) return;
  const int64_t c = arg.stride(variable);
  if (c == 0) return;
  const IndexRange range = arg.terms()[0].atom->range;
  // c > 0: c*x + k >= value from x = ceil((value - k) / c) on; c < 0: until x = floor((k - value) / -c).
  const int64_t k = arg.constant();
  const int64_t x = c > 0 ? -floor_quotient(-(value - k), c) : floor_quotient(k - value, -c) + 1;
  if (x > range.low && x <= range.high) points.insert(x);
}

}  // namespace

Index Index::variable(const std::string& name, int64_t low, int64_t high) {
  if (low == high) return Index(low);
  return single(variable_atom(name, {low, high}));
}

Index Index::dynamic(int id, int64_t extent) {
  return single(dynamic_atom(id, {0, extent - 1}));
}

IndexRange Index::range() const {
  IndexRange result{constant_, constant_};
  for (const Term& term : terms_) {
    const IndexRange r = term.atom->range;
    result.low += term.coefficient * (term.coefficient > 0 ? r.low : r.high);
    result.high += term.coefficient * (term.coefficient > 0 ? r.high : r.low);
  }
  return result;
}

bool Index::operator==(const Index& other) const {
  return constant_ == other.constant_ && std::equal(terms_.begin(), terms_.end(), other.terms_.begin(),
                                                    other.terms_.end(), [](const Term& x, const Term& y) {
                                                      return x.coefficient == y.coefficient &&
                                                             x.atom->identity == y.atom->identity;
                                                    });
}

size_t Index::hash() const {
  auto hash = static_cast<size_t>(constant_);
  for (const Term& term : terms_)
    hash = mixed(mixed(hash, static_cast<size_t>(term.coefficient)), term.atom->identity);
  return hash;
}

bool Index::affine_in(const std::string& variable) const {
  for (const Term& term : terms_)
    if (term.atom->kind != AtomKind::variable && atom_depends(*term.atom, variable)) return false;
  return true;
}

int64_t Index::stride(const std::string& variable) const {
  for (const Term& term : terms_)
    if (term.atom->kind == AtomKind::variable && term.atom->name == variable) return term.coefficient;
  return 0;
}

bool Index::depends_on(const std::string& variable) const {
  for (const Term& term : terms_)
    if (atom_depends(*term.atom, variable)) return true;
  return false;
}

std::set<std::string> Index::variables() const {
  std::set<std::string> names;
  for (const Term& term : terms_) names.insert(term.atom->variables.begin(), term.atom->variables.end());
  return names;
}

std::set<int> Index::dynamics() const {
  std::set<int> dynamics;
  for (const Term& term : terms_) dynamics.insert(term.atom->dynamics.begin(), term.atom->dynamics.end());
  return dynamics;
}

Index term_index(const Term& term) {
  return single(term);
}

Index operator+(const Index& a, const Index& b) {
  SumBuilder builder(a.constant() + b.constant());
  const Term *x = a.terms().begin(), *y = b.terms().begin();
  while (x != a.terms().end() || y != b.terms().end()) {
    const bool second = x == a.terms().end() || (y != b.terms().end() && comes_before(*y, *x));
    builder.add(second ? *y++ : *x++);
  }
  const Index sum = builder.finish();
  return recombine(sum).value_or(sum);
}

Index operator-(const Index& a, const Index& b) {
  return a + b * -1;
}

Index operator*(const Index& a, int64_t b) {
  SumBuilder product(a.constant() * b);
  if (b != 0)
    for (const Term& term : a.terms()) product.add({term.coefficient * b, term.atom});
  return product.finish();
}

Index floor_div(const Index& a, int64_t d) {
  KORCH_ASSERT(d > 0, "division of an index by " + std::to_string(d));
  if (d == 1) return a;
  const auto [quotient, rest] = part(a, d);
  const IndexRange range = rest.range();
  if (floor_quotient(range.low, d) == floor_quotient(range.high, d))
    return quotient + Index(floor_quotient(range.low, d));
  if (const Atom* only = only_atom(rest); only != nullptr && only->kind == AtomKind::div)
    return quotient + floor_div(only->arg, only->a * d);
  if (const auto factored = factor(rest, d)) return quotient + floor_div(factored->x, d / factored->q);
  return quotient + single(derived_atom(AtomKind::div, rest, d, 0,
                                        {floor_quotient(range.low, d), floor_quotient(range.high, d)}));
}

Index floor_mod(const Index& a, int64_t d) {
  KORCH_ASSERT(d > 0, "modulo of an index by " + std::to_string(d));
  if (d == 1) return Index(0);
  const Index rest = part(a, d).rest;
  const IndexRange range = rest.range();
  const int64_t block = floor_quotient(range.low, d);
  if (block == floor_quotient(range.high, d)) return rest - Index(block * d);
  if (const Atom* only = only_atom(rest); only != nullptr && only->kind == AtomKind::mod && only->a % d == 0)
    return floor_mod(only->arg, d);
  if (const auto factored = factor(rest, d))
    return floor_mod(factored->x, d / factored->q) * factored->q + factored->r;
  return single(derived_atom(AtomKind::mod, rest, d, 0, {0, d - 1}));
}

Index absolute(const Index& a) {
  const IndexRange range = a.range();
  if (range.low >= 0) return a;
  if (range.high <= 0) return a * -1;
  return single(derived_atom(AtomKind::abs, a, 0, 0, {0, std::max(-range.low, range.high)}));
}

Index clamp(const Index& a, int64_t low, int64_t high) {
  const IndexRange range = a.range();
  if (range.low >= low && range.high <= high) return a;
  if (range.high <= low) return Index(low);
  if (range.low >= high) return Index(high);
  return single(
      derived_atom(AtomKind::clamp, a, low, high, {std::max(low, range.low), std::min(high, range.high)}));
}

Index rebuilt(const Atom& atom, const Index& arg) {
  switch (atom.kind) {
    case AtomKind::div:
      return floor_div(arg, atom.a);
    case AtomKind::mod:
      return floor_mod(arg, atom.a);
    case AtomKind::abs:
      return absolute(arg);
    case AtomKind::clamp:
      return clamp(arg, atom.a, atom.b);
    case AtomKind::variable:
    case AtomKind::dynamic:
      break;
  }
  KORCH_ASSERT(false, "a variable has no argument");
  return arg;
}

Index substitute(const Index& index, const Replacements& replacements,
                 const std::function<int(int)>& dynamics) {
  Index result(index.constant());
  for (const Term& term : index.terms()) {
    const Atom& atom = *term.atom;
    Index value = single(term.atom);
    if (atom.kind == AtomKind::variable) {
      if (const auto found = replacements.find(atom.name); found != replacements.end()) value = found->second;
    } else if (atom.kind != AtomKind::dynamic) {
      value = rebuilt(atom, substitute(atom.arg, replacements, dynamics));
    } else if (dynamics) {
      value = Index::dynamic(dynamics(atom.id), atom.range.high + 1);
    }
    result = result + value * term.coefficient;
  }
  return result;
}

Split find_split(const Index& index, const std::function<bool(const std::string&)>& allowed) {
  for (const Term& term : index.terms()) {
    const Atom& atom = *term.atom;
    if (atom.kind == AtomKind::variable || atom.kind == AtomKind::dynamic) continue;
    const Split inner = find_split(atom.arg, allowed);
    if (inner.inner_extent != 0) return inner;
    if (atom.kind != AtomKind::div && atom.kind != AtomKind::mod) continue;
    for (const Term& part : atom.arg.terms()) {
      if (part.atom->kind != AtomKind::variable || part.atom->range.low != 0 || !allowed(part.atom->name))
        continue;
      const int64_t extent = part.atom->range.high + 1;
      const int64_t size = atom.a / std::gcd(std::abs(part.coefficient), atom.a);
      if (size <= 1 || size >= extent || extent % size != 0) continue;
      const Index outer = Index::variable("split_outer", extent / size);
      const Index split = substitute(
          single(term.atom), {{part.atom->name, outer * size + Index::variable("split_inner", size)}});
      const auto needs_both_halves = [](const Term& piece) {
        return atom_depends(*piece.atom, "split_outer") && atom_depends(*piece.atom, "split_inner");
      };
      if (std::none_of(split.terms().begin(), split.terms().end(), needs_both_halves))
        return {part.atom->name, size};
    }
  }
  return {{}, 0};
}

void collect_breakpoints(const Index& index, const std::string& variable, std::set<int64_t>& points) {
  for (const Term& term : index.terms()) {
    const Atom& atom = *term.atom;
    if (atom.kind == AtomKind::variable || atom.kind == AtomKind::dynamic) continue;
    collect_breakpoints(atom.arg, variable, points);
    if (atom.kind == AtomKind::abs) add_crossing(atom.arg, variable, 0, points);
    if (atom.kind == AtomKind::clamp) {
      add_crossing(atom.arg, variable, atom.a, points);
      add_crossing(atom.arg, variable, atom.b, points);
    }
  }
}

std::string print(const Index& index, const IndexSpelling& spelling) {
  auto atom_text = [&](const Atom& atom) -> std::string {
    switch (atom.kind) {
      case AtomKind::variable:
        return spelling.variable ? spelling.variable(atom.name) : atom.name;
      case AtomKind::dynamic:
        KORCH_ASSERT(static_cast<bool>(spelling.dynamic), "a run-time index where none can be spelled");
        return spelling.dynamic(atom.id);
      case AtomKind::abs:
        return fmt::format("index_abs({})", print(atom.arg, spelling));
      case AtomKind::clamp:
        return fmt::format("index_clamp({}, {}, {})", print(atom.arg, spelling), atom.a, atom.b);
      case AtomKind::div:
      case AtomKind::mod: {
        const bool natural = atom.arg.range().low >= 0;
        const bool div = atom.kind == AtomKind::div;
        if (natural) return fmt::format("({}) {} {}", print(atom.arg, spelling), div ? '/' : '%', atom.a);
        return fmt::format("index_{}({}, {})", div ? "div" : "mod", print(atom.arg, spelling), atom.a);
      }
    }
    return "";
  };
  std::string text;
  for (const Term& term : index.terms()) {
    const std::string atom = atom_text(*term.atom);
    const int64_t size = std::abs(term.coefficient);
    const bool quotient =
        (term.atom->kind == AtomKind::div || term.atom->kind == AtomKind::mod) && atom[0] == '(';
    std::string factor = quotient ? "(" + atom + ")" : atom;
    if (size != 1) factor += fmt::format(" * {}", size);
    if (text.empty())
      text = term.coefficient < 0 ? "-" + factor : factor;
    else
      text += (term.coefficient < 0 ? " - " : " + ") + factor;
  }
  if (text.empty()) return fmt::format("{}", index.constant());
  if (index.constant() > 0) text += fmt::format(" + {}", index.constant());
  if (index.constant() < 0) text += fmt::format(" - {}", -index.constant());
  return text;
}

Condition& Condition::require(const Index& index, int64_t low, int64_t high) {
  const IndexRange range = index.range();
  if (range.low >= low && range.high <= high) return *this;
  if (range.high < low || range.low > high) {
    never_ = true;
    return *this;
  }
  for (Bound& bound : bounds_) {
    if (!(bound.index == index)) continue;
    bound.low = std::max(bound.low, low);
    bound.high = std::min(bound.high, high);
    if (bound.low > bound.high) never_ = true;
    return *this;
  }
  bounds_.push_back({index, low, high});
  return *this;
}

Condition& Condition::require(const Condition& other) {
  never_ = never_ || other.never_;
  for (const Bound& bound : other.bounds_) require(bound.index, bound.low, bound.high);
  return *this;
}

size_t Condition::hash() const {
  size_t hash = never_ ? 1 : 0;
  for (const Bound& bound : bounds_)
    hash = mixed(mixed(mixed(hash, bound.index.hash()), static_cast<size_t>(bound.low)),
                 static_cast<size_t>(bound.high));
  return hash;
}

bool Condition::depends_on(const std::string& variable) const {
  for (const Bound& bound : bounds_)
    if (bound.index.depends_on(variable)) return true;
  return false;
}

std::set<std::string> Condition::variables() const {
  std::set<std::string> names;
  for (const Bound& bound : bounds_) names.merge(bound.index.variables());
  return names;
}

Condition substitute(const Condition& condition, const Replacements& replacements,
                     const std::function<int(int)>& dynamics) {
  Condition result;
  if (condition.always_false()) result.require(Index(0), 1, 1);
  for (const Bound& bound : condition.bounds())
    result.require(substitute(bound.index, replacements, dynamics), bound.low, bound.high);
  return result;
}

void collect_breakpoints(const Condition& condition, const std::string& variable, std::set<int64_t>& points) {
  for (const Bound& bound : condition.bounds()) {
    collect_breakpoints(bound.index, variable, points);
    add_crossing(bound.index, variable, bound.low, points);
    add_crossing(bound.index, variable, bound.high + 1, points);
  }
}

std::string print(const Condition& condition, const IndexSpelling& spelling) {
  if (condition.always_false()) return "false";
  std::string text;
  for (const Bound& bound : condition.bounds()) {
    const IndexRange range = bound.index.range();
    const std::string index = print(bound.index, spelling);
    if (range.low < bound.low)
      text += fmt::format("{}({}) >= {}", text.empty() ? "" : " && ", index, bound.low);
    if (range.high > bound.high)
      text += fmt::format("{}({}) <= {}", text.empty() ? "" : " && ", index, bound.high);
  }
  return text.empty() ? "true" : text;
}

}  // namespace korch::tile
