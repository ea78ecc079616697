#include "korch/codegen/block/block_family.h"

#include <algorithm>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/roles.h"
#include "korch/codegen/linear/operand_bits.h"

namespace korch {
namespace {

// Each step once for every element; a product counts as its multiply-adds.
double flops_of(const block::BlockGraph& graph) {
  double flops = 0;
  for (const block::Step& step : graph.steps) {
    if (step.kind != block::Step::Kind::call && step.kind != block::Step::Kind::fold) continue;
    double elements = 1;
    for (int axis : blocks::axes_in(step.axes | step.over))
      elements *= static_cast<double>(graph.axes[static_cast<size_t>(axis)].extent);
    flops += elements;
  }
  return flops;
}

// Whether a result has axes that what is stored does not depend on, as one that Expand makes.
bool repeats_elements(const block::PlacedGraph& structure) {
  for (size_t r = 0; r < structure.results.size(); ++r) {
    const auto step = static_cast<size_t>(structure.graph.results[r]);
    for (const block::AxisList& digits : structure.results[r].at)
      for (int axis : digits)
        if ((structure.graph.steps[step].axes & block::axis_set(axis)) == 0) return true;
  }
  return false;
}

// What matrix units multiply: three products of tf32 are as good as one of float32, but for its last bits.
std::optional<ProductType> units_for(const Device& target, Accuracy accuracy) {
  if (!target.is_gpu() || accuracy == Accuracy::strict) return std::nullopt;
  return products_of(accuracy);
}

bool has_parts(const block::PlacedGraph& placed, const Device& target) {
  return placed.has_two_phases && blocks::has_few_slices(placed.graph, target);
}

// On a GPU also the best one with small panels, if that is another: where the registers of the first are not
// enough.
std::vector<BlockSchedule> first_schedules(const block::PlacedGraph& placed, const Device& target,
                                           Accuracy accuracy) {
  const block::BlockGraph& structure = placed.graph;
  if (!target.is_gpu()) {
    const bool direct = blocks::has_few_rows(structure);
    return {blocks::choose_schedule(
        structure, target, {.slices = direct && has_parts(placed, target) ? 2.0 : 0.0, .direct = direct})};
  }
  std::vector<BlockSchedule> all = blocks::gpu_schedules(structure, target, units_for(target, accuracy));
  std::vector<BlockSchedule> first;
  for (const BlockSchedule& schedule : all)
    if (first.empty() || (first.size() == 1 && first[0].k_tile != BlockSchedule().k_tile &&
                          schedule.k_tile == BlockSchedule().k_tile))
      first.push_back(schedule);
  return first;
}

// Images of channels that lie beside each other: Values have the layout of all that is computed pixel by
// pixel.
Layout layout_of(const Graph& graph, ValueId value, const block::BlockGraph& structure) {
  const Shape& shape = graph.value(value).type.shape;
  if (!blocks::has_windows(structure) || shape.size() < 3) return {};
  return canonical(Layout::channels_last(static_cast<int>(shape.size())), shape);
}

}  // namespace

void list_blocks(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  for (size_t i = 0; i < candidate.structures.size(); ++i) {
    if (repeats_elements(*candidate.structures[i])) {
      refused.push_back({RefusalReason::no_kernel_family, "blocks: a result that repeats elements"});
      continue;
    }
    const block::BlockGraph& structure = candidate.structures[i]->graph;
    const std::vector<BlockSchedule> schedules = first_schedules(*candidate.structures[i], target, accuracy);
    if (schedules.empty())
      refused.push_back(
          {RefusalReason::scratch_too_large, "blocks: more is held than shared memory has room for"});
    for (BlockSchedule schedule : schedules) {
      schedule.structure = static_cast<int>(i);
      Implementation implementation;
      implementation.family = "blocks";
      for (ValueId input : candidate.inputs)
        implementation.input_layouts.push_back(layout_of(graph, input, structure));
      for (ValueId output : candidate.outputs)
        implementation.output_layouts.push_back(layout_of(graph, output, structure));
      implementation.schedule = schedule;
      implementation.flops = flops_of(structure);
      if (schedule.matrix_units) implementation.flops_at_once = linear::speed_of(*schedule.matrix_units);
      implementation.bytes = linear::touched_bytes(graph, candidate);
      found.push_back(std::move(implementation));
    }
  }
}

void reschedule_blocks(const Graph&, const Candidate& candidate, const Implementation& implementation,
                       const Device& target, std::vector<Schedule>& found) {
  const auto known = std::get<BlockSchedule>(implementation.schedule);
  const block::PlacedGraph& placed = *candidate.structures[static_cast<size_t>(known.structure)];
  const block::BlockGraph& structure = placed.graph;
  if (target.is_gpu()) {
    for (BlockSchedule other : blocks::gpu_schedules(structure, target, known.matrix_units)) {
      other.structure = known.structure;
      if (other != known) found.push_back(other);
    }
    return;
  }
  std::vector<blocks::ScheduleAim> aims(4, {.direct = known.direct});
  aims[0].most_rows /= 2;
  aims[1].most_rows *= 2;
  aims[2].tiles_in_l2 /= 2;
  aims[3].tiles_in_l2 *= 2;
  if (known.direct) aims.push_back({});
  if (has_parts(placed, target))
    for (const double slices : {0.0, 1.0, 2.0, 4.0})
      aims.push_back({.slices = slices, .direct = known.direct});
  std::vector<BlockSchedule> listed = {known};
  for (const blocks::ScheduleAim& aim : aims) {
    BlockSchedule other = blocks::choose_schedule(structure, target, aim);
    other.structure = known.structure;
    if (std::ranges::find(listed, other) != listed.end()) continue;
    listed.push_back(other);
    found.push_back(other);
  }
}

Result<tile::ScheduledGraph> build_blocks(const Graph& graph, const Candidate& candidate,
                                          const Implementation& implementation, const Device& target) {
  const auto schedule = std::get<BlockSchedule>(implementation.schedule);
  const block::PlacedGraph& placed = *candidate.structures.at(static_cast<size_t>(schedule.structure));
  const auto arguments = blocks::candidate_arguments(graph, candidate, implementation, placed, target);
  return blocks::lower(placed.graph, schedule, target, *arguments);
}

}  // namespace korch
