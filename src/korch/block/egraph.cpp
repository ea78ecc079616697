#include "korch/block/egraph.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "korch/base/error.h"

namespace korch::block {
namespace {

// The sum, product or power if it is a number without rounding.
std::optional<double> exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a;
  if (!std::isfinite(sum) || (a - (sum - of_b)) + (b - of_b) != 0) return std::nullopt;
  return sum;
}

// In the order of magnitudes, without x and -x.
std::vector<double> without_opposites(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end(), [](double a, double b) {
    return std::fabs(a) != std::fabs(b) ? std::fabs(a) < std::fabs(b) : a < b;
  });
  std::vector<double> left;
  for (double number : numbers) {
    if (!left.empty() && left.back() == -number)
      left.pop_back();
    else
      left.push_back(number);
  }
  return left;
}

// Of a power that is not negative.
std::optional<double> exact_power(double base, double power) {
  std::optional<double> result = 1;
  for (; power > 0 && result; --power) result = exact_product(*result, base);
  return result;
}

// From class to class, each a multiple of the next one.
constexpr int kMostSteps = 64;
// Of a rebuild. A handful is usual.
constexpr int kMostPasses = 100;

bool commutes(Op op) {
  return op == Op::Max || op == Op::Min || op == Op::Equal || op == Op::And || op == Op::Or || op == Op::Xor;
}

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

uint64_t bits_of(double value) {
  return std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
}

}  // namespace

std::optional<double> exact_product(double a, double b) {
  const double product = a * b;
  if (!std::isfinite(product) || std::fma(a, b, -product) != 0) return std::nullopt;
  if (product == 0 && a != 0 && b != 0) return std::nullopt;
  return product;
}

bool equal_nodes(const ENode& a, const ENode& b) {
  return a.kind == b.kind && a.type == b.type && a.leaf == b.leaf && bits_of(a.number) == bits_of(b.number) &&
         a.op == b.op && a.scalars == b.scalars && a.combine == b.combine && a.over == b.over &&
         a.window == b.window && a.parts == b.parts;
}

size_t EGraph::Hasher::operator()(const ENode& node) const {
  uint64_t hash = mixed(static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.leaf));
  hash = mixed(hash, bits_of(node.number));
  hash = mixed(hash, static_cast<uint64_t>(node.op));
  hash = mixed(hash, node.over);
  for (const Window::Part& part : node.window.parts) hash = mixed(hash, static_cast<uint64_t>(part.axis));
  for (const ENode::Part& part : node.parts)
    hash = mixed(mixed(hash, static_cast<uint64_t>(part.of)), bits_of(part.times));
  return hash;
}

ClassId EGraph::find(ClassId id) const {
  while (parent_[id] != id) id = parent_[id];
  return id;
}

AxisSet EGraph::axes(const ENode& node) const {
  if (node.kind == ENode::Kind::leaf) return leaves_[node.leaf].axes;
  AxisSet axes = 0;
  for (const ENode::Part& part : node.parts) axes |= this->axes(part.of);
  if (node.kind == ENode::Kind::window) return axes_through(node.window, axes);
  return axes & ~node.over;
}

int EGraph::live_nodes() const {
  return static_cast<int>(std::count(live_.begin(), live_.end(), true));
}

int EGraph::live_classes() const {
  int count = 0;
  for (ClassId id = 0; id < static_cast<int>(parent_.size()); ++id) count += parent_[id] == id;
  return count;
}

std::vector<ClassId> EGraph::add(const Terms& terms, const std::vector<int>& wanted) {
  std::vector<bool> read(terms.terms.size());
  for (int term : wanted) read[term] = true;
  for (size_t i = terms.terms.size(); i-- > 0;)
    if (read[i])
      for (int arg : terms.terms[i].args) read[arg] = true;
  std::vector<ClassId> classes(terms.terms.size(), -1);
  for (size_t i = 0; i < terms.terms.size(); ++i) {
    if (!read[i]) continue;
    ENode node = node_of(terms.terms[i], terms, classes);
    node.given = true;
    classes[i] = add(std::move(node));
    keep_difference(terms.terms[i], terms, classes, classes[i]);
  }
  return classes;
}

