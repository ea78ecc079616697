// From a block graph to a tile graph: register tiles for products of rows and columns, neighbouring
// elementwise steps one nest, a row of reductions after the other while it is in L1 (docs/design/block.md).
#pragma once

#include "korch/base/result.h"
#include "korch/codegen/block/arguments.h"
#include "korch/codegen/schedule.h"
#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::blocks {

// How a row is divided: by a quotient for each element, or by one inverse (ExprPool::keep_quotients). The
// same but for rounding; a proof over fields has a bound only with quotients.
enum class Division { by_inverses, by_quotients };

// The graph's axes have extents.
Result<tile::ScheduledGraph> lower(const block::BlockGraph& graph, const BlockSchedule& schedule,
                                   const Device& target, Arguments& arguments,
                                   Division division = Division::by_inverses);

// What a schedule is chosen by.
struct ScheduleAim {
  int64_t most_rows = 28;      // of a slice
  double tiles_in_l2 = 0.125;  // blocks of the loop's axis are so long that their tiles take this share of L2
  double slices = 0;           // for each worker, by parts of a loop; 0: in one phase
  bool direct = false;
};
// With as many parts as there are blocks for: of one loop that has two phases.
BlockSchedule choose_schedule(const block::BlockGraph& graph, const Device& target,
                              const ScheduleAim& aim = {});

// Few slices for the workers, if every slice has accumulators of its own, or few rows for register tiles:
// schedules in parts, and direct ones, are worth trying.
bool has_few_slices(const block::BlockGraph& graph, const Device& target);
bool has_few_rows(const block::BlockGraph& graph);

// Of a GPU: those whose scratch fits into shared memory, best first by the cost model. None: there is no
// such.
std::vector<BlockSchedule> gpu_schedules(const block::BlockGraph& graph, const Device& target,
                                         const std::optional<ProductType>& matrix_units);

// Its products, in order, and their register tiles.
struct BlockProduct {
  int64_t rows = 1, columns = 1, terms = 1;
  int64_t matrices = 1;  // one for each value of the other axes
  TileShape tile;
};
std::vector<BlockProduct> products_of(const block::BlockGraph& graph, const BlockSchedule& schedule,
                                      const Device& target);

}  // namespace korch::blocks
