// From a finished register tile in scratch to the candidate's outputs.
#pragma once

#include <functional>
#include <vector>

#include "korch/codegen/linear/kernel_builder.h"

namespace korch::linear {

struct FinishedTile {
  int64_t rows = 1;
  std::vector<int> lanes;                                               // vectors of a row
  int64_t valid_columns = 0;                                            // fewer than its lanes in a tail
  Index column;                                                         // of the result, the tile's first
  std::function<Coords(const Index& row, const Index& column)> coords;  // row within the tile
  int buffer = 0;                                                       // where the tile lies
  Index offset;
  int64_t row_step = 0, column_step = 1;
  bool along_rows = false;  // outputs are contiguous along rows
  int divisors = -1;        // a buffer with what each row is to be divided by first
};

void add_epilogue(KernelBuilder& builder, const FinishedTile& tile,
                  const std::vector<tile::OuterLoop>& around, std::vector<tile::ScheduledNest>& nests);

}  // namespace korch::linear
