// NaN, infinities and large scores in the inputs of structures: what the primitives make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "found.h"
#include "graphs.h"

namespace korch::testing {
namespace {

constexpr int64_t kRowsOfQueries = 14, kKeys = 75;

const std::string& attention_named(const std::string& name) {
  for (const NamedGraph& graph : kAttentionGraphs)
    if (name == graph.name) return graph.text;
  KORCH_ASSERT(false, "no graph " + name);
  return kAttentionGraphs[0].text;
}

Graph special_graph(const std::string& name) {
  return graph_with(attention_named(name),
                    {{"b", 2}, {"m", kRowsOfQueries}, {"n", kKeys}, {"d", 9}, {"e", 7}});
}

std::vector<HostTensor> random_inputs_of(const Graph& graph, double scale = 1) {
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs())
    inputs.push_back(random_tensor(graph.value(input).type, 3 + static_cast<int64_t>(inputs.size()), scale));
  return inputs;
}

// The first structures, in blocks of keys.
void check_all(const Graph& graph, const std::vector<HostTensor>& inputs, Isa isa, double tolerance = 1e-5) {
  CheckOptions options{
      .isa = isa, .tolerance = tolerance, .l2_bytes = 4 << 10, .structures = structures_of(graph)};
  ASSERT_FALSE(options.structures.empty());
  options.structures.resize(std::min<size_t>(2, options.structures.size()));
  EXPECT_GT(check_family(graph, "blocks", options, inputs), 0);
}

// By row: nothing before some key, gaps, the last key alone, nothing at all, everything.
bool is_masked(int64_t row, int64_t key) {
  const bool masked[] = {key > row, key < kKeys / 2, key % 3 != 0, key != kKeys - 1, true, false, key >= 3};
  return masked[row % 7];
}

TEST(SpecialValues, AddedMask) {
  const Graph graph = special_graph("mask_to_residual");
  std::vector<HostTensor> inputs = random_inputs_of(graph);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].elements() == kRowsOfQueries * kKeys)
      for (int64_t at = 0; at < inputs[i].elements(); ++at)
        inputs[i].mutable_data<float>()[at] = is_masked(at / kKeys, at % kKeys) ? -INFINITY : 0;
  for (Isa isa : vector_isas()) check_all(graph, inputs, isa);
}

TEST(SpecialValues, WhereMask) {
  const Graph graph = special_graph("where");
  std::vector<HostTensor> inputs = random_inputs_of(graph);
  for (HostTensor& input : inputs)
    if (input.dtype() == DType::bool_)
      for (int64_t at = 0; at < input.elements(); ++at)
        input.mutable_data<bool>()[at] = !is_masked(at / kKeys, at % kKeys);
  for (Isa isa : vector_isas()) check_all(graph, inputs, isa);
}

// Maxima move between blocks.
TEST(SpecialValues, LargeScores) {
  for (const char* name : {"scaled", "soft_cap", "log_sum_exp"}) {
    SCOPED_TRACE(name);
    const Graph graph = special_graph(name);
    std::vector<HostTensor> inputs = random_inputs_of(graph);
    for (int64_t at = 0; at < inputs[1].elements(); ++at)
      inputs[1].mutable_data<float>()[at] *= 0.5F * static_cast<float>(at / 9 % kKeys);
    for (Isa isa : vector_isas()) check_all(graph, inputs, isa, 1e-3);
  }
}

// One value in one place of each input in turn, in the first and the last block.
TEST(SpecialValues, InEachInput) {
  for (const char* name : {"scaled", "linear", "log_sum_exp", "bias_of_keys"})
    for (const float value : {NAN, INFINITY, -INFINITY}) {
      const Graph graph = special_graph(name);
      for (size_t i = 0; i < graph.inputs().size(); ++i) {
        SCOPED_TRACE(::testing::Message() << name << ": " << value << " in input " << i);
        std::vector<HostTensor> inputs = random_inputs_of(graph);
        const int64_t elements = inputs[i].elements();
        inputs[i].mutable_data<float>()[i % 2 == 0 ? 4 : elements - 3] = value;
        const std::vector<Isa> isas = vector_isas();
        check_all(graph, inputs, isas[i % isas.size()]);
      }
    }
}

}  // namespace
}  // namespace korch::testing
