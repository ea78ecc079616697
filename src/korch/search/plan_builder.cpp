#include "korch/search/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "korch/codegen/packing.h"
#include "korch/codegen/slice_accesses.h"
#include "korch/interp/work.h"
#include "korch/ir/loops.h"
#include "korch/ir/text.h"
#include "korch/search/slice_limits.h"

namespace korch {
namespace {

// Alternatives kept per step, the cheapest ones: in all, and of those that could stand in the kernel's place.
constexpr size_t kRejectedShown = 8, kReplacementsShown = 5;

// The least that the extent in a tensor can be.
int64_t least_extent(const Plan& plan, int tensor) {
  const PlanTensor& extent = plan.tensors[static_cast<size_t>(tensor)];
  const int64_t dimension = extent.index - static_cast<int64_t>(plan.inputs.size());
  if (extent.role != TensorRole::input || dimension < 0) return 0;
  return plan.dimensions[static_cast<size_t>(dimension)].least;
}

// Without those that no run can reach.
std::vector<PlanSliceLimit> to_plan(const std::vector<SliceLimit>& limits, const BuiltPlan& built) {
  std::vector<PlanSliceLimit> result;
  for (const SliceLimit& limit : limits) {
    const auto tensor = built.extents.find(limit.needed.extent);
    if (tensor == built.extents.end()) continue;
    const auto& [extent, times, plus, by] = limit.needed;
    if ((least_extent(built.plan, tensor->second) * times + plus) / by >= limit.count) continue;
    result.push_back({limit.phase, tensor->second, limit.stride, limit.count, times, plus, by});
  }
  return result;
}

class PlanMaker {
 public:
  PlanMaker(const Graph& graph, const Columns& columns, KernelBank& bank, const Device& target)
      : graph_(graph), columns_(columns), bank_(bank), loops_(graph) {
    plan().threads = target.workers;
    makers_.resize(graph.value_count());
    for (const Column& column : columns.problem.columns) {
      const auto id = static_cast<int>(made_.size());
      made_.emplace_back();
      for (int tensor : column.outputs) made_.back().push_back(columns.problem.tensor_class[tensor]);
      std::sort(made_.back().begin(), made_.back().end());
      if (columns.infos[id].kind != ColumnInfo::Kind::kernel) continue;
      for (int value : made_.back()) makers_[value].push_back(id);
    }
    add_inputs();
  }

  void add(int column) {
    const ColumnInfo& info = columns_.infos[column];
    switch (info.kind) {
      case ColumnInfo::Kind::view:
        add_view(column);
        break;
      case ColumnInfo::Kind::reorder:
      case ColumnInfo::Kind::kernel:
        add_step(column);
        break;
    }
  }

  void add_inputs() {
    const size_t tensors = graph_.inputs().size() - graph_.open_dimensions().size();
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueId input = graph_.inputs()[i];
      const int tensor = new_tensor({input, Layout{}});
      plan().tensors[tensor].role = TensorRole::input;
      plan().tensors[tensor].index = static_cast<int>(i);
      if (i < tensors) plan().inputs.push_back({graph_.value(input).name, graph_.value(input).type});
      tensor_of_[{input, Layout{}}] = tensor;
    }
    plan().dimensions = graph_.open_dimensions();
    plan().states = graph_.states();
  }

  void add_outputs() {
    const size_t tensors = graph_.outputs().size() - graph_.extents().size();
    plan().extents = graph_.extents();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId value = graph_.outputs()[i];
      if (i < tensors) plan().outputs.push_back({graph_.output_names()[i], graph_.value(value).type});
      const int tensor = graph_.constant(value) != nullptr ? constant_tensor(value, Packing{})
                                                           : tensor_of_.at({value, Layout{}});
      const int output = new_tensor({value, Layout{}});
      plan().tensors[output].role = TensorRole::output;
      plan().tensors[output].index = static_cast<int>(i);
      plan().tensors[output].alias_of = tensor;
    }
  }

