#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli.h"
#include "korch/onnx/operator_types.h"
#include "korch/onnx/rules.h"
#include "verbs.h"

namespace korch {
namespace {

std::vector<onnx::RuleRow> rows_of(const std::string& domain) {
  std::vector<onnx::RuleRow> rows;
  for (const auto& table : onnx::rule_tables(domain)) rows.insert(rows.end(), table.begin(), table.end());
  std::sort(rows.begin(), rows.end(), [](const onnx::RuleRow& a, const onnx::RuleRow& b) {
    return std::string(a.op_type) < b.op_type;
  });
  return rows;
}

void print_operators(bool json) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (!json)
    fmt::print("{:<14} {:<34} {:>5} {:>7} {:>5}  {}\n", "domain", "operator", "since", "version", "until",
               "types of the first input");
  for (const char* domain : onnx::kDomains)
    for (const onnx::RuleRow& row : rows_of(domain)) {
      const bool ends = row.until < onnx::kLatestOpset;
      const std::string types = domain == onnx::kDomains[0] ? onnx::operator_types(row.op_type) : "";
      if (!json)
        fmt::print("{:<14} {:<34} {:>5} {:>7} {:>5}  {}\n", domain, row.op_type, row.since, row.version,
                   ends ? std::to_string(row.until) : "", types);
      nlohmann::ordered_json entry = {
          {"domain", domain}, {"operator", row.op_type}, {"since", row.since}, {"version", row.version}};
      if (ends) entry["until"] = row.until;
      if (!types.empty()) entry["types"] = types;
      all.push_back(std::move(entry));
    }
  if (json) print_json(all);
}

}  // namespace

void add_operators_verb(CommandLine& command_line) {
  auto json = std::make_shared<bool>(false);
  Options verb =
      command_line.verb("operators", "list the ONNX operators that can be compiled, by their versions");
  verb.flag("--json", *json, "print the result as JSON");
  verb.runs([json] { print_operators(*json); });
}

}  // namespace korch
