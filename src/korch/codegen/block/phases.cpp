#include "korch/codegen/block/phases.h"

#include "korch/block/split.h"
#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/slice.h"

namespace korch::blocks {
namespace {

using tile::Index;

// Temporaries that the accumulators of all parts go to: part by part, of each its axes row by row.
struct PartBuffers {
  std::vector<int> buffers;
  std::vector<int64_t> elements;  // of a part
};

Index offset_of(const BlockGraph& graph, AxisSet axes, const AxisPlaces& places) {
  Index offset = 0;
  for (int axis : axes_in(axes))
    offset = offset * graph.axes[static_cast<size_t>(axis)].extent + places[static_cast<size_t>(axis)];
  return offset;
}

class FirstPhase final : public Arguments {
 public:
  FirstPhase(const BlockGraph& first, Arguments& arguments, int64_t parts, Index part,
             PartBuffers& accumulators)
      : first_(first),
        arguments_(arguments),
        parts_(parts),
        part_(std::move(part)),
        accumulators_(accumulators) {}

  void add_buffers(tile::TileBuilder& builder) override {
    arguments_.add_buffers(builder);
    for (int result : first_.results) {
      const Step& step = first_.steps[static_cast<size_t>(result)];
      int64_t elements = 1;
      for (int axis : axes_in(step.axes)) elements *= first_.axes[static_cast<size_t>(axis)].extent;
      accumulators_.elements.push_back(elements);
      accumulators_.buffers.push_back(builder.add_temporary(parts_ * elements, step.type));
    }
  }

  int read(tile::TileBuilder& builder, int leaf, const AxisPlaces& places) override {
    return arguments_.read(builder, leaf, places);
  }

  std::pair<int, Index> place_of(int result, const AxisPlaces& places) override {
    const auto r = static_cast<size_t>(result);
    const AxisSet axes = first_.steps[static_cast<size_t>(first_.results[r])].axes;
    return {accumulators_.buffers[r], part_ * accumulators_.elements[r] + offset_of(first_, axes, places)};
  }

  int pack(tile::TileBuilder& builder, int leaf, int terms, int columns,
           const linear::ColumnBlocks& blocks) override {
    return arguments_.pack(builder, leaf, terms, columns, blocks);
  }

 private:
  const BlockGraph& first_;
  Arguments& arguments_;
  const int64_t parts_;
  const Index part_;
  PartBuffers& accumulators_;
};

class SecondPhase final : public Arguments {
 public:
  SecondPhase(const Phases& phases, Arguments& arguments, const PartBuffers& accumulators)
      : phases_(phases), arguments_(arguments), accumulators_(accumulators) {}

  // Those of the first phase.
  void add_buffers(tile::TileBuilder&) override {}

  int read(tile::TileBuilder& builder, int leaf, const AxisPlaces& places) override {
    const size_t axes = phases_.first.axes.size(), leaves = phases_.first.leaves.size();
    const auto number = static_cast<size_t>(leaf);
    const AxisPlaces of_first(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(axes));
    if (number < leaves) return arguments_.read(builder, leaf, of_first);
    const size_t r = number - leaves;
    const AxisSet in_part = phases_.first.steps[static_cast<size_t>(phases_.first.results[r])].axes;
    return builder.load(accumulators_.buffers[r], places[axes] * accumulators_.elements[r] +
                                                      offset_of(phases_.first, in_part, of_first));
  }

  std::pair<int, Index> place_of(int result, const AxisPlaces& places) override {
    return arguments_.place_of(result, {places.begin(), places.end() - 1});
  }

  int pack(tile::TileBuilder&, int, int, int, const linear::ColumnBlocks&) override { return -1; }

 private:
  const Phases& phases_;
  Arguments& arguments_;
  const PartBuffers& accumulators_;
};

std::string add_both(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target,
                     Arguments& arguments, tile::TileBuilder& builder) {
  if (graph.loops.size() != 1) return "parts of other than one loop";
  const Roles roles = roles_with(graph, schedule, target);
  const Slice slice(graph, roles, schedule);
  if (slice.parts() != schedule.parts) return "not so many parts";
  const std::variant<Phases, std::string> phases = phases_of(graph, schedule.parts);
  if (const auto* why = std::get_if<std::string>(&phases)) return *why;
  const Phases& both = std::get<Phases>(phases);
  PartBuffers accumulators;
  FirstPhase first(both.first, arguments, schedule.parts, slice.part(), accumulators);
  if (std::string why = add_phases(both.first, schedule, target, first, builder); !why.empty()) return why;
  BlockSchedule together = schedule;
  together.parts = 1;
  together.direct = true;
  SecondPhase second(both, arguments, accumulators);
  return add_phases(both.second, together, target, second, builder);
}

}  // namespace

std::variant<Phases, std::string> phases_of(const BlockGraph& graph, int64_t parts) {
  BlockGraph unbound = graph;  // parts that do not divide the extent differ in length, which no law asks for
  for (Axis& axis : unbound.axes) axis.extent = 0;
  std::variant<block::TwoPhases, std::string> split = block::split_loop(unbound, parts);
  if (auto* why = std::get_if<std::string>(&split)) return std::move(*why);
  auto& two = std::get<block::TwoPhases>(split);
  Phases phases{graph, std::move(two.second)};
  const int part = static_cast<int>(graph.axes.size());
  phases.first.steps.resize(two.first.steps.size());
  phases.first.results = two.first.results;
  phases.first.grid = two.first.grid & ~axis_set(part);
  for (int axis = 0; axis < part; ++axis)
    phases.second.axes[static_cast<size_t>(axis)] = graph.axes[static_cast<size_t>(axis)];
  phases.second.axes.back().extent = parts;
  return phases;
}

Result<tile::ScheduledGraph> lower(const BlockGraph& graph, const BlockSchedule& schedule,
                                   const Device& target, Arguments& arguments, Division division) {
  tile::TileBuilder builder(DType::f32);
  if (division == Division::by_quotients) builder.pool().keep_quotients();
  const std::string why =
      (schedule.parts > 1 ? add_both : add_phases)(graph, schedule, target, arguments, builder);
  if (!why.empty()) return Refusal{RefusalReason::no_kernel_family, why};
  return builder.finish();
}

}  // namespace korch::blocks
