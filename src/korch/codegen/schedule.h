// What of a kernel is a choice and not given by its candidate and layouts: sizes of tiles and blocks, and
// which algorithm. A family's schedules are one of these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "korch/tensor/product_type.h"

namespace korch {

// A tile of a linear result that is kept in registers: rows, and full vectors along each of them.
struct TileShape {
  int rows = 1, vectors = 1;
  bool operator==(const TileShape&) const = default;
};

// Families matmul, conv_direct, conv_pixels.
struct RowSchedule {
  TileShape tile;
  int64_t row_blocks = 0;  // that slices share the rows of an image in; 0: as the family sees fit
  bool operator==(const RowSchedule&) const = default;
};

// Families conv_winograd, winograd_part.
struct WinogradSchedule {
  int64_t outputs = 0;               // of a transformed tile, along each axis that is transformed
  std::optional<TileShape> product;  // none: a transform alone
  bool operator==(const WinogradSchedule&) const = default;
};

struct RecurrenceSchedule {
  bool shared = false;  // each step among the workers; else one does all steps
  int64_t steps = 1;    // of a round, behind which a barrier or, as tasks, who reads the round's results
  TileShape tile;       // of the products
  bool operator==(const RecurrenceSchedule&) const = default;
};

// Family staged: a thread block's tile, the terms that it multiplies at a time, into how many parts, each
// with blocks of its own, the terms are cut, and NestSchedule::matrix_units.
struct StagedSchedule {
  int64_t rows = 64, columns = 64, k_tile = 16, parts = 1;
  std::optional<ProductType> matrix_units = {};
  bool operator==(const StagedSchedule&) const = default;
};

// Of a block graph: rows of a slice, and values of its loops' axes in a block. On GPUs columns of a slice,
// where the grid has some (0: none), terms of a panel, and what multiplies.
struct BlockSchedule {
  int structure = 0;  // which of the candidate's block graphs
  int64_t rows = 1, block = 1, columns = 0, k_tile = 16;
  std::optional<ProductType> matrix_units = {};
  // The loop's blocks are dealt out to slices in so many runs, and a second phase puts together what their
  // accumulators hold (block/split.h); 1: one phase.
  int64_t parts = 1;
  bool direct = false;  // products read their operands where they lie: for few rows
  bool operator==(const BlockSchedule&) const = default;
};

// Nothing: the family has no choice.
using Schedule = std::variant<std::monostate, RowSchedule, WinogradSchedule, StagedSchedule,
                              RecurrenceSchedule, BlockSchedule>;

// Its numbers, separated by commas: vectors of the register tile, its rows, and into how many blocks all rows
// are cut where that is stated.
std::string to_string(const Schedule& schedule);

// Which algorithm, where the family has several: tile sizes may depend on what is fused, this does not.
std::string algorithm_of(const Schedule& schedule);

// By what kernels of one family are told apart besides their layouts, where costs are compared: the
// algorithm, and how wide or long its inner tile is.
int64_t kind_of(const Schedule& schedule);

}  // namespace korch
