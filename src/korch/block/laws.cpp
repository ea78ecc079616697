#include "korch/block/laws.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace korch::block {
namespace {

using Kind = ENode::Kind;
using Part = ENode::Part;

// Longer sums and products than groups have stay as they are.
constexpr size_t kMostParts = 24;
// Sums of more terms are not multiplied out.
constexpr size_t kMostDistributed = 2;

// The least term of each class. A node of a class whose own least term is a part of the node's, as x = (x y)
// / y, says nothing new by being put in place of the class, and would be again in what comes out.
class Depths {
 public:
  explicit Depths(const EGraph& graph) : graph_(graph) {
    depth_.assign(static_cast<size_t>(graph.class_slots()), kNone);
    node_.assign(depth_.size(), -1);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < graph.node_slots(); ++i) {
        if (!graph.is_live(i)) continue;
        const int depth = depth_of(i);
        int& least = depth_[graph.class_of(i)];
        if (depth >= least) continue;
        least = depth;
        node_[graph.class_of(i)] = i;
        changed = true;
      }
    }
  }

  bool goes_round(int node, ClassId id) const {
    id = graph_.find(id);
    if (depth_of(node) <= depth(id)) return false;
    std::set<ClassId> seen;
    return has_part(node, id, seen);
  }

 private:
  static constexpr int kNone = 1 << 20;

  // Classes of this sweep have none.
  int depth(ClassId id) const { return id < static_cast<int>(depth_.size()) ? depth_[id] : kNone; }
  int depth_of(int node) const {
    int deepest = 0;
    for (const Part& part : graph_.node(node).parts) deepest = std::max(deepest, depth(graph_.find(part.of)));
    return deepest + 1;
  }
  // Classes that became one in this sweep may go round: each is looked at once.
  bool has_part(int node, ClassId id, std::set<ClassId>& seen) const {
    return std::any_of(graph_.node(node).parts.begin(), graph_.node(node).parts.end(), [&](const Part& part) {
      const ClassId of = graph_.find(part.of);
      if (of == id) return true;
      return depth(of) != kNone && depth(of) > depth(id) && seen.insert(of).second &&
             has_part(node_[of], id, seen);
    });
  }

  const EGraph& graph_;
  std::vector<int> depth_, node_;
};

class Laws {
 public:
  explicit Laws(EGraph& graph) : graph_(graph), depths_(graph) {}

  // Adds what the laws say of a node to its class.
  void apply(int index) {
    node_ = graph_.node(index);
    self_ = graph_.class_of(index);
    if (graph_.number(self_)) return;  // nothing is simpler
    switch (node_.kind) {
      case Kind::leaf:
      case Kind::number:
      case Kind::window:
        break;
      case Kind::sum:
        flatten_sum();
        break;
      case Kind::product:
        flatten_product();
        break;
      case Kind::exp:
        split_exp();
        break;
      case Kind::call:
        simplify_call();
        break;
      case Kind::fold:
        if (is_float(node_.type)) apply_to_fold();
        break;
    }
  }

 private:
  ClassId number(double value) { return graph_.add({.kind = Kind::number, .number = value}); }
  ClassId sum(std::vector<Part> parts, double number = 0) {
    return graph_.add({.kind = Kind::sum, .number = number, .parts = std::move(parts)});
  }
  ClassId product(std::vector<Part> parts) {
    return graph_.add({.kind = Kind::product, .parts = std::move(parts)});
  }
  ClassId exp(ClassId of) { return graph_.add({.kind = Kind::exp, .parts = {{of, 1}}}); }
  ClassId fold(AxisSet over, ClassId of) { return fold(node_.combine, over, of); }
  ClassId fold(ScalarFn combine, AxisSet over, ClassId of) {
    return graph_.add(
        {.kind = Kind::fold, .type = node_.type, .combine = combine, .over = over, .parts = {{of, 1}}});
  }
  void is(ClassId other) { graph_.unite(self_, other); }

  // The nodes of a kind in a class: copies, since what is added moves nodes.
  std::vector<ENode> nodes(ClassId id, Kind kind) const {
    std::vector<ENode> found;
    for (int index : graph_.nodes_of(id))
      if (graph_.is_live(index) && graph_.node(index).kind == kind && !depths_.goes_round(index, id))
        found.push_back(graph_.node(index));
    return found;
  }
  bool reads(const ENode& node, ClassId id) const {
    return std::any_of(node.parts.begin(), node.parts.end(),
                       [&](const Part& part) { return graph_.same(part.of, id); });
  }
  AxisSet axes(const std::vector<Part>& parts) const {
    AxisSet all = 0;
    for (const Part& part : parts) all |= graph_.axes(part.of);
    return all;
  }
  std::vector<Part> without(const std::vector<Part>& parts, size_t index) const {
    std::vector<Part> rest = parts;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
    return rest;
  }

