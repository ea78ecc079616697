#include "korch/kernel/sum_order.h"

#include <fmt/format.h>

namespace korch::tile {
namespace {

// The loops around the nest by which it goes on with what is stored: parts of the same reduction.
std::vector<LoopVariable> part_loops(const Nest& nest) {
  std::vector<LoopVariable> parts;
  if (nest.anew.always_true()) return parts;
  const std::set<std::string> names = nest.anew.variables();
  for (const OuterLoop& loop : nest.around)
    if (names.contains(loop.variable.name)) parts.push_back(loop.variable);
  return parts;
}

// Of all that the stored value is made of.
std::vector<Index> offsets_read(const ExprPool& pool, int value) {
  std::vector<Index> offsets;
  for (const int id : pool.reachable({value}))
    if (pool[id].kind == ExprKind::load)
      offsets.insert(offsets.end(), pool[id].coords.begin(), pool[id].coords.end());
  return offsets;
}

// Whether the outer loop walks on where one pass of the inner one ends, in everything that is read.
bool continues(const std::vector<Index>& offsets, const LoopVariable& outer, const LoopVariable& inner) {
  for (const Index& offset : offsets)
    if (!offset.affine_in(outer.name) || !offset.affine_in(inner.name) ||
        offset.stride(outer.name) != inner.extent * offset.stride(inner.name))
      return false;
  return true;
}

// Extents of the loops over the terms of a product, outermost first, those that walk on as one.
std::string terms_in_order(const TileGraph& graph, const Nest& nest) {
  std::vector<LoopVariable> loops = part_loops(nest);
  loops.insert(loops.end(), nest.reduced.begin(), nest.reduced.end());
  const std::vector<Index> offsets = offsets_read(graph.pool, nest.stores[0].value);
  std::string text;
  int64_t extent = 1;
  for (size_t i = 0; i < loops.size(); ++i) {
    extent *= loops[i].extent;
    if (i + 1 < loops.size() && continues(offsets, loops[i], loops[i + 1])) continue;
    if (extent > 1) text += fmt::format(" {}", extent);
    extent = 1;
  }
  return text;
}

std::string order_of(const TileGraph& graph, const Nest& nest, const NestSchedule& schedule) {
  const DType type = graph.pool[nest.stores[0].value].type;
  std::string text = fmt::format("{} {} {}", row(nest.kind).name, name(nest.combine), korch::name(type));
  if (schedule.matrix_units)
    return text + fmt::format(" matrix {}", name(*schedule.matrix_units)) + terms_in_order(graph, nest);
  if (schedule.registers) return text + " one by one" + terms_in_order(graph, nest);
  for (const LoopVariable& part : part_loops(nest)) text += fmt::format(" part {}", part.extent);
  for (const LoopVariable& variable : nest.reduced) {
    text += fmt::format(" {}", variable.extent);
    if (schedule.across && variable.name == schedule.variable) text += fmt::format("/{}", schedule.lanes);
  }
  if (schedule.across)
    for (const Segment& segment : nest.segments) text += fmt::format(" {}..{}", segment.low, segment.high);
  return text;
}

}  // namespace

std::set<std::string> sum_orders(const ScheduledGraph& graph) {
  std::set<std::string> orders;
  for (size_t p = 0; p < graph.phases.size(); ++p)
    for (size_t n = 0; n < graph.phases[p].nests.size(); ++n) {
      const Nest& nest = graph.phases[p].nests[n];
      if (nest.kind != NestKind::map) orders.insert(order_of(graph, nest, graph.schedule[p][n]));
    }
  return orders;
}

}  // namespace korch::tile
