// A oneDNN call in a process that runs out of memory: what the library throws must not leave the C interface.
#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "korch/base/usable_cpus.h"
#include "korch/runtime/cpu/onednn.h"
#include "korch/runtime/library.h"

namespace {

constexpr int64_t kNever = -1;
std::atomic<int64_t> allocations_until_failure{kNever};

}  // namespace

// Those of the whole program, libdnnl included. Inlined, GCC would take them for mismatched.
__attribute__((noinline)) void* operator new(size_t size_bytes) {
  if (allocations_until_failure.load() != kNever && allocations_until_failure-- == 0) {
    allocations_until_failure = kNever;
    throw std::bad_alloc();
  }
  void* memory = std::malloc(size_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// What std::stable_sort asks for: sanitizers have one of their own.
__attribute__((noinline)) void* operator new(size_t size_bytes, const std::nothrow_t&) noexcept {
  return std::malloc(size_bytes);
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

// The leak sanitizer's: where an exception passes through it, the library loses some of its own.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl";
}

namespace korch::rt {
namespace {

constexpr int64_t kExtent = 64;

// relu(A B), 64 x 64 each.
std::vector<int64_t> params() {
  OnednnCall call{};
  call.version = onednn_version();
  call.isa = onednn_isa();
  call.matmul = call.images = call.out_width = call.weight_matrices = call.post_ops = 1;
  call.in_channels = call.out_channels = call.out_height = kExtent;
  call.rows_per_slice = call.channels_per_slice = kExtent;
  call.weight_arg = 1;
  call.bias_arg = -1;
  call.result_arg = 2;
  const auto* fields = reinterpret_cast<const int64_t*>(&call);
  std::vector<int64_t> result(fields, fields + kOnednnCallFields);
  result.insert(result.end(), {static_cast<int64_t>(OnednnPostOpKind::relu), -1});
  return result;
}

// The code of creating and running the call while the allocation with this number fails; `left` is what then
// remained of the number, kNever where that allocation was reached.
int32_t run_with_failure(int64_t number, std::vector<float>& product, int64_t* left, int32_t worker = 0) {
  static const std::vector<int64_t> call = params();
  static const float floats[2] = {0, 0};
  static const std::vector<float> ones(kExtent * kExtent, 1);
  static std::vector<unsigned char> scratch(1 << 22);
  void* args[] = {const_cast<float*>(ones.data()), const_cast<float*>(ones.data()), product.data()};
  uint64_t scratch_bytes = 0;
  int32_t code = KORCH_KERNEL_OK;
  allocations_until_failure = number;
  void* state = korch_onednn_ops.create(call.data(), static_cast<uint32_t>(call.size()), floats, 2,
                                        &scratch_bytes, &code);
  if (state != nullptr && scratch_bytes <= scratch.size()) {
    const korch_kernel_context context{args, scratch.data(), state, worker};
    code = korch_onednn_run(&context, 0, 1);
  }
  *left = allocations_until_failure;
  allocations_until_failure = kNever;
  if (state != nullptr) korch_onednn_ops.destroy(state);
  return code;
}

// However many workers a run may have.
TEST(OnednnCall, HasAPlaceForEveryWorker) {
  constexpr int64_t kEnough = int64_t{1} << 40;
  int64_t left = 0;
  for (const int32_t worker : {0, 255, 256, kMostWorkers - 1}) {
    std::vector<float> product(kExtent * kExtent, -1);
    EXPECT_EQ(run_with_failure(kEnough, product, &left, worker), KORCH_KERNEL_OK) << worker;
    EXPECT_EQ(product, std::vector<float>(kExtent * kExtent, kExtent)) << worker;
  }
}

// The first allocations, which are those of the call itself, and a sample of the library's thousands.
TEST(OnednnShortage, AFailedAllocationIsOutOfMemory) {
  // The library's cache keeps what an exception left half made.
  ASSERT_EQ(dnnl_set_primitive_cache_capacity(0), dnnl_success);
  constexpr int64_t kEnough = int64_t{1} << 40, kFirst = 100, kSampled = 1000;
  std::vector<float> product(kExtent * kExtent, -1);
  int64_t left = 0, failures = 0;
  ASSERT_EQ(run_with_failure(kEnough, product, &left), KORCH_KERNEL_OK);
  const int64_t allocations = kEnough - left;
  ASSERT_GT(allocations, 0);
  const int64_t step = std::max<int64_t>(1, (allocations - kFirst) / kSampled);
  for (int64_t number = 0; number < allocations; number += number < kFirst ? 1 : step) {
    product.assign(product.size(), -1);
    const int32_t code = run_with_failure(number, product, &left);
    if (code == KORCH_KERNEL_OK) {  // the library did without
      EXPECT_EQ(product, std::vector<float>(kExtent * kExtent, kExtent)) << number;
    } else {
      EXPECT_EQ(code, KORCH_KERNEL_OUT_OF_MEMORY) << number;
      ++failures;
    }
  }
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace korch::rt
