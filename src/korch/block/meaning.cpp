#include <map>

#include "korch/block/block_graph.h"

namespace korch::block {
namespace {

class MeaningBuilder {
 public:
  explicit MeaningBuilder(const BlockGraph& graph) : graph_(graph) {
    terms_.axes = graph.axes;
    terms_.leaves = graph.leaves;
  }

  Meaning build() {
    for (size_t i = 0; i < graph_.steps.size(); ++i) final_.push_back(-1);
    for (size_t i = 0; i < graph_.steps.size(); ++i) final_[i] = term(static_cast<int>(i), final_, false);
    for (int result : graph_.results) terms_.results.push_back(final_[static_cast<size_t>(result)]);
    meaning_.terms = of_results();
    for (size_t i = 0; i < graph_.steps.size(); ++i) equation(static_cast<int>(i));
    meaning_.of_accumulators = std::move(terms_);
    return std::move(meaning_);
  }

 private:
  // Without the leaves for what accumulators were, of which no result is made.
  Terms of_results() const {
    Terms part{terms_.axes, graph_.leaves, {}, {}};
    std::vector<int> moved(terms_.terms.size(), -1);
    const auto copy = [&](auto&& self, int from) -> int {
      int& to = moved[static_cast<size_t>(from)];
      if (to >= 0) return to;
      Term term = terms_.terms[static_cast<size_t>(from)];
      if (term.leaf >= static_cast<int>(part.leaves.size())) part.leaves = terms_.leaves;
      for (int& arg : term.args) arg = self(self, arg);
      return to = part.add(std::move(term));
    };
    for (int result : terms_.results) part.results.push_back(copy(copy, result));
    return part;
  }

  // `known` has the terms of earlier steps. `earlier`: accumulators are what they were before.
  int term(int number, const std::vector<int>& known, bool earlier) {
    const Step& step = graph_.steps[static_cast<size_t>(number)];
    std::vector<int> args;
    for (int arg : step.args) args.push_back(known[static_cast<size_t>(arg)]);
    switch (step.kind) {
      case Step::Kind::leaf:
        return terms_.leaf(step.leaf);
      case Step::Kind::number:
        return terms_.number(step.number);
      case Step::Kind::call:
        return terms_.call(step.op, args, step.scalars);
      case Step::Kind::fold:
        return earlier && graph_.is_running(step) ? before(number)
                                                  : terms_.fold(step.combine, step.over, args[0]);
      case Step::Kind::window:
        return terms_.at(step.window, args[0]);
      case Step::Kind::before:
        return before(step.args[0]);
    }
    return -1;
  }

  // A leaf that stands for what the accumulator was.
  int before(int accumulator) {
    const auto [place, is_new] = before_.emplace(accumulator, -1);
    if (is_new) {
      const Step& step = graph_.steps[static_cast<size_t>(accumulator)];
      terms_.leaves.push_back({step.type, step.axes, false});
      place->second = terms_.leaf(static_cast<int>(terms_.leaves.size()) - 1);
    }
    return place->second;
  }

  // Of accumulator `number`, whose terms read other ones.
  void equation(int number) {
    const Step& step = graph_.steps[static_cast<size_t>(number)];
    if (!graph_.is_running(step)) return;
    const int terms = step.args[0];
    // What its terms would be by the accumulators before this block.
    std::vector<int> earlier = final_;
    for (int i = 0; i <= terms; ++i)
      if (graph_.steps[static_cast<size_t>(i)].place == step.place)
        earlier[static_cast<size_t>(i)] = term(i, earlier, true);
    int then = earlier[static_cast<size_t>(terms)];
    const int now = final_[static_cast<size_t>(terms)];
    if (step.rescale >= 0) then = terms_.call(Op::Mul, {then, final_[static_cast<size_t>(step.rescale)]});
    if (then != now) meaning_.equations.push_back({then, now});
  }

  const BlockGraph& graph_;
  Terms terms_;
  Meaning meaning_;
  std::vector<int> final_;  // of each step
  std::map<int, int> before_;
};

}  // namespace

Meaning meaning_of(const BlockGraph& graph) {
  return MeaningBuilder(graph).build();
}

}  // namespace korch::block
