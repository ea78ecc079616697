// Costs that were measured elsewhere, found by what their rows say of themselves (cost_row.h): a build
// without a compiler, and one for another machine, plan by them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "korch/device/device.h"
#include "korch/profile/database.h"

namespace korch {

class CarriedCosts {
 public:
  // Of devices with this one's name, code and workers; read at once.
  CarriedCosts(Database& database, const Device& device);
  // Of a kernel that is measured whole: implementation, primitives, arguments and footprint of `kernel` are
  // the row's, and so is its text, `spec`, which is asked for where the others agree. Of several rows the one
  // that was measured with more care, then the later one.
  std::optional<Cost> find(const CostConditions& kernel, const std::function<std::string()>& spec) const;

 private:
  std::multimap<std::string, CostRow> rows_;  // by what find() compares first
};

}  // namespace korch
