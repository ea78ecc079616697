// Lowered block graphs against the plainest kernels of their meaning.
#include "korch/codegen/block/lower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "korch/codegen/block/phases.h"
#include "korch/codegen/block/reference.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"
#include "korch/kernel/tile_equivalence.h"

namespace korch::blocks {
namespace {

constexpr const char* kAttention = R"(block {
  axes b 2 grid, m 7 grid, n 19, d 3, e 5
  leaf q f32 [b, m, d]
  leaf k f32 [b, n, d]
  leaf v f32 [b, n, e]
  %0 = load q
  loop n {
    %1 = load k
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max n %3
    %5 = before %4
    %6 = Sub(%5, %4)
    %7 = Exp(%6)
    %8 = Sub(%3, %4)
    %9 = Exp(%8)
    %10 = sum n %9 rescaled %7
    %11 = load v
    %12 = Mul(%9, %11)
    %13 = sum n %12 rescaled %7
  }
  %14 = Div(%13, %10)
  result %14
}
)";

std::vector<HostTensor> random_arguments(const tile::TileGraph& graph) {
  std::vector<HostTensor> arguments;
  uint64_t state = 7;
  for (const tile::Buffer& buffer : graph.buffers) {
    if (buffer.role != tile::BufferRole::input && buffer.role != tile::BufferRole::constant) continue;
    HostTensor tensor(TensorType{buffer.type, {buffer.elements}});
    for (int64_t i = 0; i < buffer.elements; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      if (buffer.type == DType::f32)
        tensor.mutable_data<float>()[i] =
            static_cast<float>(static_cast<double>(state >> 40) / (1 << 22) - 2);
      else
        tensor.mutable_data<bool>()[i] = (state >> 40) % 3 != 0;
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

void check(const std::string& text, const BlockSchedule& schedule) {
  const block::BlockGraph graph = block::parse_block_graph(text);
  const Device target = cpu_device(Isa::x86_64_v3, 2);
  const auto arguments = plain_arguments(graph);
  const Result<tile::ScheduledGraph> lowered = lower(graph, schedule, target, *arguments);
  ASSERT_TRUE(lowered.ok()) << lowered.refusal().detail;
  const tile::ScheduledGraph& kernel = lowered.value();
  ASSERT_EQ(tile::structural_fault(kernel), "") << tile::print(kernel);
  EXPECT_EQ(tile::coverage_fault(kernel), "");
  const tile::TileGraph reference = reference_kernel(block::meaning_of(graph).terms);
  ASSERT_EQ(tile::structural_fault(reference), "") << tile::print(reference);
  const auto inputs = random_arguments(kernel);
  const auto computed = tile::interpret(kernel, inputs, tile::Arithmetic::float64),
             expected = tile::interpret(reference, inputs, tile::Arithmetic::float64);
  ASSERT_EQ(computed.size(), expected.size());
  for (size_t r = 0; r < computed.size(); ++r)
    for (int64_t i = 0; i < computed[r].elements(); ++i) {
      const double is = element_as_double(computed[r], i), should = element_as_double(expected[r], i);
      ASSERT_NEAR(is, should, 1e-9 * std::max(1.0, std::fabs(should))) << i << "\n" << tile::print(kernel);
    }
}

TEST(Lower, Attention) {
  for (int64_t rows : {1, 3, 7})
    for (int64_t block : {8, 16, 19}) check(kAttention, {.rows = rows, .block = block});
}

// Parts of one block and of several, the last one shorter, or of a shorter block alone.
TEST(Lower, AttentionInParts) {
  for (int64_t rows : {1, 3, 7})
    for (const auto& [block, parts] : {std::pair{8, 3}, {8, 2}, {4, 5}, {4, 3}, {16, 2}, {2, 2}})
      for (bool direct : {true, false})
        if (direct || block >= 8)
          check(kAttention, {.rows = rows, .block = block, .parts = parts, .direct = direct});
}

// A slice with all queries, none of them its rows: a maximum for each.
TEST(Lower, MaximaOfAWholeAxis) {
  std::string text = kAttention;
  text.replace(text.find("m 7 grid"), 8, "m 7");
  for (int64_t parts : {1, 2}) check(text, {.rows = 3, .block = 8, .parts = parts, .direct = true});
}

// Two loops over one axis are two loops, though their nests are neighbours.
TEST(Lower, TwoPasses) {
  const std::string text = R"(block {
  axes m 5 grid, f 3 grid, d 19
  leaf x f32 [m, d]
  leaf w f32 constant [f, d]
  loop d {
    %0 = load x
    %1 = Abs(%0)
    %2 = max d %1
  }
  loop d {
    %3 = load w
    %4 = load x
    %5 = Div(%4, %2)
    %6 = Mul(%3, %5)
    %7 = sum d %6
  }
  result %7
}
)";
  for (int64_t block : {1, 8, 19}) check(text, {.rows = 2, .block = block});
}

// What is read again is not overwritten: by an exponential, whose difference is held as well.
TEST(Lower, DifferenceReadTwice) {
  const std::string text = R"(block {
  axes m 5 grid, n 19, d 3
  leaf q f32 [m, d]
  leaf k f32 [n, d]
  %0 = load q
  %1 = load k
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = max n %3
  %5 = Sub(%3, %4)
  %6 = Abs(%5)
  %7 = sum n %6
  %8 = Exp(%5)
  %9 = sum n %8
  %10 = Div(%7, %9)
  result %10
}
)";
  for (int64_t rows : {1, 2, 5}) check(text, {.rows = rows, .block = 19});
}

