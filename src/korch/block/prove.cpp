#include "korch/block/prove.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "korch/ir/scalar_functions.h"

namespace korch::block {
namespace {

int copy_once(const Terms& from, int term, Terms& to, std::map<int, int>& copies) {
  const auto known = copies.find(term);
  if (known != copies.end()) return known->second;
  Term copy = from.terms[term];
  for (int& arg : copy.args) arg = copy_once(from, arg, to, copies);
  return copies[term] = to.add(std::move(copy));
}

double value_of_call(const Step& step, const std::vector<double>& args) {
  std::vector<double> values;
  for (const ScalarExpr::Term& term : scalar_semantics(step.op).terms) {
    const auto at = [&](int i) { return i < 0 ? nullptr : &values[i]; };
    double out = term.value;
    if (term.fn == ScalarFn::arg0 || term.fn == ScalarFn::arg1 || term.fn == ScalarFn::arg2)
      out = args[static_cast<size_t>(term.fn) - static_cast<size_t>(ScalarFn::arg0)];
    else if (term.fn == ScalarFn::alpha || term.fn == ScalarFn::beta)
      out = term.fn == ScalarFn::alpha ? step.scalars.alpha : step.scalars.beta;
    else if (term.fn != ScalarFn::constant)
      apply_block<double>(term.fn, 1, at(term.a), at(term.b), at(term.c), &out);
    values.push_back(out);
  }
  return values.back();
}

double identity_of(ScalarFn combine) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (combine == ScalarFn::max) return -kInfinity;
  if (combine == ScalarFn::min) return kInfinity;
  return combine == ScalarFn::mul ? 1 : 0;
}

// Whether pairs of terms are equal.
class Question {
 public:
  Question(const Terms& terms, const std::vector<std::pair<int, int>>& pairs, const SaturationLimits& limits)
      : terms_(terms), pairs_(pairs), graph_(terms.leaves) {
    std::vector<int> wanted;
    for (const auto& [a, b] : pairs) wanted.insert(wanted.end(), {a, b});
    classes_ = graph_.add(terms, wanted);
    saturation_ = saturate(graph_, limits);
  }

  Proof answer() const {
    const bool all = std::all_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
      return graph_.same(classes_[pair.first], classes_[pair.second]);
    });
    return {all && !graph_.contradiction(), saturation_};
  }

  // Whether all exponentials in the first terms of the pairs are equal to such of the second ones, or of x -
  // max x, which is at most 1. exp(s) / sum exp(s) is a softmax, too, but overflows.
  bool takes_no_other_exponentials() const {
    std::set<ClassId> known;
    for (const auto& pair : pairs_) add_exponentials(pair.second, false, known);
    std::set<ClassId> taken;
    for (const auto& pair : pairs_) add_exponentials(pair.first, true, taken);
    return std::includes(known.begin(), known.end(), taken.begin(), taken.end());
  }

 private:
  void add_exponentials(int term, bool but_decaying, std::set<ClassId>& found) const {
    std::vector<bool> read(static_cast<size_t>(term) + 1);
    read[term] = true;
    for (int i = term; i >= 0; --i) {
      if (!read[i]) continue;
      const Term& t = terms_.terms[i];
      if (t.kind == TermKind::call && t.op == Op::Exp && !(but_decaying && is_below_maximum(t.args[0])))
        found.insert(graph_.find(classes_[i]));
      for (int arg : terms_.terms[i].args) read[arg] = true;
    }
  }

  // x - max x
  bool is_below_maximum(int term) const {
    const Term& t = terms_.terms[term];
    if (t.kind != TermKind::call || t.op != Op::Sub) return false;
    const Term& maximum = terms_.terms[t.args[1]];
    return maximum.kind == TermKind::fold && maximum.combine == ScalarFn::max && maximum.args[0] == t.args[0];
  }

  const Terms& terms_;
  const std::vector<std::pair<int, int>>& pairs_;
  EGraph graph_;
  std::vector<ClassId> classes_;
  Saturation saturation_;
};

}  // namespace

bool starts_with_numbers(const BlockGraph& graph) {
  constexpr double kAnything = 0.6;
  std::vector<double> values;
  for (const Step& step : graph.steps) {
    std::vector<double> args;
    for (int arg : step.args) args.push_back(values[arg]);
    double value = kAnything;
    if (step.kind == Step::Kind::number) value = step.number;
    if (step.kind == Step::Kind::call) value = value_of_call(step, args);
    if (step.kind == Step::Kind::before) value = identity_of(graph.steps[step.args[0]].combine);
    values.push_back(value);
  }
  return std::all_of(graph.steps.begin(), graph.steps.end(), [&](const Step& step) {
    return step.rescale < 0 || std::isfinite(values[step.rescale]);
  });
}

int copy_term(const Terms& from, int term, Terms& to) {
  std::map<int, int> copies;
  return copy_once(from, term, to, copies);
}

Proof prove(const Terms& terms, const std::vector<std::pair<int, int>>& pairs,
            const SaturationLimits& limits) {
  return Question(terms, pairs, limits).answer();
}

Proof prove(const Terms& group, Terms computed, const std::vector<const BlockGraph*>& graphs,
            const SaturationLimits& limits) {
  if (computed.results.size() != group.results.size()) return {};
  if (!std::all_of(graphs.begin(), graphs.end(),
                   [](const auto* graph) { return starts_with_numbers(*graph); }))
    return {};
  std::vector<std::pair<int, int>> pairs;
  for (size_t i = 0; i < group.results.size(); ++i)
    pairs.push_back({computed.results[i], copy_term(group, group.results[i], computed)});
  const Question of_results(computed, pairs, limits);
  Proof proof = of_results.answer();
  proof.proven = proof.proven && of_results.takes_no_other_exponentials();
  for (const BlockGraph* graph : graphs) {
    const Meaning meaning = meaning_of(*graph);
    if (!proof.proven || meaning.equations.empty()) continue;
    proof = prove(meaning.of_accumulators, meaning.equations, limits);
  }
  return proof;
}

Proof prove(const Terms& group, const BlockGraph& graph, const SaturationLimits& limits) {
  if (graph.leaves != group.leaves || graph.axes != group.axes) return {};
  return prove(group, meaning_of(graph).terms, {&graph}, limits);
}

}  // namespace korch::block