  // Before loops are put in order.
  void add_limits(const std::vector<int>& chosen) {
    std::set<NodeId> made;
    for (int column : chosen) {
      const ColumnInfo& info = columns_.infos[column];
      if (info.kind == ColumnInfo::Kind::view) made.insert(info.view_node);
      if (info.kind != ColumnInfo::Kind::kernel) continue;
      const std::vector<NodeId>& nodes = columns_.candidates[info.candidate].nodes;
      made.insert(nodes.begin(), nodes.end());
    }
    std::vector<NodeId> order = graph_.topological_order();
    std::erase_if(order, [&](NodeId node) { return !made.contains(node); });
    const std::map<ValueId, NeededPart> parts = needed_parts(graph_, order);
    for (const auto& [value, part] : parts)
      for (const std::optional<NeededExtent>& needed : part)
        if (needed)
          if (const auto tensor = tensor_of_.find({needed->extent, Layout{}}); tensor != tensor_of_.end())
            result.extents[needed->extent] = tensor->second;
    for (size_t s = 0; s < plan().steps.size(); ++s) add_limits(static_cast<int>(s), parts);
  }

  // The steps of each loop between its ends, which know of each other.
  void order_loops() {
    if (loops_.empty()) {
      result.step_columns = std::move(step_columns_);
      return;
    }
    std::vector<PlanStep> steps;
    std::map<int, int> begin_of;
    std::map<int, OpenStep> open_steps;
    for (size_t item : order_by_loops(items_, loops_)) {
      const auto at = static_cast<int>(steps.size());
      if (const auto open = result.open_steps.find(static_cast<int>(item)); open != result.open_steps.end())
        open_steps[at] = std::move(open->second);
      steps.push_back(std::move(plan().steps[item]));
      if (items_[item].begins >= 0) begin_of[items_[item].begins] = at;
      if (items_[item].ends < 0) continue;
      steps.back().other_end = begin_of.at(items_[item].ends);
      steps[static_cast<size_t>(steps.back().other_end)].other_end = at;
    }
    plan().steps = std::move(steps);
    result.open_steps = std::move(open_steps);
  }

  // Limits whose extents nobody has made by then.
  void drop_late_limits() {
    const std::vector<int> made = made_by(plan());
    for (size_t s = 0; s < plan().steps.size(); ++s)
      std::erase_if(plan().steps[s].limits, [&](const PlanSliceLimit& limit) {
        return made[static_cast<size_t>(limit.tensor)] >= static_cast<int>(s);
      });
  }

  BuiltPlan result;

 private:
  Plan& plan() { return result.plan; }

  int new_tensor(const TensorKey& key) {
    const Value& value = graph_.value(key.value);
    PlanTensor tensor;
    tensor.name = value.name;
    tensor.value = key.value;
    tensor.type = value.type;
    tensor.layout = key.layout;
    tensor.size_bytes = physical_bytes(value.type, key.layout);
    plan().tensors.push_back(std::move(tensor));
    return static_cast<int>(plan().tensors.size()) - 1;
  }

  // A tensor that a kernel writes; a second production of the same tensor gets memory of its own.
  int output_tensor(const TensorKey& key) {
    const int tensor = new_tensor(key);
    if (!tensor_of_.emplace(key, tensor).second)
      plan().report.recomputed.push_back(graph_.value(key.value).name);
    return tensor;
  }

  void add_view(int column) {
    const Column& c = columns_.problem.columns[column];
    const TensorKey& key = columns_.tensors[c.outputs[0]];
    if (tensor_of_.count(key) != 0) return;
    const int input = tensor_of_.at(columns_.tensors[c.inputs[0]]);
    const int tensor = output_tensor(key);
    plan().tensors[tensor].alias_of = input;
    plan().tensors[tensor].alias_offset_bytes = columns_.infos[column].view_offset_bytes;
  }

  int kernel_index(int column) {
    const Hash& key = columns_.infos[column].key;
    const auto [place, inserted] = kernel_of_.emplace(key, static_cast<int>(plan().kernels.size()));
    if (inserted) {
      const Result<BuiltKernel>* built = bank_.find(key);
      KORCH_ASSERT(built != nullptr && built->ok(), "a chosen kernel was never built");
      plan().kernels.push_back(built->value().kernel);
      result.objects.push_back(built->value().object);
      result.specs.push_back(built->value().spec);
    }
    return place->second;
  }

