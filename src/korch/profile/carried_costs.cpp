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

// Nothing where it is of another version, or damaged: a miss.
std::optional<Device> device_of(Database& database, const std::string& hash) {
  const std::optional<Hash> key = hash_from_hex(hash);
  const std::optional<std::string> text = key ? database.get_text(*key) : std::nullopt;
  try {
    return text ? std::optional(device_from_text(*text)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is_one_kind(const Device& a, const Device& b) {
  if (a.name == b.name) return true;
  const GpuRow* row = a.is_gpu() ? gpu_row_of(a.name) : nullptr;
  return row != nullptr && row == gpu_row_of(b.name);
}

bool is_like(const Device& a, const Device& b) {
  return a.kind == b.kind && a.code == b.code && a.workers == b.workers && is_one_kind(a, b);
}

}  // namespace

CarriedCosts::CarriedCosts(Database& database, const Device& device) {
  std::map<std::string, std::optional<Device>> devices;  // by their hashes
  for (const Hash& key : database.described_costs()) {
    const std::optional<CostConditions> row = database.get_conditions(key);
    if (!row || row->protocol != kCostProtocol || !row->part.empty()) continue;
    const auto [known, is_new] = devices.try_emplace(row->device);
    if (is_new) known->second = device_of(database, row->device);
    const std::optional<Device>& measured = known->second;
    if (!measured) continue;
    if (!is_like(*measured, device)) {
      if (measured->is_gpu() && device.is_gpu())
        ++others_[fmt::format("{} ({}, {} multiprocessors)", measured->name, measured->code,
                              measured->workers)];
      continue;
    }
    if (const std::optional<Cost> cost = database.get_cost(key))
      rows_.emplace(name_of(*row), CostRow{key, *cost, *row});
  }
}

std::string CarriedCosts::of_other_gpus() const {
  std::string text;
  for (const auto& [gpu, count] : rows_.empty() ? others_ : decltype(others_)())
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, gpu);
  return text;
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
