#include "korch/rewrite/failure_bound.h"

#include <algorithm>
#include <cmath>

#include "korch/interp/interpreter.h"
#include "korch/ir/field.h"
#include "korch/ir/index_map.h"
#include "korch/ir/winograd.h"

namespace korch::field {
namespace {

// A value as a quotient of sums of (polynomial times exponential): at most these degrees and numbers of
// terms.
struct Quotient {
  double degree_above = 0, degree_below = 0;
  double terms_above = 1, terms_below = 1;
  bool has_denominator() const { return degree_below > 0 || terms_below > 1; }
};

Quotient times(const Quotient& x, const Quotient& y) {
  return {x.degree_above + y.degree_above, x.degree_below + y.degree_below, x.terms_above * y.terms_above,
          x.terms_below * y.terms_below};
}

Quotient plus(const Quotient& x, const Quotient& y) {
  return {std::max(x.degree_above + y.degree_below, y.degree_above + x.degree_below),
          x.degree_below + y.degree_below, x.terms_above * y.terms_below + y.terms_above * x.terms_below,
          x.terms_below * y.terms_below};
}

Quotient inverse(const Quotient& x) {
  return {x.degree_below, x.degree_above, x.terms_below, x.terms_above};
}

// A sum of `count` such values.
Quotient repeated_sum(const Quotient& x, double count) {
  if (!x.has_denominator()) return {x.degree_above, 0, x.terms_above * count, 1};
  return {x.degree_above + (count - 1) * x.degree_below, count * x.degree_below,
          count * x.terms_above * std::pow(x.terms_below, count - 1), std::pow(x.terms_below, count)};
}

Quotient repeated_product(const Quotient& x, double count) {
  return {x.degree_above * count, x.degree_below * count, std::pow(x.terms_above, count),
          std::pow(x.terms_below, count)};
}

Quotient larger(const Quotient& x, const Quotient& y) {
  return {std::max(x.degree_above, y.degree_above), std::max(x.degree_below, y.degree_below),
          std::max(x.terms_above, y.terms_above), std::max(x.terms_below, y.terms_below)};
}

class Measure {
 public:
  // Inputs are indeterminates, unless something is known of them.
  explicit Measure(const Graph& graph, const std::vector<Quotient>& inputs = {})
      : graph_(graph), values_(graph.value_count()) {
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      values_[graph.inputs()[i]] = inputs.empty() ? Quotient{1, 0, 1, 1} : inputs[i];
    for (NodeId id : needed_nodes(graph)) {
      const Node& node = graph.node(id);
      const Quotient result = of(node);
      for (ValueId output : node.outputs) values_[output] = result;
    }
  }

  const Quotient& operator[](ValueId id) const { return values_[id]; }
  bool orders = false;         // something is compared
  double applications = 0;     // of functions without a law
  double argument_degree = 0;  // the largest of theirs, or of what is compared

 private:
  Quotient joined(const Node& node) const {
    Quotient all;
    for (ValueId input : node.inputs) all = larger(all, values_[input]);
    return all;
  }

  void note_argument(const Quotient& x) {
    argument_degree = std::max(argument_degree, 2 * (x.degree_above + x.degree_below));
  }

  Quotient of(const Node& node) {
    const auto input = [&](size_t i) { return values_[node.inputs[i]]; };
    const auto taps = [&] {
      return std::max(1.0, static_cast<double>(element_count(index_maps(graph_, node).taps)));
    };
    if (node.op == Op::CumSum)
      return repeated_sum(
          input(0),
          static_cast<double>(graph_.value(node.inputs[0]).type.shape[std::get<ScanAttrs>(node.attrs).axis]));
    if (node.op == Op::ReduceSum || node.op == Op::WindowSum) return repeated_sum(input(0), taps());
    if (node.op == Op::ReduceProd) return repeated_product(input(0), taps());
    if (node.op == Op::WindowDot || node.op == Op::MatMul || node.op == Op::Conv ||
        node.op == Op::ConvTranspose)
      return repeated_sum(times(input(0), input(1)), taps());
    if (node.op == Op::WinogradInput || node.op == Op::WinogradOutput) {
      const auto side = static_cast<double>(tile_inputs(std::get<WinogradAttrs>(node.attrs)));
      return repeated_sum(input(0), side * side);
    }
    if (node.op == Op::WinogradProduct) {
      const Shape& w = graph_.value(node.inputs[1]).type.shape;
      return repeated_sum(times(input(0), input(1)), static_cast<double>(w[1] * w[2] * w[3]));
    }
    if (node.op == Op::ReduceMax || node.op == Op::ReduceMin || node.op == Op::WindowMax ||
        node.op == Op::ArgMax || node.op == Op::ArgMin) {
      orders = true;
      note_argument(input(0));
      return input(0);
    }
    if (info(node.op).category == Category::elementwise) return elementwise(node);
    return joined(node);
  }

