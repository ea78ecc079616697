#include "korch/profile/costs_table.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "korch/base/hash.h"

namespace korch {
namespace {

// A field may hold any character; a quote in it is doubled (RFC 4180).
std::string quoted(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

std::string head() {
  std::string line = "network,device,candidate,kernel,family,weight,cost_us,bound_us,log_factor";
  for (size_t i = 0; i < feature_names().size(); ++i)
    line += (i < draft_features() ? ",draft." : ",tile.") + feature_names()[i];
  return line + "\n";
}

}  // namespace

void write_costs_table(const CostSet& costs, const std::function<void(std::string_view line)>& write) {
  write(head());
  for (const CostRow& row : costs.rows) {
    const CostConditions& conditions = row.conditions;
    std::string line;
    fmt::format_to(std::back_inserter(line), "{},{},{},{},{},{},{},{},{}", quoted(conditions.network),
                   conditions.device, hash_text(candidate_of(row)).hex(), quoted(conditions.implementation),
                   quoted(family_of(row)), weight_of(row), row.cost.us, conditions.bound_us, log_factor(row));
    for (const float feature : conditions.features) fmt::format_to(std::back_inserter(line), ",{}", feature);
    write(line += "\n");
  }
}

}  // namespace korch
