#include "korch/backend/backend.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/cpu_parts.h"
#include "korch/base/parallel.h"

namespace korch {
namespace {

class CpuBackend : public Backend {
 public:
  std::string missing() const override { return ""; }

  std::string obstacle(const Device& device) const override {
    if (!runs_here(device)) return "this machine cannot run " + device.code + " code";
    if (detect_device("native", 1).name != device.name) return "this machine is no " + device.name;
    return "";
  }

  std::vector<BackendPart> parts() const override { return {{"Compiler", "compiler", compiler()}}; }

  std::string compiler() const override { return compiler_version(); }

  std::string compile_command(const Device& device) const override {
    return korch::compile_command(device.code);
  }

  std::vector<TextFile> reproducer(const ReproducedKernel& shown, const Device& device) const override {
    return cpu_reproducer(shown, device);
  }

  std::vector<Result<std::string>> compile(const std::vector<std::string>& sources,
                                           const Device& device) const override {
    std::vector<std::optional<Result<std::string>>> made(sources.size());
    run_in_parallel(sources.size(), device.workers,
                    [&](size_t i) { made[i] = compile_object(sources[i], device.code); });
    std::vector<Result<std::string>> objects;
    for (std::optional<Result<std::string>>& object : made) objects.push_back(std::move(*object));
    return objects;
  }

  std::unique_ptr<Meter> meter(const Device& device, int64_t footprint_bytes) const override {
    return cpu_meter(device, footprint_bytes);
  }

  PeakSamples sample_peaks(const Device& device, int workers) const override {
    return sample_cpu_peaks(device, workers);
  }

  PackageReport write(const PackageInput& input, const std::string& path,
                      const std::function<void()>& constants_are_written) const override {
    return write_library(input, path, constants_are_written);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace korch
