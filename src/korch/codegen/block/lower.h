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

// The schedule that a model of the core and its caches ranks first: rows of a slice, at most so many, and
// blocks of the loop's axis whose tiles take this share of L2.
constexpr int64_t kMostRows = 28;
constexpr double kTilesInL2 = 0.125;
BlockSchedule choose_schedule(const block::BlockGraph& graph, const Device& target,
                              int64_t most_rows = kMostRows, double tiles_in_l2 = kTilesInL2);

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
