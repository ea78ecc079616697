// The generated kernel behind convolution and matmul: rows (pixels or matrix rows) by columns (output
// channels or matrix columns), every register tile holding its whole reduction, then the fused epilogue on
// the tile while it is in L1.
//
// Data comes either straight from the input (no padding, no prologue) or through a panel: the rows that a
// slice needs, computed by the prologue and zero padded, in the worker's scratch. Columns come packed
// ([block][K][lanes]): constants at build time, others by a first phase into a temporary.
#pragma once

#include <functional>

#include "korch/base/ceil_div.h"
#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/kernel/schedule.h"

namespace korch::linear {

enum class DataPath {
  direct,          // elements of the candidate's input, by strides
  panel_channels,  // panel[row][pixel][k]: vectors along k while it is filled
  panel_pixels     // panel[k][row][pixel]: vectors along pixels
};

struct RowKernel {
  const LinearWorkload* workload = nullptr;
  const Implementation* implementation = nullptr;
  const Device* target = nullptr;

  // The result: images x height x width rows, `groups` x `columns` columns (a group reads its own `depth`
  // channels).
  int64_t images = 1, height = 1, width = 1, groups = 1, columns = 1;
  // Coordinates of the result's Value at a row and column.
  std::function<Coords(const Index& image, const Index& y, const Index& x, const Index& column)>
      result_coords;

  // The reduction: taps_h x taps_w x depth; of small integers 2 or 4 channels at a time, which then lie
  // beside each other.
  int64_t taps_h = 1, taps_w = 1, depth = 1;
  int64_t step_multiple = 1;  // of so many steps, the last ones of zeros: what an instruction takes
  bool matrix_tiles = false;  // of AMX
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_top = 0, pad_left = 0;
  int64_t in_height = 1, in_width = 1;
  DataPath path = DataPath::direct;
  // Coordinates of the data operand at an input pixel and channel (of all groups).
  std::function<Coords(const Index& image, const Index& y, const Index& x, const Index& channel)> data_coords;

  // Column operand: constant, or `weight_matrices` matrices packed by a first phase.
  int64_t weight_matrices = 1;
  Packing weight_packing;  // when constant
  std::function<Index(const Index& image)>
      weight_matrix;  // which matrix an image reads; null: the group's number
  std::function<Coords(const Index& matrix, const Index& k, const Index& column)>
      weight_coords;  // when not constant

  ColumnBlocks blocks;
  RowTiling tiling;
  Slicing slicing;
  int64_t panel_span = 0;  // result pixels that a panel serves; 0: those of the slice's tiles
  bool transposed_store =
      false;  // vectors of the epilogue run along rows: for outputs whose rows are contiguous

  int64_t step_channels() const { return terms_together(*workload); }
  // The last one may be half empty.
  int64_t steps() const { return ceil_div(depth, step_channels() * step_multiple) * step_multiple; }
  int64_t padded_depth() const { return steps() * step_channels(); }
};

// What a convolution or a matmul multiplies, and nothing of how: neither path, blocks, tiling nor slicing,
// and of the packing neither block nor tail.
RowKernel conv_rows(const LinearWorkload& workload, const Implementation& implementation,
                    const Device& target);
RowKernel matmul_rows(const LinearWorkload& workload, const Implementation& implementation,
                      const Device& target);

// Whether tiles of AMX multiply: of enough of the `depth` channels, so that few zeros are behind them. The
// channels of so many taps lie one after the other.
bool in_matrix_tiles(const LinearWorkload& workload, const Device& target, int64_t depth, int64_t taps = 1);
// How much faster than those of float32 its products may be, by what one instruction multiplies.
int64_t flops_at_once(const LinearWorkload& workload, const Device& target, int64_t depth, int64_t taps = 1);
// RowKernel::step_multiple.
int64_t step_multiple(const LinearWorkload& workload, const TileShape& tile, const Device& target,
                      int64_t depth, int64_t taps = 1);

Result<tile::ScheduledGraph> build_row_kernel(const RowKernel& kernel);

// Which axis of an operand is contiguous where the candidate reads it (-1: unknown).
int contiguous_axis(const LinearWorkload& workload, const Implementation& implementation, ValueId value);

}  // namespace korch::linear
