#include "korch/package/executable_parts.h"

#include <algorithm>
#include <unordered_map>

#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/package/executable.h"
#include "korch/package/graphs.h"
#include "korch/package/memory.h"
#include "korch/package/sources.h"
#include "korch/plan/program.h"

namespace korch {
namespace {

// The constants behind each other, equal ones once; gives where each stands.
WeightsLayout lay_out(const std::vector<std::string>& constants, std::vector<std::string_view>& parts) {
  static constexpr char kPadding[kBufferAlignment] = {};
  WeightsLayout layout;
  std::unordered_map<Hash, size_t, HashHasher> known;
  for (size_t c = 0; c < constants.size(); ++c) {
    const std::string& bytes = constants[c];
    const auto [found, is_new] = known.emplace(hash_text(bytes), c);
    if (!is_new && constants[found->second] == bytes) {
      layout.offsets.push_back(layout.offsets[found->second]);
      continue;
    }
    layout.offsets.push_back(layout.size_bytes);
    const size_t padding = (kBufferAlignment - bytes.size() % kBufferAlignment) % kBufferAlignment;
    parts.push_back(bytes);
    parts.push_back({kPadding, padding});
    layout.size_bytes += static_cast<int64_t>(bytes.size() + padding);
  }
  return layout;
}

void check_numbers(const PackageInput& input) {
  const Plan& plan = *input.plan;
  KORCH_ASSERT(input.objects.size() == plan.kernels.size(), "one object per kernel");
  KORCH_ASSERT(input.constant_bytes.size() == plan.constants.size(), "one blob per constant");
  KORCH_ASSERT(input.placements.size() == shape_plans_of(plan).size(), "one placement per shape plan");
  const auto take_as_many = [&](int kernel, const std::vector<int>& constants) {
    return plan.kernels[static_cast<size_t>(kernel)].constant_packing.size() == constants.size();
  };
  for (const PlanStep& step : plan.steps) {
    bool fits =
        take_as_many(step.kernel, step.constants) && step.variants.list.size() <= rt::kMostKernelVariants;
    for (const KernelVariant& variant : step.variants.list)
      fits = fits && take_as_many(variant.kernel, variant.constants);
    KORCH_ASSERT(fits, "step '" + step.label + "': its kernel wants another number of constants");
  }
}

}  // namespace

ExecutableParts::ExecutableParts(const PackageInput& input, Isa isa, const DeviceCode* gpu) : input_(input) {
  check_numbers(input);
  layout_ = lay_out(input.constant_bytes, weights_);
  tables_ = model_tables(*input.plan, input.placements, layout_, isa, gpu);
  info_ = model_info(*input.plan, input.placements, layout_, input.target.code);
  sources_ = pack_sources(*input.plan);
  graphs_ = pack_graphs(*input.plan);
}

std::vector<DataSection> ExecutableParts::sections() const {
  return {{kTablesSection, DataSection::tables, {tables_.bytes()}, kModelSymbol, tables_.links()},
          {kInfoSection, DataSection::addresses, {info_.bytes()}, kInfoSymbol, info_.links()},
          {kWeightsSection, DataSection::large, weights_, kWeightsSymbol},
          {kPlanSection, DataSection::unloaded, {input_.plan_json}, ""},
          {kTargetSection, DataSection::unloaded, {input_.target.code}, ""},
          {kSourcesSection, DataSection::unloaded, {sources_}, ""},
          {kGraphsSection, DataSection::unloaded, {graphs_}, ""}};
}

PackageReport ExecutableParts::report() const {
  int64_t arena_bytes = 0;
  for (const Placement& placed : input_.placements)
    arena_bytes = std::max(arena_bytes, placed.memory.arena_bytes);
  return {arena_bytes, layout_.size_bytes};
}

}  // namespace korch
