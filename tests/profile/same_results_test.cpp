// Kernels that are compiled and run.
#include <gtest/gtest.h>

#include "korch/profile/kernel_bank.h"

namespace korch {
namespace {

TEST(KernelBank, ResultsAreComparedToTheBit) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {40, 30}}, "x");
  const std::vector<ValueId> sums = {
      graph.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {x}),
      graph.add(Op::Neg, NoAttrs{}, {graph.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {x})})};
  graph.set_outputs(sums, {"sum", "negative"});
  const Device target = detect_device("native", 1);
  std::vector<Candidate> candidates;
  std::vector<Implementation> ways;
  const std::vector<std::vector<NodeId>> nodes = {{0}, {1, 2}};
  for (size_t c = 0; c < sums.size(); ++c) {
    candidates.push_back(make_candidate(graph, nodes[c], {sums[c]}));
    ways.push_back(implementations(graph, candidates.back(), target, Accuracy::standard).at(0));
  }
  KernelBank bank(graph, target, nullptr, 1 << 20);
  const auto request = [&](const std::string& key, size_t c) {
    return KernelRequest{hash_text(key), &candidates[c], &ways[c], {}, {}, {}};
  };
  EXPECT_TRUE(bank.same_results(request("sum", 0), request("again", 0)));
  EXPECT_FALSE(bank.same_results(request("sum", 0), request("negative", 1)));
}

}  // namespace
}  // namespace korch
