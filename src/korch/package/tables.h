// The tables of an executable (runtime/model.h) as C++ source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/package/memory.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan.h"
#include "korch/target/target.h"

namespace korch {

constexpr const char* kWeightsSymbol = "korch_weights";

// Objects of different kernels may use equal names; in an executable each gets its kernel's number in front.
std::string linked_symbol(int kernel, const std::string& symbol);

// Where a step that begins or ends a loop goes on (rt::Step): from the begin behind the end, from the end
// behind the begin; their second result says when.
struct Jump {
  int arg = -1, by = 0;
  bool when = false;
};
Jump jump_of(const Plan& plan, int step);

// Of the whole, and of each of Plan::constants its offset there.
struct WeightsLayout {
  int64_t size_bytes = 0;
  std::vector<int64_t> offsets;
};

// Self-contained: holds the runtime's own declarations. Defines korch_model, and korch_check_record with
// nothing in it yet.
std::string table_source(const Plan& plan, const std::vector<Placement>& placements,
                         const WeightsLayout& weights, Isa isa);

}  // namespace korch
