#include "korch/package/plan_tasks.h"

#include <algorithm>

#include "korch/base/error.h"

namespace korch {
namespace {

// Memories that tasks write: the arena, and the outputs.
constexpr int kWorkspaceMemory = -1, kArenaMemory = 0, kFirstOutputMemory = 1;
constexpr size_t kMostRanges = 1 << 10;

// Where the arguments of a step lie, and how large they are.
struct Argument {
  rt::BufferRef place;
  int64_t size_bytes = 0;
  bool is_written = false;
};

// Rounds are phases; of a step with variants the most that one has.
size_t phases_of(const Plan& plan, const PlanStep& step) {
  size_t most = 0;
  visit_kernels(step, [&](int kernel) {
    size_t phases = 0;
    for (const KernelPhase& phase : plan.kernels[static_cast<size_t>(kernel)].phases)
      phases += static_cast<size_t>(phase.rounds);
    most = std::max(most, phases);
  });
  return most;
}

class TaskLister {
 public:
  TaskLister(const Plan& plan, const MemoryPlan& memory, TaskSize size, int64_t blocks_at_once)
      : plan_(plan), memory_(memory), size_(size), blocks_at_once_(blocks_at_once) {}

  std::vector<TaskUse> list() {
    for (size_t s = 0; s < plan_.steps.size(); ++s) add_step(s);
    for (const OutputCopy& copy : memory_.copies) {
      const std::vector<Argument> arguments = {{copy.source, copy.size_bytes, false},
                                               {copy.destination, copy.size_bytes, true}};
      tasks_.push_back({step_++, 0, 0, 1, 0, uses_of(arguments, unknown(arguments))});
    }
    return std::move(tasks_);
  }

 private:
  std::vector<Argument> arguments_of(size_t s) const {
    const PlanStep& step = plan_.steps[s];
    std::vector<Argument> arguments;
    const auto add = [&](const std::vector<int>& tensors, bool is_written) {
      for (int id : tensors)
        arguments.push_back({memory_.tensors[static_cast<size_t>(id)],
                             plan_.tensors[static_cast<size_t>(id)].size_bytes, is_written});
    };
    add(step.inputs, false);
    add(step.constants, false);
    add(step.outputs, true);
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(step.kernel)];
    for (size_t t = 0; t < kernel.temporary_bytes.size(); ++t)
      arguments.push_back({memory_.temporaries[s][t], kernel.temporary_bytes[t], true});
    for (const PlanSliceLimit& limit : step.limits)
      arguments.push_back({memory_.tensors[static_cast<size_t>(limit.tensor)], sizeof(int64_t), false});
    return arguments;
  }

  // Of any variant of the step; constants lie where nobody writes.
  std::vector<Argument> arguments_of_variants(size_t s) const {
    const PlanStep& step = plan_.steps[s];
    std::vector<Argument> arguments;
    visit_tensors(step, [&](int id) {
      const bool is_written = std::count(step.outputs.begin(), step.outputs.end(), id) != 0;
      arguments.push_back({memory_.tensors[static_cast<size_t>(id)],
                           plan_.tensors[static_cast<size_t>(id)].size_bytes, is_written});
    });
    const std::vector<int64_t> bytes = temporary_bytes(plan_, step);
    for (size_t t = 0; t < bytes.size(); ++t)
      arguments.push_back({memory_.temporaries[s][t], bytes[t], true});
    return arguments;
  }

  static std::vector<ArgumentAccess> unknown(const std::vector<Argument>& arguments) {
    std::vector<ArgumentAccess> accesses;
    for (size_t a = 0; a < arguments.size(); ++a) {
      const ByteRanges whole = joined({{0, arguments[a].size_bytes}}, 1);
      accesses.push_back({static_cast<int>(a), whole, arguments[a].is_written ? whole : ByteRanges{}});
    }
    return accesses;
  }

  static void add_shifted(const ByteRanges& from, int64_t by, ByteRanges& to) {
    for (const ByteRange& range : from) to.push_back({range.begin + by, range.end + by});
    to = joined(std::move(to), kMostRanges);
  }

