#include "korch/groups/workloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "korch/fission/fission.h"
#include "korch/ir/text.h"
#include "korch/rewrite/alternatives.h"
#include "term_values.h"

namespace korch::groups {
namespace {

Device device() {
  return with_nominal_speeds(cpu_device(Isa::x86_64_v4, 2));
}

Workloads found_in(const std::string& text, const WorkloadOptions& options = {}) {
  return find_workloads(parse_graph(text), device(), options);
}

// Of each workload, what saves most first.
std::vector<std::string> operators_of(const std::string& text) {
  const Graph graph = parse_graph(text);
  std::vector<std::string> result;
  for (const Workload& workload : find_workloads(graph, device()).groups)
    result.push_back(operators_text(graph, workload.candidate.nodes));
  return result;
}

bool is_among(const std::string& operators, const std::vector<std::string>& all) {
  return std::find(all.begin(), all.end(), operators) != all.end();
}

// What stands where `scores` does makes %t of the scores %s.
std::string attention(const std::string& scores, const std::string& inputs = "") {
  return R"(graph {
  input %q : f32[12x512x64] "q"
  input %k : f32[12x512x64] "k"
  input %v : f32[12x512x64] "v"
)" + inputs +
         R"(  %scale = Constant() {value=[0.125]} : f32[]
  %kt = Transpose(%k) {perm=[0,2,1]}
  %s0 = MatMul(%q, %kt)
  %s = Mul(%s0, %scale)
)" + scores +
         R"(  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
  %y = MatMul(%p, %v)
  %yt = Transpose(%y) {perm=[1,0,2]}
  %z = Reshape(%yt) {shape=[512,768]}
  output %z "z"
})";
}

TEST(Workloads, AttentionWithWhateverIsDoneToTheScores) {
  const std::string head = "MatMul+Mul", tail = "+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul";
  EXPECT_TRUE(is_among(head + "+Mul" + tail, operators_of(attention("  %t = Mul(%s, %scale)\n"))));
  EXPECT_TRUE(is_among(head + "+Tanh+Mul" + tail,
                       operators_of(attention("  %th = Tanh(%s)\n  %t = Mul(%th, %scale)\n"))));
  EXPECT_TRUE(
      is_among(head + "+Add" + tail,
               operators_of(attention("  %t = Add(%s, %b)\n", "  input %b : f32[12x512x512] \"b\"\n"))));
  EXPECT_TRUE(
      is_among(head + "+Where" + tail,
               operators_of(attention(
                   "  %t = Where(%b, %s, %low)\n",
                   "  input %b : bool[512x512] \"b\"\n  %low = Constant() {value=[-10000]} : f32[]\n"))));
}

TEST(Workloads, VariantsHaveWhatStandsAround) {
  const std::vector<std::string> all = operators_of(attention("  %t = Relu(%s)\n"));
  const std::string core = "MatMul+Mul+Relu+ReduceMax+Sub+Exp+ReduceSum+Div+MatMul";
  EXPECT_TRUE(is_among(core, all));
  EXPECT_TRUE(is_among("Transpose+" + core, all));
  EXPECT_TRUE(is_among(core + "+Transpose+Reshape", all));
  EXPECT_TRUE(is_among("Transpose+" + core + "+Transpose+Reshape", all));
  EXPECT_NE(all[0].find(core), std::string::npos) << all[0];  // it saves more than its softmax
  EXPECT_TRUE(is_among("ReduceMax+Sub+Exp+ReduceSum+Div+MatMul", all));
}

// Layout primitives are coordinates of leaves, so what stands around changes no structure.
TEST(Workloads, VariantsShareAStructure) {
  std::set<std::string> structures;
  const Workloads found = found_in(attention("  %t = Relu(%s)\n"));
  for (const Workload& workload : found.groups)
    structures.insert(block::structure_text(workload.group.terms));
  EXPECT_GE(found.groups.size(), 6u);
  EXPECT_EQ(structures.size(), 2u);  // attention, and softmax with a product
}

// The order of dimensions is none of the structure's: keys by columns, values by rows or columns.
TEST(Workloads, StructuresDoNotDependOnLayouts) {
  const std::string rows = attention("  %t = Relu(%s)\n");
  std::string columns = rows;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = columns.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    columns.replace(at, from.size(), to);
  };
  replace("%k : f32[12x512x64]", "%k : f32[12x64x512]");
  replace("%kt = Transpose(%k) {perm=[0,2,1]}", "%kt = Add(%k, %scale)");
  replace("%v : f32[12x512x64]", "%v : f32[64x512x12]");
  replace("%y = MatMul(%p, %v)", "%vt = Transpose(%v) {perm=[2,1,0]}\n  %y = MatMul(%p, %vt)");
  const Workloads one = found_in(rows), other = found_in(columns);
  ASSERT_FALSE(one.groups.empty() || other.groups.empty());
  EXPECT_EQ(block::structure_text(one.groups[0].group.terms),
            block::structure_text(other.groups[0].group.terms));
}

constexpr const char* kGatedMlp = R"(graph {
  input %x : f32[256x512] "x"
  input %g : f32[512x512] "g"
  input %u : f32[512x512] "u"
  input %d : f32[512x512] "d"
  %xg = MatMul(%x, %g)
  %xu = MatMul(%x, %u)
  %act = Sigmoid(%xg)
  %h = Mul(%act, %xu)
  %y = MatMul(%h, %d)
  output %y "y"
})";

