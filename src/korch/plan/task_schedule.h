// Schedules of a task graph, simulated.
#pragma once

#include <functional>
#include <vector>

#include "korch/plan/task_graph.h"

namespace korch {

// When a worker ran a task.
struct TaskRun {
  int task = 0, worker = 0;
  double begin_us = 0, end_us = 0;
};

struct Simulation {
  std::vector<TaskRun> runs;  // in the order in which they began; fewer than there are tasks: it got stuck
  double end_us = 0;
};

// For each of `steps`: of the workers' time that it left idle from its first task to its last, the share that
// other steps used.
std::vector<double> overlaps(const TaskGraph& graph, const Simulation& simulation, int workers, int steps);

// Which of `ready`, tasks in the graph's order, `worker` takes: a place in `ready`.
using Choose = std::function<size_t(const std::vector<int>& ready, int worker)>;

// Workers that take a task whenever they have none and one may run; of several free ones the one with the
// lowest number begins. `cost_us` instead of the tasks' own, if given. Events cost nothing.
Simulation simulate(const TaskGraph& graph, int workers, const Choose& choose,
                    const std::function<double(int task)>& cost_us = {});

// A list schedule: whenever a worker is free it takes what is first in the graph's order, but of the same
// phase rather a task of its own share.
Simulation list_schedule(const TaskGraph& graph, int workers);

}  // namespace korch
