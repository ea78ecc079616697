#include "korch/inspect/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

using StepIdentity = std::pair<std::string, std::vector<std::string>>;  // kernel, ONNX nodes

StepIdentity identity(const DiffSide& side, size_t step) {
  return {side.keys[step], side.plan.steps[step].onnx_nodes};
}

// Steps of both plans as one sequence: a's, then b's.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }
  size_t find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(size_t i, size_t j) { parent_[find(j)] = find(i); }

 private:
  std::vector<size_t> parent_;
};

double difference(double a_us, double b_us) {
  return std::abs(b_us - a_us);
}

// What one has and the other has not, or has otherwise. `what`: "input" or "output".
void compare_io(const char* what, const std::vector<PlanIo>& a, const std::vector<PlanIo>& b,
                std::vector<std::string>& differences) {
  std::map<std::string, TensorType> of_b;
  for (const PlanIo& io : b) of_b.emplace(io.name, io.type);
  for (const PlanIo& io : a) {
    const auto found = of_b.find(io.name);
    if (found == of_b.end()) {
      differences.push_back(fmt::format("{} '{}' is only in the first", what, io.name));
      continue;
    }
    if (found->second != io.type)
      differences.push_back(fmt::format("{} '{}' is {} in the first and {} in the second", what, io.name,
                                        to_string(io.type), to_string(found->second)));
    of_b.erase(found);
  }
  for (const PlanIo& io : b)
    if (of_b.contains(io.name))
      differences.push_back(fmt::format("{} '{}' is only in the second", what, io.name));
}

std::vector<std::string> compare_networks(const Plan& a, const Plan& b) {
  std::vector<std::string> differences;
  compare_io("input", a.inputs, b.inputs, differences);
  compare_io("output", a.outputs, b.outputs, differences);
  const std::string &a_hash = a.report.network, &b_hash = b.report.network;
  if (differences.empty() && !a_hash.empty() && !b_hash.empty() && a_hash != b_hash)
    differences.push_back("operators or weights differ, inputs and outputs do not");
  return differences;
}

bool share_nodes(const Plan& a, const Plan& b) {
  std::set<std::string> nodes;
  for (const PlanStep& step : a.steps) nodes.insert(step.onnx_nodes.begin(), step.onnx_nodes.end());
  return std::any_of(b.steps.begin(), b.steps.end(), [&](const PlanStep& step) {
    return std::any_of(step.onnx_nodes.begin(), step.onnx_nodes.end(),
                       [&](const std::string& node) { return nodes.contains(node); });
  });
}

std::string side_line(char sign, const DiffSide& side, const std::string& times, double us) {
  const PlanReport& r = side.plan.report;
  return fmt::format("{} {}: {} kernels, {} {:.2f} us; {}, strategy {}, accuracy {}, {}\n", sign, side.path,
                     side.plan.steps.size(), times, us, r.model, r.strategy, r.accuracy, r.target);
}

std::string step_line(const char* sign, const DiffSide& side, int step) {
  const PlanStep& s = side.plan.steps[step];
  return fmt::format("  {} {:10.2f} us  step {:4}  {} [{}]\n", sign, side.us[step], step, s.label,
                     s.implementation);
}

}  // namespace

DiffSide diff_side(const std::string& path, const std::string& plan_json) {
  DiffSide side;
  side.path = path;
  side.plan = plan_from_json(plan_json);
  const nlohmann::json json = nlohmann::json::parse(plan_json);
  for (const PlanStep& step : side.plan.steps) {
    side.keys.push_back(json.at("kernels").at(step.kernel).at("key"));
    side.us.push_back(step.predicted_us);
  }
  return side;
}

