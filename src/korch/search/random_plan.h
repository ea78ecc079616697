// The strategy `random`: a plan drawn from all columns of the program, for testing. Two plans of one network
// must agree, whatever they are made of; this draws the second one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "korch/profile/kernel_bank.h"
#include "korch/search/columns.h"
#include "korch/search/plan_chooser.h"

namespace korch {

// Speeds of no machine in particular: a draw is not about time, and the real ones take seconds to measure.
Device with_made_up_speeds(Device device);

struct RandomPlan {
  Solution solution;  // its kernels are in the bank; infeasible: none exists
  std::map<RefusalReason, std::string> refusal_examples;  // the first of each
};

// The cheapest plan at random costs, found by a narrow regression: every plan that regression can reach has
// some chance. Each kind of column (family, layouts, number of outputs, size, views) gets a random factor
// first, so that rare kinds are not rare among plans. Half of the draws also make one column of a random
// family, or of a random alternative, nearly free, and all others that compute a part of it dear. A column
// whose kernel is refused leaves the program, and the draw goes on. Deterministic: the same seed, the same
// plan.
RandomPlan draw_plan(const Graph& graph, const Columns& columns, KernelBank& bank, uint64_t seed);

// The same as an answer of the solve stage: its costs are the columns', its bound says nothing.
Choice choose_at_random(const Graph& graph, const Columns& columns, KernelBank& bank, uint64_t seed);

}  // namespace korch
