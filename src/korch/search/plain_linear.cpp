#include "korch/search/plain_linear.h"

#include <algorithm>
#include <limits>
#include <set>

namespace korch {
namespace {

// An implementation must be this much slower alone than another one with its layout changes to be left out:
// what is fused into it may suit one better than the other.
constexpr double kClearlySlower = 1.25;
constexpr double kNoTime = std::numeric_limits<double>::infinity();

// The linear primitive, of three parts the last, and how many primitives it is.
struct Core {
  NodeId node = kNoId;
  ValueId data = kNoId, result = kNoId;
  size_t primitives = 1;
};
Core core_of(const Graph& graph, const Candidate& candidate) {
  Core core;
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    if (info(node.op).category == Category::linear) core = {id, node.inputs[0], node.outputs[0], 1};
  }
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    const LinearPart part = info(node.op).fusing.part;
    if (core.node == kNoId) break;
    if (part == LinearPart::data && node.outputs[0] == core.data) {
      core.data = node.inputs[0];
      core.primitives += 1;
    } else if (part == LinearPart::result && node.inputs[0] == core.result) {
      core.node = id;
      core.result = node.outputs[0];
      core.primitives += 1;
    }
  }
  return core;
}

// The same kind of layout for another shape: what is fused may read and write tensors of another rank.
Layout alike(const Layout& layout, const Shape& shape) {
  const int rank = static_cast<int>(shape.size());
  if (layout.is_row_major() || rank < 3) return {};
  return canonical(
      layout.block_axis >= 0 ? Layout::channel_blocked(layout.block) : Layout::channels_last(rank), shape);
}

// The layout of what the first operand is computed from inside the candidate.
Layout data_layout(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                   ValueId data) {
  std::set<ValueId> behind = {data};
  for (auto id = candidate.nodes.rbegin(); id != candidate.nodes.rend(); ++id)
    for (ValueId output : graph.node(*id).outputs)
      if (behind.count(output) != 0)
        behind.insert(graph.node(*id).inputs.begin(), graph.node(*id).inputs.end());
  for (size_t i = 0; i < candidate.inputs.size(); ++i)
    if (behind.count(candidate.inputs[i]) != 0 && !implementation.input_layouts[i].is_row_major())
      return alike(implementation.input_layouts[i], graph.value(data).type.shape);
  return {};
}

Layout result_layout(const Graph& graph, const Implementation& implementation, ValueId result) {
  for (const Layout& layout : implementation.output_layouts)
    if (!layout.is_row_major()) return alike(layout, graph.value(result).type.shape);
  return {};
}

}  // namespace

PlainLinear::PlainLinear(const Graph& graph, const Columns& columns) : graph_(graph), columns_(columns) {
  linear_of_.assign(columns.infos.size(), kNoId);
  form_of_.resize(columns.infos.size());
  for (size_t i = 0; i < columns.infos.size(); ++i) {
    const ColumnInfo& info = columns.infos[i];
    const Column& column = columns.problem.columns[i];
    if (info.kind == ColumnInfo::Kind::reorder)
      reorders_[{columns.tensors[column.inputs[0]], columns.tensors[column.outputs[0]]}] =
          static_cast<int>(i);
    if (info.kind != ColumnInfo::Kind::kernel) continue;
    const Candidate& candidate = columns.candidates[info.candidate];
    const Core core = core_of(graph, candidate);
    if (core.node == kNoId) continue;
    linear_of_[i] = core.node;
    Linear& entry = linears_[core.node];
    entry.data = core.data;
    entry.result = core.result;
    form_of_[i] = form_of(candidate, info.implementation, entry);
    if (candidate.nodes.size() == core.primitives) entry.alone[form_of_[i]].push_back(static_cast<int>(i));
  }
}

PlainLinear::LinearForm PlainLinear::form_of(const Candidate& candidate, const Implementation& implementation,
                                             const Linear& linear) const {
  return {implementation.family + algorithm_of(implementation.schedule),
          data_layout(graph_, candidate, implementation, linear.data),
          result_layout(graph_, implementation, linear.result)};
}

std::vector<int> PlainLinear::probes() const {
  std::vector<int> result;
  for (const auto& [node, linear] : linears_) {
    for (const auto& [form, columns] : linear.alone)
      result.insert(result.end(), columns.begin(), columns.end());
    for (const auto& [ends, column] : reorders_)
      if (ends.first.value == linear.data || ends.first.value == linear.result) result.push_back(column);
  }
  return result;
}

double PlainLinear::alone_us(const Linear& linear, const LinearForm& form) const {
  double best = kNoTime;
  const auto found = linear.alone.find(form);
  if (found == linear.alone.end()) return best;
  for (int column : found->second) best = std::min(best, columns_.problem.columns[column].cost_us);
  return best;
}

double PlainLinear::reorder_us(ValueId value, const Layout& from, const Layout& to) const {
  if (from == to) return 0;
  const auto found = reorders_.find({{value, from}, {value, to}});
  return found == reorders_.end() ? kNoTime : columns_.problem.columns[found->second].cost_us;
}

bool PlainLinear::clearly_better(const Linear& linear, const LinearForm& form,
                                 const LinearForm& other) const {
  const double alone = alone_us(linear, form);
  if (alone == kNoTime) return false;
  return alone > kClearlySlower * (alone_us(linear, other) + reorder_us(linear.data, form.data, other.data) +
                                   reorder_us(linear.result, other.result, form.result));
}

std::vector<bool> PlainLinear::dominated() const {
  std::map<int, std::vector<int>> by_candidate;
  for (size_t i = 0; i < linear_of_.size(); ++i)
    if (linear_of_[i] != kNoId) by_candidate[columns_.infos[i].candidate].push_back(static_cast<int>(i));
  std::vector<bool> result(linear_of_.size(), false);
  for (const auto& [candidate, columns] : by_candidate)
    for (int column : columns) {
      const Linear& linear = linears_.at(linear_of_[column]);
      result[column] = std::any_of(columns.begin(), columns.end(), [&](int other) {
        return clearly_better(linear, form_of_[column], form_of_[other]);
      });
    }
  return result;
}

std::vector<double> PlainLinear::plain_costs_us() const {
  std::vector<double> result(linear_of_.size(), 0);
  for (size_t i = 0; i < linear_of_.size(); ++i) {
    if (linear_of_[i] == kNoId) continue;
    const double alone = alone_us(linears_.at(linear_of_[i]), form_of_[i]);
    if (alone != kNoTime) result[i] = alone;
  }
  return result;
}

}  // namespace korch
