// Block graphs with one mistake: swapped operands, another axis, another buffer, a missing or wrong
// rescaling, a dropped restart. Those that compute something else are never proven. KORCH_MUTANTS says how
// many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "evaluate.h"
#include "groups.h"
#include "korch/base/error.h"
#include "korch/block/enumerate.h"
#include "korch/block/prove.h"

namespace korch::block {
namespace {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : draw_(seed) {}

  // With one change; nothing where the draw has none, or the verifier refuses what comes out.
  std::optional<BlockGraph> mutant(const BlockGraph& graph) {
    BlockGraph changed = graph;
    change(changed);
    try {
      for (Step& step : changed.steps) complete(changed, step);
    } catch (const Error&) {  // types that the operator does not take
      return std::nullopt;
    }
    if (changed == graph || !fault_in(changed).empty()) return std::nullopt;
    return changed;
  }
  int pick(size_t n) { return static_cast<int>(draw_() % n); }

 private:
  void change(BlockGraph& graph) {
    const int number = pick(graph.steps.size());
    Step& step = graph.steps[static_cast<size_t>(number)];
    const int other = pick(graph.steps.size());
    switch (pick(8)) {
      case 0:  // another operand
      case 1:
        if (!step.args.empty()) step.args[static_cast<size_t>(pick(step.args.size()))] = other;
        break;
      case 2:  // swapped operands
        if (step.args.size() > 1) std::swap(step.args[0], step.args[1]);
        break;
      case 3:
        change_kind(graph, step);
        break;
      case 4:
        if (step.kind == Step::Kind::fold) step.over = 1 + draw_() % ((AxisSet{1} << graph.axes.size()) - 1);
        break;
      case 5:
        if (step.kind == Step::Kind::fold) step.rescale = pick(3) == 0 ? -1 : other;
        break;
      case 6:
        graph.results[static_cast<size_t>(pick(graph.results.size()))] = other;
        break;
      case 7:  // all readers of a step read another one
        for (Step& reader : graph.steps)
          for (int& arg : reader.args)
            if (arg == number) arg = other;
        break;
    }
  }

  void change_kind(const BlockGraph& graph, Step& step) {
    constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min};
    constexpr Op kUnary[] = {Op::Exp, Op::Neg, Op::Sqrt, Op::Tanh, Op::Sigmoid, Op::Reciprocal, Op::Log};
    constexpr ScalarFn kFolds[] = {ScalarFn::add, ScalarFn::max, ScalarFn::min, ScalarFn::mul};
    switch (step.kind) {
      case Step::Kind::leaf:
        step.leaf = pick(graph.leaves.size());
        break;
      case Step::Kind::number:
        step.number = pick(2) == 0 ? -step.number : step.number * 2;
        break;
      case Step::Kind::call:
        if (step.args.size() == 2) step.op = kBinary[pick(std::size(kBinary))];
        if (step.args.size() == 1) step.op = kUnary[pick(std::size(kUnary))];
        break;
      case Step::Kind::fold:
        step.combine = kFolds[pick(std::size(kFolds))];
        break;
      case Step::Kind::window:
        if (pick(2) == 0)
          step.window.offset += pick(2) == 0 ? 1 : -1;
        else
          ++step.window.parts[static_cast<size_t>(pick(step.window.parts.size()))].times;
        break;
      case Step::Kind::before:
        break;
    }
  }

  std::mt19937_64 draw_;
};

// A group on few values, what it computes of two draws of them, and what the search finds for it.
struct Case {
  std::string name;
  Terms group;
  Evaluator evaluator;
  std::vector<std::vector<Numbers>> leaves, results;
  std::vector<BlockGraph> graphs;

  explicit Case(const std::string& name, Terms terms) : name(name), group(std::move(terms)), evaluator({}) {
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const std::string& axis = group.axes[i].name;
      group.axes[i].extent = axis == "n" ? 4 : axis == "d" ? 3 : 2;
    }
    evaluator = Evaluator(group.axes);
    for (uint64_t seed : {1, 2}) {
      std::vector<Numbers> draw;
      for (size_t i = 0; i < group.leaves.size(); ++i)
        // Without what is masked: no law knows infinities.
        draw.push_back(group.leaves[i].type == DType::bool_
                           ? Numbers(evaluator.points(), 1)
                           : evaluator.random(group.leaves[i].axes, group.leaves[i].type, seed * 100 + i));
      const std::vector<Numbers> terms_of_draw = evaluator.evaluate(group, draw);
      results.emplace_back();
      for (int result : group.results) results.back().push_back(terms_of_draw[static_cast<size_t>(result)]);
      leaves.push_back(std::move(draw));
    }
    SearchLog log;
    graphs = structures(group, {}, log);
  }

  bool computed_by(const BlockGraph& graph) const {
    for (size_t draw = 0; draw < leaves.size(); ++draw)
      for (int64_t block : {1, 3}) {
        const std::vector<Numbers> own = evaluator.run(graph, leaves[draw], block);
        for (size_t i = 0; i < own.size(); ++i)
          if (!close(own[i], results[draw][i])) return false;
      }
    return true;
  }
};

TEST(BlockMutants, ThoseThatComputeSomethingElseAreNotProven) {
  const char* wanted = std::getenv("KORCH_MUTANTS");
  const int mutants = wanted != nullptr ? std::stoi(wanted) : 2000;
  std::vector<Case> cases;
  for (const auto& [name, group] : groups()) cases.emplace_back(name, group);
  Mutator mutator(48);
  std::set<std::string> seen;
  int different = 0, equal = 0, proven_equal = 0;
  while (different < mutants) {
    const Case& one = cases[static_cast<size_t>(mutator.pick(cases.size()))];
    const BlockGraph& graph = one.graphs[static_cast<size_t>(mutator.pick(one.graphs.size()))];
    const std::optional<BlockGraph> mutant = mutator.mutant(graph);
    if (!mutant || !seen.insert(one.name + print(*mutant)).second) continue;
    const bool proven = prove(one.group, *mutant, {.nodes = 3000}).proven;
    const bool is_equal = one.computed_by(*mutant);
    EXPECT_TRUE(is_equal || !proven) << one.name << "\n" << print(*mutant);
    different += !is_equal;
    equal += is_equal;
    proven_equal += is_equal && proven;
  }
  // Some changes change nothing, as swapped factors; most of these are proven. Not those that shift a softmax
  // by something else than its maximum.
  EXPECT_GT(proven_equal, equal / 2);
}

}  // namespace
}  // namespace korch::block
