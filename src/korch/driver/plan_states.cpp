#include "korch/driver/plan_states.h"

namespace korch {

StateOptions states_of(const Plan& plan) {
  StateOptions states;
  states.find = false;
  for (const StatePair& state : plan.states) {
    const PlanIo &input = plan.inputs[static_cast<size_t>(state.input)],
                 &output = plan.outputs[static_cast<size_t>(state.output)];
    states.pairs.emplace_back(input.name, output.name);
    if (state.axis >= 0) states.capacities[input.name] = output.type.shape[static_cast<size_t>(state.axis)];
  }
  return states;
}

}  // namespace korch
