// Kernels of block graphs as CUDA C++, against the interpreter: of the structures that the search finds
// first, with every schedule that a GPU is offered.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "emulated_check.h"
#include "emulator.h"
#include "korch/block/enumerate.h"
#include "korch/codegen/block/block_family.h"
#include "korch/groups/group_terms.h"
#include "korch/ir/text.h"
#include "korch/kernel/region.h"
#include "linear_cases.h"
#include "nvrtc.h"

namespace korch::testing {
namespace {

struct GroupCase {
  const char* name;
  const char* text;
};

void PrintTo(const GroupCase& c, std::ostream* out) {
  *out << c.name;
}

const GroupCase kGroups[] = {
    {"attention", R"(graph {
  input %q : f32[2x70x20] "q"
  input %k : f32[2x150x20] "k"
  input %v : f32[2x150x24] "v"
  %s = MatMul(%q, %k) {transpose_b=true}
  %m = ReduceMax(%s) {axes=[2]}
  %d = Sub(%s, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})"},
    {"attention_of_whole_tiles", R"(graph {
  input %q : f32[64x32] "q"
  input %k : f32[128x32] "k"
  input %v : f32[128x64] "v"
  %s = MatMul(%q, %k) {transpose_b=true}
  %m = ReduceMax(%s) {axes=[1]}
  %d = Sub(%s, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[1]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})"},
    {"soft_cap", R"(graph {
  input %q : f32[2x33x16] "q"
  input %k : f32[2x100x16] "k"
  input %v : f32[2x100x16] "v"
  %cap = Constant() {value=[5]} : f32[]
  %s = MatMul(%q, %k) {transpose_b=true}
  %a = Div(%s, %cap)
  %th = Tanh(%a)
  %t = Mul(%th, %cap)
  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})"},
    {"masked", R"(graph {
  input %q : f32[2x40x16] "q"
  input %k : f32[2x96x16] "k"
  input %v : f32[2x96x16] "v"
  input %b : f32[40x96] "b"
  %s = MatMul(%q, %k) {transpose_b=true}
  %t = Add(%s, %b)
  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})"},
    {"rms_norm_matmul", R"(graph {
  input %x : f32[40x100] "x"
  input %g : f32[100] "g"
  input %w : f32[100x90] "w"
  %n = Constant() {value=[0.01]} : f32[]
  %eps = Constant() {value=[1e-6]} : f32[]
  %x2 = Mul(%x, %x)
  %r = ReduceSum(%x2) {axes=[1]}
  %r1 = Mul(%r, %n)
  %r2 = Add(%r1, %eps)
  %r3 = Sqrt(%r2)
  %h = Div(%x, %r3)
  %hg = Mul(%h, %g)
  %y = MatMul(%hg, %w)
  output %y "y"
})"},
    {"gated_mlp", R"(graph {
  input %x : f32[70x48] "x"
  input %u : f32[48x80] "u"
  input %w : f32[48x80] "w"
  %a = MatMul(%x, %u)
  %b = MatMul(%x, %w)
  %s = Sigmoid(%a)
  %h = Mul(%a, %s)
  %y = Mul(%h, %b)
  output %y "y"
})"},
    {"lora", R"(graph {
  input %x : f32[40x96] "x"
  input %w : f32[96x100] "w"
  input %a : f32[96x8] "a"
  input %b : f32[8x100] "b"
  %m = MatMul(%x, %w)
  %t = MatMul(%x, %a)
  %u = MatMul(%t, %b)
  %y = Add(%m, %u)
  output %y "y"
})"},
    {"qk_norm", R"(graph {
  input %q : f32[2x40x16] "q"
  input %k : f32[2x100x16] "k"
  input %v : f32[2x100x24] "v"
  %eps = Constant() {value=[1e-3]} : f32[]
  %q2 = Mul(%q, %q)
  %qs = ReduceSum(%q2) {axes=[2]}
  %qe = Add(%qs, %eps)
  %qr = Sqrt(%qe)
  %qn = Div(%q, %qr)
  %k2 = Mul(%k, %k)
  %ks = ReduceSum(%k2) {axes=[2]}
  %ke = Add(%ks, %eps)
  %kr = Sqrt(%ke)
  %kn = Div(%k, %kr)
  %s = MatMul(%qn, %kn) {transpose_b=true}
  %m = ReduceMax(%s) {axes=[2]}
  %d = Sub(%s, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  output %y "y"
})"},
};

// The whole graph with its first structures.
struct Searched {
  Graph graph;
  Candidate candidate;
  std::vector<Implementation> ways;  // some schedules of all structures
};

Searched searched(const GroupCase& group, Accuracy accuracy, int structures) {
  Searched result{case_graph(group.text).graph, {}, {}};
  result.candidate = whole_candidate(result.graph);
  const Result<groups::GroupTerms> terms = groups::terms_of(result.graph, result.candidate);
  if (!terms.ok()) return result;
  block::SearchLog log;
  block::SearchLimits limits;
  limits.structures = structures;
  for (block::BlockGraph& found : block::structures(terms.value().terms, limits, log))
    result.candidate.structures.push_back(std::make_shared<const block::PlacedGraph>(
        block::PlacedGraph{found, terms.value().leaves, terms.value().results, "of a test"}));
  std::vector<Refusal> refused;
  std::vector<Implementation> listed;
  list_blocks(result.graph, result.candidate, cuda_device(), accuracy, listed, refused);
  for (const Implementation& way : listed) {
    result.ways.push_back(way);
    std::vector<Schedule> others;
    reschedule_blocks(result.graph, result.candidate, way, cuda_device(), others);
    for (const Schedule& other : others) {
      result.ways.push_back(way);
      result.ways.back().schedule = other;
    }
  }
  // They differ in rows, columns, blocks and panels.
  constexpr size_t kMostWays = 4;
  std::vector<Implementation> some;
  for (size_t i = 0; i < kMostWays && i < result.ways.size(); ++i)
    some.push_back(result.ways[i * result.ways.size() / std::min(kMostWays, result.ways.size())]);
  result.ways = std::move(some);
  return result;
}

class CudaStructures : public ::testing::TestWithParam<std::tuple<GroupCase, Accuracy>> {};

TEST_P(CudaStructures, AgreeWithInterpreter) {
  if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
  const auto& [group, accuracy] = GetParam();
  const Searched found = searched(group, accuracy, 2);
  ASSERT_FALSE(found.ways.empty());
  const Reference reference = reference_of(found.graph, found.candidate);
  for (const Implementation& way : found.ways) {
    const tile::ScheduledGraph tiles = build_blocks(found.graph, found.candidate, way, cuda_device()).value();
    ASSERT_EQ(tile::structural_fault(tiles), "") << to_string(way) << tile::print(tiles);
    ASSERT_EQ(tile::coverage_fault(tiles), "") << to_string(way) << tile::print(tiles);
    const Result<CudaKernel> kernel = generate_cuda(found.graph, found.candidate, way, "k0");
    ASSERT_TRUE(kernel.ok()) << kernel.refusal().detail;
    EXPECT_EQ(kernel.value().workspace_bytes, 0) << to_string(way);
    ASSERT_EQ(check_emulated(found.graph, found.candidate, reference, kernel.value(), way), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, CudaStructures,
                         ::testing::Combine(::testing::ValuesIn(kGroups),
                                            ::testing::Values(Accuracy::standard, Accuracy::strict)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  korch::name(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace korch::testing