  int constant_tensor(ValueId value, const Packing& packing) {
    const auto key = std::make_tuple(value, packing.kind, packing.params);
    const auto [place, is_new] = constant_of_.emplace(key, -1);
    if (is_new) place->second = packed_constant(graph_, value, packing, result);
    return place->second;
  }

  void add_step(int column) {
    const ColumnInfo& info = columns_.infos[column];
    const Column& c = columns_.problem.columns[column];
    PlanStep step;
    step.kernel = kernel_index(column);
    step.predicted_us = c.cost_us;
    step.measured = c.measured;
    step.cost_from = cost_from(column);
    step.bound_us = info.bound_us;
    for (int input : c.inputs) step.inputs.push_back(tensor_of_.at(columns_.tensors[input]));
    if (info.kind == ColumnInfo::Kind::kernel) {
      const Candidate& candidate = columns_.candidates[info.candidate];
      // By value: packing a constant adds tensors, never kernels, but stay independent of that.
      const std::vector<Packing> packing = plan().kernels[step.kernel].constant_packing;
      KORCH_ASSERT(packing.size() == candidate.constants.size(), "one packing per constant");
      for (size_t i = 0; i < candidate.constants.size(); ++i)
        step.constants.push_back(constant_tensor(candidate.constants[i], packing[i]));
      describe(candidate, info.implementation, step);
    } else {
      const TensorKey& from = columns_.tensors[c.inputs[0]];
      const TensorKey& to = columns_.tensors[c.outputs[0]];
      step.label = "reorder";
      step.implementation = fmt::format("reorder {} -> {}", to_string(from.layout), to_string(to.layout));
    }
    for (int output : c.outputs) step.outputs.push_back(output_tensor(columns_.tensors[output]));
    if (!loops_.empty()) note_loop(column, step);
    step.rejected = rejected_for(column);
    plan().steps.push_back(std::move(step));
    step_columns_.push_back(column);
  }

  static bool is_cut(const NeededPart& part) {
    return std::any_of(part.begin(), part.end(), [](const std::optional<NeededExtent>& extent) {
      return extent && extent->extent != kNoId;
    });
  }

  void add_limits(int number, const std::map<ValueId, NeededPart>& parts) {
    PlanStep& step = plan().steps[static_cast<size_t>(number)];
    OpenStep open{step_columns_[static_cast<size_t>(number)], {}};
    bool any = false;
    for (int output : columns_.problem.columns[open.column].outputs) {
      const TensorKey& key = columns_.tensors[output];
      const auto part = parts.find(key.value);
      open.outputs.push_back({graph_.value(key.value).type.shape, key.layout,
                              part == parts.end() ? NeededPart{} : part->second});
      any = any || (part != parts.end() && is_cut(part->second));
    }
    if (!any) return;
    if (const auto& tiles = result.specs[static_cast<size_t>(step.kernel)]->tiles)
      step.limits = plan_limits(*tiles, open.outputs, result);
    result.open_steps[number] = std::move(open);
  }

  // Where the step stands; a loop's end writes where its begin does.
  void note_loop(int column, const PlanStep& step) {
    const ColumnInfo& info = columns_.infos[column];
    if (info.kind != ColumnInfo::Kind::kernel) {
      items_.push_back(
          {loops_.of_value(columns_.tensors[columns_.problem.columns[column].outputs[0]].value)});
      return;
    }
    const NodeId first = columns_.candidates[info.candidate].nodes[0];
    items_.push_back(loops_.item(first));
    if (items_.back().ends < 0) return;
    const Node& begin = graph_.node(loops_.loops()[items_.back().ends].begin);
    for (size_t i = 0; i < step.outputs.size(); ++i)
      plan().tensors[step.outputs[i]].alias_of = tensor_of_.at({begin.outputs[i], Layout{}});
  }

