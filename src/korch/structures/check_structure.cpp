#include "korch/structures/check_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "korch/block/prove.h"
#include "korch/block/split.h"
#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/reference.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"
#include "korch/kernel/tile_equivalence.h"
#include "korch/tensor/element.h"

namespace korch::structures {
namespace {

constexpr double kScales[] = {1, 10, 100};
constexpr double kMostError = 4;      // times the plainest kernel's
constexpr double kRounding = 3e-7;    // of the results' size: what no kernel is blamed for
constexpr int kTestsOfVectors = 8;    // over a field: whose sums are too long for a bound
constexpr int kTestsOfSchedules = 8;  // of another schedule
constexpr int kTestsAgain = 16;
constexpr int64_t kParts = 2;
constexpr int64_t kGrid = 2, kRows = 5;  // extents of axes of the grid, and rows of a slice at most

// How a group is made small: loops' axes have some full blocks and a part of one, axes that are whole `whole`
// values or a little more.
struct Small {
  int64_t lanes;
  std::vector<int64_t> blocks;  // values of a loop's axis in a block: the first that there is a kernel for
  int64_t full_blocks, part, whole;
  double most_elements;  // that a step goes over
  blocks::Division division;
  int64_t parts = 1;
  bool direct = false;
};
// Sums of few exponentials have a bound; vectors, and several blocks of them, need longer axes.
const Small kFewTerms = {2, {2, 4, 6, 8, 10, 12}, 1, 1, 2, 600, blocks::Division::by_quotients};
const Small kVectors = {4, {8, 16, 24, 32}, 2, 3, 3, 2000, blocks::Division::by_quotients};
const Small kManyTerms = {4, {8, 16, 24, 32}, 2, 3, 24, 12000, blocks::Division::by_inverses};

struct Instance {
  block::Terms terms;
  block::BlockGraph graph;
  BlockSchedule schedule;
};

// Of the step that goes over most, the elements.
double largest_domain(const block::BlockGraph& graph) {
  double largest = 0;
  for (const block::Step& step : graph.steps) {
    double elements = 1;
    for (size_t i = 0; i < graph.axes.size(); ++i)
      if (((step.axes | step.over) & block::axis_set(static_cast<int>(i))) != 0)
        elements *= static_cast<double>(graph.axes[i].extent);
    largest = std::max(largest, elements);
  }
  return largest;
}

// Kernels are short, and what windows read has as many values as they reach, but for what pads it.
void fit_windows(block::BlockGraph& graph) {
  for (const block::Step& step : graph.steps)
    for (size_t i = 1; i < step.window.parts.size(); ++i) {
      const auto axis = static_cast<size_t>(step.window.parts[i].axis);
      graph.axes[axis].extent = 2 + static_cast<int64_t>(axis % 2);
    }
  for (auto step = graph.steps.rbegin(); step != graph.steps.rend(); ++step) {
    if (step->kind != block::Step::Kind::window) continue;
    int64_t reach = 1 + 2 * step->window.offset;
    for (const block::Window::Part& part : step->window.parts)
      reach += part.times * (graph.axes[static_cast<size_t>(part.axis)].extent - 1);
    graph.axes[static_cast<size_t>(step->window.of)].extent = std::max<int64_t>(2, reach);
  }
}

// Groups of many axes have short ones, down to 2.
void bound_work(const std::vector<int>& loops, double most, block::BlockGraph& graph) {
  while (largest_domain(graph) > most) {
    block::Axis* longest = nullptr;
    for (size_t i = 0; i < graph.axes.size(); ++i)
      if (std::ranges::count(loops, static_cast<int>(i)) == 0 &&
          (longest == nullptr || graph.axes[i].extent > longest->extent))
        longest = &graph.axes[i];
    if (longest == nullptr || longest->extent <= 2) return;
    longest->extent = (longest->extent + 1) / 2;
  }
}

Instance small_instance(const block::Terms& group, const block::BlockGraph& graph, int64_t block,
                        const Small& sizes) {
  Instance small{
      group,
      graph,
      {.structure = 0, .rows = kRows - 2, .block = block, .parts = sizes.parts, .direct = sizes.direct}};
  for (size_t i = 0; i < graph.axes.size(); ++i) {
    const auto axis = static_cast<int>(i);
    int64_t& extent = small.graph.axes[i].extent;
    if (std::ranges::count(graph.loops, axis) != 0)
      extent = sizes.full_blocks * block + sizes.part;
    else if ((graph.grid & block::axis_set(axis)) != 0)
      extent = i % 2 == 0 ? kGrid : kRows;
    else
      extent = sizes.whole + static_cast<int64_t>(i % 3);
  }
  fit_windows(small.graph);
  bound_work(graph.loops, sizes.most_elements, small.graph);
  fit_windows(small.graph);
  small.terms.axes = small.graph.axes;
  return small;
}

Result<tile::ScheduledGraph> lowered(const block::Terms& group, const block::BlockGraph& graph,
                                     const Small& small, Instance& instance) {
  Device device = cpu_device(Isa::portable, 1);
  device.vector_bytes = static_cast<int>(small.lanes * static_cast<int64_t>(sizeof(float)));
  Refusal refusal{RefusalReason::no_kernel_family, "no block fits"};
  for (int64_t block : small.blocks) {
    instance = small_instance(group, graph, block, small);
    const auto arguments = blocks::plain_arguments(instance.graph);
    Result<tile::ScheduledGraph> kernel =
        blocks::lower(instance.graph, instance.schedule, device, *arguments, small.division);
    if (kernel.ok()) return kernel;
    refusal = kernel.refusal();
  }
  return refusal;
}

std::vector<HostTensor> random_inputs(const tile::TileGraph& kernel, double scale) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  std::vector<HostTensor> inputs;
  for (const tile::Buffer& buffer : kernel.buffers) {
    if (buffer.role != tile::BufferRole::input && buffer.role != tile::BufferRole::constant) continue;
    HostTensor tensor(TensorType{buffer.type, {buffer.elements}});
    with_element_type(buffer.type, [&](auto tag) {
      using S = typename decltype(tag)::type;
      for (int64_t i = 0; i < buffer.elements; ++i)
        tensor.mutable_data<S>()[i] = is_float(buffer.type) ? convert_element<S>(normal(random) * scale)
                                                            : convert_element<S>(random() % 4 != 0);
    });
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

// Root mean square of the differences of all results; infinite where one is not finite and should be.
double error_of(const std::vector<HostTensor>& is, const std::vector<HostTensor>& should) {
  double sum = 0, count = 0;
  for (size_t r = 0; r < is.size(); ++r)
    for (int64_t i = 0; i < is[r].elements(); ++i) {
      const double a = element_as_double(is[r], i), b = element_as_double(should[r], i);
      if (!std::isfinite(b)) continue;
      if (!std::isfinite(a)) return INFINITY;
      sum += (a - b) * (a - b);
      ++count;
    }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

double size_of(const std::vector<HostTensor>& values) {
  double sum = 0, count = 0;
  for (const HostTensor& value : values)
    for (int64_t i = 0; i < value.elements(); ++i)
      if (const double x = element_as_double(value, i); std::isfinite(x)) sum += x * x, ++count;
  return count > 0 ? std::sqrt(sum / count) : 0;
}

std::string check_errors(const Instance& instance, const tile::TileGraph& kernel, Checked& checked) {
  const tile::TileGraph plain = blocks::reference_kernel(instance.terms);
  for (double scale : kScales) {
    const std::vector<HostTensor> inputs = random_inputs(kernel, scale);
    const auto exact = tile::interpret(plain, inputs, tile::Arithmetic::float64);
    const double own = error_of(tile::interpret(plain, inputs, tile::Arithmetic::native), exact);
    if (!std::isfinite(own)) continue;  // the group overflows, too
    const double error = error_of(tile::interpret(kernel, inputs, tile::Arithmetic::native), exact);
    const double allowed = std::max(kMostError * own, kRounding * size_of(exact));
    if (own > 0) checked.error = std::max(checked.error, error / own);
    if (!(error <= allowed))
      return fmt::format("inputs of scale {}: an error of {:.2g} in float32, the group's own is {:.2g}",
                         scale, error, own);
  }
  return {};
}

std::string check_field(const block::Terms& group, const block::BlockGraph& graph, const Small& small,
                        int tests, Checked& checked) {
  Instance instance;
  const Result<tile::ScheduledGraph> kernel = lowered(group, graph, small, instance);
  if (!kernel.ok()) return "no kernel: " + kernel.refusal().detail;
  if (const std::string fault = tile::structural_fault(kernel.value()); !fault.empty())
    return "no kernel: " + fault;
  if (const std::string fault = tile::coverage_fault(kernel.value()); !fault.empty())
    return "no kernel: " + fault;
  checked.field = tile::compare_over_field(kernel.value(), blocks::reference_kernel(instance.terms),
                                           {.count = tests, .seed = 1});
  return checked.field.says == FieldResult::Says::same ? "" : "over a field: " + checked.field.why;
}

Small directly(Small small, int64_t parts) {
  small.direct = true;
  small.parts = parts;
  return small;
}

std::string check_errors(const block::Terms& group, const block::BlockGraph& graph, const Small& small,
                         Checked& checked) {
  Instance instance;
  const Result<tile::ScheduledGraph> kernel = lowered(group, graph, small, instance);
  if (!kernel.ok()) return "no kernel: " + kernel.refusal().detail;
  return check_errors(instance, kernel.value(), checked);
}

// Of two phases of the graph: as of one. Or why it has none.
std::string check_laws_of_phases(const block::Terms& group, block::BlockGraph graph) {
  if (graph.loops.size() != 1) return "not one loop";
  for (block::Axis& axis : graph.axes) axis.extent = 0;
  const auto phases = block::split_loop(graph, kParts);
  if (const auto* why = std::get_if<std::string>(&phases)) return *why;
  block::Terms parts = group;
  parts.axes = graph.axes;
  parts = block::split_axis(std::move(parts), graph.loops[0], kParts);
  return block::prove(parts, std::get<block::TwoPhases>(phases)).proven ? "" : "not equal by the laws";
}

// Parts of one block, then one of two blocks and a shorter one.
std::string check_two_phases(const block::Terms& group, const block::BlockGraph& graph, int tests,
                             Checked& checked) {
  if (std::string why = check_laws_of_phases(group, graph); !why.empty()) return why;
  for (const Small& small : {directly(kFewTerms, kParts), directly(kVectors, kParts)})
    if (std::string why = check_field(group, graph, small, tests, checked); !why.empty()) return why;
  Small in_tiles = kVectors;
  in_tiles.parts = kParts;
  if (std::string why = check_field(group, graph, in_tiles, tests, checked); !why.empty()) return why;
  return check_errors(group, graph, directly(kManyTerms, kParts), checked);
}

std::string check_laws(const block::Terms& group, const block::BlockGraph& graph) {
  if (const std::string fault = block::fault_in(graph); !fault.empty()) return "no block graph: " + fault;
  if (graph.leaves != group.leaves) return "leaves of another group";
  for (size_t r = 0; r < graph.results.size(); ++r)  // y - y, say, which is 0 for all values of y's axes
    if (graph.steps[static_cast<size_t>(graph.results[r])].axes !=
        group.terms[static_cast<size_t>(group.results[r])].axes)
      return "no kernel: a result that depends on fewer axes";
  return block::prove(group, graph).proven ? "" : "not equal by the laws";
}

std::string check(const block::Terms& group, const block::BlockGraph& graph, int tests, Checked& checked) {
  if (const std::string why = check_laws(group, graph); !why.empty()) return why;
  if (const std::string why = check_field(group, graph, kFewTerms, tests, checked); !why.empty()) return why;
  Checked of_vectors;
  if (const std::string why = check_field(group, graph, kVectors, kTestsOfVectors, of_vectors); !why.empty())
    return why;
  if (const std::string why = check_field(group, graph, directly(kVectors, 1), kTestsOfSchedules, of_vectors);
      !why.empty())
    return why;
  if (const std::string why = check_errors(group, graph, kManyTerms, checked); !why.empty()) return why;
  checked.kernels = 4;
  Checked in_parts;
  checked.one_phase = check_two_phases(group, graph, kTestsOfSchedules, in_parts);
  checked.two_phases = checked.one_phase.empty();
  checked.error = std::max(checked.error, in_parts.error);
  return {};
}

}  // namespace

Checked check_structure(const block::Terms& group, const block::BlockGraph& graph, int tests) {
  Checked checked;
  checked.why = check(group, graph, tests, checked);
  checked.accepted = checked.why.empty();
  return checked;
}

Checked check_again(const block::Terms& group, const block::BlockGraph& graph) {
  Checked checked;
  checked.why = check_laws(group, graph);
  if (checked.why.empty()) checked.why = check_field(group, graph, kFewTerms, kTestsAgain, checked);
  checked.accepted = checked.why.empty();
  checked.kernels = 1;
  if (!checked.accepted) return checked;
  Checked in_parts;
  checked.one_phase = check_laws_of_phases(group, graph);
  if (checked.one_phase.empty())
    checked.one_phase = check_field(group, graph, directly(kFewTerms, kParts), kTestsAgain, in_parts);
  checked.two_phases = checked.one_phase.empty();
  return checked;
}

}  // namespace korch::structures