void EGraph::keep_difference(const Term& term, const Terms& terms, const std::vector<ClassId>& classes,
                             ClassId id) {
  if (term.kind != TermKind::call || term.op != Op::Sub) return;
  const Term& extremum = terms.terms[term.args[1]];
  if (extremum.kind != TermKind::fold || extremum.args[0] != term.args[0]) return;
  if (extremum.combine != ScalarFn::max && extremum.combine != ScalarFn::min) return;
  if (!is_float(term.type)) return;
  const ClassId kept = add({.kind = ENode::Kind::call,
                            .type = term.type,
                            .op = Op::Sub,
                            .parts = {{classes[term.args[0]], 1}, {classes[term.args[1]], 1}},
                            .given = true});
  unite(id, kept);
}

ENode EGraph::node_of(const Term& term, const Terms& terms, const std::vector<ClassId>& classes) {
  const auto of = [&](int arg) { return classes[term.args[arg]]; };
  switch (term.kind) {
    case TermKind::leaf:
      return {.kind = ENode::Kind::leaf, .type = term.type, .leaf = term.leaf};
    case TermKind::number:
      return {.kind = ENode::Kind::number, .number = term.number};
    case TermKind::fold:
      return {.kind = ENode::Kind::fold,
              .type = term.type,
              .combine = term.combine,
              .over = term.over,
              .parts = {{of(0), 1}}};
    case TermKind::window:
      return {.kind = ENode::Kind::window, .type = term.type, .window = term.window, .parts = {{of(0), 1}}};
    case TermKind::call:
      break;
  }
  using Kind = ENode::Kind;
  // Integers divide and overflow by other laws.
  bool real = is_float(term.type);
  for (int arg : term.args) real = real && is_float(terms.terms[arg].type);
  if (real && term.op == Op::Add) return {.kind = Kind::sum, .parts = {{of(0), 1}, {of(1), 1}}};
  if (real && term.op == Op::Sub) return {.kind = Kind::sum, .parts = {{of(0), 1}, {of(1), -1}}};
  if (real && term.op == Op::Neg) return {.kind = Kind::sum, .parts = {{of(0), -1}}};
  if (real && term.op == Op::Mul) return {.kind = Kind::product, .parts = {{of(0), 1}, {of(1), 1}}};
  if (real && term.op == Op::Div) return {.kind = Kind::product, .parts = {{of(0), 1}, {of(1), -1}}};
  if (real && term.op == Op::Reciprocal) return {.kind = Kind::product, .parts = {{of(0), -1}}};
  if (real && term.op == Op::Exp) return {.kind = Kind::exp, .parts = {{of(0), 1}}};
  if (real && term.op == Op::Pow) {
    const std::optional<double> power = number(of(1));
    if (power && std::trunc(*power) == *power && std::fabs(*power) <= kMostPower)
      return {.kind = Kind::product, .parts = {{of(0), *power}}};
    if (power && std::fabs(*power) == 0.5) {
      const ClassId root =
          add({.kind = Kind::call, .type = term.type, .op = Op::Sqrt, .parts = {{of(0), 1}}, .given = true});
      return {.kind = Kind::product, .parts = {{root, 2 * *power}}};
    }
  }
  ENode node = {.kind = Kind::call, .type = term.type, .op = term.op, .scalars = term.scalars};
  for (int arg : term.args) node.parts.push_back({classes[arg], 1});
  return node;
}

ClassId EGraph::add(ENode node) {
  if (const std::optional<ClassId> id = normalize(node)) return find(*id);
  return add_normal(std::move(node));
}

ClassId EGraph::add_normal(ENode node) {
  const auto found = known_.find(node);
  if (found != known_.end()) {
    if (node.given) nodes_[found->second].given = true;
    return class_of(found->second);
  }
  const int index = static_cast<int>(nodes_.size());
  const ClassId id = static_cast<ClassId>(parent_.size());
  parent_.push_back(id);
  classes_.push_back({.nodes = {index}, .axes = axes(node)});
  learn(id, node);
  known_.emplace(node, index);
  nodes_.push_back(std::move(node));
  owner_.push_back(id);
  live_.push_back(true);
  return id;
}

bool EGraph::is_infinite(ClassId id) const {
  const std::optional<double> value = number(id);
  return value && !std::isfinite(*value);
}

