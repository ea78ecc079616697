// Costs that were measured on a GPU elsewhere decide about plans made here, and the plan says where each cost
// is from.
#include "../profile/made_up_backend.h"
#include "gpu.h"
#include "korch/base/json.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/profile/footprint.h"
#include "korch/profile/kernel_bank.h"

namespace korch {
namespace {

class GpuCosts : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    ModelBuilder b;
    b.input("x", {64, 32}).output("y");
    b.floats("w", {32, 64}, std::vector<float>(32 * 64, 0.5F));
    b.node("MatMul", {"x", "w"}, {"y"});
    write_model("product.onnx", b);
  }

  // The only step of a plan by the costs in `database`.
  nlohmann::json step(const std::string& target, const std::string& database) {
    EXPECT_EQ(run("compile " + path("product.onnx") + " -o " + path("m.so") + " --no-measure --target " +
                  target + " " + database),
              0)
        << err_;
    warnings_ = err_;
    EXPECT_EQ(run("explain --json " + path("m.so")), 0) << err_;
    const nlohmann::json steps = nlohmann::json::parse(out_).at("steps");
    EXPECT_EQ(steps.size(), 1U);
    return steps.at(0);
  }

  // As if each kernel of the product alone had taken 50 us on the device, but another one than `slow` 1.4 us;
  // gives its name. In k.db.
  std::string record(const Device& device, const std::string& slow) const {
    constexpr double kSlow_us = 50, kFast_us = 1.4;
    const Graph graph = fission(import_onnx(path("product.onnx")));
    NodeId product = 0;
    while (graph.node(product).op != Op::MatMul) ++product;
    const Candidate candidate = make_candidate(graph, {product}, {graph.outputs()[0]});
    Database database(path("k.db"));
    std::string fast;
    for (const Implementation& way : implementations(graph, candidate, device, Accuracy::standard)) {
      const std::string name = to_string(way);
      const bool is_fast = fast.empty() && name != slow;
      if (is_fast) fast = name;
      const MadeUpBackend backend({is_fast ? kFast_us : kSlow_us});
      KernelBank bank(graph, device, &database, footprint_bytes(graph), nullptr, &backend);
      bank.measure({{hash_text(name), &candidate, &way, {}, {}, {}}}, Care::thorough);
    }
    return fast;
  }

  std::string warnings_;
};

TEST_F(GpuCosts, ThatAreCarriedDecide) {
  const nlohmann::json modelled = step("sm_90", "--no-profile-db");
  EXPECT_EQ(modelled.at("cost_from"), "model");
  EXPECT_EQ(run("explain " + path("m.so")), 0);
  EXPECT_TRUE(says("  modelled   MatMul")) << out_;
  const std::string fast = record(*gpu_named("sm_90"), modelled.at("implementation"));
  // Through the file that moves between machines.
  ASSERT_EQ(run("costs export " + path("costs") + " --profile-db " + path("k.db")), 0) << err_;
  ASSERT_EQ(run("costs import " + path("costs") + " --profile-db " + path("here.db")), 0) << err_;
  const nlohmann::json carried = step("sm_90", "--profile-db " + path("here.db"));
  EXPECT_EQ(carried.at("implementation"), fast);
  EXPECT_EQ(carried.at("cost_from"), "carried");
  EXPECT_EQ(carried.at("predicted_us"), 1.4);
  EXPECT_EQ(run("explain " + path("m.so")), 0);
  EXPECT_TRUE(says("  carried    MatMul")) << out_;
  EXPECT_EQ(run("explain --kernel 0 " + path("m.so")), 0);
  EXPECT_TRUE(says("predicted 1.40 us (carried; ")) << out_;
}

TEST_F(GpuCosts, OfAnotherGpuAreNamedAndNotUsed) {
  const nlohmann::json modelled = step("h200", "--no-profile-db");
  Device device = *gpu_named("h200");
  device.name = "NVIDIA H200 NVL";  // as its driver calls it
  const std::string fast = record(device, modelled.at("implementation"));
  EXPECT_EQ(step("h200", "--profile-db " + path("k.db")).at("implementation"), fast);
  EXPECT_EQ(warnings_.find("another GPU"), std::string::npos) << warnings_;
  for (const char* target : {"h100", "sm_80"}) {
    EXPECT_EQ(step(target, "--profile-db " + path("k.db")).at("cost_from"), "model");
    EXPECT_NE(warnings_.find("are of another GPU and are not used: "), std::string::npos) << warnings_;
    EXPECT_NE(warnings_.find("of NVIDIA H200 NVL (sm_90, 132 multiprocessors)"), std::string::npos)
        << warnings_;
  }
}

// Nothing in it depends on a clock.
TEST_F(GpuCosts, TheSameNetworkGivesTheSameBytes) {
  step("sm_90", "--no-profile-db");
  const std::string first = read_file(path("m.so"));
  step("sm_90", "--no-profile-db");
  EXPECT_EQ(read_file(path("m.so")) == first, true);
}

}  // namespace
}  // namespace korch
