// The plan that follows from bounds alone, in a compact form: what runs in which order, where its tensors
// lie, how its slices are shared out and what waits for what.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/driver/stages.h"
#include "korch/fission/fission.h"
#include "korch/profile/footprint.h"
#include "stages.h"

namespace korch {
namespace {

std::string place_text(const rt::BufferRef& place) {
  switch (place.memory) {
    case rt::kArena:
      return fmt::format("arena {}", place.offset);
    case rt::kWeights:
      return fmt::format("constant {}", place.index);
    case rt::kInput:
      return fmt::format("input {}", place.index);
    case rt::kOutput:
      return fmt::format("output {}", place.index);
  }
  return {};
}

std::string packing_text(const Packing& packing) {
  if (packing == Packing()) return "";
  return fmt::format(" packed {}({})", packing.kind, fmt::join(packing.params, ", "));
}

std::string tensors_text(const Plan& plan, const MemoryPlan& memory) {
  std::string text = fmt::format("arena of {} bytes\n", memory.arena_bytes);
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlanTensor& tensor = plan.tensors[t];
    text += fmt::format("tensor {}: %{} {} {}, {} bytes: {}", t, tensor.name, to_string(tensor.type),
                        to_string(tensor.layout), tensor.size_bytes, place_text(memory.tensors[t]));
    if (tensor.role == TensorRole::constant)
      text += packing_text(plan.constants[static_cast<size_t>(tensor.index)].packing);
    if (tensor.alias_of >= 0)
      text += fmt::format(", {} of tensor {}", tensor.role == TensorRole::output ? "output" : "view",
                          tensor.alias_of);
    if (tensor.alias_offset_bytes > 0) text += fmt::format(" from byte {}", tensor.alias_offset_bytes);
    text += "\n";
  }
  for (const OutputCopy& copy : memory.copies)
    text += fmt::format("copy {} -> {}, {} bytes\n", place_text(copy.source), place_text(copy.destination),
                        copy.size_bytes);
  return text;
}

std::string kernels_text(const Plan& plan) {
  std::string text;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel& kernel = plan.kernels[k];
    text += fmt::format("kernel {}: {:.0f} flops, {:.0f} bytes, scratch {}", k, kernel.flops, kernel.bytes,
                        kernel.scratch_bytes);
    for (int64_t bytes : kernel.temporary_bytes) text += fmt::format(", temporary {}", bytes);
    for (const auto& [input, output] : kernel.in_place)
      text += fmt::format(", input {} may be output {}", input, output);
    text += "\n";
    for (const KernelPhase& phase : kernel.phases) {
      text += fmt::format("  phase of {} slices, {} at a time", phase.grid, phase.grain);
      text += phase.rounds > 1 ? fmt::format(", {} rounds\n", phase.rounds) : "\n";
    }
  }
  return text;
}

std::string steps_text(const Plan& plan, const MemoryPlan& memory) {
  std::string text;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    text += fmt::format("step {}: kernel {}: {} {}, {:.3f} us\n", s, step.kernel, step.label,
                        step.implementation, step.predicted_us);
    text += fmt::format("  tensors [{}], constants [{}] -> [{}]\n", fmt::join(step.inputs, ", "),
                        fmt::join(step.constants, ", "), fmt::join(step.outputs, ", "));
    for (const rt::BufferRef& temporary : memory.temporaries[s])
      text += fmt::format("  temporary: {}\n", place_text(temporary));
    for (const std::string& primitive : step.primitives) text += "  " + primitive + "\n";
    for (const PlanSliceLimit& limit : step.limits)
      text += fmt::format("  phase {}: slices / {} % {} below (tensor {} * {} + {}) / {}\n", limit.phase,
                          limit.stride, limit.count, limit.tensor, limit.times, limit.plus, limit.by);
    if (step.other_end >= 0) text += fmt::format("  the loop's other end is step {}\n", step.other_end);
  }
  return text;
}

std::string text_of(const Plan& plan, const Placement& placement) {
  std::string text =
      tensors_text(plan, placement.memory) + kernels_text(plan) + steps_text(plan, placement.memory);
  for (const std::string& value : plan.report.recomputed) text += "recomputed %" + value + "\n";
  return text + (placement.tasks ? print(*placement.tasks) : "no tasks\n");
}

}  // namespace

std::string plan_text(const Graph& graph, const RunLine& line) {
  CompileOptions options;
  options.measure = Measure::none;
  options.accuracy = line.accuracy();
  options.rules = line.only;
  const StageDeadlines deadlines(options.budget_s);
  Bfloat16Choice all;
  all.taken = all.stored = 1;
  const Setting setting{options, line.target, deadlines, nullptr, nullptr, line.bfloat16 ? &all : nullptr};
  const Imported network = imported(graph, line.name);
  const Graph primitives = fission(network.graph);
  const Rewritten rewritten = with_alternatives(primitives, setting);
  KernelBank bank(rewritten.graph, line.target, setting.database, footprint_bytes(primitives));
  Candidates candidates = find_candidates(rewritten, bank, setting);
  Columns columns = make_columns(rewritten, std::move(candidates.all), candidates.first_optional, setting);
  const Choice choice = choose(rewritten, candidates, bank, setting, columns);
  BuiltPlan built = make_plan({network, primitives, rewritten, candidates, columns, choice}, bank, setting);
  const std::vector<Placement> placements = find_tasks(built, setting);
  return fmt::format("{}, {} threads: {:.3f} us\n", line.target.code, line.target.workers,
                     choice.solved.solution.objective_us) +
         text_of(built.plan, placements[0]);
}

}  // namespace korch
