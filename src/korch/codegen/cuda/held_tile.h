// Tiles of products that stay in the registers of a thread block from a phase's first term to its outputs. A
// scratch buffer is such a tile if only `registers` products of one shape and maps over their results access
// it; maps may write it, too, each element where they read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/kernel/schedule.h"

namespace korch::tile {

// A thread has thread_rows x thread_columns results, in blocks of 4 x 4: rows at `row_step` from each other,
// columns at `column_step`. Of matrix units (NestSchedule::matrix_units), which make 16 x 8 results at a
// time, a warp has a part of the tile, 2 parts below each other and 4 beside each other; a thread has rows 8
// apart and pairs of columns.
struct HeldTile {
  int64_t rows = 0, columns = 0;
  int64_t thread_rows = 0, thread_columns = 0;
  std::optional<ProductType> matrix_units = {};
  int64_t row_step() const { return rows / (thread_rows / 4); }
  int64_t column_step() const { return matrix_units ? 8 : columns / (thread_columns / 4); }
  int neighbours() const { return matrix_units ? 2 : 4; }  // columns that a thread has beside each other
  int64_t warp_rows() const { return rows / 2; }
  int64_t warp_columns() const { return columns / 4; }
  // Row and column of a thread's result (i, j), from those of its first one; as text.
  std::string row_of(const std::string& i) const;
  std::string column_of(const std::string& j) const;
  // Neighbouring results, of which the first has the column `column_step` * j; as a vector.
  std::string together(const std::string& name, const std::string& i, const std::string& j) const;
  // The result (i, j) in registers.
  std::string result(const std::string& name, const std::string& i, const std::string& j) const;
  // A statement that puts a value in its place, or neighbouring ones.
  std::string put(const std::string& name, const std::string& i, const std::string& j,
                  const std::string& value, bool neighbours) const;
};

// By buffer.
std::map<int, HeldTile> held_tiles(const ScheduledGraph& graph, size_t phase, int64_t threads);

// A map over the results of a held tile, or the first of them, and its one load of it: at row
// sum of row variable * unit (units descend) and a column. Without a column variable at column 0. Others of
// the same shape are read at the same places.
struct HeldReader {
  struct Row {
    LoopVariable loop;
    int64_t unit = 1;
  };
  int buffer = -1;           // -1: none
  std::map<int, int> loads;  // by buffer
  std::vector<Row> rows;
  LoopVariable column;
};
HeldReader held_reader(const TileGraph& graph, const Nest& nest, const std::map<int, HeldTile>& held);

}  // namespace korch::tile
