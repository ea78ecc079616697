// Kernels of the models of models/, those of the greedy plans and a seeded sample of all other candidates,
// spelled as CUDA C++: the small ones compute what the interpreter does, and all compile with NVRTC.
#include "korch/onnx/models.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "emulated_check.h"
#include "emulator.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/ir/text.h"
#include "model_candidates.h"
#include "nvrtc.h"

namespace korch::testing {
namespace {

constexpr size_t kSample = 12;  // other candidates per model
constexpr uint64_t kSeed = 1;
constexpr int64_t kSmall = 300000;  // elements that the emulator may read and write for one kernel
constexpr double kQuick = 3e6;      // arithmetic that it may do
constexpr int kEmulated = 6;        // kernels per model that the emulator runs
// NVRTC takes seconds for some, many times that under a sanitizer; KORCH_CUDA_COMPILE_ALL=1: all of them.
constexpr int kCompiledOneIn = kEmulates ? 8 : 64;

class CudaModels : public ::testing::TestWithParam<std::string> {
 protected:
  void check(const Graph& graph, const Candidate& candidate, const Implementation& way) {
    const Result<CudaKernel> kernel = generate_cuda(graph, candidate, way, "k" + std::to_string(spelled_));
    if (!kernel.ok()) return check_refusal(graph, candidate, way, kernel.refusal());
    static const bool all = std::getenv("KORCH_CUDA_COMPILE_ALL") != nullptr;
    if (Nvrtc::get().missing().empty() && (all || spelled_ % kCompiledOneIn == 0))
      compilation_.add(kernel.value());
    ++spelled_;
    if (emulated_ < kEmulated && elements(graph, candidate) <= kSmall && way.flops <= kQuick)
      emulate(graph, candidate);
  }

  // The CPU's kernel must share a refusal, unless a GPU's slices are the reason.
  void check_refusal(const Graph& graph, const Candidate& candidate, const Implementation& way,
                     const Refusal& refusal) {
    ++refused_[name(refusal.reason)];
    std::string listing;
    for (NodeId id : candidate.nodes) listing += print(graph, id) + "\n";
    EXPECT_TRUE(refusal.reason == RefusalReason::redundant_work ||
                refusal.reason == RefusalReason::scratch_too_large ||
                !propose(graph, candidate, way, Device{}).ok())
        << name(refusal.reason) << ": " << refusal.detail << "\n"
        << listing;
  }

  void emulate(const Graph& graph, const Candidate& candidate) {
    if (!kEmulates) return;
    const Graph alone = candidate_graph(graph, candidate).graph;
    const Candidate whole = whole_candidate(alone);
    const std::vector<Implementation> ways = cuda_implementations(alone, whole);
    const Implementation& way = ways[random_() % ways.size()];
    const Result<CudaKernel> kernel = generate_cuda(alone, whole, way, "k0");
    if (!kernel.ok()) return;
    EXPECT_EQ(check_emulated(alone, whole, reference_of(alone, whole), kernel.value(), way), "");
    ++emulated_;
  }

  static int64_t elements(const Graph& graph, const Candidate& candidate) {
    int64_t count = 0;
    for (const std::vector<ValueId>* list : {&candidate.inputs, &candidate.constants, &candidate.outputs})
      for (ValueId value : *list) count += graph.value(value).type.elements();
    return count;
  }

  Compilation compilation_;
  std::mt19937_64 random_{kSeed};
  int spelled_ = 0, emulated_ = 0;
  std::map<std::string, int> refused_;
};

TEST_P(CudaModels, KernelsAreRightAndCompile) {
  const ModelCandidates found = model_candidates(GetParam(), kSample, kSeed);
  for (const Candidate& candidate : found.greedy) {
    const std::vector<Implementation> ways = cuda_implementations(found.graph, candidate);
    check(found.graph, candidate, ways.back());  // where there is a product, in stages
    if (ways.size() > 1) check(found.graph, candidate, ways[random_() % (ways.size() - 1)]);
  }
  for (const Candidate& candidate : found.sampled) {
    const std::vector<Implementation> ways = cuda_implementations(found.graph, candidate);
    check(found.graph, candidate, ways[random_() % ways.size()]);
  }
  EXPECT_GT(spelled_, static_cast<int>(found.greedy.size()));
  if (Nvrtc::get().missing().empty()) compilation_.finish();
  EXPECT_EQ(compilation_.problems(), "");
  std::cout << GetParam() << ": " << compilation_.compiled() << " of " << spelled_ << " kernels compiled, "
            << emulated_ << " emulated (" << found.greedy.size() << " candidates of the greedy plan, "
            << found.sampled.size() << " others)";
  for (const auto& [reason, count] : refused_) std::cout << ", " << count << " refused: " << reason;
  std::cout << "\n";
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
}

INSTANTIATE_TEST_SUITE_P(Models, CudaModels, ::testing::ValuesIn(list_models(KORCH_SOURCE_DIR "/models")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace korch::testing
