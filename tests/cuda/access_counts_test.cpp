// Sectors of global memory and wavefronts of shared memory that printed kernels move, over the least that
// their bytes need. KORCH_CUDA_COUNTS=1: printed for all kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "cases.h"
#include "emulated_check.h"
#include "korch/ir/text.h"
#include "linear_cases.h"
#include "model_candidates.h"

namespace korch::testing {
namespace {

// Of one run of the kernel.
AccessCounts counts_of(const Graph& graph, const Implementation& way) {
  const Candidate candidate = whole_candidate(graph);
  const CudaKernel kernel = generate_cuda(graph, candidate, way, "k0").value();
  Emulator emulator(Checks::memory);
  emulator.checker().count_accesses(true);
  Launch launch = launch_of(kernel, way);
  for (const CudaPhase& phase : kernel.phases)
    launch.functions.push_back(emulator.load(kernel.source, phase.symbol).value());
  EXPECT_EQ(run_checked(emulator, graph, candidate, reference_of(graph, candidate), launch, 1).wrong, "");
  return emulator.checker().counts();
}

double ratio(int64_t a, int64_t b) {
  return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b);
}

TEST(KernelAccesses, Few) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const Graph map = parse_graph(R"(graph {
  input %x : f32[64x1024] "x"
  input %b : f32[1024] "b"
  %a = Add(%x, %b)
  %y = Relu(%a)
  output %y "y"
})");
  const AccessCounts of_map = counts_of(map, cuda_implementations(map, whole_candidate(map))[0]);
  EXPECT_EQ(of_map.sectors, of_map.least_sectors);
  const Graph product = case_graph(R"(graph {
  input %x : f32[128x64] "x"
  input %w : f32[64x128] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})")
                            .graph;
  const AccessCounts of_product =
      counts_of(product, cuda_implementations(product, whole_candidate(product)).back());
  EXPECT_LE(ratio(of_product.wavefronts, of_product.least_wavefronts), 1.05);
  for (const Implementation& way : cuda_implementations(product, whole_candidate(product))) {
    const auto* staged = std::get_if<StagedSchedule>(&way.schedule);
    if (staged == nullptr || !staged->matrix_units || way.input_layouts[0] != Layout{} ||
        way.output_layouts[0] != Layout{})
      continue;
    const AccessCounts counts = counts_of(product, way);
    EXPECT_LE(ratio(counts.sectors, counts.least_sectors), 1.05) << to_string(way);
  }
}

struct Window {
  std::string op;
  int64_t channels, size, kernel, stride;
};

std::string window_text(const Window& w) {
  const auto twice = [](int64_t value) { return fmt::format("[{0},{0}]", value); };
  const std::string pads =
      fmt::format("dilations=[1,1], pads_before={0}, pads_after={0}", twice(w.kernel / 2));
  if (w.op == "Conv")
    return fmt::format(R"(graph {{
  input %x : f32[1x{0}x{1}x{1}] "x"
  %w = Constant() {{splat=0.5}} : f32[{0}x1x{2}x{2}]
  %y = Conv(%x, %w) {{strides={3}, {4}, group={0}}}
  output %y "y"
}})",
                       w.channels, w.size, w.kernel, twice(w.stride), pads);
  return fmt::format(R"(graph {{
  input %x : f32[1x{0}x{1}x{1}] "x"
  %y = {2}(%x) {{kernel={3}, strides={4}, {5}}}
  output %y "y"
}})",
                     w.channels, w.size, w.op, twice(w.kernel), twice(w.stride), pads);
}

// Pooling and depthwise convolution move whole sectors. What pooling moves is its input and its result, and
// the edges of tiles again.
TEST(KernelAccesses, Windows) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  constexpr double kEdges = 1.3;
  for (const Window& w :
       {Window{"WindowMax", 16, 56, 3, 1}, Window{"WindowMax", 16, 56, 3, 2},
        Window{"WindowSum", 16, 56, 3, 1}, Window{"WindowSum", 16, 64, 3, 2}, Window{"Conv", 32, 56, 3, 1},
        Window{"Conv", 32, 56, 3, 2}, Window{"Conv", 32, 28, 5, 1}, Window{"Conv", 32, 28, 5, 2}}) {
    const Graph graph = parse_graph(window_text(w));
    int looked_at = 0;
    for (const Implementation& way : cuda_implementations(graph, whole_candidate(graph))) {
      if (way.family != "loop" && way.family != "depthwise" && way.family != "linear_generic") continue;
      if (way.input_layouts[0] != way.output_layouts[0]) continue;
      ++looked_at;
      const AccessCounts counts = counts_of(graph, way);
      EXPECT_LE(ratio(counts.sectors, counts.least_sectors), 1.1) << window_text(w) << to_string(way);
      const int64_t results = w.size / w.stride * (w.size / w.stride);
      const int64_t elements = w.channels * (w.size * w.size + results);
      const bool has_weights = w.op == "Conv";
      EXPECT_TRUE(has_weights || ratio(32 * counts.sectors, 4 * elements) <= kEdges)
          << window_text(w) << to_string(way);
    }
    EXPECT_EQ(looked_at, 2);
  }
}

