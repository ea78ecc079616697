#include "korch/backend/backend.h"
#include "korch/backend/target_row.h"
#include "korch/base/error.h"
#include "korch/codegen/cpu/print_cpp.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/codegen/passes/passes.h"

namespace korch {
namespace {

// Its printer deals points out to threads itself.
void lower_for_cuda(tile::ScheduledGraph&, const Device&) {}
std::string print_for_cuda(tile::ScheduledGraph graph, const Device&) {
  return tile::print_cuda(graph, tile::phase_symbol(0));
}

// A phase is a kernel with a block per slice; one block takes ordered slices one after the other.
void launch_on_cuda(const tile::ScheduledGraph& graph, Kernel& kernel) {
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    KernelPhase& phase = kernel.phases[i];
    phase.symbol = tile::cuda_phase_symbol(tile::phase_symbol(0), i);
    phase.grid = phase.rounds > 1 ? 1 : phase.grid;
    phase.grain = phase.rounds = 1;
  }
  kernel.scratch_bytes = tile::cuda_workspace_bytes(graph);
}

// A new kind of target is a folder and a row here.
constexpr TargetRow kTargets[] = {
    {"cpu", "cpp", tile::lower_for_cpu, tile::print_cpp, nullptr, cpu_backend},
    {"cuda", "cu", lower_for_cuda, print_for_cuda, launch_on_cuda, cuda_backend},
};

}  // namespace

const TargetRow& target_row(const Device& device) {
  for (const TargetRow& row : kTargets)
    if (device.kind == row.kind) return row;
  throw Error(ErrorKind::unsupported, "no backend makes code for devices of the kind '" + device.kind + "'");
}

const Backend& backend_of(const Device& device) {
  if (const auto backend = target_row(device).backend) return backend();
  throw Error(ErrorKind::unsupported, "no backend compiles for devices of the kind '" + device.kind + "'");
}

bool is_here(const Device& device) {
  return backend_of(device).obstacle(device).empty();
}

PackageReport write_executable(const PackageInput& input, const std::string& path) {
  return backend_of(input.target).write(input, path, [] {});
}

PackageReport write_executable(PackageInput&& input, const std::string& path) {
  return backend_of(input.target).write(input, path, [&] {
    std::vector<std::string>().swap(input.constant_bytes);
  });
}

}  // namespace korch
