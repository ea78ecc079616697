// The kernels of every family around a linear primitive, spelled as CUDA C++, against the interpreter, and
// compiled with NVRTC.
#include <gtest/gtest.h>

#include <set>

#include "emulated_check.h"
#include "emulator.h"
#include "generate.h"
#include "korch/kernel/region.h"
#include "linear_cases.h"
#include "nvrtc.h"

namespace korch::testing {
namespace {

class LinearCases : public ::testing::TestWithParam<LinearCase> {
 protected:
  LinearCases() : graph_(case_graph(GetParam().text).graph), candidate_(whole_candidate(graph_)) {}

  const Graph graph_;
  const Candidate candidate_;
  const std::vector<Implementation> ways_ = cuda_implementations(graph_, candidate_);
};

TEST_P(LinearCases, AgreeWithInterpreter) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const Reference reference = reference_of(graph_, candidate_);
  std::set<std::string> families;
  for (const Implementation& way : ways_) {
    const Result<CudaKernel> kernel = generate_cuda(graph_, candidate_, way, "k0");
    ASSERT_TRUE(kernel.ok()) << to_string(way) << ": " << kernel.refusal().detail;
    const tile::ScheduledGraph tiles = tile_graph(graph_, candidate_, way, cuda_device()).value();
    ASSERT_EQ(tile::structural_fault(tiles), "") << to_string(way);
    ASSERT_EQ(tile::coverage_fault(tiles), "") << to_string(way);
    ASSERT_EQ(check_emulated(graph_, candidate_, reference, kernel.value(), way), "");
    families.insert(way.family);
  }
  for (const std::string& family : GetParam().families) EXPECT_TRUE(families.count(family)) << family;
  EXPECT_FALSE(families.empty());
}

TEST_P(LinearCases, Compile) {
  Compilation compilation;
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  for (size_t i = 0; i < ways_.size(); ++i)  // the first of a family
    if (i == 0 || ways_[i - 1].family != ways_[i].family)
      compilation.add(generate_cuda(graph_, candidate_, ways_[i], "k" + std::to_string(i)).value());
  compilation.finish();
  EXPECT_EQ(compilation.problems(), "");
}

// What large products are checked by.
TEST(ReferenceOfRows, AgreesWithSomeResults) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const Graph graph = case_graph(R"(graph {
  input %x : f32[66x20] "x"
  input %w : f32[20x30] "w"
  %m = MatMul(%x, %w)
  %y = Relu(%m)
  output %y "y"
})")
                          .graph;
  const Candidate candidate = whole_candidate(graph);
  const Reference reference = reference_of_rows(graph, candidate, 5);
  const Implementation way = cuda_implementations(graph, candidate).back();
  const CudaKernel kernel = generate_cuda(graph, candidate, way, "k0").value();
  EXPECT_EQ(check_emulated(graph, candidate, reference, kernel, way), "");
  EXPECT_EQ(reference.values.at(candidate.outputs[0]).shape(), (Shape{5, 30}));
}

INSTANTIATE_TEST_SUITE_P(Families, LinearCases, ::testing::ValuesIn(linear_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace korch::testing
