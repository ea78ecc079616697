#include <fmt/format.h>

#include "korch/backend/backend.h"
#include "korch/backend/cuda/cubin.h"
#include "korch/backend/cuda/cuda_parts.h"
#include "korch/backend/cuda/nvrtc.h"
#include "korch/backend/gpu_here.h"
#include "korch/base/error.h"
#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/codegen/cuda/cost_model.h"
#include "korch/codegen/cuda/held_tile.h"
#include "korch/codegen/cuda/print_cuda.h"

namespace korch {
namespace {

class CudaBackend : public Backend {
 public:
  std::string missing() const override { return Nvrtc::get().missing(); }

  std::string obstacle(const Device& device) const override {
    const GpuHere here = gpu_here();
    if (!here.device) return fmt::format("{} is not here: {}", device.name, here.why_not());
    if (here.device->name == device.name && here.device->code == device.code) return "";
    return fmt::format("the GPU here is {} (--target cuda), and no {}", here.device->name, device.name);
  }

  bool has_model() const override { return true; }

  double modelled_us(const KernelSpec& spec, const std::vector<FunctionResources>& resources,
                     const Device& device) const override {
    return spec.tiles ? tile::cuda_model_us(*spec.tiles, resources, device) : device.launch_us;
  }

  std::vector<BackendPart> parts() const override {
    const Nvrtc& nvrtc = Nvrtc::get();
    return {{"GPU compiler", "cuda_compiler",
             nvrtc.missing().empty() ? "NVRTC " + nvrtc.version() : "none: " + nvrtc.missing()}};
  }

  std::string compiler() const override {
    return missing().empty() ? "NVRTC " + Nvrtc::get().version() + nvrtc_options() : "";
  }

  std::string compile_command(const Device& device) const override {
    return fmt::format("nvcc -cubin -arch={}{} -x cu", device.code, nvrtc_options());
  }

  std::vector<TextFile> reproducer(const ReproducedKernel& shown, const Device& device) const override {
    const Result<std::string> cubin = compile({shown.kernel.source}, device)[0];
    if (!cubin)
      throw Error(ErrorKind::internal, "a kernel does not compile again: " + cubin.refusal().detail);
    return cuda_reproducer(shown, cubin.value(), compile_command(device));
  }

  std::vector<Result<std::string>> compile(const std::vector<std::string>& sources,
                                           const Device& device) const override {
    std::vector<std::optional<Result<std::string>>> made(sources.size());
    run_in_parallel(sources.size(), usable_cpus(),
                    [&](size_t i) { made[i] = Nvrtc::get().compile(sources[i], device.code); });
    std::vector<Result<std::string>> objects;
    for (std::optional<Result<std::string>>& object : made) objects.push_back(std::move(*object));
    return objects;
  }

  // A held tile is in registers because memory is too slow for it.
  Result<std::vector<FunctionResources>> resources(const KernelSpec& spec, const Kernel& kernel,
                                                   const std::string& object) const override {
    std::vector<std::string> functions;
    for (const KernelPhase& phase : kernel.phases) functions.push_back(phase.symbol);
    Result<std::vector<FunctionResources>> found = cubin_resources(object, functions);
    for (size_t phase = 0; found && spec.tiles && phase < found.value().size(); ++phase) {
      const FunctionResources& function = found.value()[phase];
      if (function.spills() && !tile::held_tiles(*spec.tiles, phase, tile::kCudaThreads).empty())
        return Refusal{RefusalReason::spills,
                       fmt::format("a product's tile takes more than {} registers: {} bytes of each thread "
                                   "are in memory",
                                   function.registers, function.stack_bytes)};
    }
    return found;
  }

  std::unique_ptr<Meter> meter(const Device& device, int64_t footprint_bytes) const override {
    if (const std::string why = obstacle(device); !why.empty()) throw Error(ErrorKind::unsupported, why);
    return cuda_meter(device, footprint_bytes);
  }

  PeakSamples sample_peaks(const Device& device, int) const override {
    throw Error(ErrorKind::unsupported, "the speeds of " + device.name + " are those of its data sheet");
  }

  PackageReport write(const PackageInput& input, const std::string& path,
                      const std::function<void()>& constants_are_written) const override {
    return write_gpu_library(input, path, constants_are_written);
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace korch
