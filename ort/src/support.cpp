#include "support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "grouping.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"

namespace korch::ort {
namespace {

// Work that makes a group worth a call: an operator that computes counts 1, one of linear_rules as many.
constexpr int kWorthwhile = 3;

std::vector<std::vector<int>> producers_of(const Network& network) {
  std::unordered_map<std::string, int> producer;
  std::vector<std::vector<int>> result(network.nodes.size());
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    for (const std::string& name : network.nodes[i].input()) {
      const auto found = producer.find(name);
      if (!name.empty() && found != producer.end()) result[i].push_back(found->second);
    }
    for (const std::string& name : network.nodes[i].output()) producer[name] = static_cast<int>(i);
  }
  return result;
}

bool is_among(const std::vector<onnx::RuleRow>& rows, const std::string& op_type) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const onnx::RuleRow& row) { return row.op_type == op_type; });
}

bool is_worthwhile(const Network& network, const std::vector<int>& group) {
  int work = 0;
  for (int node : group) {
    const std::string& op_type = network.nodes[node].op_type();
    const bool moves = is_among(onnx::shape_rules(), op_type) || is_among(onnx::layout_rules(), op_type) ||
                       is_among(onnx::sequence_rules(), op_type);
    work += is_among(onnx::linear_rules(), op_type) ? kWorthwhile : moves ? 0 : 1;
  }
  return work >= kWorthwhile;
}

}  // namespace

Support find_support(const Network& network) {
  const std::vector<std::vector<int>> producers = producers_of(network);
  Support support;
  support.refusals.resize(network.nodes.size());
  std::vector<int> group(network.nodes.size(), 0);
  // A node that reads a constant of another group's making may be refused when it no longer sees it; then
  // groups are made anew. Each round refuses one more node at least.
  for (bool changed = true; changed;) {
    changed = false;
    const auto refusals = probe(network, group);
    for (size_t i = 0; i < refusals.size(); ++i) {
      if (!refusals[i]) continue;
      support.refusals[i] = refusals[i];
      changed = true;
    }
    std::vector<bool> wanted;
    for (const auto& refusal : support.refusals) wanted.push_back(!refusal);
    support.groups = convex_groups(producers, wanted);
    group.assign(group.size(), -1);
    for (size_t g = 0; g < support.groups.size(); ++g)
      for (int node : support.groups[g]) group[node] = static_cast<int>(g);
  }
  std::erase_if(support.groups, [&](const auto& nodes) { return !is_worthwhile(network, nodes); });
  return support;
}

std::string describe_group(const Network& network, const std::vector<int>& group) {
  return fmt::format("{} nodes, from {} to {}", group.size(), label(network.nodes[group.front()]),
                     label(network.nodes[group.back()]));
}

std::vector<std::string> describe_refusals(const Network& network, const Support& support) {
  struct Kind {
    std::string example;
    int count = 0;
  };
  std::map<std::string, Kind> kinds;
  std::set<std::string> open;
  int open_count = 0;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const auto& refusal = support.refusals[i];
    if (!refusal || refusal->what.empty()) continue;
    if (!refusal->open.empty()) {
      ++open_count;
      open.insert(refusal->open.begin(), refusal->open.end());
      continue;
    }
    Kind& kind = kinds[onnx::operator_name(network.nodes[i])];
    if (kind.count++ == 0) kind.example = refusal->what;
  }
  std::vector<std::string> lines;
  for (const auto& [name, kind] : kinds)
    lines.push_back(fmt::format("not taken: {}{}", kind.example,
                                kind.count == 1 ? "" : fmt::format(" (and {} more)", kind.count - 1)));
  if (open_count == 0) return lines;
  std::vector<std::string> names;
  for (const std::string& name : open)
    names.push_back(name == "?"      ? "one without a name"
                    : name == "rank" ? "the rank"
                                     : onnx::quoted_name(name));
  lines.push_back(fmt::format(
      "not taken: {} of {} nodes, because dimensions are open: {}. Fix them when the session is made "
      "(add_free_dimension_override_by_name in Python)",
      open_count, network.nodes.size(), fmt::join(names, ", ")));
  return lines;
}

}  // namespace korch::ort
