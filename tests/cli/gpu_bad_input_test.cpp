// What is wrong with a compiler for GPUs, and with files for them, is one message; nothing else is written or
// run.
#include <random>

#include "gpu.h"

namespace korch {
namespace {

class GpuBadInput : public Gpu {
 protected:
  void write_product() {
    ModelBuilder b;
    b.input("x", {64, 32}).output("y");
    b.floats("w", {32, 64}, std::vector<float>(32 * 64, 0.5F));
    b.node("MatMul", {"x", "w"}, {"m"});
    b.node("Softmax", {"m"}, {"y"});
    write_model("product.onnx", b);
  }
  std::string compiling() const {
    return "compile " + path("product.onnx") + " -o " + path("m.so") +
           " --no-profile-db --target sm_90 --no-measure --emulation";
  }
  static std::string fake_nvrtc(const std::string& more) {
    return std::string("export KORCH_NVRTC=") + KORCH_FAKE_NVRTC + " " + more;
  }
};

TEST_F(GpuBadInput, WithoutNvrtc) {
  write_product();
  expect_refused(compiling(), 4, {"KORCH_NVRTC names", "which cannot be loaded"},
                 "export KORCH_NVRTC=" + path("none.so"));
  expect_refused(compiling(), 4, {"NVRTC 12.1 computes some indices wrongly", "install"},
                 fake_nvrtc("KORCH_FAKE_NVRTC_VERSION=1"));
  EXPECT_FALSE(files().contains("m.so"));
  // Plans need none.
  EXPECT_EQ(run(compiling() + " --stop-after candidates", "export KORCH_NVRTC=" + path("none.so")), 0)
      << err_;
}

// A kernel that it refuses is in no plan.
TEST_F(GpuBadInput, KernelsThatNvrtcRefuses) {
  write_product();
  ASSERT_EQ(run(compiling(), fake_nvrtc("")), 0) << err_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  ASSERT_TRUE(says("matrix f32")) << out_;
  ASSERT_EQ(run(compiling(), fake_nvrtc("KORCH_FAKE_NVRTC_REFUSES=multiply_tf32\\(sum")), 0) << err_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_FALSE(says("matrix f32")) << out_;
  EXPECT_TRUE(says(" compile failed")) << out_;  // of products and of block graphs
  EXPECT_EQ(run("verify " + path("product.onnx") + " " + path("m.so")), 0) << err_;
  write_file(path("m.so"), "the old one");
  expect_refused(compiling(), 4, {"no plan exists", "refused by the test"},
                 fake_nvrtc("KORCH_FAKE_NVRTC_REFUSES=__global__"));
  EXPECT_EQ(read_file(path("m.so")), "the old one");
}

TEST_F(GpuBadInput, DamagedExecutables) {
  write_product();
  ASSERT_EQ(run(compiling()), 0) << err_;
  const std::string good = read_file(path("m.so"));
  const auto expect_damaged = [&](const std::string& bytes, const std::string& verb) {
    write_file(path("bad.so"), bytes);
    expect_refused(verb + " " + (verb == "verify" ? path("product.onnx") + " " : "") + path("bad.so"), 7,
                   {"bad.so"});
  };
  for (size_t part = 1; part < 8; ++part) expect_damaged(good.substr(0, good.size() * part / 8), "run");
  expect_damaged(good.substr(0, good.size() - 1), "verify");
  std::mt19937 random(1);
  for (const char* verb : {"run", "verify", "explain", "bench --rounds 5"})
    for (int round = 0; round < 12; ++round) {
      std::string bytes = good;
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      expect_damaged(bytes, verb);
    }
}

}  // namespace
}  // namespace korch
