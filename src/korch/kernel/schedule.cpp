#include "korch/kernel/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/kernel/partition.h"
#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

class ScheduleVerifier {
 public:
  ScheduleVerifier(const TileGraph& graph, const Phase& phase, const Nest& nest, const NestSchedule& schedule)
      : graph_(graph), phase_(phase), nest_(nest), schedule_(schedule) {}

  std::string fault() const {
    if (std::string fault = lanes(); !fault.empty()) return fault;
    if (schedule_.registers) {
      const std::optional<Product> product = product_of(graph_, nest_);
      if (!product || !has_register_tiles(graph_.pool[nest_.stores[0].value].type))
        return "registers hold products of rows and columns of f32 or i32 alone";
      if (!schedule_.matrix_units && !product->has_neighbouring_columns())
        return "without matrix units columns of a product's operand lie beside each other";
    }
    if (schedule_.matrix_units &&
        (!schedule_.registers || graph_.pool[nest_.stores[0].value].type != DType::f32))
      return "matrix units make products of f32 in registers";
    if (schedule_.stages != 1 && (schedule_.stages != 2 || !schedule_.registers))
      return "a product in registers has panels in 1 or 2 stages";
    if (!schedule_.registers && (schedule_.prefetch_rows || schedule_.prefetch_columns))
      return "prefetch without registers";
    return partitions();
  }

 private:
  std::string lanes() const {
    const std::string& variable = schedule_.variable;
    if (!nest_.segments.empty() && nest_.cut != variable)
      return fmt::format("segments of '{}', which counts no lanes", nest_.cut);
    if (!variable.empty() && ranks(nest_.kind)) return "what ranks has no lanes";
    if (schedule_.across && nest_.kind != NestKind::reduce) return "lanes run across a reduction alone";
    if (variable.empty()) return {};
    const std::vector<LoopVariable>& loops = schedule_.across ? nest_.reduced : nest_.loops;
    if (std::none_of(loops.begin(), loops.end(), [&](const LoopVariable& v) { return v.name == variable; }))
      return fmt::format("'{}' is no loop that lanes could run along", variable);
    if (nest_.kind == NestKind::scatter && !scatters_in_lanes(graph_, nest_, variable))
      return fmt::format("lanes along {} would scatter in another order", variable);
    for (const Store& store : nest_.stores)
      if (store.condition.depends_on(variable) || store.condition.depends_on(schedule_.transposed))
        return fmt::format("'{}' counts lanes and decides a store", variable);
    return {};
  }

  std::string partitions() const {
    const std::vector<std::string>& partitioned = schedule_.partitioned;
    if (schedule_.jam > 1 && (partitioned.empty() || partitioned.back() == schedule_.variable))
      return "values of a partitioned variable, other than the lanes', are jammed";
    if (partitioned.empty()) return {};
    if (nest_.kind != NestKind::map || !schedule_.transposed.empty())
      return "only a map without transposed blocks is partitioned";
    const std::vector<std::string> order = nesting_order(phase_, nest_, schedule_.variable);
    for (const std::string& variable : partitioned) {
      if (std::count(order.begin(), order.end(), variable) == 0)
        return fmt::format("no variable '{}' to partition along", variable);
      if (std::count(partitioned.begin(), partitioned.end(), variable) > 1)
        return fmt::format("partitioned along '{}' twice", variable);
      if (decided_along(graph_.pool, phase_, nest_, schedule_.variable, variable).always_true())
        return fmt::format("no condition changes along '{}'", variable);
    }
    return {};
  }

  const TileGraph& graph_;
  const Phase& phase_;
  const Nest& nest_;
  const NestSchedule& schedule_;
};

}  // namespace

ScheduledGraph::ScheduledGraph(TileGraph graph) : TileGraph(std::move(graph)) {
  for (const Phase& phase : phases) schedule.emplace_back(phase.nests.size());
}

void add_phase(ScheduledGraph& graph, ScheduledPhase phase) {
  Phase& added = graph.phases.emplace_back();
  std::vector<NestSchedule>& schedules = graph.schedule.emplace_back();
  added.grid = std::move(phase.grid);
  for (ScheduledNest& nest : phase.nests) {
    schedules.push_back(std::move(nest.schedule));
    added.nests.push_back(std::move(nest));
  }
}

std::string schedule_fault(const TileGraph& graph, const Phase& phase, const Nest& nest,
                           const NestSchedule& schedule) {
  return ScheduleVerifier(graph, phase, nest, schedule).fault();
}

std::string structural_fault(const ScheduledGraph& graph) {
  const std::string fault = structural_fault(static_cast<const TileGraph&>(graph));
  return fault.empty() ? schedule_fault(graph) : fault;
}

std::string schedule_fault(const ScheduledGraph& graph) {
  if (graph.schedule.size() != graph.phases.size()) return "phases without a schedule";
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const Phase& phase = graph.phases[p];
    if (graph.schedule[p].size() != phase.nests.size()) return "nests without a schedule";
    for (size_t n = 0; n < phase.nests.size(); ++n)
      if (std::string fault = schedule_fault(graph, phase, phase.nests[n], graph.schedule[p][n]);
          !fault.empty())
        return fault;
  }
  return {};
}

}  // namespace korch::tile
