#include "korch/profile/kernel_bank.h"

#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/ir/text.h"
#include "korch/profile/database.h"
#include "korch/profile/footprint.h"

namespace korch {
namespace {

constexpr int64_t kFootprint_bytes = 1 << 20;

KernelRequest reorder(const std::string& key) {
  const TensorType type{DType::f32, {1, 8, 6, 6}};
  return {hash_text(key), nullptr, nullptr, type, Layout::row_major(), Layout::channels_last(4)};
}

// Requests may differ in key and be one kernel to the database: they must not overwrite each other's cost.
TEST(KernelBank, OneKernelIsMeasuredThoroughlyOnce) {
  const TempDir folder;
  Database database(folder.path() + "/kernels.db");
  const Graph graph;
  KernelBank bank(graph, detect_target("native", 1), &database, kFootprint_bytes);
  const KernelRequest one = reorder("one"), other = reorder("other");
  bank.measure({one, other});
  EXPECT_EQ(bank.measured_now(), 1);
  bank.measure({one}, Care::thorough);
  bank.measure({other}, Care::thorough);
  EXPECT_EQ(bank.measured_now(), 2);
  const Cost first = *bank.find(one.key)->value().cost, second = *bank.find(other.key)->value().cost;
  EXPECT_EQ(first.care, Care::thorough);
  EXPECT_GT(first.us, 0);
  EXPECT_EQ(first.us, second.us);
  bank.measure({one});  // a quick look would do
  EXPECT_EQ(bank.find(one.key)->value().cost->us, first.us);
  EXPECT_EQ(bank.measured_now(), 2);
}

// Of two thorough looks the lower cost counts, and there is no third.
TEST(KernelBank, SecondLookKeepsTheLowerCost) {
  const Graph graph;
  KernelBank bank(graph, detect_target("native", 1), nullptr, kFootprint_bytes);
  const KernelRequest one = reorder("one");
  bank.measure({one}, Care::thorough);
  const double first_us = bank.find(one.key)->value().cost->us;
  bank.measure({one}, Care::twice);
  const Cost second = *bank.find(one.key)->value().cost;
  EXPECT_EQ(second.care, Care::twice);
  EXPECT_LE(second.us, first_us);
  EXPECT_EQ(bank.measured_now(), 2);
  bank.measure({one}, Care::twice);
  EXPECT_EQ(bank.measured_now(), 2);
}

// x, a and the sum of both are live at once: 3 x 400 bytes, and 40 of constants.
TEST(Footprint, ConstantsAndWhatIsLiveAtThePeak) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {10, 10}}, "x");
  const ValueId a = graph.add(Op::Exp, NoAttrs{}, {x});
  ValueId y = graph.add(Op::Add, NoAttrs{}, {a, x});
  y = graph.add(Op::Add, NoAttrs{}, {y, graph.add_constant(HostTensor(TensorType{DType::f32, {10}}))});
  graph.set_outputs({y}, {"y"});
  EXPECT_EQ(footprint_bytes(graph), 2048);  // 1240, up to a power of two
}

}  // namespace
}  // namespace korch
