// What several verbs share on the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/json.h"
#include "korch/plan/plan.h"
#include "korch/tensor/shape.h"

namespace korch {

// {"NAME=1x3x224x224", "SYMBOL=1..64", ...}: the largest extents, and where a range leaves one open the least
// too. Throws Error{usage}.
void parse_shapes(const std::vector<std::string>& items, std::map<std::string, Shape>* most,
                  std::map<std::string, Shape>* least);

// {"SYMBOL=4", ...}. Throws Error{usage}.
std::map<std::string, int64_t> parse_extents(const std::vector<std::string>& items);

// {"NAME=VALUE", ...} as a map; throws Error{usage} on a missing '=' or a name given twice.
std::map<std::string, std::string> parse_assignments(const std::string& option,
                                                     const std::vector<std::string>& items);

// The names of PlanSchedule.
std::map<std::string, PlanSchedule> schedules_by_name();

// Indented, one newline at the end. What is not UTF-8 in a model's names is replaced.
std::string json_text(const nlohmann::ordered_json& json);
// The same on the standard output.
void print_json(const nlohmann::ordered_json& json);

}  // namespace korch