  Quotient elementwise(const Node& node) {
    const ScalarExpr& expr = scalar_semantics(node.op);
    std::vector<Quotient> terms;
    for (const ScalarExpr::Term& t : expr.terms) terms.push_back(term(node, t, terms));
    return terms.back();
  }

  Quotient term(const Node& node, const ScalarExpr::Term& t, const std::vector<Quotient>& terms) {
    const auto operand = [&](size_t i) { return values_[node.inputs[i]]; };
    if (t.fn == ScalarFn::arg0) return operand(0);
    if (t.fn == ScalarFn::arg1) return operand(1);
    if (t.fn == ScalarFn::arg2) return operand(2);
    if (t.fn == ScalarFn::alpha || t.fn == ScalarFn::beta || t.fn == ScalarFn::constant ||
        t.fn == ScalarFn::is_nan || t.fn == ScalarFn::is_inf)
      return {};
    if (t.fn == ScalarFn::add || t.fn == ScalarFn::sub) return plus(terms[t.a], terms[t.b]);
    if (t.fn == ScalarFn::mul) return times(terms[t.a], terms[t.b]);
    if (t.fn == ScalarFn::div) return times(terms[t.a], inverse(terms[t.b]));
    if (t.fn == ScalarFn::reciprocal) return inverse(terms[t.a]);
    if (t.fn == ScalarFn::neg || t.fn == ScalarFn::cast) return terms[t.a];
    if (t.fn == ScalarFn::exp || t.fn == ScalarFn::expm1) {
      // Of what is itself an exponential it is a function without a law: one more indeterminate.
      applications += static_cast<double>(graph_.value(node.outputs[0]).type.elements());
      note_argument(terms[t.a]);
      return {1, 0, t.fn == ScalarFn::exp ? 1.0 : 2.0, 1};
    }
    if (t.fn == ScalarFn::abs || t.fn == ScalarFn::max || t.fn == ScalarFn::min || t.fn == ScalarFn::eq ||
        t.fn == ScalarFn::lt || t.fn == ScalarFn::le) {
      orders = true;
      note_argument(terms[t.a]);
      if (t.b >= 0) note_argument(terms[t.b]);
      return t.b >= 0 ? larger(terms[t.a], terms[t.b]) : terms[t.a];
    }
    if (t.fn == ScalarFn::logical_and || t.fn == ScalarFn::logical_or || t.fn == ScalarFn::logical_xor ||
        t.fn == ScalarFn::logical_not)
      return {};
    if (t.fn == ScalarFn::select) {
      orders = true;
      return larger(terms[t.b], terms[t.c]);
    }
    // an integer power of at most 64, or a function without a law
    if (t.fn == ScalarFn::pow) {
      constexpr double kLargest = 64;
      applications += static_cast<double>(graph_.value(node.outputs[0]).type.elements());
      note_argument(terms[t.a]);
      return repeated_product(larger(terms[t.a], inverse(terms[t.a])), kLargest);
    }
    applications += static_cast<double>(graph_.value(node.outputs[0]).type.elements());
    note_argument(terms[t.a]);
    if (t.b >= 0) note_argument(terms[t.b]);
    return {1, 0, 1, 1};
  }

  const Graph& graph_;
  std::vector<Quotient> values_;
};

}  // namespace

double failure_bound(const Graph& a, const Graph& b, bool with_exp) {
  const Measure of_a(a), of_b(b);
  const double applications = of_a.applications + of_b.applications;
  const double argument_degree = std::max({1.0, of_a.argument_degree, of_b.argument_degree});
  const double modulus = static_cast<double>(with_exp ? WithExp::kExponents : Plain::kModulus);
  double bound = 0;
  for (size_t o = 0; o < a.outputs().size(); ++o) {
    const Quotient &x = of_a[a.outputs()[o]], &y = of_b[b.outputs()[o]];
    const double degree = std::max(x.degree_above + y.degree_below, y.degree_above + x.degree_below);
    const double terms = x.terms_above * y.terms_below + y.terms_above * x.terms_below;
    double failure = (degree + x.degree_below + y.degree_below) / modulus;
    if (with_exp) {
      // Exponents that differ as polynomials coincide; then a sum of k powers of a generator, of a group of
      // prime order q, vanishes for at most 2 q^(1 - 1/(k-1)) of its q elements (Kelley 2016).
      failure += terms * terms / 2 * argument_degree / modulus;
      failure += 2 * std::pow(modulus, -1 / std::max(1.0, terms - 1));
    }
    bound = std::max(bound, failure);
  }
  // A maximum of n hides a difference in one of them from all orders but one in n, the next from as many of
  // those.
  if (of_a.orders || of_b.orders) return 1;
  // Unknown functions: two arguments that differ as polynomials coincide.
  bound += applications * applications / 2 * argument_degree / modulus;
  return std::isfinite(bound) ? std::min(bound, 1.0) : 1;
}

}  // namespace korch::field
