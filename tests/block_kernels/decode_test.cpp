// Loops dealt out in two phases, as machine code against the primitives in float64: attention of few queries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "found.h"
#include "korch/ir/text.h"

namespace korch::testing {
namespace {

struct Decode {
  int64_t heads, key_heads, queries, keys;
  bool masked;
};

// Queries of the heads that share keys stand together.
Graph decode(const Decode& d) {
  const int64_t group = d.heads / d.key_heads, h = d.key_heads;
  const std::string rows = fmt::format("{}x{}x{}", h, group, d.queries), n = std::to_string(d.keys);
  std::string text = "graph {\n";
  text += fmt::format("input %q : f32[{}x16] \"q\"\n", rows);
  text += fmt::format("input %k : f32[{}x1x{}x16] \"k\"\ninput %v : f32[{}x1x{}x24] \"v\"\n", h, n, h, n);
  if (d.masked) text += fmt::format("input %m : f32[{}x{}] \"m\"\n", d.queries, n);
  text +=
      "%kt = Transpose(%k) {perm=[0,1,3,2]}\n%s0 = MatMul(%q, %kt)\n%c = Constant() {value=[0.25]} : f32[]\n";
  text += "%s1 = Mul(%s0, %c)\n";
  text += d.masked ? "%s = Add(%s1, %m)\n" : "%s = Neg(%s1)\n";
  text += "%r = ReduceMax(%s) {axes=[3]}\n%d = Sub(%s, %r)\n%e = Exp(%d)\n%l = ReduceSum(%e) {axes=[3]}\n";
  text += "%p = Div(%e, %l)\n%y = MatMul(%p, %v)\noutput %y \"y\"\n}\n";
  return parse_graph(text);
}

// The first structure that has two phases.
std::vector<std::shared_ptr<const block::PlacedGraph>> structure_of(const Graph& graph) {
  for (const auto& structure : structures_of(graph))
    if (structure->has_two_phases) return {structure};
  return {};
}

// The scores' mask: some of each query's, all of one query's, and all keys of some parts.
HostTensor mask(const Decode& d) {
  HostTensor mask(TensorType{DType::f32, {d.queries, d.keys}});
  for (int64_t q = 0; q < d.queries; ++q)
    for (int64_t n = 0; n < d.keys; ++n)
      mask.mutable_data<float>()[q * d.keys + n] =
          q == 2 || n < d.keys / 2 || (q + n) % 3 == 0 ? -INFINITY : 0.5F * static_cast<float>(n % 2);
  return mask;
}

std::vector<HostTensor> inputs_of(const Graph& graph, const Decode& d) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < 3; ++i)
    inputs.push_back(random_tensor(graph.value(graph.inputs()[i]).type, static_cast<int64_t>(i)));
  if (d.masked) inputs.push_back(mask(d));
  return inputs;
}

// Each in its own parts: the schedules that are tried beside the first.
class DecodeShapes : public ::testing::TestWithParam<Decode> {};

TEST_P(DecodeShapes, AgreeWithPrimitives) {
  const Graph graph = decode(GetParam());
  CheckOptions options;
  options.structures = structure_of(graph);
  ASSERT_FALSE(options.structures.empty());
  const bool is_large = GetParam().keys * GetParam().heads > 600;
  for (const Isa isa : is_large ? std::vector{vector_isas().back()} : isas_that_run_here())
    for (const int threads : {1, 4})
      for (const bool rescheduled : {false, true}) {
        options.isa = isa;
        options.threads = threads;
        options.rescheduled = rescheduled;
        EXPECT_GT(check_family(graph, "blocks", options, inputs_of(graph, GetParam())), 0);
      }
}

INSTANTIATE_TEST_SUITE_P(Attention, DecodeShapes,
                         ::testing::Values(Decode{1, 1, 1, 7, false}, Decode{1, 1, 4, 130, true},
                                           Decode{1, 1, 1, 500, true}, Decode{8, 8, 1, 150, true},
                                           Decode{8, 2, 1, 200, true}, Decode{8, 8, 3, 40, true},
                                           Decode{2, 2, 1, 8192, true}));

// A NaN makes its own head's results NaN, whichever part has it.
TEST(DecodeSpecialValues, NaNStaysInItsHead) {
  const Decode d{2, 2, 1, 200, false};
  const Graph graph = decode(d);
  CheckOptions options;
  options.structures = structure_of(graph);
  options.rescheduled = true;
  for (const int64_t key : {0, 150, 199})
    for (const float value : {NAN, INFINITY}) {
      std::vector<HostTensor> inputs = inputs_of(graph, d);
      inputs[1].mutable_data<float>()[(200 + key) * 16] = value;
      for (const Isa isa : {isas_that_run_here().front(), isas_that_run_here().back()}) {
        options.isa = isa;
        EXPECT_GT(check_family(graph, "blocks", options, inputs), 0);
      }
    }
}

}  // namespace
}  // namespace korch::testing
