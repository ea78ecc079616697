// Kernels measured through the driver's library, which the emulator plays: its times mean nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "../kernel/graphs.h"
#include "emulator.h"
#include "korch/backend/backend.h"
#include "korch/backend/cuda/gpu_session.h"
#include "korch/backend/device_named.h"
#include "korch/backend/gpu_here.h"
#include "korch/backend/spell.h"
#include "korch/base/error.h"
#include "korch/inspect/kernel_run.h"

namespace korch::testing {
namespace {

class CudaMeter : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulates) GTEST_SKIP() << kEmulatesNot;
    if (!cuda_backend().missing().empty()) GTEST_SKIP() << cuda_backend().missing();
    ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 1);
  }
  void TearDown() override {
    ::unsetenv("KORCH_CUDA_DRIVER");
    ::unsetenv("KORCH_FAKE_CUDA_HANGS");
  }
};

// Rows of in0 that in1 names; 1 leaves the axis.
constexpr const char* kGather = R"(kernel {
  in0: f32[6]
  in1: i64[4]
  out0: f32[24]
  phase i0 in 4 {
    map i1 in 6 {
      %0 = in1[i0]
      %1 = checked %0 of 1
      %2 = in0[%1 * 6 + i1]
      out0[i0 * 6 + i1] <- %2
    }
  }
}
)";

// in0, out0 of 64 floats.
MeasuredKernel job_of(const Kernel& kernel, const std::string& object) {
  MeasuredKernel job;
  job.kernel = &kernel;
  job.object = &object;
  job.inputs = {TensorType{DType::f32, {64}}};
  job.input_bytes = job.output_bytes = {256};
  return job;
}

Kernel kernel_of(const std::string& body) {
  Kernel kernel;
  kernel.source =
      "extern \"C\" __global__ void __launch_bounds__(256) k0(const float* in0, float* out0, int* status, "
      "char* workspace) {\n" +
      body + "}\n";
  kernel.phases = {{"k0", 1, 1, 1}};
  return kernel;
}

constexpr const char* kDoubles = "  if (threadIdx.x < 64) out0[threadIdx.x] = 2 * in0[threadIdx.x];\n";

TEST_F(CudaMeter, TheEmulatedGpuIsATargetOfItsOwn) {
  const Device device = device_named("cuda", 0);
  EXPECT_TRUE(is_emulated(device));
  EXPECT_EQ(cuda_backend().obstacle(device), "");
  EXPECT_NE(cuda_backend().obstacle(cuda_device()).find("--target cuda"), std::string::npos);
  EXPECT_THROW(cuda_backend().meter(cuda_device(), 1), Error);
  ::setenv("KORCH_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  EXPECT_NE(cuda_backend().obstacle(device).find("no NVIDIA driver"), std::string::npos);
  EXPECT_THROW(device_named("cuda", 0), Error);
}

TEST_F(CudaMeter, RunsKernelsAndTimesThem) {
  const Device device = device_named("cuda", 0);
  for (const char* text : {kSoftmax, kWindows, kInOrder, kInParts, kGather}) {
    const KernelRun run = run_kernel_alone(tile::parse_tile_graph(text), device, 3);
    for (const KernelOutput& output : run.outputs)
      EXPECT_TRUE(output.right()) << output.name << output.error << text;
    EXPECT_GT(run.us, 0);
    EXPECT_GE(run.high_us, run.low_us);
  }
}

TEST_F(CudaMeter, OutputsAreThoseOfTheSameInputs) {
  const std::unique_ptr<Meter> meter = cuda_backend().meter(device_named("cuda", 0), 1 << 20);
  const Kernel doubles = kernel_of(kDoubles),
               adds = kernel_of(
                   "  if (threadIdx.x < 64) out0[threadIdx.x] = in0[threadIdx.x] + in0[threadIdx.x];\n"),
               halves = kernel_of("  if (threadIdx.x < 32) out0[threadIdx.x] = 2 * in0[threadIdx.x];\n");
  const std::string object;
  const std::string first = meter->outputs(job_of(doubles, object)).value();
  EXPECT_EQ(first.size(), 256U);
  EXPECT_EQ(first, meter->outputs(job_of(adds, object)).value());
  const std::string half = meter->outputs(job_of(halves, object)).value();
  EXPECT_EQ(first.substr(0, 128), half.substr(0, 128));
  EXPECT_EQ(half.substr(128), std::string(128, '\0'));
}

TEST_F(CudaMeter, AKernelThatFailsIsRefusedAndSpoilsNoOther) {
  const std::unique_ptr<Meter> meter = cuda_backend().meter(device_named("cuda", 0), 1 << 20);
  const Kernel fails = kernel_of("  if (threadIdx.x == 0) __syncthreads();\n"), doubles = kernel_of(kDoubles),
               other = kernel_of("  out0[0] = 1;\n");
  const std::string object;
  EXPECT_TRUE(meter->measure(job_of(doubles, object), Care::quick).ok());
  const Result<Cost> refused = meter->measure(job_of(fails, object), Care::quick);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.refusal().reason, RefusalReason::run_failed);
  EXPECT_NE(refused.refusal().detail.find("CUDA_ERROR_LAUNCH_FAILED"), std::string::npos)
      << refused.refusal().detail;
  for (const Kernel* kernel : {&doubles, &other}) {
    const Result<Cost> cost = meter->measure(job_of(*kernel, object), Care::thorough);
    ASSERT_TRUE(cost.ok()) << cost.refusal().detail;
    EXPECT_EQ(cost.value().samples, 5);
    EXPECT_EQ(cost.value().care, Care::thorough);
  }
  meter->release_memory();
  EXPECT_TRUE(meter->measure(job_of(doubles, object), Care::quick).ok());
}

TEST_F(CudaMeter, WhatHangsEndsInAnError) {
  GpuSession session(0.05);
  const CurrentGpu current(session);
  session.wait();
  ::setenv("KORCH_FAKE_CUDA_HANGS", "1", 1);
  try {
    session.wait();
    ADD_FAILURE() << "it ended";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find("does not end on the GPU"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace korch::testing
