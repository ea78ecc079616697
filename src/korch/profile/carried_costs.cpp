#include "korch/profile/carried_costs.h"

#include <fmt/format.h>

#include <utility>

#include "korch/base/error.h"

namespace korch {
namespace {

std::string name_of(const CostConditions& kernel) {
  return fmt::format("{}|{}|{}|{}", kernel.implementation, kernel.primitives, kernel.arguments,
                     kernel.footprint_bytes);
}

bool is_of(const Device& device, Database& database, const std::string& hash) {
  const std::optional<Hash> key = hash_from_hex(hash);
  const std::optional<std::string> text = key ? database.get_text(*key) : std::nullopt;
  if (!text) return false;
  try {
    const Device measured = device_from_text(*text);
    return measured.kind == device.kind && measured.name == device.name && measured.code == device.code &&
           measured.workers == device.workers;
  } catch (const Error&) {  // of another version, or damaged: a miss
    return false;
  }
}

}  // namespace

CarriedCosts::CarriedCosts(Database& database, const Device& device) {
  std::map<std::string, bool> is_ours;  // by the device's hash
  for (const Hash& key : database.described_costs()) {
    const std::optional<CostConditions> row = database.get_conditions(key);
    if (!row || row->protocol != kCostProtocol || !row->part.empty()) continue;
    const auto [known, is_new] = is_ours.try_emplace(row->device);
    if (is_new) known->second = is_of(device, database, row->device);
    if (!known->second) continue;
    if (const std::optional<Cost> cost = database.get_cost(key))
      rows_.emplace(name_of(*row), CostRow{key, *cost, *row});
  }
}

std::optional<Cost> CarriedCosts::find(const CostConditions& kernel,
                                       const std::function<std::string()>& spec) const {
  const auto [begin, end] = rows_.equal_range(name_of(kernel));
  if (begin == end) return std::nullopt;
  const std::string hash = hash_text(spec()).hex();
  const CostRow* best = nullptr;
  const auto worth = [](const CostRow& row) {
    return std::pair(row.cost.care, row.conditions.measured_at_s);
  };
  for (auto row = begin; row != end; ++row)
    if (row->second.conditions.spec == hash && (best == nullptr || worth(row->second) > worth(*best)))
      best = &row->second;
  return best == nullptr ? std::nullopt : std::optional(best->cost);
}

}  // namespace korch