  void describe(const Candidate& candidate, const Implementation& implementation, PlanStep& step) {
    std::map<std::string, int> origins;
    for (NodeId id : candidate.nodes) {
      const Node& node = graph_.node(id);
      step.label += (step.label.empty() ? "" : "+") + std::string(name(node.op));
      if (info(node.op).category == Category::linear &&
          graph_.value(node.inputs[0]).type.dtype == DType::bf16)
        step.label += "(bf16)";
      step.primitives.push_back(print(graph_, id));
      PlanPrimitive& primitive = step.wiring.emplace_back();
      primitive.inputs.assign(node.inputs.begin(), node.inputs.end());
      primitive.outputs.assign(node.outputs.begin(), node.outputs.end());
      primitive.work = evaluation_work(node.op, node.attrs, types_of(node.inputs), types_of(node.outputs));
      for (const std::string& origin : node.origins) {
        const auto [place, is_new] = origins.emplace(origin, static_cast<int>(step.onnx_nodes.size()));
        if (is_new) step.onnx_nodes.push_back(origin);
        primitive.origins.push_back(place->second);
      }
    }
    step.implementation = to_string(implementation);
    if (const auto* schedule = std::get_if<BlockSchedule>(&implementation.schedule)) {
      const block::PlacedGraph& placed = *candidate.structures[static_cast<size_t>(schedule->structure)];
      step.structure = placed.origin + "\n" + block::print(placed.graph);
    }
  }

  std::vector<TensorType> types_of(const std::vector<ValueId>& values) const {
    std::vector<TensorType> types;
    for (ValueId value : values) types.push_back(graph_.value(value).type);
    return types;
  }

  std::set<int> values_read(int column) const {
    std::set<int> values;
    for (int tensor : columns_.problem.columns[column].inputs)
      values.insert(columns_.problem.tensor_class[tensor]);
    return values;
  }

  CostFrom cost_from(int column) const {
    if (!columns_.problem.columns[column].measured)
      return columns_.estimated ? CostFrom::estimate : CostFrom::here;
    return bank_.cost_from(kernel_request(graph_, columns_, column));
  }

  // Other kernels that make the same Values and perhaps more, in whatever layout.
  std::vector<RejectedKernel> rejected_for(int column) const {
    if (columns_.infos[column].kind != ColumnInfo::Kind::kernel) return {};
    const std::vector<int>& wanted = made_[column];
    const std::set<int> given = values_read(column);
    std::vector<RejectedKernel> found;
    for (int other : makers_[wanted.front()]) {
      const Column& c = columns_.problem.columns[other];
      const ColumnInfo& info = columns_.infos[other];
      if (other == column) continue;
      if (!std::includes(made_[other].begin(), made_[other].end(), wanted.begin(), wanted.end())) continue;
      if (!std::isfinite(c.cost_us)) continue;  // refused while building, or the budget ended before its turn
      std::string what = operators_text(graph_, columns_.candidates[info.candidate].nodes);
      what += " " + to_string(info.implementation);
      const char* word = cost_word(cost_from(other), c.measured);
      if (word != std::string_view("measured")) what += fmt::format(" ({})", word);
      const std::set<int> read = values_read(other);
      const bool same_inputs = std::includes(given.begin(), given.end(), read.begin(), read.end());
      found.push_back({std::move(what), c.cost_us, same_inputs});
    }
    std::sort(found.begin(), found.end(), [](const RejectedKernel& a, const RejectedKernel& b) {
      return std::tie(b.same_inputs, a.cost_us, a.what) < std::tie(a.same_inputs, b.cost_us, b.what);
    });
    std::vector<RejectedKernel> shown;
    for (RejectedKernel& kernel : found)
      if (shown.size() < (kernel.same_inputs ? kReplacementsShown : kRejectedShown))
        shown.push_back(std::move(kernel));
    return shown;
  }

  const Graph& graph_;
  const Columns& columns_;
  KernelBank& bank_;
  const Loops loops_;
  std::vector<LoopItem> items_;           // where each step stands; none where there are no loops
  std::vector<std::vector<int>> made_;    // of each column: the Values it makes, ascending
  std::vector<std::vector<int>> makers_;  // of each Value: the kernel columns that make it
  std::map<TensorKey, int> tensor_of_;
  std::vector<int> step_columns_;  // of each step
  std::map<Hash, int> kernel_of_;
  std::map<std::tuple<ValueId, std::string, std::vector<int64_t>>, int> constant_of_;
};

}  // namespace

