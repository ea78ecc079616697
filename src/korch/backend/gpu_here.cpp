#include "korch/backend/gpu_here.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/runtime/cuda/driver.h"

namespace korch {
namespace {

// CUdevice_attribute.
constexpr int kClock_kHz = 13, kMultiprocessors = 16, kMemoryClock_kHz = 36, kMemoryBusBits = 37,
              kL2Bytes = 38, kMostSharedBytes = 97;

// Of the row whose name it has most of ("NVIDIA H200" in "NVIDIA H200 NVL"), else of one of its own.
Device described(const std::string& name, int capability, const auto& attribute) {
  const std::string code = fmt::format("sm_{}", capability);
  if (const GpuRow* row = gpu_row_of(name)) {
    Device device = gpu_device(*row);
    device.name = name;
    return device;
  }
  constexpr double kLanes = 128;                     // of a multiprocessor, each a multiply-add per cycle
  constexpr double kL2Bytes_per_cycle = 32;          // of a multiprocessor
  const double clock = attribute(kClock_kHz) / 1e3;  // per us
  const int count = std::max(1, attribute(kMultiprocessors));
  return gpu_device({"", name.c_str(), code.c_str(), count, attribute(kMostSharedBytes), attribute(kL2Bytes),
                     2 * kLanes * clock * count, kL2Bytes_per_cycle * clock * count,
                     2 * attribute(kMemoryClock_kHz) / 1e3 * attribute(kMemoryBusBits) / 8});
}

// Compiled for a GPU that there is.
Device emulated_gpu(const char* name, const auto& attribute) {
  const Device of = cuda_device();
  const GpuRow row{"",
                   name,
                   of.code.c_str(),
                   std::max(1, attribute(kMultiprocessors)),
                   of.memory.front().bytes,
                   attribute(kL2Bytes),
                   of.flops_per_us,
                   of.memory[1].bytes_per_us,
                   of.memory.back().bytes_per_us};
  return gpu_device(row);
}

}  // namespace

bool is_emulated(const Device& gpu) {
  return gpu.is_gpu() && gpu.name.starts_with("emulated");
}

GpuHere gpu_here() {
  rt::cuda::Driver driver;
  if (!rt::cuda::load_driver(&driver)) return {{}, "no: there is no NVIDIA driver (libcuda.so.1)"};
  if (const int code = driver.init(0); code != 0)
    return {{}, fmt::format("no: the NVIDIA driver reports error {} (is there a GPU?)", code)};
  int number = 0;
  char name[256] = "";
  if (driver.device(&number, 0) != 0 || driver.device_name(name, sizeof name - 1, number) != 0)
    return {{}, "no: the NVIDIA driver knows no GPU"};
  const auto attribute = [&](int which) {
    int value = 0;
    return driver.attribute(&value, which, number) == 0 ? value : 0;
  };
  const int capability = 10 * attribute(rt::cuda::kMajor) + attribute(rt::cuda::kMinor);
  if (capability == 0)
    return {emulated_gpu(name, attribute),
            fmt::format("{}: it runs what was compiled with --emulation", name)};
  return {described(name, capability, attribute),
          fmt::format("{}, compute capability {}.{}, {} multiprocessors", name, capability / 10,
                      capability % 10, attribute(kMultiprocessors))};
}

}  // namespace korch
