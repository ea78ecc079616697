// Whether the verifier of task graphs finds every edge that is missing, on the task graphs of networks.
//
//     build/release/bench/bench_task_edges [--seconds S] MODEL.onnx ...
//
// Configure with -DKORCH_BENCH=ON. Each network's greedy plan, whose kernels are not measured; one edge after
// the other is taken out, in random order, until all were or S seconds (60) are over. Exit code 1 where one
// was not found.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "../tests/plan/removed_edges.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/driver/compile_part.h"
#include "korch/onnx/import.h"
#include "korch/package/plan_tasks.h"

namespace korch::testing {
namespace {

BuiltPlan greedy_plan(const std::string& model) {
  CompileOptions options;
  options.strategy = Strategy::greedy;
  options.measure = Measure::none;
  options.verify = false;
  options.threads = 2;
  BuiltPlan built;
  const TempDir folder;
  compile_part(
      model, options, [&](FileRoles&, std::vector<std::string>&) { return import_onnx(model, {}); },
      folder.path() + "/none.so", &built);
  return built;
}

bool all_found(const std::string& model, double seconds) {
  const Plan plan = greedy_plan(model).plan;
  const MemoryPlan memory = plan_memory(plan);
  const std::vector<TaskUse> listed = plan_task_uses(plan, memory);
  const TaskGraph graph = task_graph(listed);
  std::vector<std::vector<MemoryUse>> uses;
  for (size_t place : places(graph, listed)) uses.push_back(listed[place].uses);
  KORCH_ASSERT(structural_fault(graph).empty() && ordering_fault(graph, uses).empty(), "a fault before");
  std::vector<Edge> edges = edges_of(graph);
  std::shuffle(edges.begin(), edges.end(), std::mt19937(1));
  const auto began = std::chrono::steady_clock::now();
  size_t tried = 0, missed = 0;
  for (const Edge& edge : edges) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > seconds) break;
    const TaskGraph less = without(graph, edge);
    ++tried;
    if (!structural_fault(less).empty() || !ordering_fault(less, uses).empty()) continue;
    ++missed;
    fmt::print("{}: not found: {} {} to event {}\n", model, edge.of_task ? "task" : "event", edge.from,
               edge.of_task ? graph.tasks[edge.from].triggers[edge.place]
                            : graph.events[edge.from].then[edge.place]);
  }
  fmt::print("{}: {} tasks, {} events, {} edges; {} taken out, {} not found\n", model, graph.tasks.size(),
             graph.events.size(), edges.size(), tried, missed);
  std::fflush(stdout);
  return missed == 0;
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  double seconds = 60;
  bool good = true;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--seconds" && i + 1 < argc) {
      seconds = std::strtod(argv[++i], nullptr);
      continue;
    }
    try {
      good = korch::testing::all_found(argv[i], seconds) && good;
    } catch (const korch::Error& error) {
      fmt::print("{}: {}\n", argv[i], error.what());
      good = false;
    }
  }
  return good ? 0 : 1;
}
