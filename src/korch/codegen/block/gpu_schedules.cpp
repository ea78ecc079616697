// Schedules for thread blocks: those whose scratch fits into shared memory, best first by the cost model.
#include <algorithm>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/slice.h"
#include "korch/codegen/cuda/cost_model.h"
#include "korch/codegen/cuda/print_cuda.h"

namespace korch::blocks {
namespace {

constexpr int64_t kSizes[] = {64, 32};      // rows and columns of a tile
constexpr int64_t kTerms[] = {64, 32, 16};  // of a panel

// Whether terms of the loop's axis are all that is made of it: no tile has it as columns, nothing of it is
// held.
bool may_be_one_block(const BlockGraph& graph, const Roles& roles, int axis) {
  for (size_t i = 0; i < graph.steps.size(); ++i)
    if ((roles.products[i] && roles.products[i]->columns == axis) ||
        (roles.held[i] && (graph.steps[i].axes & axis_set(axis)) != 0))
      return false;
  return true;
}

// Values in a block: of the axes in all loops.
std::vector<int64_t> blocks_of(const BlockGraph& graph, const Roles& roles) {
  int64_t longest = 1;
  bool whole = true;
  for (int axis : graph.loops) {
    longest = std::max(longest, graph.axes[static_cast<size_t>(axis)].extent);
    whole = whole && may_be_one_block(graph, roles, axis);
  }
  if (whole) return {longest};
  std::vector<int64_t> blocks;
  for (int64_t size : {64, 32, 128})
    if (blocks.empty() || size <= longest) blocks.push_back(std::min(size, longest));
  return blocks;
}

// Of a slice; 0: the grid has none.
std::vector<int64_t> columns_of(const Roles& roles) {
  if (roles.columns < 0) return {0};
  return {std::begin(kSizes), std::end(kSizes)};
}

}  // namespace

std::vector<BlockSchedule> gpu_schedules(const BlockGraph& graph, const Device& target,
                                         const std::optional<ProductType>& matrix_units) {
  const Roles roles = roles_of(graph, true, Products::staged);
  std::vector<std::pair<double, BlockSchedule>> found;
  const auto look_at = [&](const BlockSchedule& schedule) {
    const auto arguments = plain_arguments(graph);
    const Result<tile::ScheduledGraph> kernel = lower(graph, schedule, target, *arguments);
    if (kernel.ok() && tile::cuda_workspace_bytes(kernel.value()) == 0)
      found.emplace_back(tile::cuda_model_us(kernel.value(), {}, target), schedule);
  };
  for (const int64_t rows : kSizes)
    for (const int64_t columns : columns_of(roles))
      for (const int64_t block : blocks_of(graph, roles))
        for (const int64_t terms : kTerms)
          look_at({.rows = rows,
                   .block = block,
                   .columns = columns,
                   .k_tile = terms,
                   .matrix_units = matrix_units});
  std::ranges::stable_sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<BlockSchedule> schedules;
  for (auto& [us, schedule] : found) schedules.push_back(schedule);
  return schedules;
}

}  // namespace korch::blocks
