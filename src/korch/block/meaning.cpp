#include <map>

#include "korch/block/block_graph.h"

namespace korch::block {
namespace {

class MeaningBuilder {
 public:
  explicit MeaningBuilder(const BlockGraph& graph) : graph_(graph) {
    meaning_.terms.axes = graph.axes;
    meaning_.terms.leaves = graph.leaves;
  }

  Meaning build() {
    for (size_t i = 0; i < graph_.steps.size(); ++i) final_.push_back(-1);
    for (size_t i = 0; i < graph_.steps.size(); ++i) final_[i] = term(static_cast<int>(i), final_, false);
    for (int result : graph_.results) meaning_.terms.results.push_back(final_[static_cast<size_t>(result)]);
    for (size_t i = 0; i < graph_.steps.size(); ++i) equation(static_cast<int>(i));
    return std::move(meaning_);
  }

 private:
  // `known` has the terms of earlier steps. `earlier`: accumulators are what they were before.
  int term(int number, const std::vector<int>& known, bool earlier) {
    const Step& step = graph_.steps[static_cast<size_t>(number)];
    std::vector<int> args;
    for (int arg : step.args) args.push_back(known[static_cast<size_t>(arg)]);
    switch (step.kind) {
      case Step::Kind::leaf:
        return meaning_.terms.leaf(step.leaf);
      case Step::Kind::number:
        return meaning_.terms.number(step.number);
      case Step::Kind::call:
        return meaning_.terms.call(step.op, args, step.scalars);
      case Step::Kind::fold:
        return earlier && graph_.is_running(step) ? before(number)
                                                  : meaning_.terms.fold(step.combine, step.over, args[0]);
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
      meaning_.terms.leaves.push_back({step.type, step.axes, false});
      place->second = meaning_.terms.leaf(static_cast<int>(meaning_.terms.leaves.size()) - 1);
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
    if (step.rescale >= 0)
      then = meaning_.terms.call(Op::Mul, {then, final_[static_cast<size_t>(step.rescale)]});
    if (then != now) meaning_.equations.push_back({then, now});
  }

  const BlockGraph& graph_;
  Meaning meaning_;
  std::vector<int> final_;  // of each step
  std::map<int, int> before_;
};

}  // namespace

Meaning meaning_of(const BlockGraph& graph) {
  return MeaningBuilder(graph).build();
}

}  // namespace korch::block