// The products read the same rows; what one of them gives is no more stored for the other.
TEST(Workloads, ProductsThatMeet) {
  WorkloadOptions options;
  options.least_gain = 0.001;
  options.most_linear = 2;
  const Workloads gated = found_in(kGatedMlp, options);
  ASSERT_FALSE(gated.groups.empty());
  EXPECT_EQ(gated.groups[0].candidate.nodes.size(), 4u);
  options.most_linear = 3;
  const Workloads lora = found_in(R"(graph {
  input %x : f32[512x512] "x"
  input %w : f32[512x512] "w"
  input %a : f32[512x16] "a"
  input %b : f32[16x512] "b"
  %xw = MatMul(%x, %w)
  %xa = MatMul(%x, %a)
  %xab = MatMul(%xa, %b)
  %y = Add(%xw, %xab)
  output %y "y"
})",
                                  options);
  ASSERT_FALSE(lora.groups.empty());
  EXPECT_EQ(lora.groups[0].candidate.nodes.size(), 4u);
  EXPECT_EQ(lora.groups[0].group.leaves.size(), 4u);
}

// What elementwise primitives make for several products and sums goes in with them.
TEST(Workloads, LinearAttentionWithItsNormalizer) {
  const Workloads found = found_in(R"(graph {
  input %q : f32[12x4096x64] "q"
  input %k : f32[12x4096x64] "k"
  input %v : f32[12x4096x64] "v"
  %fq = Exp(%q)
  %fk = Exp(%k)
  %kv = MatMul(%fk, %v) {transpose_a=true}
  %ks = ReduceSum(%fk) {axes=[1]}
  %n = MatMul(%fq, %ks) {transpose_b=true}
  %u = MatMul(%fq, %kv)
  %y = Div(%u, %n)
  output %y "y"
})");
  ASSERT_FALSE(found.groups.empty());
  EXPECT_EQ(found.groups[0].candidate.nodes.size(), 7u);
  EXPECT_EQ(found.groups[0].group.leaves.size(), 3u);
}

TEST(Workloads, RowsThatAreNormalizedBeforeAProduct) {
  const Workloads found = found_in(R"(graph {
  input %x : f32[4096x256] "x"
  input %w : f32[256x64] "w"
  %n = Constant() {value=[0.00390625]} : f32[]
  %sq = Mul(%x, %x)
  %s = ReduceSum(%sq) {axes=[1]}
  %mean = Mul(%s, %n)
  %r = Sqrt(%mean)
  %xn = Div(%x, %r)
  %y = MatMul(%xn, %w)
  output %y "y"
})");
  ASSERT_FALSE(found.groups.empty());
  EXPECT_EQ(found.groups[0].candidate.nodes.size(), 6u);
  EXPECT_EQ(found.groups[0].group.leaves.size(), 2u);
}

TEST(Workloads, GrowToThreeProducts) {
  WorkloadOptions options;
  options.least_gain = 0.001;
  const Workloads found = found_in(kGatedMlp, options);
  const auto holds_all = [](const Workload& w) { return w.candidate.nodes.size() == 5; };
  const auto all = std::find_if(found.groups.begin(), found.groups.end(), holds_all);
  ASSERT_NE(all, found.groups.end());
  EXPECT_EQ(all->group.terms.leaves.size(), 4u);
  EXPECT_NE(all, found.groups.begin());  // a search for two products takes less time
  options.most_linear = 2;
  EXPECT_GT(found_in(kGatedMlp, options).dropped.at("linear"), 0);
  options.most_primitives = 2;
  EXPECT_GT(found_in(kGatedMlp, options).dropped.at("size"), 0);
}

TEST(Workloads, SmallSavingsAreLeftOut) {
  WorkloadOptions options;
  options.least_gain = 0.9;
  const Workloads found = found_in(kGatedMlp, options);
  EXPECT_TRUE(found.groups.empty());
  EXPECT_GT(found.dropped.at("gain"), 0);
}

TEST(Workloads, EndWithTheirBudget) {
  WorkloadOptions options;
  options.deadline = Deadline(-1);
  const Workloads found = found_in(kGatedMlp, options);
  EXPECT_TRUE(found.groups.empty());
  EXPECT_EQ(found.dropped, (std::map<std::string, int>{{"budget", 1}}));
}

// The scores are an output of the network, so they are stored anyway.
TEST(Workloads, WhatIsNeededElsewhereIsNoWorkload) {
  std::string text = attention("  %t = Relu(%s)\n");
  text.insert(text.find("  output"), "  output %t \"t\"\n");
  for (const std::string& operators : operators_of(text))
    EXPECT_EQ(operators.find("ReduceMax+Sub"), 0u) << operators;
  EXPECT_GT(found_in(text).dropped.at("needed_outside"), 0);
}

TEST(Workloads, AreCandidatesWithTerms) {
  std::string text = attention("  %t = Relu(%s)\n");
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"512", "8"}, {"768", "48"}, {"64]", "4]"}})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, from.size(), to);
  const Graph graph = parse_graph(text);
  WorkloadOptions options;
  options.least_gain = 0;
  const Workloads found = find_workloads(graph, device(), options);
  EXPECT_GE(found.groups.size(), 6u);
  for (const Workload& workload : found.groups)
    expect_equal_values(graph, workload.candidate, workload.group, 3);
}

TEST(Workloads, WithAlternativesTheFirstProducersCount) {
  const std::string text = attention("  %t = Add(%s, %b)\n", "  input %b : f32[12x512x512] \"b\"\n");
  const Rewritten rewritten = add_alternatives(parse_graph(text), {});
  const size_t plain = find_workloads(rewritten.base, device()).groups.size();
  EXPECT_GT(rewritten.graph.live_node_count(), rewritten.base.live_node_count());
  EXPECT_EQ(find_workloads(rewritten.graph, device()).groups.size(), plain);
}

}  // namespace
}  // namespace korch::groups