// What the class takes from one of its nodes.
void EGraph::learn(ClassId id, const ENode& node) {
  Class& owner = classes_[id];
  if (node.kind == ENode::Kind::number) {
    if (owner.number && *owner.number != node.number) contradiction_ = true;
    owner.number = node.number;
  }
  const bool scales = node.kind == ENode::Kind::sum && node.number == 0 && node.parts.size() == 1;
  if (scales && !owner.scaled && !is_scaled_by(node.parts[0].of, id)) owner.scaled = node.parts[0];
}

// Whether `of` is `id`, or a multiple of it as far as `scaled` tells.
bool EGraph::is_scaled_by(ClassId of, ClassId id) const {
  for (int steps = 0; steps < kMostSteps; ++steps) {
    of = find(of);
    if (of == id) return true;
    if (!classes_[of].scaled) return false;
    of = classes_[of].scaled->of;
  }
  return true;  // in a circle of others
}

void EGraph::unite(ClassId a, ClassId b) {
  a = find(a), b = find(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  ++unions_;
  parent_[b] = a;
  Class& kept = classes_[a];
  Class& gone = classes_[b];
  kept.nodes.insert(kept.nodes.end(), gone.nodes.begin(), gone.nodes.end());
  gone.nodes.clear();
  kept.axes &= gone.axes;
  if (kept.number && gone.number && *kept.number != *gone.number) contradiction_ = true;
  if (!kept.number) kept.number = gone.number;
  if (!kept.scaled) kept.scaled = gone.scaled;
  if (kept.scaled && is_scaled_by(kept.scaled->of, a)) kept.scaled.reset();
}

std::optional<ClassId> EGraph::normalize(ENode& node) {
  for (ENode::Part& part : node.parts) part.of = find(part.of);
  switch (node.kind) {
    case ENode::Kind::leaf:
    case ENode::Kind::number:
      return std::nullopt;
    case ENode::Kind::sum:
      return normalize_sum(node);
    case ENode::Kind::product:
      return normalize_product(node);
    case ENode::Kind::exp:
      if (number(node.parts[0].of) == 0.0) return add_normal({.kind = ENode::Kind::number, .number = 1});
      return std::nullopt;
    case ENode::Kind::call:
      if (commutes(node.op) && node.parts[1].of < node.parts[0].of) std::swap(node.parts[0], node.parts[1]);
      return std::nullopt;
    case ENode::Kind::fold:
      if (node.over == 0) return node.parts[0].of;
      return std::nullopt;
    case ENode::Kind::window:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<ClassId> EGraph::normalize_sum(ENode& node) {
  std::vector<ENode::Part> parts;
  std::vector<double> numbers = {node.number};
  for (ENode::Part part : node.parts) {
    if (const std::optional<ENode::Part>& scaled = classes_[part.of].scaled)
      if (const std::optional<double> times = exact_product(part.times, scaled->times))
        part = {find(scaled->of), *times};
    const std::optional<double> value = number(part.of);
    if (const std::optional<double> product = value ? exact_product(part.times, *value) : std::nullopt)
      numbers.push_back(*product);
    else
      parts.push_back(part);
  }
  node.number = 0;
  for (double value : without_opposites(std::move(numbers))) {
    if (const std::optional<double> sum = exact_sum(node.number, value))
      node.number = *sum;
    else
      parts.push_back({add_normal({.kind = ENode::Kind::number, .number = value}), 1});
  }
  std::sort(parts.begin(), parts.end(), [](const ENode::Part& a, const ENode::Part& b) {
    return a.of != b.of ? a.of < b.of : a.times < b.times;
  });
  node.parts.clear();
  for (const ENode::Part& part : parts) {
    std::optional<double> sum;
    if (!node.parts.empty() && node.parts.back().of == part.of && !is_infinite(part.of))
      sum = exact_sum(node.parts.back().times, part.times);
    if (sum)
      node.parts.back().times = *sum;
    else
      node.parts.push_back(part);
    if (node.parts.back().times == 0) node.parts.pop_back();
  }
  if (node.parts.empty())
    return add_normal({.kind = ENode::Kind::number, .number = node.number, .given = node.given});
  if (node.parts.size() == 1 && node.parts[0].times == 1 && node.number == 0) return node.parts[0].of;
  return std::nullopt;
}

// Each class once; those to the power of 0 are 1.
void EGraph::merge_powers(std::vector<ENode::Part>& parts) {
  std::sort(parts.begin(), parts.end(),
            [](const ENode::Part& a, const ENode::Part& b) { return a.of < b.of; });
  std::vector<ENode::Part> merged;
  for (const ENode::Part& part : parts) {
    if (number(part.of) == 0.0 && part.times < 0) contradiction_ = true;
    if (!merged.empty() && merged.back().of == part.of && !is_infinite(part.of))
      merged.back().times += part.times;
    else
      merged.push_back(part);
    if (merged.back().times == 0) merged.pop_back();
  }
  parts = std::move(merged);
}

std::optional<ClassId> EGraph::normalize_product(ENode& node) {
  std::vector<ENode::Part> parts;
  for (const ENode::Part& part : node.parts) {
    const std::optional<ENode::Part> scaled = classes_[part.of].scaled;
    parts.push_back({scaled ? find(scaled->of) : part.of, part.times});
    if (scaled)
      parts.push_back({add_normal({.kind = ENode::Kind::number, .number = scaled->times}), part.times});
  }
  merge_powers(parts);
  double coefficient = 1, divisor = 1;
  node.parts.clear();
  for (const ENode::Part& part : parts) {
    const std::optional<double> value = number(part.of);
    const std::optional<double> power = value ? exact_power(*value, std::fabs(part.times)) : std::nullopt;
    double& product = part.times < 0 ? divisor : coefficient;
    if (const std::optional<double> exact = power ? exact_product(product, *power) : std::nullopt)
      product = *exact;
    else
      node.parts.push_back(part);
  }
  if (const double quotient = coefficient / divisor; std::fma(quotient, divisor, -coefficient) == 0) {
    coefficient = quotient;
  } else {
    // 2 / 3 is 1 / 1.5: powers of two, and the sign, have one place.
    const double scale = std::ldexp(1, -std::ilogb(coefficient)) * (divisor < 0 ? -1 : 1);
    coefficient *= scale, divisor *= scale;
    node.parts.push_back({add_normal({.kind = ENode::Kind::number, .number = divisor}), -1});
    merge_powers(node.parts);
  }
  if (node.parts.empty() || coefficient == 0)
    return add_normal({.kind = ENode::Kind::number, .number = coefficient, .given = node.given});
  const bool single = node.parts.size() == 1 && node.parts[0].times == 1;
  if (coefficient == 1) return single ? std::optional<ClassId>(node.parts[0].of) : std::nullopt;
  const ClassId rest = single ? node.parts[0].of : add_normal(node);
  return add({.kind = ENode::Kind::sum, .parts = {{rest, coefficient}}, .given = node.given});
}

// Whether something changed.
bool EGraph::renormalize_all() {
  const int before = unions_;
  known_.clear();
  const int count = node_slots();
  // Normalizing others asks for numbers.
  for (int i = 0; i < count; ++i)
    if (live_[i] && nodes_[i].kind == ENode::Kind::number) known_.try_emplace(nodes_[i], i);
  // Nodes that normalizing adds stand at the end, normal already.
  for (int i = 0; i < count; ++i) {
    if (!live_[i]) continue;
    ENode node = nodes_[i];
    if (const std::optional<ClassId> id = normalize(node)) {
      live_[i] = false;
      unite(*id, owner_[i]);
      continue;
    }
    const auto [found, added] = known_.try_emplace(node, i);
    if (!added && found->second != i) {
      live_[i] = false;
      if (node.given) nodes_[found->second].given = true;
      unite(owner_[found->second], owner_[i]);
      continue;
    }
    nodes_[i] = std::move(node);
  }
  return unions_ != before;
}

bool EGraph::rebuild() {
  int passes = 0;
  do {
    for (Class& owner : classes_) owner.nodes.clear(), owner.scaled.reset();
    for (int i = 0; i < node_slots(); ++i) {
      if (!live_[i]) continue;
      classes_[class_of(i)].nodes.push_back(i);
      learn(class_of(i), nodes_[i]);
    }
    if (++passes > kMostPasses) break;
  } while (renormalize_all());
  learn_axes();
  return passes <= kMostPasses;
}

void EGraph::learn_axes() {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < node_slots(); ++i) {
      if (!live_[i]) continue;
      AxisSet& known = classes_[class_of(i)].axes;
      const AxisSet axes = known & this->axes(nodes_[i]);
      changed = changed || axes != known;
      known = axes;
    }
  }
}

}  // namespace korch::block
