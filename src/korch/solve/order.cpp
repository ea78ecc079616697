#include <algorithm>
#include <functional>
#include <queue>

#include "korch/solve/network.h"

namespace korch {

bool is_reorder(const Arc& arc) {
  return arc.covers.empty() && arc.inputs.size() == 1 && arc.outputs.size() == 1;
}

namespace {

// Runs whatever is ready, the smallest first, until nothing is. `missing`: of each member, how many of its
// inputs are not there yet. `run` tells which members lost one missing input.
std::vector<int> run_ready(std::vector<int> missing, const std::function<const std::vector<int>&(int)>& run) {
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (size_t m = 0; m < missing.size(); ++m)
    if (missing[m] == 0) ready.push(static_cast<int>(m));
  std::vector<int> order;
  while (!ready.empty()) {
    const int member = ready.top();
    ready.pop();
    order.push_back(member);
    for (const int waiter : run(member))
      if (--missing[waiter] == 0) ready.push(waiter);
  }
  return order;
}

// A selection, simulated: `inputs` and `outputs` of each member.
struct Simulation {
  std::vector<int> order;               // members, as they ran
  std::vector<bool> made;               // of each place
  std::vector<std::vector<int>> first;  // of each member: the places it made first
};

Simulation simulate(int places, std::vector<bool> made, const std::vector<const std::vector<int>*>& inputs,
                    const std::vector<const std::vector<int>*>& outputs) {
  Simulation result;
  result.made = std::move(made);
  result.first.resize(inputs.size());
  std::vector<int> missing(inputs.size(), 0);
  std::vector<std::vector<int>> readers(places);
  for (size_t m = 0; m < inputs.size(); ++m)
    for (const int place : *inputs[m])
      if (!result.made[place]) {
        ++missing[m];
        readers[place].push_back(static_cast<int>(m));
      }
  std::vector<int> woken;
  result.order = run_ready(std::move(missing), [&](int member) -> const std::vector<int>& {
    woken.clear();
    for (const int place : *outputs[member]) {
      if (result.made[place]) continue;
      result.made[place] = true;
      result.first[member].push_back(place);
      woken.insert(woken.end(), readers[place].begin(), readers[place].end());
    }
    return woken;
  });
  return result;
}

// The members of the order that `required` needs, given who made each place first.
std::vector<int> needed(const Simulation& simulation, const std::vector<const std::vector<int>*>& inputs,
                        const std::vector<int>& required) {
  std::vector<bool> wanted(simulation.made.size());
  for (const int place : required) wanted[place] = true;
  std::vector<int> order;
  for (size_t at = simulation.order.size(); at-- > 0;) {
    const int member = simulation.order[at];
    const std::vector<int>& first = simulation.first[member];
    if (std::none_of(first.begin(), first.end(), [&](int place) { return wanted[place]; })) continue;
    for (const int place : *inputs[member]) wanted[place] = true;
    order.push_back(member);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

bool all_made(const Simulation& simulation, const std::vector<int>& required) {
  return std::all_of(required.begin(), required.end(), [&](int place) { return simulation.made[place]; });
}

}  // namespace

ArcOrder order_arcs(const Network& network, const std::vector<int>& chosen) {
  std::vector<const std::vector<int>*> inputs, outputs;
  for (const int arc : chosen) {
    inputs.push_back(&network.arcs[arc].inputs);
    outputs.push_back(&network.arcs[arc].outputs);
  }
  const Simulation simulation =
      simulate(network.node_count, std::vector<bool>(network.node_count), inputs, outputs);
  ArcOrder result;
  result.reached = all_made(simulation, network.required);
  if (result.reached)
    for (const int member : needed(simulation, inputs, network.required))
      result.order.push_back(chosen[member]);
  return result;
}

namespace {

Simulation simulate_columns(const Problem& problem, const std::vector<int>& columns,
                            std::vector<const std::vector<int>*>& inputs) {
  std::vector<const std::vector<int>*> outputs;
  for (const int column : columns) {
    inputs.push_back(&problem.columns[column].inputs);
    outputs.push_back(&problem.columns[column].outputs);
  }
  std::vector<bool> made(problem.tensor_class.size());
  for (const int tensor : problem.available) made[tensor] = true;
  return simulate(static_cast<int>(problem.tensor_class.size()), std::move(made), inputs, outputs);
}

}  // namespace

std::vector<int> order_columns(const Problem& problem, const std::vector<int>& chosen) {
  // What costs nothing comes first, so that it is preferred wherever two columns make the same tensor.
  std::vector<int> columns, paid;
  std::vector<bool> is_chosen(problem.columns.size());
  for (const int column : chosen) is_chosen[column] = true;
  for (size_t i = 0; i < problem.columns.size(); ++i) {
    const Column& column = problem.columns[i];
    const bool free = column.measured && column.cost_us == 0;
    if (free) columns.push_back(static_cast<int>(i));
    if (!free && is_chosen[i]) paid.push_back(static_cast<int>(i));
  }
  columns.insert(columns.end(), paid.begin(), paid.end());
  std::vector<const std::vector<int>*> inputs;
  const Simulation simulation = simulate_columns(problem, columns, inputs);
  if (!all_made(simulation, problem.required)) return {};
  std::vector<int> order;
  for (const int member : needed(simulation, inputs, problem.required)) order.push_back(columns[member]);
  return order;
}

std::vector<int> schedule(const Problem& problem, const std::vector<int>& chosen) {
  std::vector<int> columns = chosen;
  std::sort(columns.begin(), columns.end());
  std::vector<const std::vector<int>*> inputs;
  const Simulation simulation = simulate_columns(problem, columns, inputs);
  if (simulation.order.size() != columns.size()) return {};
  std::vector<int> order;
  for (const int member : simulation.order) order.push_back(columns[member]);
  return order;
}

}  // namespace korch