std::vector<PlanSliceLimit> plan_limits(const tile::TileGraph& tiles,
                                        const std::vector<LimitedOutput>& outputs, const BuiltPlan& built) {
  return to_plan(slice_limits(tiles, outputs), built);
}

int packed_constant(const Graph& graph, ValueId value, const Packing& packing, BuiltPlan& built) {
  Plan& plan = built.plan;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    if (plan.tensors[t].role != TensorRole::constant) continue;
    const PlanConstant& known = plan.constants[static_cast<size_t>(plan.tensors[t].index)];
    if (known.source == static_cast<int>(value) && known.packing == packing) return static_cast<int>(t);
  }
  std::string bytes = pack(*graph.constant(value), packing);
  PlanConstant constant{static_cast<int>(value), packing, hash_bytes(bytes.data(), bytes.size()),
                        static_cast<int64_t>(bytes.size())};
  PlanTensor tensor;
  tensor.name = graph.value(value).name;
  tensor.value = value;
  tensor.type = graph.value(value).type;
  tensor.role = TensorRole::constant;
  tensor.index = static_cast<int>(plan.constants.size());
  tensor.size_bytes = constant.size_bytes;
  plan.tensors.push_back(std::move(tensor));
  plan.constants.push_back(std::move(constant));
  built.constant_bytes.push_back(std::move(bytes));
  return static_cast<int>(plan.tensors.size()) - 1;
}

std::vector<int> made_by(const Plan& plan) {
  constexpr int kNever = std::numeric_limits<int>::max();
  const auto root_of = [&](int tensor) {
    while (plan.tensors[static_cast<size_t>(tensor)].alias_of >= 0)
      tensor = plan.tensors[static_cast<size_t>(tensor)].alias_of;
    return static_cast<size_t>(tensor);
  };
  std::vector<int> made(plan.tensors.size(), kNever);
  for (size_t t = 0; t < made.size(); ++t)
    if (plan.tensors[t].role == TensorRole::input) made[t] = -1;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (int output : plan.steps[s].outputs) {
      int& by = made[root_of(output)];
      by = std::min(by, static_cast<int>(s));
    }
  for (size_t t = 0; t < made.size(); ++t) made[t] = made[root_of(static_cast<int>(t))];
  return made;
}

KernelRequest kernel_request(const Graph& graph, const Columns& columns, int column) {
  column = columns.infos[column].representative;
  const ColumnInfo& info = columns.infos[column];
  KernelRequest request;
  request.key = info.key;
  request.bound_us = info.bound_us;
  if (info.kind == ColumnInfo::Kind::kernel) {
    request.candidate = &columns.candidates[info.candidate];
    request.implementation = &info.implementation;
  } else {
    const TensorKey& from = columns.tensors[columns.problem.columns[column].inputs[0]];
    request.reorder_type = graph.value(from.value).type;
    request.reorder_from = from.layout;
    request.reorder_to = columns.tensors[columns.problem.columns[column].outputs[0]].layout;
  }
  return request;
}

void add_accesses(BuiltPlan& built) {
  for (size_t k = 0; k < built.plan.kernels.size(); ++k)
    if (const auto& tiles = built.specs[k]->tiles)
      built.plan.kernels[k].accesses = slice_accesses(*tiles, built.plan.kernels[k], built.plan.threads);
}

BuiltPlan build_plan(const Graph& graph, const Columns& columns, const std::vector<int>& chosen,
                     KernelBank& bank, const Device& target, Accuracy accuracy) {
  PlanMaker maker(graph, columns, bank, target);
  for (int column : chosen) maker.add(column);
  maker.add_outputs();
  maker.add_limits(chosen);
  maker.order_loops();
  maker.drop_late_limits();
  maker.result.plan.flushes_subnormals = accuracy != Accuracy::strict;
  return std::move(maker.result);
}

}  // namespace korch
