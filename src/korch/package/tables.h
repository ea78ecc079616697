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

// Self-contained: holds the runtime's own declarations. Defines korch_model, and korch_check_record with
// nothing in it yet.
struct VariantTables {
  PlanVariant variant;
  Plan plan;  // plan_of it
  MemoryPlan memory;
  std::optional<PlanTasks> tasks;
};
std::string table_source(const Plan& plan, const std::vector<VariantTables>& variants, int64_t weights_bytes,
                         Isa isa);

}  // namespace korch
