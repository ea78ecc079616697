// Costs that were measured elsewhere, found by the descriptions in their rows (cost_row.h). A build without a
// compiler, and one for another machine, plan by them.
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
  // Reads the costs of devices with this one's name, code and workers. GPUs of one row of kGpus have one
  // name.
  CarriedCosts(Database& database, const Device& device);
  // The cost of a whole kernel. The row's implementation, primitives, arguments and footprint must be those
  // of `kernel`, and its text that of `spec`, which is called only if the others agree. Of several rows the
  // one measured with more care, then the later one.
  std::optional<Cost> find(const CostConditions& kernel, const std::function<std::string()>& spec) const;
  // Where there are none of this device: other GPUs whose costs there are, in words; "": none.
  std::string of_other_gpus() const;

 private:
  std::multimap<std::string, CostRow> rows_;  // by what find() compares first
  std::map<std::string, int> others_;         // how many costs of each other GPU, by its name and code
};

}  // namespace korch