// y = softmax(x) along the last axis.
std::string softmax(const char* shape, const char* type) {
  const bool casts = std::string(type) != "f32";
  return fmt::format(R"(graph {{
  input %x : {0}[{1}] "x"
  {2}%m = ReduceMax({3}) {{axes=[1], keepdims=true}}
  %d = Sub({3}, %m)
  %e = Exp(%d)
  %s = ReduceSum(%e) {{axes=[1], keepdims=true}}
  %p = Div(%e, %s)
  {4}output {5} "y"
}})",
                     type, shape, casts ? "%f = Cast(%x) {to=f32}\n  " : "", casts ? "%f" : "%x",
                     casts ? fmt::format("%y = Cast(%p) {{to={}}}\n  ", type) : "", casts ? "%y" : "%p");
}

// Of mean 0 and variance 1 along the last axes, of which there are `count` elements; with the mean only if
// told so.
std::string normalization(const char* shape, const char* axes, int count, bool centred) {
  return fmt::format(R"(graph {{
  input %x : f32[{0}] "x"
  %n = Constant() {{value=[{2}]}} : f32[1]
  %eps = Constant() {{value=[0.00001]}} : f32[1]
  {3}
  %q = Mul(%d, %d)
  %qs = ReduceSum(%q) {{axes=[{1}], keepdims=true}}
  %v = Mul(%qs, %n)
  %ve = Add(%v, %eps)
  %sd = Sqrt(%ve)
  %y = Div(%d, %sd)
  output %y "y"
}})",
                     shape, axes, 1.0 / count,
                     centred ? fmt::format("%s = ReduceSum(%x) {{axes=[{}], keepdims=true}}\n  %m = Mul(%s, "
                                           "%n)\n  %d = Sub(%x, %m)",
                                           axes)
                             : "%d = Relu(%x)");
}

// What a softmax or a normalization reads, it reads once: rows stay in registers.
TEST(KernelAccesses, RowsAreReadOnce) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const std::string texts[] = {
      softmax("64x197", "f32"),
      softmax("128x1000", "f32"),
      softmax("128x1000", "f16"),
      softmax("700x24", "f32"),
      normalization("128x768", "1", 768, true),
      normalization("128x768", "1", 768, false),
      normalization("1x64x28x28", "2,3", 784, true),
      normalization("2x8x600", "2", 600, true),
  };
  for (const std::string& text : texts) {
    const Graph graph = parse_graph(text);
    const AccessCounts counts = counts_of(graph, cuda_implementations(graph, whole_candidate(graph))[0]);
    const auto bytes = [&](ValueId value) {
      return graph.value(value).type.elements() *
             static_cast<int64_t>(size_bytes(graph.value(value).type.dtype));
    };
    EXPECT_EQ(counts.global_bytes, bytes(graph.inputs()[0]) + bytes(graph.outputs()[0])) << text;
    EXPECT_EQ(counts.least_wavefronts, counts.wavefronts) << text;
  }
}

// Of groups of channels: a row is a group, each channel of it has a factor, and a thread loads and stores
// four neighbours of one channel at once.
TEST(KernelAccesses, RowsOfGroupsRunInLanes) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[4x2048] "x"
  input %f : f32[8x1] "f"
  %s = ReduceMax(%x) {axes=[1], keepdims=true}
  %d = Sub(%x, %s)
  %c = Reshape(%d) {shape=[8,1024]}
  %y = Mul(%c, %f)
  output %y "y"
})");
  const Candidate candidate = whole_candidate(graph);
  const Implementation way = cuda_implementations(graph, candidate)[0];
  const Result<CudaKernel> kernel = generate_cuda(graph, candidate, way, "k0");
  ASSERT_TRUE(kernel.ok());
  EXPECT_NE(kernel.value().source.find("load_aligned<f32x4>(in0"), std::string::npos)
      << kernel.value().source;
  EXPECT_NE(kernel.value().source.find("store_aligned(out0"), std::string::npos) << kernel.value().source;
  if (kEmulates) {
    EXPECT_LE(counts_of(graph, way).global_bytes, 4 * 2 * 4 * 2048 + 8 * 32);  // of a factor a sector
  }
}

TEST(KernelAccesses, Print) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  if (std::getenv("KORCH_CUDA_COUNTS") == nullptr) GTEST_SKIP() << "KORCH_CUDA_COUNTS is not set";
  const auto print_all = [](const char* name, const Graph& graph) {
    const Candidate candidate = whole_candidate(graph);
    const std::vector<Implementation> ways = cuda_implementations(graph, candidate);
    for (size_t i = 0; i < ways.size(); ++i) {
      if (i + 1 < ways.size() && ways[i + 1].family == ways[i].family) continue;
      if (!generate_cuda(graph, candidate, ways[i], "k0").ok()) continue;
      const AccessCounts counts = counts_of(graph, ways[i]);
      std::cout << name << ", " << to_string(ways[i]) << ": sectors "
                << ratio(counts.sectors, counts.least_sectors) << ", wavefronts "
                << ratio(counts.wavefronts, counts.least_wavefronts) << " times the least\n";
    }
  };
  for (const Case& c : hand_written()) print_all(c.name, parse_graph(c.text));
  for (const LinearCase& c : linear_cases()) print_all(c.name, case_graph(c.text).graph);
}

}  // namespace
}  // namespace korch::testing
