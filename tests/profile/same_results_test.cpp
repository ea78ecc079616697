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

// The last row is read one element further than the buffer is long: nothing shows that this cannot happen.
TEST(KernelBank, WhatCannotBeProvenIsRefused) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {40, 30}}, "x"), y = graph.add(Op::Exp, NoAttrs{}, {x});
  graph.set_outputs({y}, {"y"});
  const Device target = detect_device("native", 1);
  const Candidate candidate = make_candidate(graph, {0}, {y});
  const Implementation way = implementations(graph, candidate, target, Accuracy::standard).at(0);
  KernelSpec spec = propose(graph, candidate, way, target, Checked::later).value();
  EXPECT_TRUE(proven(spec, target));
  for (tile::Buffer& buffer : spec.tiles->buffers)
    if (buffer.role == tile::BufferRole::input) --buffer.elements;
  const Result<Kernel> refused = proven(spec, target);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.refusal().reason, RefusalReason::unproven);
  EXPECT_NE(refused.refusal().detail.find("reads"), std::string::npos) << refused.refusal().detail;
}

}  // namespace
}  // namespace korch
