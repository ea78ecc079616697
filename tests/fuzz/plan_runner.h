// A built plan, run in this process as its executable would: the same objects, memory plan, step executor and
// pool, without linking. Everything a kernel may not rely on is poisoned, everything it may not touch is
// watched. A plan for a GPU is written as an executable, which runs on the emulated one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/search/plan_builder.h"

namespace korch::fuzz {

struct PlanRun {
  std::vector<HostTensor> outputs;
  std::optional<std::string> trouble;  // a refusal, or memory that changed and should not have
};

// `observe` sees every tensor that a step made, in memory order, right after it.
PlanRun run_plan(const BuiltPlan& built, const Device& target, const std::vector<HostTensor>& inputs,
                 const std::function<void(int step, int output, const void* memory)>& observe);

}  // namespace korch::fuzz
