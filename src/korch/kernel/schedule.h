// How a tile graph runs, apart from what it computes: the same graph with another schedule is another
// implementation, and proofs about the graph hold for all of them. The interpreter takes the graph alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "korch/kernel/tile_graph.h"
#include "korch/tensor/product_type.h"

namespace korch::tile {

// How a nest runs in the lanes of vectors.
struct NestSchedule {
  int lanes = 1;
  std::string variable;         // counts the lanes; empty: element by element
  bool across = false;          // it is one that is reduced over
  std::string transposed = {};  // not empty: loads run along this one, and blocks are transposed in registers
  // Of a product (kernel/product.h): all results stay in registers from the first term to the last.
  bool registers = false;
  // Of such a product of float32, on a GPU's matrix units: what they multiply (three products of tf32 in
  // place of each of float32). None: by multiply-adds.
  std::optional<ProductType> matrix_units = {};
  // Of such a product, on a GPU: how many panels of each operand there are, so that one is filled while
  // another one is multiplied; 1 or 2.
  int stages = 1;
  bool prefetch_rows = false;     // while one tile is computed, the rows of the next are asked for
  bool prefetch_columns = false;  // and the columns of the next block, by all tiles of this one together
  std::vector<std::string> partitioned = {};  // map: along which conditions are decided (kernel/partition.h)
  // Where they hold, this many values of the last partitioned variable are computed together, and share
  // loads.
  int jam = 1;
};

using TileSchedule = std::vector<std::vector<NestSchedule>>;  // of each phase, of each of its nests

struct ScheduledGraph : TileGraph {
  ScheduledGraph() = default;
  ScheduledGraph(TileGraph graph);  // NOLINT: of which nothing is chosen yet

  TileSchedule schedule;
};

// What families build a scheduled graph of.
struct ScheduledNest : Nest {
  NestSchedule schedule;
};
struct ScheduledPhase {
  std::vector<GridVariable> grid;
  std::vector<ScheduledNest> nests;
};
void add_phase(ScheduledGraph& graph, ScheduledPhase phase);

std::string print(const ScheduledGraph& graph);
// Throws Error{invalid} with the line and what is wrong. What it gives is verified.
ScheduledGraph parse_tile_graph(std::string_view text);

// Why the schedule does not fit its graph, which is one. Empty when nothing is wrong.
std::string schedule_fault(const ScheduledGraph& graph);
std::string schedule_fault(const TileGraph& graph, const Phase& phase, const Nest& nest,
                           const NestSchedule& schedule);
// Of the graph (tile_graph.h), then of its schedule.
std::string structural_fault(const ScheduledGraph& graph);

}  // namespace korch::tile