  // Of several operands that are sums the first is taken apart; those of what comes out follow.
  void flatten_sum() {
    for (size_t i = 0; i < node_.parts.size(); ++i) {
      const Part part = node_.parts[i];
      bool taken = false;
      for (const ENode& inner : nodes(part.of, Kind::sum)) {
        if (reads(inner, self_) || reads(inner, part.of)) continue;
        if (inner.parts.size() + node_.parts.size() > kMostParts) continue;
        std::vector<Part> parts = without(node_.parts, i);
        bool exact = true;
        for (const Part& of : inner.parts) {
          const std::optional<double> times = exact_product(of.times, part.times);
          exact = exact && times;
          parts.push_back({of.of, times.value_or(0)});
        }
        if (!exact) continue;
        if (inner.number != 0) parts.push_back({number(inner.number), part.times});
        is(sum(std::move(parts), node_.number));
        taken = true;
      }
      if (taken) return;
    }
  }

  void flatten_product() {
    for (size_t i = 0; i < node_.parts.size(); ++i) {
      const Part part = node_.parts[i];
      bool taken = false;
      for (const ENode& inner : nodes(part.of, Kind::product)) {
        if (reads(inner, self_) || reads(inner, part.of)) continue;
        if (inner.parts.size() + node_.parts.size() > kMostParts) continue;
        std::vector<Part> parts = without(node_.parts, i);
        bool small = true;
        for (const Part& of : inner.parts) {
          parts.push_back({of.of, of.times * part.times});
          small = small && std::fabs(of.times * part.times) <= kMostPower;
        }
        if (!small) continue;
        is(product(std::move(parts)));
        taken = true;
      }
      if (taken) return;
    }
  }

  void split_exp() {
    for (const ENode& inner : nodes(node_.parts[0].of, Kind::sum)) {
      std::vector<Part> factors;
      for (const Part& part : inner.parts) {
        // exp(k x) is a power of exp(x) where powers go, else a function of |k| x and its inverse.
        const bool whole = std::trunc(part.times) == part.times && std::fabs(part.times) <= 4;
        if (whole)
          factors.push_back({exp(part.of), part.times});
        else
          factors.push_back({exp(sum({{part.of, std::fabs(part.times)}})), part.times < 0 ? -1.0 : 1.0});
      }
      if (inner.number != 0) factors.push_back({exp(number(inner.number)), 1});
      is(product(std::move(factors)));
    }
  }

  void simplify_call() {
    if (node_.op == Op::Where && graph_.same(node_.parts[1].of, node_.parts[2].of)) is(node_.parts[1].of);
    if ((node_.op == Op::Max || node_.op == Op::Min) && graph_.same(node_.parts[0].of, node_.parts[1].of))
      is(node_.parts[0].of);
  }

  void apply_to_fold() {
    if (node_.combine == ScalarFn::add) {
      fold_free_axes_of_sum();
      for (const ENode& inner : nodes(arg(), Kind::sum)) fold_of_sum(inner);
      for (const ENode& inner : nodes(arg(), Kind::product)) {
        factors_out(inner);
        factors_in(inner);
        distribute(inner);
      }
      merge_folds();
    } else if (node_.combine == ScalarFn::min || node_.combine == ScalarFn::max) {
      is(fold(node_.over & graph_.axes(arg()), arg()));
      for (const ENode& inner : nodes(arg(), Kind::sum)) extremum_of_sum(inner);
      merge_folds();
    }
  }
  ClassId arg() const { return node_.parts[0].of; }

  // sum_a(x) = x sum_a(1) where a is not free in x.
  void fold_free_axes_of_sum() {
    const AxisSet free = node_.over & ~graph_.axes(arg());
    if (free == 0) return;
    std::vector<Part> factors;
    for (int axis = 0; axis < kMostAxes; ++axis)
      if ((free & axis_set(axis)) != 0) factors.push_back({fold(axis_set(axis), number(1)), 1});
    if (factors.size() == 1 && graph_.number(arg()) == 1.0) return;
    factors.push_back({fold(node_.over & ~free, arg()), 1});
    is(product(std::move(factors)));
  }

  void fold_of_sum(const ENode& inner) {
    std::vector<Part> parts;
    for (const Part& part : inner.parts) parts.push_back({fold(node_.over, part.of), part.times});
    if (inner.number != 0) parts.push_back({fold(node_.over, number(1)), inner.number});
    is(sum(std::move(parts)));
  }