PlanDiff diff_plans(const DiffSide& a, const DiffSide& b) {
  PlanDiff diff;
  diff.networks = compare_networks(a.plan, b.plan);
  if (!diff.networks.empty() && !share_nodes(a.plan, b.plan))
    throw Error(ErrorKind::invalid,
                fmt::format("{} and {} are of different networks, without one ONNX node in common: {}",
                            a.path, b.path, fmt::join(diff.networks, "; ")));
  const size_t a_steps = a.plan.steps.size(), steps = a_steps + b.plan.steps.size();
  const auto nodes = [&](size_t i) -> const std::vector<std::string>& {
    return i < a_steps ? a.plan.steps[i].onnx_nodes : b.plan.steps[i - a_steps].onnx_nodes;
  };
  std::map<StepIdentity, std::vector<size_t>> of_b;  // the first in execution order last
  for (size_t j = b.plan.steps.size(); j-- > 0;) of_b[identity(b, j)].push_back(j);
  std::vector<bool> is_shared(steps, false);
  for (size_t i = 0; i < a_steps; ++i) {
    const auto found = of_b.find(identity(a, i));
    if (found == of_b.end() || found->second.empty()) continue;
    const size_t j = found->second.back();
    found->second.pop_back();
    diff.same.emplace_back(static_cast<int>(i), static_cast<int>(j));
    is_shared[i] = is_shared[a_steps + j] = true;
  }
  Sets sets(steps);
  std::map<std::string, size_t> first_of_node;
  for (size_t i = 0; i < steps; ++i) {
    if (is_shared[i]) continue;
    for (const std::string& node : nodes(i)) sets.unite(first_of_node.emplace(node, i).first->second, i);
  }
  std::map<size_t, DiffPart> parts;
  std::map<size_t, std::set<std::string>> nodes_of_part;
  for (size_t i = 0; i < steps; ++i) {
    const bool is_a = i < a_steps;
    const size_t step = is_a ? i : i - a_steps;
    const double us = is_a ? a.us[step] : b.us[step];
    (is_a ? diff.a_us : diff.b_us) += us;
    if (is_shared[i]) continue;
    DiffPart& part = parts[sets.find(i)];
    (is_a ? part.a : part.b).push_back(static_cast<int>(step));
    (is_a ? part.a_us : part.b_us) += us;
    for (const std::string& node : nodes(i))
      if (nodes_of_part[sets.find(i)].insert(node).second) part.onnx_nodes.push_back(node);
  }
  for (auto& [root, part] : parts) diff.parts.push_back(std::move(part));
  std::stable_sort(diff.parts.begin(), diff.parts.end(), [](const DiffPart& x, const DiffPart& y) {
    return difference(x.a_us, x.b_us) > difference(y.a_us, y.b_us);
  });
  std::stable_sort(diff.same.begin(), diff.same.end(), [&](const auto& x, const auto& y) {
    return difference(a.us[x.first], b.us[x.second]) > difference(a.us[y.first], b.us[y.second]);
  });
  return diff;
}

std::string describe(const PlanDiff& diff, const DiffSide& a, const DiffSide& b, const std::string& times,
                     size_t same_limit) {
  std::string text = side_line('-', a, times, diff.a_us) + side_line('+', b, times, diff.b_us);
  if (!diff.networks.empty())
    text += fmt::format("not the same network: {}\n", fmt::join(diff.networks, "; "));
  text += fmt::format("{} kernels the same for the same ONNX nodes\n", diff.same.size());
  for (const DiffPart& part : diff.parts) {
    text += fmt::format(
        "\n{:.2f} us -> {:.2f} us: {}\n", part.a_us, part.b_us,
        part.onnx_nodes.empty() ? "no ONNX node" : fmt::format("{}", fmt::join(part.onnx_nodes, ", ")));
    for (int step : part.a) text += step_line("-", a, step);
    for (int step : part.b) text += step_line("+", b, step);
  }
  size_t listed = 0;
  for (const auto& [i, j] : diff.same) {
    if (listed == same_limit || a.us[i] == b.us[j]) break;
    if (listed++ == 0) text += "\nthe same kernel, other times:\n";
    text += fmt::format("  {:10.2f} us -> {:10.2f} us  steps {}, {}  {} [{}]\n", a.us[i], b.us[j], i, j,
                        a.plan.steps[i].label, a.plan.steps[i].implementation);
  }
  return text;
}

}  // namespace korch
