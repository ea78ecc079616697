// Random groups, whose leaves are Values in any layout, all the way to kernels: these compute what the
// primitives do.
#include <gtest/gtest.h>

#include <memory>

#include "../codegen_loop/tile_graph_check.h"
#include "../groups/random_group.h"
#include "../groups/term_values.h"
#include "korch/block/enumerate.h"
#include "korch/codegen/block/block_family.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/structures/check_structure.h"

namespace korch::structures {
namespace {

struct Values {
  std::vector<HostTensor> inputs, results;
};

Values random_values(const Graph& graph, const Candidate& candidate, uint64_t seed) {
  Values values;
  std::vector<HostTensor> by_graph;
  std::mt19937_64 random(seed);
  for (ValueId id : graph.inputs()) {
    HostTensor tensor(graph.value(id).type);
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      if (tensor.dtype() == DType::f32)
        tensor.mutable_data<float>()[i] = static_cast<float>(random() % 2001) / 1000 - 1;
      else
        tensor.mutable_data<uint8_t>()[i] = random() % 2;
    }
    by_graph.push_back(std::move(tensor));
  }
  for (ValueId id : candidate.inputs)
    for (size_t i = 0; i < by_graph.size(); ++i)
      if (graph.inputs()[i] == id) values.inputs.push_back(by_graph[i]);
  values.results = interpret(graph, by_graph);
  return values;
}

block::PlacedGraph placed(block::BlockGraph structure, const groups::GroupTerms& group) {
  for (size_t i = 0; i < structure.axes.size(); ++i) structure.axes[i].extent = group.terms.axes[i].extent;
  return {std::move(structure), group.leaves, group.results, "of a test"};
}

// The number of kernels that there are for the first structures of the group that are accepted.
int check_group(const Graph& graph, const Candidate& candidate, const groups::GroupTerms& group,
                uint64_t seed) {
  const Device target = cpu_device(Isa::x86_64_v3, 2);
  block::SearchLimits limits;
  limits.choices = 20;
  limits.structures = 2;
  limits.saturation.nodes = 1000;
  block::SearchLog log;
  const Values values = random_values(graph, candidate, seed);
  Candidate searched = candidate;
  for (block::BlockGraph& structure : block::structures(group.terms, limits, log))
    if (check_structure(group.terms, structure, 4).accepted)
      searched.structures.push_back(
          std::make_shared<const block::PlacedGraph>(placed(std::move(structure), group)));
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  list_blocks(graph, searched, target, Accuracy::standard, found, refused);
  int kernels = 0;
  for (const Implementation& implementation : found) {
    Result<tile::ScheduledGraph> kernel = build_blocks(graph, searched, implementation, target);
    if (!kernel) continue;
    ++kernels;
    const int number = std::get<BlockSchedule>(implementation.schedule).structure;
    const block::BlockGraph& structure = searched.structures[static_cast<size_t>(number)]->graph;
    testing::check_tiles(std::move(kernel).value(), graph, searched, implementation, target, values.inputs,
                         values.results, 1e-4,
                         "seed " + std::to_string(seed) + "\n" + print(graph) + block::print(structure));
  }
  return kernels;
}

TEST(RandomKernels, ComputeWhatPrimitivesDo) {
  int groups_taken = 0, kernels = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    groups::RandomGroup maker(seed);
    const Graph graph = maker.make();
    if (graph.outputs().empty()) continue;
    const Candidate candidate = groups::all_of(graph);
    const Result<groups::GroupTerms> group = groups::terms_of(graph, candidate);
    if (!group || group.value().terms.terms.size() > 16) continue;
    int folds = 0;
    for (const block::Term& term : group.value().terms.terms) folds += term.kind == block::TermKind::fold;
    if (folds == 0) continue;
    ++groups_taken;
    try {
      kernels += check_group(graph, candidate, group.value(), seed);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << print(graph) << groups::structure_text(group.value().terms);
    }
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(groups_taken, 100);
  EXPECT_GT(kernels, 100);
}

}  // namespace
}  // namespace korch::structures
