#include <fmt/format.h>

#include "korch/backend/cuda/cuda_parts.h"
#include "korch/backend/gpu_here.h"
#include "korch/base/embed.h"
#include "korch/base/error.h"
#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/package/appended.h"
#include "korch/package/executable_parts.h"
#include "korch/package/file_beside.h"
#include "korch/package/seal.h"

namespace korch {

// The runtime for GPUs as a shared library, inside the program.
std::string_view gpu_runtime();

namespace {

void refuse_loops(const Plan& plan) {
  for (const PlanStep& step : plan.steps)
    if (!plan.kernels[static_cast<size_t>(step.kernel)].call.library.empty())
      throw Error(ErrorKind::unsupported,
                  fmt::format("step '{}': loops do not run on GPUs yet; compile for a CPU", step.label));
}

DeviceCode code_of(const PackageInput& input) {
  DeviceCode code{compute_capability(input.target.code), tile::kCudaThreads, input.objects, {}};
  if (!input.emulation && !is_emulated(input.target)) return code;
  const std::vector<Kernel>& kernels = input.plan->kernels;
  code.emulated.resize(kernels.size());
  run_in_parallel(kernels.size(), usable_cpus(),
                  [&](size_t k) { code.emulated[k] = emulated_image(kernels[k]); });
  return code;
}

}  // namespace

PackageReport write_gpu_library(const PackageInput& input, const std::string& path,
                                const std::function<void()>& constants_are_written) {
  refuse_loops(*input.plan);
  const DeviceCode code = code_of(input);
  const ExecutableParts made(input, Isa::portable, &code);
  std::vector<DataSection> sections = made.sections();
  for (DataSection& section : sections)
    if (section.name == kInfoSection) section.name = kLinkedInfoSection;
  const FileBeside output(path);
  {
    const AppendedLibrary library(gpu_runtime(), sections,
                                  {{"korch_model_at", kModelSymbol}, {"korch_info_at", kInfoSymbol}});
    write_file_parts(output.temporary(), library.parts());
  }
  constants_are_written();
  seal_executable(output.temporary());
  output.move_into_place();
  return made.report();
}

}  // namespace korch

KORCH_EMBED(gpu_runtime, KORCH_GPU_RUNTIME)
