// The hand-written candidates and random graphs of tests/codegen_loop, spelled as CUDA C++, compile with
// NVRTC.
#include "cases.h"

#include <gtest/gtest.h>

#include "check_kernel.h"
#include "kernel_runner.h"
#include "korch/ir/text.h"
#include "model_candidates.h"
#include "nvrtc.h"

namespace korch::testing {
namespace {

constexpr int kRandomGraphs = 15;

TEST(CudaCases, Compile) {
  Compilation compilation;
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  std::vector<Graph> graphs;
  for (const Case& c : hand_written()) graphs.push_back(parse_graph(c.text));
  for (const Case& c : products()) graphs.push_back(parse_graph(c.text));
  for (const Case& c : opaque_primitives()) graphs.push_back(parse_graph(c.text));
  for (uint64_t seed = 0; seed < kRandomGraphs; ++seed) graphs.push_back(random_graph(seed));
  for (size_t i = 0; i < graphs.size(); ++i) {
    const Candidate candidate = whole_candidate(graphs[i]);
    std::vector<Implementation> ways = loop_implementations(graphs[i], candidate);
    if (ways.empty()) ways = product_implementations(graphs[i], candidate);
    if (ways.empty()) ways = listed(graphs[i], candidate, Device{}, "opaque");
    const Result<CudaKernel> kernel =
        generate_cuda(graphs[i], candidate, ways.front(), "k" + std::to_string(i));
    if (kernel.ok())
      compilation.add(kernel.value());
    else
      EXPECT_GE(i, hand_written().size() + products().size() + opaque_primitives().size())
          << print(graphs[i]) << kernel.refusal().detail;
  }
  compilation.finish();
  EXPECT_EQ(compilation.problems(), "");
}

TEST(CudaCases, ErrorsAreTold) {
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  const Result<std::string> cubin =
      Nvrtc::get().compile("__global__ void k() { undeclared(); }", kArchitectures[0]);
  ASSERT_FALSE(cubin.ok());
  EXPECT_NE(cubin.refusal().detail.find("undeclared"), std::string::npos) << cubin.refusal().detail;
}

}  // namespace
}  // namespace korch::testing
