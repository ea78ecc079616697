// A task graph as the tables that an executable has, and random programs whose kernels show every order that
// is wrong.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../plan/random_tasks.h"
#include "korch/plan/program.h"
#include "korch/plan/task_graph.h"
#include "korch/runtime/abi.h"

namespace korch::testing {

struct TaskTables {
  explicit TaskTables(const TaskGraph& graph) {
    const auto part = [&](const std::vector<int>& events) {
      triggers.insert(triggers.end(), events.begin(), events.end());
      return static_cast<uint32_t>(triggers.size() - events.size());
    };
    for (const Task& t : graph.tasks)
      tasks.push_back({static_cast<uint32_t>(t.step), static_cast<uint32_t>(t.phase), t.begin, t.end,
                       static_cast<uint32_t>(t.waits), part(t.triggers),
                       static_cast<uint32_t>(t.triggers.size())});
    const std::vector<std::pair<int, int>> waiting = waiting_tasks(graph);
    for (size_t e = 0; e < graph.events.size(); ++e)
      events.push_back({static_cast<uint32_t>(graph.events[e].needed),
                        static_cast<uint32_t>(waiting[e].first),
                        static_cast<uint32_t>(waiting[e].second - waiting[e].first),
                        part(graph.events[e].then), static_cast<uint32_t>(graph.events[e].then.size())});
    table = {tasks.data(), static_cast<uint32_t>(tasks.size()), events.data(),
             static_cast<uint32_t>(events.size()), triggers.data()};
  }
  TaskTables(const TaskTables&) = delete;
  TaskTables& operator=(const TaskTables&) = delete;

  std::vector<rt::SliceTask> tasks;
  std::vector<rt::TaskEvent> events;
  std::vector<uint32_t> triggers;
  rt::TaskTable table{};
};

// Runs random_tasks(seed): each writes numbers made of its own number and of all that it reads.
class RandomProgram {
 public:
  static constexpr uint64_t kWords = kRandomBytes * kRandomMemories;

  RandomProgram(uint32_t seed, int workers) : uses_(random_tasks(seed)), tables_(task_graph(uses_)) {
    const int steps = uses_.back().step + 1;
    step_tasks_.resize(static_cast<size_t>(steps));
    phases_.resize(static_cast<size_t>(steps));
    for (size_t i = 0; i < uses_.size(); ++i) {
      const TaskUse& task = uses_[i];
      auto& mine = step_tasks_[static_cast<size_t>(task.step)][static_cast<size_t>(task.phase)];
      mine.push_back({i, &uses_[i]});
      auto& phases = phases_[static_cast<size_t>(task.step)];
      phases.resize(static_cast<size_t>(task.phase) + 1);
      phases.back() = {task.phase == 0 ? run<0> : run<1>, task.end, task.end - task.begin, 0};
    }
    args_.resize(static_cast<size_t>(steps));
    for (size_t s = 0; s < args_.size(); ++s) {
      args_[s] = {rt::BufferRef{rt::kWeights, 0, s * sizeof step_tasks_[0]}, rt::BufferRef{rt::kArena, 0, 0}};
      steps_.push_back({phases_[s].data(), static_cast<uint32_t>(phases_[s].size()), args_[s].data(), 2,
                        nullptr, nullptr, 0, nullptr, 0, "random"});
    }
    program_ = {steps_.data(),
                static_cast<uint32_t>(steps),
                static_cast<uint32_t>(workers),
                kWords * sizeof(uint64_t),
                0,
                false,
                &tables_.table,
                rt::Schedule::dynamic};
  }

  const rt::Program& program() const { return program_; }
  const void* weights() const { return step_tasks_.data(); }

 private:
  struct Numbered {
    size_t number;
    const TaskUse* task;
  };
  using StepTasks = std::array<std::vector<Numbered>, 2>;

  static uint64_t& word(void* arena, int memory, int64_t byte) {
    return static_cast<uint64_t*>(arena)[memory * kRandomBytes + byte];
  }

  template <int kPhase>
  static int32_t run(const korch_kernel_context* context, int64_t begin, int64_t end) {
    for (const Numbered& numbered : (*static_cast<const StepTasks*>(context->args[0]))[kPhase]) {
      const TaskUse& task = *numbered.task;
      if (task.begin < begin || task.end > end) continue;
      uint64_t value = 1469598103934665603u + numbered.number;
      for (const MemoryUse& use : task.uses)
        for (const ByteRange& range : use.read)
          for (int64_t byte = range.begin; byte < range.end; ++byte)
            value = (value ^ word(context->args[1], use.memory, byte)) * 1099511628211u;
      for (const MemoryUse& use : task.uses)
        for (const ByteRange& range : use.written)
          for (int64_t byte = range.begin; byte < range.end; ++byte)
            word(context->args[1], use.memory, byte) = value++;
    }
    return KORCH_KERNEL_OK;
  }

  const std::vector<TaskUse> uses_;
  const TaskTables tables_;
  std::vector<StepTasks> step_tasks_;
  std::vector<std::vector<rt::Phase>> phases_;
  std::vector<std::array<rt::BufferRef, 2>> args_;
  std::vector<rt::Step> steps_;
  rt::Program program_{};
};

}  // namespace korch::testing