  // Factors that are free of all axes stand outside; those free of one of several outside of its own sum.
  void factors_out(const ENode& inner) {
    std::vector<Part> outside, inside;
    for (const Part& part : inner.parts)
      ((graph_.axes(part.of) & node_.over) == 0 ? outside : inside).push_back(part);
    if (!outside.empty()) {
      if (inside.empty()) return;
      outside.push_back({fold(node_.over, product(std::move(inside))), 1});
      return is(product(std::move(outside)));
    }
    for (int axis = 0; axis < kMostAxes; ++axis) {
      const AxisSet one = axis_set(axis);
      if ((node_.over & one) == 0 || node_.over == one) continue;
      std::vector<Part> free, bound;
      for (const Part& part : inside) ((graph_.axes(part.of) & one) == 0 ? free : bound).push_back(part);
      if (free.empty() || bound.empty()) continue;
      free.push_back({fold(one, product(std::move(bound))), 1});
      is(fold(node_.over & ~one, product(std::move(free))));
    }
  }

  // sum_a(x sum_b(y)) = sum_{a,b}(x y) where b is not free in x.
  void factors_in(const ENode& inner) {
    for (size_t i = 0; i < inner.parts.size(); ++i) {
      if (inner.parts[i].times != 1) continue;
      const std::vector<Part> rest = without(inner.parts, i);
      for (const ENode& sum : nodes(inner.parts[i].of, Kind::fold)) {
        if (sum.combine != ScalarFn::add || (sum.over & (axes(rest) | node_.over)) != 0) continue;
        std::vector<Part> factors = rest;
        factors.push_back(sum.parts[0]);
        is(fold(node_.over | sum.over, product(std::move(factors))));
      }
    }
  }

  // Of the operand: (s + t) x = s x + t x, where that lets a factor out of the fold. Not of squares, which
  // would be the difference of two large sums.
  void distribute(const ENode& inner) {
    for (size_t i = 0; i < inner.parts.size(); ++i) {
      if (inner.parts[i].times != 1) continue;
      const std::vector<Part> rest = without(inner.parts, i);
      for (const ENode& of : nodes(inner.parts[i].of, Kind::sum)) {
        const bool helps = std::any_of(of.parts.begin(), of.parts.end(), [&](const Part& part) {
          return (node_.over & ~graph_.axes(part.of)) != 0;
        });
        if (!(helps || of.number != 0) || of.parts.size() > kMostDistributed) continue;
        std::vector<Part> terms;
        for (const Part& part : of.parts) {
          std::vector<Part> factors = rest;
          factors.push_back({part.of, 1});
          terms.push_back({product(std::move(factors)), part.times});
        }
        if (of.number != 0) terms.push_back({product(rest), of.number});
        graph_.unite(arg(), sum(std::move(terms)));
      }
    }
  }

  void merge_folds() {
    for (const ENode& inner : nodes(arg(), Kind::fold)) {
      if (inner.combine != node_.combine || !is_float(inner.type)) continue;
      if (node_.combine == ScalarFn::add && (inner.over & node_.over) != 0) continue;
      is(fold(node_.over | inner.over, inner.parts[0].of));
    }
  }

  void extremum_of_sum(const ENode& inner) {
    std::vector<Part> outside, inside;
    for (const Part& part : inner.parts)
      ((graph_.axes(part.of) & node_.over) == 0 ? outside : inside).push_back(part);
    if (inside.empty()) return;
    if (inside.size() == 1) {
      const ScalarFn other = node_.combine == ScalarFn::max ? ScalarFn::min : ScalarFn::max;
      const ScalarFn combine = inside[0].times < 0 ? other : node_.combine;
      outside.push_back({fold(combine, node_.over, inside[0].of), inside[0].times});
    } else {
      if (outside.empty() && inner.number == 0) return;
      outside.push_back({fold(node_.over, sum(std::move(inside))), 1});
    }
    is(sum(std::move(outside), inner.number));
  }

  EGraph& graph_;
  const Depths depths_;
  ENode node_;
  ClassId self_ = 0;
};

}  // namespace

Saturation saturate(EGraph& graph, const SaturationLimits& limits) {
  Saturation result;
  bool settled = graph.rebuild();
  const auto may_go_on = [&] {
    return graph.node_slots() < limits.nodes && !limits.deadline.is_over() && !graph.contradiction();
  };
  while (!result.saturated && settled && result.sweeps < limits.sweeps && may_go_on()) {
    ++result.sweeps;
    const int slots = graph.node_slots(), unions = graph.unions();
    Laws laws(graph);
    for (int i = 0; i < slots && may_go_on(); ++i)
      if (graph.is_live(i)) laws.apply(i);
    result.saturated = may_go_on() && graph.node_slots() == slots && graph.unions() == unions;
    settled = graph.rebuild();
  }
  result.contradiction = graph.contradiction();
  result.nodes = graph.live_nodes();
  result.classes = graph.live_classes();
  return result;
}

}  // namespace korch::block
