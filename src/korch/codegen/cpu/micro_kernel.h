// The register tile under every generated linear kernel: C++ text of a function
//
//   static void NAME(const T* a, const T* b, T* tile, const T* next)
//
// that computes tile[r][j] = sum over the reduction of a[r * row_stride + ka] * b[j + kb], where (ka, kb) run
// over a nest of loops with constant strides. `a` elements are broadcast, `b` elements are read as vectors;
// all accumulators stay in registers from the first to the last term.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/tensor/dtype.h"

namespace korch::linear {

struct ReductionLoop {
  int64_t count = 1;
  int64_t a_step = 0;  // elements
  int64_t b_step = 0;
};

struct MicroKernel {
  DType type = DType::f32;  // or i32, whose sums wrap around
  // Of one element of the operands: 1; of type i32 also 2, each an i16, or 4, each a byte, of `a` without
  // sign; of type f32 also 2, each a bf16.
  int terms = 1;
  int rows = 1;
  std::vector<int> lanes;            // width of each vector of a row: 16, 8 or 4 elements
  std::vector<int64_t> b_offsets;    // where each vector stands relative to b; empty: one after the other
  int64_t row_stride = 0;            // elements of a
  int64_t tile_pitch = 0;            // elements between rows of the tile
  std::vector<ReductionLoop> loops;  // outermost first
  // One part of a longer reduction: a further parameter `bool first` says whether to overwrite the tile or to
  // add to it.
  bool part = false;
  // If the rows of `a` are contiguous and another tile follows: prefetches that tile's data, a few lines with
  // every iteration. (A core drops prefetches beyond its miss buffers, so all at once is useless.)
  bool prefetch_next_rows = false;
  // Prefetches the following columns, at `next`, into L2; this many tiles share them. 0: none.
  int64_t tiles_per_next_columns = 0;

  int64_t next_lines() const;     // cache lines asked for with every iteration of the innermost loop
  int64_t next_elements() const;  // asked for by one tile
};

std::string emit_micro_kernel(const std::string& name, const MicroKernel& kernel);

// `count` columns as vectors: full ones of the widest width, then one that is just wide enough (its lanes
// beyond `count` are padding). At most 4-lane granularity.
std::vector<int> split_lanes(int64_t count, int widest);
int64_t total_lanes(const std::vector<int>& lanes);

// The largest number of rows for which registers are left for the vectors of `b` and one broadcast.
int max_rows(int vectors, int registers);

// Of AMX (cpu/matrix_kernel.h):
constexpr int kMatrixTileRows = 16;   // of data; also the lanes of a vector of columns
constexpr int kMatrixTileSteps = 16;  // pairs of bfloat16, or four bytes, that an instruction adds at most
constexpr int kMatrixTiles = 8;       // registers

// How many of so many steps, one after the other, an instruction adds if all add the same number of them: few
// instructions or none of them half empty; 0: too few, so that vectors multiply as fast.
int64_t matrix_steps(int64_t steps);

// Whether sums of rows x vectors and their operands fit into the registers.
bool fits_matrix_tiles(int rows, int vectors);

}  // namespace korch::linear
