#include "korch/codegen/implementation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "korch/codegen/block/block_family.h"
#include "korch/codegen/cpu/cpu_kernel.h"
#include "korch/codegen/cuda/staged_windows.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/workload.h"
#include "korch/codegen/loop/loop_family.h"
#include "korch/codegen/opaque/append.h"
#include "korch/codegen/opaque/loop_end.h"
#include "korch/codegen/opaque/opaque_family.h"
#include "korch/codegen/opaque/recurrence.h"

namespace korch {
namespace {

using Build = Result<tile::ScheduledGraph> (*)(const Graph& graph, const Candidate& candidate,
                                               const Implementation& implementation, const Device& target);
using Generate = Result<Kernel> (*)(const Graph& graph, const Candidate& candidate,
                                    const Implementation& implementation, const Device& target);

// One row per family of kernels: what it can offer for a candidate, and how it makes what it offered: as a
// tile graph, or as a finished kernel. `list` appends to its last two arguments; `serves` names the
// Implementation::family strings that the row makes.
struct Family {
  std::vector<std::string> serves;
  void (*list)(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused);
  std::variant<Build, Generate> make;
  enum class Kind { generated, gpu_alone, last_resort } kind = Kind::generated;
  // Appends other schedules of what `list` offered; null: there are none that it did not.
  void (*reschedule)(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                     const Device& target, std::vector<Schedule>& found) = nullptr;
};

const std::vector<Family>& families() {
  static const std::vector<Family> table = {
      {{"loop"}, list_loop, build_loop},
      {{"opaque"}, list_opaque, build_opaque},
      {{"recurrence"}, list_recurrence, build_recurrence},
      {{"loop_end"}, list_loop_end, generate_loop_end},
      {{"append"}, list_append, generate_append},
      {{"conv_direct", "conv_pixels"},
       list_conv_direct,
       build_conv_direct,
       Family::Kind::generated,
       reschedule_conv_direct},
      {{"conv_winograd"},
       list_conv_winograd,
       build_conv_winograd,
       Family::Kind::generated,
       reschedule_conv_winograd},
      {{"winograd_part"}, list_winograd_part, build_winograd_part},
      {{"depthwise"}, list_depthwise, build_depthwise},
      {{"matmul"}, list_matmul, build_matmul, Family::Kind::generated, reschedule_matmul},
      {{"blocks"}, list_blocks, build_blocks, Family::Kind::generated, reschedule_blocks},
      {{"staged"}, list_staged, build_staged, Family::Kind::gpu_alone},
      {{"linear_generic"}, list_linear_generic, build_linear_generic, Family::Kind::last_resort},
  };
  return table;
}

const Family* family_named(const std::string& name) {
  for (const Family& family : families())
    for (const std::string& served : family.serves)
      if (served == name) return &family;
  return nullptr;
}

KernelSpec spec_of(tile::ScheduledGraph tiles, const Device& target, Checked checked) {
  Kernel kernel = tile::cpu_launch(tiles, target);
  KernelSpec spec{std::move(tiles), std::move(kernel)};
  if (checked == Checked::now) check(spec);
  return spec;
}

// All elements of all constants that the candidate reads.
bool has_finite_constants(const Graph& graph, const Candidate& candidate) {
  for (NodeId node : candidate.nodes)
    for (ValueId value : graph.node(node).inputs) {
      const HostTensor* constant = graph.constant(value);
      if (constant == nullptr || !is_float(constant->dtype())) continue;
      for (int64_t i = 0; i < constant->elements(); ++i)
        if (!std::isfinite(element_as_double(*constant, i))) return false;
    }
  return true;
}

}  // namespace

std::string to_string(const Implementation& implementation) {
  auto layouts = [](const std::vector<Layout>& list) {
    std::vector<std::string> texts;
    for (const Layout& layout : list) texts.push_back(to_string(layout));
    return fmt::format("{}", fmt::join(texts, ","));
  };
  return fmt::format("{}({}) {}->{}", implementation.family, to_string(implementation.schedule),
                     layouts(implementation.input_layouts), layouts(implementation.output_layouts));
}

std::vector<Implementation> implementations(const Graph& graph, const Candidate& candidate,
                                            const Device& target, Accuracy accuracy,
                                            std::vector<Refusal>* refused) {
  std::vector<Implementation> found;
  std::vector<Refusal> reasons;
  for (const Family& family : families()) {
    if (family.kind == Family::Kind::gpu_alone && !target.is_gpu()) continue;
    // The last resort costs a measurement for nothing where another kernel is; on a GPU it gives each result
    // a warp or a block, where others have too few rows for their tiles.
    if (family.kind == Family::Kind::last_resort && !found.empty() && !target.is_gpu()) continue;
    family.list(graph, candidate, target, accuracy, found, reasons);
  }
  if (found.empty() && reasons.empty())
    reasons.push_back({RefusalReason::no_kernel_family, "no family covers this combination of primitives"});
  if (refused != nullptr) refused->insert(refused->end(), reasons.begin(), reasons.end());
  return found;
}

std::string fault_in(const KernelSpec& spec) {
  return spec.tiles ? tile::structural_fault(*spec.tiles) : "";
}

void check(const KernelSpec& spec) {
  const std::string fault = fault_in(spec);
  KORCH_ASSERT(fault.empty(), fault + "\n" + tile::print(*spec.tiles));
}

LinearContext linear_context() {
  return {linear::may_follow, linear::may_precede, linear::kMostBefore};
}

std::vector<Implementation> rescheduled(const Graph& graph, const Candidate& candidate,
                                        const Implementation& implementation, const Device& target) {
  const Family* family = family_named(implementation.family);
  if (family == nullptr || family->reschedule == nullptr) return {};
  std::vector<Schedule> schedules;
  family->reschedule(graph, candidate, implementation, target, schedules);
  std::vector<Implementation> result;
  for (Schedule& schedule : schedules) {
    result.push_back(implementation);
    result.back().schedule = std::move(schedule);
  }
  return result;
}

Result<KernelSpec> propose(const Graph& graph, const Candidate& candidate,
                           const Implementation& implementation, const Device& target, Checked checked) {
  const Family* family = family_named(implementation.family);
  if (family == nullptr)
    return Refusal{RefusalReason::no_kernel_family, "no family is called '" + implementation.family + "'"};
  if (const Generate* generate = std::get_if<Generate>(&family->make)) {
    Result<Kernel> call = (*generate)(graph, candidate, implementation, target);
    if (!call) return call.refusal();
    return KernelSpec{std::nullopt, std::move(call).value()};
  }
  Result<tile::ScheduledGraph> built =
      std::get<Build>(family->make)(graph, candidate, implementation, target);
  if (!built) return built.refusal();
  if (target.is_gpu())
    built = tile::with_staged_windows(std::move(built).value(), target,
                                      [&] { return has_finite_constants(graph, candidate); });
  KernelSpec spec = spec_of(std::move(built).value(), target, checked);
  spec.kernel.flops = implementation.flops;
  spec.kernel.bytes = implementation.bytes;
  return spec;
}

KernelSpec propose_reorder(const TensorType& type, const Layout& from, const Layout& to, const Device& target,
                           Checked checked) {
  KernelSpec spec = spec_of(reorder_tile_graph(type, from, to, target), target, checked);
  spec.kernel.bytes = 2.0 * static_cast<double>(type.bytes());
  return spec;
}

}  // namespace korch
