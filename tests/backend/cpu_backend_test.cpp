#include <gtest/gtest.h>

#include "korch/backend/backend.h"
#include "korch/backend/spell.h"
#include "korch/runtime/abi.h"

namespace korch {
namespace {

std::string function(const std::string& body) {
  return "extern \"C\" int k0(void*, long, long) { " + body + " }";
}

TEST(CpuBackend, LacksNothing) {
  EXPECT_EQ(cpu_backend().missing(), "");
  EXPECT_NE(cpu_backend().compiler().find("clang"), std::string::npos);
}

TEST(CpuBackend, ABatchIsInOrderAndARefusalIsOneKernels) {
  const Device device = cpu_device(Isa::x86_64_v3, 2);
  const auto objects =
      cpu_backend().compile({function("return 0;"), function("return x;"), function("return 1;")}, device);
  ASSERT_EQ(objects.size(), 3u);
  ASSERT_TRUE(objects[0].ok() && objects[2].ok());
  EXPECT_NE(objects[0].value(), objects[2].value());
  ASSERT_FALSE(objects[1].ok());
  EXPECT_EQ(objects[1].refusal().reason, RefusalReason::compile_failed);
  EXPECT_EQ(cpu_backend().compile({function("return 1;")}, device)[0].value(), objects[2].value());
}

TEST(CpuBackend, MeasuresThisMachineAlone) {
  Device device = detect_device("native", 1);
  EXPECT_EQ(cpu_backend().obstacle(device), "");
  device.name = "a machine elsewhere";
  EXPECT_EQ(cpu_backend().obstacle(device), "this machine is no a machine elsewhere");
}

// Every slice once, on the caller's memory.
TEST(CpuBackend, RunsAKernelOnWhatItIsGiven) {
  const Device device = cpu_device(Isa::portable, 2);
  Kernel kernel;
  kernel.source =
      "struct context { void* const* args; };\n"
      "extern \"C\" int k0(const context* c, long begin, long end) {\n"
      "  for (long i = begin; i < end; ++i) ((int*)c->args[1])[i] += ((const int*)c->args[0])[i];\n"
      "  return ((const int*)c->args[0])[0] == 9 ? 1 : 0;\n}\n";
  kernel.phases = {{"k0", 2, 1, 3}};
  const std::string object = cpu_backend().compile({kernel.source}, device)[0].value();
  MeasuredKernel measured;
  measured.kernel = &kernel;
  measured.object = &object;
  const std::unique_ptr<Meter> meter = cpu_backend().meter(device, 1 << 20);
  std::vector<int32_t> in = {1, 2, 3, 4, 5, 6}, out(6);
  void* arguments[] = {in.data(), out.data()};
  EXPECT_EQ(meter->run(measured, arguments).value(), KORCH_KERNEL_OK);
  EXPECT_EQ(out, in);
  in[0] = 9;
  EXPECT_EQ(meter->run(measured, arguments).value(), KORCH_KERNEL_INDEX_OUT_OF_RANGE);
}

}  // namespace
}  // namespace korch
