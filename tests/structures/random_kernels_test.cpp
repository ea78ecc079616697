// Random groups, whose leaves are Values in any layout, all the way to kernels: these compute what the
// primitives do.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "../codegen_loop/tile_graph_check.h"
#include "../groups/random_attention.h"
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

block::PlacedGraph placed(block::BlockGraph structure, const groups::GroupTerms& group, bool two_phases) {
  for (size_t i = 0; i < structure.axes.size(); ++i) structure.axes[i].extent = group.terms.axes[i].extent;
  return {std::move(structure), group.leaves, group.results, "of a test", two_phases};
}

struct Count {
  int groups = 0, kernels = 0;
  int running = 0;   // of the kernels: with accumulators that are rescaled
  int in_parts = 0;  // in two phases
};

enum class On { cpu, gpu };

Device device_on(On on, uint64_t seed) {
  return on == On::gpu ? cuda_device() : cpu_device(seed % 2 == 0 ? Isa::x86_64_v3 : Isa::x86_64_v4, 2);
}

// Kernels of the first structures of the group that are accepted.
void check_group(const Graph& graph, const Candidate& candidate, const groups::GroupTerms& group,
                 uint64_t seed, int structures, On on, Count& count) {
  const Device target = device_on(on, seed);
  block::SearchLimits limits;
  limits.choices = 20;
  limits.structures = structures;
  limits.saturation.nodes = 1000;
  block::SearchLog log;
  const Values values = random_values(graph, candidate, seed);
  Candidate searched = candidate;
  for (block::BlockGraph& structure : block::structures(group.terms, limits, log))
    if (const Checked checked = check_structure(group.terms, structure, 4); checked.accepted)
      searched.structures.push_back(std::make_shared<const block::PlacedGraph>(
          placed(std::move(structure), group, checked.two_phases)));
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  list_blocks(graph, searched, target, Accuracy::standard, found, refused);
  if (!found.empty() && on == On::cpu) {  // a GPU's tiles are large: few of them are interpreted in time
    std::vector<Schedule> others;
    reschedule_blocks(graph, searched, found[0], target, others);
    for (const Schedule& other : others) {
      found.push_back(found[0]);
      found.back().schedule = other;
    }
  }
  for (size_t i = 0, listed = found.size(); i < listed; ++i) {
    const auto schedule = std::get<BlockSchedule>(found[i].schedule);
    if (!searched.structures[static_cast<size_t>(schedule.structure)]->has_two_phases) continue;
    found.push_back(found[i]);  // parts of short blocks, where it has as many
    found.back().schedule =
        BlockSchedule{.structure = schedule.structure, .rows = 3, .block = 2, .parts = 2, .direct = true};
  }
  for (const Implementation& implementation : found) {
    Result<tile::ScheduledGraph> kernel = build_blocks(graph, searched, implementation, target);
    if (!kernel) continue;
    const auto& schedule = std::get<BlockSchedule>(implementation.schedule);
    const block::BlockGraph& structure = searched.structures[static_cast<size_t>(schedule.structure)]->graph;
    ++count.kernels;
    count.in_parts += schedule.parts > 1;
    count.running += std::any_of(structure.steps.begin(), structure.steps.end(),
                                 [](const block::Step& step) { return step.rescale >= 0; });
    testing::check_tiles(std::move(kernel).value(), graph, searched, implementation, target, values.inputs,
                         values.results, 1e-4,
                         "seed " + std::to_string(seed) + "\n" + print(graph) + block::print(structure));
  }
}

Count check_groups(uint64_t first, uint64_t seeds, const std::vector<int64_t>& extents, int64_t most_elements,
                   On on = On::cpu) {
  Count count;
  for (uint64_t seed = first; seed < first + seeds && !::testing::Test::HasFailure(); ++seed) {
    groups::RandomGroup maker(seed, extents, most_elements);
    const Graph graph = maker.make();
    if (graph.outputs().empty()) continue;
    const Candidate candidate = groups::all_of(graph);
    const Result<groups::GroupTerms> group = groups::terms_of(graph, candidate);
    if (!group || group.value().terms.terms.size() > 16) continue;
    int folds = 0;
    int64_t steps = 1;  // of the largest loop nest, at most
    for (const block::Term& term : group.value().terms.terms) folds += term.kind == block::TermKind::fold;
    for (const block::Axis& axis : group.value().terms.axes) steps *= axis.extent;
    if (folds == 0 || steps > 500'000) continue;
    ++count.groups;
    try {
      check_group(graph, candidate, group.value(), seed, 2, on, count);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "seed " << seed << ": " << error.what() << "\n"
                    << print(graph) << block::structure_text(group.value().terms);
    }
  }
  return count;
}

TEST(RandomKernels, ComputeWhatPrimitivesDo) {
  const Count count = check_groups(0, 300, {1, 2, 3, 4, 6}, 300);
  EXPECT_GT(count.groups, 100);
  EXPECT_GT(count.kernels, 100);
  EXPECT_GT(count.in_parts, 10);
}

// Extents beyond a vector and a register tile.
TEST(RandomKernels, OfManyElements) {
  const Count count = check_groups(5000, 150, {1, 5, 16, 33, 48}, 4000);
  EXPECT_GT(count.groups, 50);
  EXPECT_GT(count.kernels, 80);
}

TEST(RandomKernels, OfThreadBlocks) {
  const Count count = check_groups(9000, 60, {1, 3, 5, 17, 40}, 2000, On::gpu);
  EXPECT_GT(count.groups, 20);
  EXPECT_GT(count.kernels, 20);
}

TEST(RandomKernels, OfAttentionByThreadBlocks) {
  Count count;
  for (uint64_t seed = 20; seed < 24 && !HasFailure(); ++seed) {
    const Graph graph = groups::RandomAttention(seed).make();
    const Candidate candidate = groups::all_of(graph);
    const Result<groups::GroupTerms> group = groups::terms_of(graph, candidate);
    ASSERT_TRUE(group.ok()) << seed << ": " << group.refusal().detail;
    check_group(graph, candidate, group.value(), seed, 3, On::gpu, count);
  }
  EXPECT_GT(count.kernels, 8);
}

TEST(RandomKernels, OfAttention) {
  Count count;
  for (uint64_t seed = 0; seed < 4 && !HasFailure(); ++seed) {
    const Graph graph = groups::RandomAttention(seed).make();
    const Candidate candidate = groups::all_of(graph);
    const Result<groups::GroupTerms> group = groups::terms_of(graph, candidate);
    ASSERT_TRUE(group.ok()) << seed << ": " << group.refusal().detail;
    groups::expect_equal_values(graph, candidate, group.value(), seed);
    check_group(graph, candidate, group.value(), seed, 8, On::cpu, count);
  }
  EXPECT_GT(count.kernels, 20);
  EXPECT_GT(count.running, 3);
}

}  // namespace
}  // namespace korch::structures
