// Costs that one machine measured, for a build that compiles nothing.
#include "korch/profile/carried_costs.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/profile/costs_file.h"
#include "korch/profile/kernel_bank.h"
#include "made_up_backend.h"

namespace korch {
namespace {

constexpr int64_t kCarriedFootprint_bytes = 1 << 20;

class CarriedCostsTest : public ::testing::Test {
 protected:
  CarriedCostsTest() {
    const ValueId x = graph_.add_input({DType::f32, {40, 30}}, "x"), y = graph_.add(Op::Exp, NoAttrs{}, {x});
    graph_.set_outputs({y}, {"y"});
    candidate_ = make_candidate(graph_, {0}, {y});
    way_ = implementations(graph_, candidate_, device_, Accuracy::standard).at(0);
    const MadeUpBackend backend({7});
    KernelBank bank(graph_, device_, &there_, kCarriedFootprint_bytes, nullptr, &backend);
    bank.measure({exp()}, Care::thorough);
    const TempDir folder;
    std::string text;
    export_costs(there_, [&](std::string_view line) { text += line; });
    write_file(folder.path() + "/costs", text);
    import_costs(here_, folder.path() + "/costs");
  }

  static Device elsewhere() {
    Device device = cpu_device(Isa::x86_64_v3, 2);
    device.name = "a machine elsewhere";
    return device;
  }
  KernelRequest exp() const { return {hash_text("exp"), &candidate_, &way_, {}, {}, {}}; }
  KernelRequest reorder() const {
    return {hash_text("reorder"),    nullptr, nullptr, {DType::f32, {1, 8, 6, 6}}, Layout::row_major(),
            Layout::channels_last(4)};
  }
  std::optional<Cost> carried(const Device& device, int64_t footprint_bytes = kCarriedFootprint_bytes) {
    return KernelBank(graph_, device, &here_, footprint_bytes, nullptr, &stub_).carried_cost(exp());
  }

  const Device device_ = elsewhere();
  const StubBackend stub_{"the CPU backend", "KORCH_CPU"};
  Graph graph_;
  Candidate candidate_;
  Implementation way_;
  Database there_{":memory:"}, here_{":memory:"};
};

TEST_F(CarriedCostsTest, AreFoundWithoutACompiler) {
  KernelBank bank(graph_, device_, &here_, kCarriedFootprint_bytes, nullptr, &stub_);
  EXPECT_EQ(bank.carried_cost(exp())->us, 7);
  EXPECT_EQ(bank.carried_cost(exp())->care, Care::thorough);
  EXPECT_FALSE(bank.carried_cost(reorder()));  // was not measured
  EXPECT_EQ(bank.proposed_now(), 1);           // for its text; what no row is about is not asked for it
}

TEST_F(CarriedCostsTest, AreOfTheSameDeviceAndFootprintAlone) {
  EXPECT_TRUE(carried(device_));
  EXPECT_FALSE(carried(device_, 2 * kCarriedFootprint_bytes));
  Device other = device_;
  other.name = "another";
  EXPECT_FALSE(carried(other));
  other = device_;
  other.workers = 3;
  EXPECT_FALSE(carried(other));
  other = device_;
  other.flops_per_us = 1e5;  // the same one, with its speeds
  EXPECT_TRUE(carried(other));
}

// What the kernel is decides, and not how it is called.
TEST_F(CarriedCostsTest, AreOfTheSameTextAlone) {
  CostConditions conditions = *here_.get_conditions(here_.described_costs()[0]);
  const CarriedCosts costs(here_, device_);
  EXPECT_FALSE(costs.find(conditions, [] { return "another kernel"; }));
  conditions.arguments += "f32[4],";
  EXPECT_FALSE(costs.find(conditions, []() -> std::string {
    ADD_FAILURE() << "asked for its text";
    return "";
  }));
}

TEST_F(CarriedCostsTest, AStubSpellsKernelsAndRefusesToMeasureThem) {
  KernelBank bank(graph_, device_, nullptr, kCarriedFootprint_bytes, nullptr, &stub_);
  bank.build({exp()});
  const BuiltKernel& built = bank.find(exp().key)->value();
  EXPECT_NE(built.kernel.source, "");
  EXPECT_EQ(built.object, "");
  try {
    bank.measure({exp()});
    ADD_FAILURE() << "measured";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("without the CPU backend"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace korch
