// Random tasks that share memories, for task graphs.
#pragma once

#include <random>
#include <vector>

#include "korch/plan/task_graph.h"

namespace korch::testing {

constexpr int64_t kRandomBytes = 64;
constexpr int kRandomMemories = 5;  // the last one is not written

// In the order of a plan: phases of equal blocks, which read windows of what was written before and write
// parts of their own; memories are used again and again.
inline std::vector<TaskUse> random_tasks(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  constexpr int64_t kBytes = kRandomBytes;
  const int memories = draw(1, kRandomMemories - 1), phases = draw(2, 12);
  std::vector<TaskUse> tasks;
  for (int phase = 0; phase < phases; ++phase) {
    const int blocks = draw(1, 6), from = draw(0, memories - 1), to = draw(0, memories - 1),
              wide = draw(0, 8);
    const bool reads_all = draw(0, 5) == 0, strided = draw(0, 3) == 0;
    for (int block = 0; block < blocks; ++block) {
      const int64_t begin = kBytes * block / blocks, end = kBytes * (block + 1) / blocks;
      TaskUse task{phase / 2, phase % 2, 4 * block, 4 * block + 4, 1.0 + draw(0, 20), {}};
      // Tasks of one phase do not meet.
      const int read_from = from == to ? kRandomMemories - 1 : from;
      MemoryUse read{read_from,
                     {{reads_all ? 0 : std::max<int64_t>(0, begin - wide),
                       reads_all ? kBytes : std::min(kBytes, end + wide)}},
                     {}};
      MemoryUse written{to, {}, {{begin, end}}};
      if (strided) {
        written.written.clear();
        for (int64_t i = block; i < kBytes; i += blocks) written.written.push_back({i, i + 1});
      }
      task.uses = {read, written};
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

inline std::vector<std::vector<MemoryUse>> uses_of(const TaskGraph& graph,
                                                   const std::vector<TaskUse>& tasks) {
  std::vector<std::vector<MemoryUse>> uses;
  for (size_t place : places(graph, tasks)) uses.push_back(tasks[place].uses);
  return uses;
}

}  // namespace korch::testing
