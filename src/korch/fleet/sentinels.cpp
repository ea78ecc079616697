#include "korch/fleet/sentinels.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "korch/base/error.h"

namespace korch {
namespace {

constexpr const char* kSentinelHead = R"(typedef int int32_t; typedef long int64_t;
struct korch_kernel_context { void* const* args; void* scratch; const void* state; int32_t worker; };
)";

struct SentinelRow {
  const char* symbol;
  const char* source;
  int64_t floats;  // of each slice, read and written
};

// Each slice multiplies and adds on a block that fits L1, or copies a block.
constexpr SentinelRow kSentinels[] = {
    {"korch_sentinel_arithmetic",
     R"(extern "C" int32_t korch_sentinel_arithmetic(const struct korch_kernel_context* context, int64_t begin, int64_t end) {
  const float* in = (const float*)context->args[0];
  float* out = (float*)context->args[1];
  for (int64_t slice = begin; slice < end; ++slice)
    for (int64_t at = slice * 1024; at < (slice + 1) * 1024; at += 64) {
      float sums[64];
      for (int i = 0; i < 64; ++i) sums[i] = in[at + i];
      for (int round = 0; round < 4096; ++round)
        for (int i = 0; i < 64; ++i) sums[i] = sums[i] * 0.75f + 0.125f;
      for (int i = 0; i < 64; ++i) out[at + i] = sums[i];
    }
  return 0;
}
)",
     1024},
    {"korch_sentinel_memory",
     R"(extern "C" int32_t korch_sentinel_memory(const struct korch_kernel_context* context, int64_t begin, int64_t end) {
  const float* in = (const float*)context->args[0];
  float* out = (float*)context->args[1];
  for (int64_t slice = begin; slice < end; ++slice)
    for (int64_t i = slice * 262144; i < (slice + 1) * 262144; ++i) out[i] = in[i] * 0.75f + 0.125f;
  return 0;
}
)",
     262144},
};
constexpr int64_t kSlicesPerWorker = 2;
constexpr int64_t kSentinelFootprint = int64_t{64} << 20;

}  // namespace

std::vector<KernelWork> make_sentinels(const Backend& backend, const Device& device) {
  std::vector<KernelWork> sentinels;
  std::vector<std::string> sources;
  for (const SentinelRow& row : kSentinels) sources.push_back(std::string(kSentinelHead) + row.source);
  const std::vector<Result<std::string>> objects = backend.compile(sources, device);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!objects[i])
      throw Error(ErrorKind::internal, "a sentinel does not compile: " + objects[i].refusal().detail);
    const SentinelRow& row = kSentinels[i];
    const int64_t slices = kSlicesPerWorker * device.workers;
    const int64_t bytes = slices * row.floats * static_cast<int64_t>(sizeof(float));
    Kernel kernel;
    kernel.source = sources[i];
    kernel.phases = {{row.symbol, slices, 1, 1}};
    MeasuredKernel measured;
    measured.kernel = &kernel;
    measured.object = &objects[i].value();
    measured.inputs = {{DType::f32, {bytes / 4}}};
    measured.input_bytes = measured.output_bytes = {bytes};
    sentinels.push_back(work_of(measured, device, kSentinelFootprint, Care::thorough));
  }
  return sentinels;
}

std::vector<double> sentinel_times_us(const std::vector<KernelWork>& sentinels, const MakeMeter& make_meter) {
  constexpr int kLooks = 5;
  std::vector<double> times(sentinels.size(), std::numeric_limits<double>::infinity());
  if (sentinels.empty()) return times;
  const std::unique_ptr<Meter> meter = make_meter(sentinels[0].device, sentinels[0].footprint_bytes);
  for (int look = 0; look < kLooks; ++look)
    for (size_t i = 0; i < sentinels.size(); ++i) {
      const Result<Cost> cost = meter->measure(measured_kernel(sentinels[i]), sentinels[i].care);
      if (!cost) throw Error(ErrorKind::io, "a sentinel does not run here: " + cost.refusal().detail);
      times[i] = std::min(times[i], cost.value().us);
    }
  return times;
}

}  // namespace korch