  static std::vector<MemoryUse> uses_of(const std::vector<Argument>& arguments,
                                        const std::vector<ArgumentAccess>& accesses) {
    std::vector<MemoryUse> uses;
    for (const ArgumentAccess& access : accesses) {
      const Argument& argument = arguments[static_cast<size_t>(access.argument)];
      const rt::BufferRef& place = argument.place;
      if (place.memory == rt::kInput || place.memory == rt::kWeights) continue;
      const int memory =
          place.memory == rt::kArena ? kArenaMemory : kFirstOutputMemory + static_cast<int>(place.index);
      auto use = std::find_if(uses.begin(), uses.end(),
                              [&](const MemoryUse& known) { return known.memory == memory; });
      if (use == uses.end()) use = uses.insert(use, {memory, {}, {}});
      add_shifted(access.read, static_cast<int64_t>(place.offset), use->read);
      add_shifted(access.written, static_cast<int64_t>(place.offset), use->written);
    }
    return uses;
  }

  void add_variants(size_t s) {
    const PlanStep& step = plan_.steps[s];
    const std::vector<Argument> arguments = arguments_of_variants(s);
    const std::vector<MemoryUse> uses = uses_of(arguments, unknown(arguments));
    const auto phases = static_cast<int>(phases_of(plan_, step));
    const int64_t shares = variant_shares(plan_.threads);
    const double us = step.predicted_us * plan_.threads / (phases * static_cast<double>(shares));
    for (int phase = 0; phase < phases; ++phase)
      for (int64_t begin = 0; begin < shares; begin += blocks_at_once_) {
        const int64_t end = std::min(shares, begin + blocks_at_once_);
        tasks_.push_back({step_, phase, begin, end, us * static_cast<double>(end - begin), uses});
      }
    ++step_;
  }

  void add_step(size_t s) {
    const PlanStep& step = plan_.steps[s];
    if (!step.variants.list.empty()) return add_variants(s);
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(step.kernel)];
    const std::vector<Argument> arguments = arguments_of(s);
    double work = 0;
    for (size_t p = 0; p < kernel.phases.size(); ++p) work += work_of(kernel, p);
    int phase = 0;
    for (size_t p = 0; p < kernel.phases.size(); ++p) {
      const double share = work > 0 ? work_of(kernel, p) / work : 0;
      add_phase(kernel, p, arguments, step.limits.size(), step.predicted_us * share, &phase);
    }
    ++step_;
  }

  static double work_of(const Kernel& kernel, size_t phase) {
    if (!kernel.accesses.empty()) return kernel.accesses[phase].work;
    return static_cast<double>(kernel.phases[phase].slices());
  }

  // What took `us` on all threads costs one of them more, where there is work for several. The last arguments
  // are what limits read, which every task does.
  void add_phase(const Kernel& kernel, size_t p, const std::vector<Argument>& arguments, size_t limits,
                 double us, int* phase) {
    const KernelPhase& kernel_phase = kernel.phases[p];
    const int64_t block = block_slices(kernel_phase, plan_.threads);
    const int64_t blocks = (kernel_phase.grid + block - 1) / block;
    const double parallel = static_cast<double>(std::min<int64_t>(plan_.threads, blocks));
    for (int64_t round = 0; round < kernel_phase.rounds; ++round, ++*phase)
      for (int64_t first = 0; first < blocks; first += blocks_at_once_) {
        const int64_t last = std::min(blocks, first + blocks_at_once_);
        const int64_t begin = first * block, end = std::min(kernel_phase.grid, last * block);
        const double part = static_cast<double>(end - begin) / static_cast<double>(kernel_phase.slices());
        std::vector<ArgumentAccess> accesses;
        if (kernel.accesses.empty()) {
          accesses = unknown(arguments);
        } else {
          const auto& known = kernel.accesses[p].blocks;
          KORCH_ASSERT(static_cast<int64_t>(known.size()) == kernel_phase.rounds * blocks,
                       "a phase's blocks have an access each");
          for (int64_t b = round * blocks + first; b < round * blocks + last; ++b)
            accesses.insert(accesses.end(), known[static_cast<size_t>(b)].begin(),
                            known[static_cast<size_t>(b)].end());
        }
        for (size_t a = arguments.size() - limits; a < arguments.size() && !kernel.accesses.empty(); ++a)
          accesses.push_back({static_cast<int>(a), {{0, arguments[a].size_bytes}}, {}});
        tasks_.push_back({step_, *phase, round * kernel_phase.grid + begin, round * kernel_phase.grid + end,
                          us * part * parallel, uses_of(arguments, accesses)});
        if (size_ == TaskSize::phase && kernel.scratch_bytes > 0)
          tasks_.back().uses.push_back({kWorkspaceMemory, {}, {{0, kernel.scratch_bytes}}});
      }
  }