// Nor is a result, whatever is the last to compute with it.
TEST(Lower, ResultReadByAProduct) {
  const std::string text = R"(block {
  axes m 5 grid, d 3, f 7, o 4
  leaf x f32 [m, d]
  leaf w f32 constant [d, f]
  leaf u f32 constant [f, o]
  %0 = load x
  %1 = load w
  %2 = Mul(%0, %1)
  %3 = sum d %2
  %4 = Relu(%3)
  %5 = load u
  %6 = Mul(%4, %5)
  %7 = sum f %6
  %8 = Neg(%3)
  result %3
  result %7
}
)";
  for (int64_t rows : {1, 2, 5}) check(text, {.rows = rows, .block = 7});
}

// Of each value of an axis beside the rows.
TEST(Lower, ExtremeOverTwoAxes) {
  const std::string text = R"(block {
  axes m 5 grid, h 3, n 19, d 4
  leaf x f32 [m, d]
  leaf w f32 [h, n, d]
  %0 = load x
  loop n {
    %1 = load w
    %2 = Mul(%0, %1)
    %3 = sum d %2
    %4 = max n %3
    %5 = before %4
    %6 = Sub(%5, %4)
    %7 = Exp(%6)
    %8 = Sub(%3, %4)
    %9 = Exp(%8)
    %10 = sum n %9 rescaled %7
  }
  %11 = Add(%4, %10)
  result %11
}
)";
  for (int64_t rows : {1, 2, 5})
    for (int64_t block : {8, 19}) check(text, {.rows = rows, .block = block});
}

// Held along the terms of one product, it has no columns for another.
TEST(Lower, LeftAndRightOperand) {
  const std::string text = R"(block {
  axes m 5 grid, a 6, b 7, c 4
  leaf y f32 [a, b]
  leaf z f32 [a, c]
  leaf s f32 [m, a]
  %0 = load y
  %1 = sum a %0
  %2 = Add(%0, %1)
  %3 = load z
  %4 = Mul(%2, %3)
  %5 = sum a %4
  %6 = sum c %5
  %7 = load s
  %8 = Mul(%7, %2)
  %9 = sum a %8
  %10 = Mul(%9, %6)
  %11 = sum b %10
  result %11
}
)";
  const block::BlockGraph graph = block::parse_block_graph(text);
  const auto arguments = plain_arguments(graph);
  const auto lowered = lower(graph, {.rows = 2, .block = 7}, cpu_device(Isa::x86_64_v3, 2), *arguments);
  ASSERT_FALSE(lowered.ok());
  EXPECT_NE(lowered.refusal().detail.find("rows and columns"), std::string::npos);
}

// A slice has the rows of one window's axis alone: kernels that would read others are refused.
TEST(Lower, RefusesOtherReadsOfAWindowsAxis) {
  const std::string head = R"(block {
  axes h 5 grid, w 4, y 7, c 3, i 3, k 2
  leaf x f32 [y, w, k]
  leaf u f32 constant [k, c]
  leaf v f32 constant [c, i]
  %0 = load x
  %1 = load u
  %2 = Mul(%0, %1)
  %3 = sum k %2
  %4 = at y = 1 h + 1 i + -1 of %3
  %5 = load v
  %6 = Mul(%4, %5)
  %7 = sum i %6
)";
  const auto lowered = [&](const std::string& rest) {
    const block::BlockGraph graph = block::parse_block_graph(head + rest);
    const auto arguments = plain_arguments(graph);
    return lower(graph, {.structure = 0, .rows = 2}, cpu_device(Isa::portable, 1), *arguments);
  };
  EXPECT_TRUE(lowered("  result %7\n}\n").ok());
  const auto twice = lowered("  %8 = at y = 1 h + 0 of %3\n  %9 = Add(%7, %8)\n  result %9\n}\n");
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.refusal().detail, "two windows of one axis");
  const auto summed = lowered("  %8 = sum y %3\n  %9 = Add(%7, %8)\n  result %9\n}\n");
  ASSERT_FALSE(summed.ok());
  EXPECT_EQ(summed.refusal().detail, "an axis that windows read along, and others");
}

// Those that the search finds, at other extents.
class LowerFound : public ::testing::TestWithParam<const char*> {};

TEST_P(LowerFound, ComputesWhatItMeans) {
  std::ostringstream text;
  text << std::ifstream(std::string(KORCH_SOURCE_DIR) + "/tests/block/structures/" + GetParam() + ".kt")
              .rdbuf();
  block::BlockGraph graph = block::parse_block_graph(text.str());
  for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = 3 + static_cast<int64_t>(i);
  for (int loop : graph.loops) graph.axes[static_cast<size_t>(loop)].extent = 19;
  for (int64_t rows : {1, 3, 7})
    for (int64_t block : {8, 16, 19}) check(print(graph), {.rows = rows, .block = block});
  for (int64_t block : {4, 19}) check(print(graph), {.rows = 3, .block = block, .direct = true});
  if (graph.loops.size() != 1 || std::holds_alternative<std::string>(phases_of(graph, 2))) return;
  for (const auto& [block, parts] : {std::pair{8, 2}, {8, 3}})
    for (bool direct : {false, true})
      check(print(graph), {.rows = 3, .block = block, .parts = parts, .direct = direct});
}

INSTANTIATE_TEST_SUITE_P(Structures, LowerFound,
                         ::testing::Values("attention", "attention_bias", "attention_scaled",
                                           "attention_soft_cap", "attention_two_terms", "attention_where",
                                           "gated_mlp", "inverted_residual", "linear_attention",
                                           "log_sum_exp", "lora", "ntrans", "qk_norm_gqa", "rms_norm_matmul",
                                           "rms_swiglu"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace korch::blocks
