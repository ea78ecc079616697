#include "korch/profile/kernel_bank.h"

#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/ir/text.h"
#include "korch/profile/database.h"
#include "korch/profile/footprint.h"
#include "made_up_backend.h"

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
  const MadeUpBackend backend({3, 2, 1});
  KernelBank bank(graph, detect_device("native", 1), &database, kFootprint_bytes, nullptr, &backend);
  const KernelRequest one = reorder("one"), other = reorder("other");
  bank.measure({one, other});
  EXPECT_EQ(bank.measured_now(), 1);
  bank.measure({one}, Care::thorough);
  bank.measure({other}, Care::thorough);
  EXPECT_EQ(bank.measured_now(), 2);
  const Cost first = *bank.find(one.key)->value().cost, second = *bank.find(other.key)->value().cost;
  EXPECT_EQ(first.care, Care::thorough);
  EXPECT_EQ(first.us, 2);
  EXPECT_EQ(first.us, second.us);
  bank.measure({one});  // a quick look would do
  EXPECT_EQ(bank.find(one.key)->value().cost->us, first.us);
  EXPECT_EQ(bank.measured_now(), 2);
}

// Of two thorough looks the lower cost counts, and there is no third.
TEST(KernelBank, SecondLookKeepsTheLowerCost) {
  const Graph graph;
  for (const std::vector<double>& looks : {std::vector<double>{5, 7}, {7, 5}}) {
    const MadeUpBackend backend(looks);
    KernelBank bank(graph, detect_device("native", 1), nullptr, kFootprint_bytes, nullptr, &backend);
    const KernelRequest one = reorder("one");
    bank.measure({one}, Care::thorough);
    EXPECT_EQ(bank.find(one.key)->value().cost->us, looks[0]);
    bank.measure({one}, Care::twice);
    const Cost second = *bank.find(one.key)->value().cost;
    EXPECT_EQ(second.care, Care::twice);
    EXPECT_EQ(second.us, 5);
    EXPECT_EQ(bank.measured_now(), 2);
    bank.measure({one}, Care::twice);
    EXPECT_EQ(bank.measured_now(), 2);
  }
}

// A part of its slices is another measurement, which the database keeps for each care.
TEST(KernelBank, PartsAreMeasuredOnce) {
  const TempDir folder;
  Database database(folder.path() + "/kernels.db");
  const Graph graph;
  const std::vector<NeededSlices> half = {{0, 1, 8, 4}}, quarter = {{0, 1, 8, 2}};
  double half_us = 0;
  for (const int measured : {3, 0}) {
    const MadeUpBackend backend({4, 3, 2});
    KernelBank bank(graph, detect_device("native", 1), &database, kFootprint_bytes, nullptr, &backend);
    const Cost quick = *bank.measure_part(reorder("one"), half, Care::quick);
    EXPECT_EQ(quick.care, Care::quick);
    bank.measure_part(reorder("one"), quarter, Care::quick);
    bank.measure_part(reorder("one"), half, Care::thorough);
    EXPECT_EQ(bank.measure_part(reorder("one"), half, Care::quick)->us, quick.us);
    EXPECT_EQ(bank.measured_now(), measured);
    if (measured > 0) half_us = quick.us;
    EXPECT_EQ(quick.us, half_us);
    EXPECT_FALSE(bank.find(reorder("one").key)->value().cost);  // of the whole nothing is known
  }
}

// Whoever asks what a kernel is, whether it is offered, or for its object: it is proposed once.
TEST(KernelBank, NoKernelIsProposedTwice) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {40, 30}}, "x");
  const ValueId y = graph.add(Op::Exp, NoAttrs{}, {x});
  graph.set_outputs({y}, {"y"});
  const Device target = detect_device("native", 1);
  const Candidate candidate = make_candidate(graph, {0}, {y});
  const Implementation way = implementations(graph, candidate, target, Accuracy::standard).at(0);
  const MadeUpBackend backend;
  KernelBank bank(graph, target, nullptr, kFootprint_bytes, nullptr, &backend);
  const KernelRequest exp{hash_text("exp"), &candidate, &way, {}, {}, {}};
  EXPECT_TRUE(bank.is_offered(exp));
  const KernelSpec* spec = bank.spec(exp).value().get();
  EXPECT_EQ(bank.proposed_now(), 1);
  bank.build({exp, reorder("one")});
  bank.build({exp, reorder("one")});
  EXPECT_EQ(bank.find(exp.key)->value().spec.get(), spec);
  EXPECT_EQ(bank.spec(reorder("one")).value(), bank.find(reorder("one").key)->value().spec);
  EXPECT_EQ(bank.proposed_now(), 2);
}

// A backend whose kernels take registers, of which some are too many.
class CountingBackend : public MadeUpBackend {
 public:
  explicit CountingBackend(int registers) : registers_(registers) {}
  Result<std::vector<FunctionResources>> resources(const KernelSpec&, const Kernel& kernel,
                                                   const std::string& object) const override {
    EXPECT_TRUE(object.starts_with("object of ")) << object;
    if (registers_ > 255) return Refusal{RefusalReason::spills, "made up"};
    FunctionResources function;
    function.registers = registers_;
    return std::vector<FunctionResources>(kernel.phases.size(), function);
  }

 private:
  const int registers_;
};

// Also of an object that was compiled before.
TEST(KernelBank, WhatAnObjectNeedsIsKnownAndMayBeTooMuch) {
  const TempDir folder;
  Database database(folder.path() + "/kernels.db");
  const Graph graph;
  const KernelRequest one = reorder("one");
  for (const int compiled : {1, 0}) {
    const CountingBackend backend(40);
    KernelBank bank(graph, detect_device("native", 1), &database, kFootprint_bytes, nullptr, &backend);
    bank.build({one});
    EXPECT_EQ(bank.compiled_now(), compiled);
    EXPECT_EQ(bank.find(one.key)->value().kernel.resources.at(0).registers, 40);
  }
  const CountingBackend spilling(256);
  KernelBank bank(graph, detect_device("native", 1), &database, kFootprint_bytes, nullptr, &spilling);
  bank.measure({one});
  EXPECT_EQ(bank.compiled_now(), 0);
  EXPECT_EQ(bank.measured_now(), 0);
  ASSERT_FALSE(bank.find(one.key)->ok());
  EXPECT_EQ(bank.find(one.key)->refusal().reason, RefusalReason::spills);
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