  const Plan& plan_;
  const MemoryPlan& memory_;
  const TaskSize size_;
  const int64_t blocks_at_once_;
  std::vector<TaskUse> tasks_;
  int step_ = 0;
};

// Tasks that there are at least.
size_t phases_of(const Plan& plan) {
  size_t phases = 0;
  for (const PlanStep& step : plan.steps) phases += phases_of(plan, step);
  return phases;
}

}  // namespace

int variant_shares(int threads) {
  // A task that finds little costs a fraction of a microsecond; a variant's slices may be few.
  constexpr int kSharesPerWorker = 4;
  return kSharesPerWorker * threads;
}

std::vector<TaskUse> plan_task_uses(const Plan& plan, const MemoryPlan& memory, TaskSize size) {
  constexpr int64_t kAll = int64_t{1} << 40;
  const bool loops =
      std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& s) { return s.other_end >= 0; });
  if (loops || plan.threads == 1 || phases_of(plan) + memory.copies.size() > kMostTasks) return {};
  for (int64_t blocks_at_once = size == TaskSize::phase ? kAll : 1;; blocks_at_once *= 2) {
    std::vector<TaskUse> tasks = TaskLister(plan, memory, size, blocks_at_once).list();
    if (tasks.size() <= kMostTasks) return tasks;
  }
}

std::optional<TaskGraph> plan_tasks(const Plan& plan, const MemoryPlan& memory, TaskSize size) {
  const std::vector<TaskUse> tasks = plan_task_uses(plan, memory, size);
  if (tasks.empty()) return std::nullopt;
  return task_graph(tasks);
}

std::string fault_of(const TaskGraph& tasks, const Plan& plan, const MemoryPlan& memory, TaskSize size) {
  if (std::string fault = structural_fault(tasks); !fault.empty()) return fault;
  const std::vector<TaskUse> listed = plan_task_uses(plan, memory, size);
  if (listed.size() != tasks.tasks.size()) return "another number of tasks than the plan has";
  std::vector<std::vector<MemoryUse>> uses;
  for (size_t place : places(tasks, listed)) uses.push_back(listed[place].uses);
  return ordering_fault(tasks, uses);
}

std::vector<Placement> place(const Plan& plan, const Device& device) {
  const TaskSize size = device.is_gpu() ? TaskSize::phase : TaskSize::slices;
  std::vector<Placement> placements;
  for (const ShapePlan& shape_plan : shape_plans_of(plan)) {
    const Plan part = plan_of(plan, shape_plan);
    MemoryPlan memory = plan_memory(part);
    std::optional<TaskGraph> tasks = plan_tasks(part, memory, size);
    placements.push_back({shape_plan, std::move(memory), std::move(tasks), size});
  }
  return placements;
}

bool report_tasks(const std::vector<Placement>& placements, PlanReport& report) {
  const std::optional<TaskGraph>& tasks = placements[0].tasks;
  if (!tasks) return false;
  report.tasks = static_cast<int>(tasks->tasks.size());
  report.events = static_cast<int>(tasks->events.size());
  return true;
}

std::string fault_of(const std::vector<Placement>& placements, const Plan& plan) {
  std::string fault;
  for (const Placement& placed : placements)
    if (placed.tasks && fault.empty())
      fault = fault_of(*placed.tasks, plan_of(plan, placed.shape_plan), placed.memory, placed.task_size);
  return fault;
}

}  // namespace korch
