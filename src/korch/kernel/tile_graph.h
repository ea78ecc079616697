// The tile graph: what one kernel does, as data. Phases follow one another, each a grid of slices that may
// run in any order; a slice is a sequence of nests over buffers, whose bodies are scalar expressions. How it
// runs stands beside it (kernel/schedule.h). After Mirage's muGraphs (arXiv 2405.05751, section 3): a phase
// is the grid level, its nests are the tile level, a nest's schedule is the lane level.
//
//   kernel {
//     in0: f32[4096]
//     out0: f32[4096]
//     s0: f32[1] at 0
//     phase i0 in 64 {
//       reduce max r1 in 64 {
//         %0 = in0[i0 * 64 + r1]
//         s0[0] <- %0
//       }
//       map i1 in 64 {
//         ...
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "korch/base/error.h"
#include "korch/kernel/expr.h"
#include "korch/tensor/packing.h"

namespace korch::tile {

// Arguments stand in the order of the ABI (plan/kernel.h): inputs, constants, outputs, temporaries.
enum class BufferRole { input, constant, output, temporary, scratch };

// A row of elements in memory; the offsets of accesses say how axes lie in it.
struct Buffer {
  BufferRole role = BufferRole::input;
  DType type = DType::f32;
  int64_t elements = 0;
  int64_t offset_bytes = 0;  // scratch: in the worker's own memory
  Packing packing = {};      // constant: how its elements are arranged when the kernel is built
  bool streamed = false;  // output: whole cache lines bypass the caches, where nothing would be left of them
  int64_t bytes() const {
    return has_nibbles() ? (elements + 1) / 2 : elements * static_cast<int64_t>(size_bytes(type));
  }
  // Constants of i4 and u4 lie two in a byte, the first one below.
  bool has_nibbles() const { return type == DType::i4 || type == DType::u4; }
};

struct Store {
  int buffer = 0;
  Index offset;   // in elements
  int value = 0;  // in TileGraph::pool
  Condition condition =
      {};  // where it does not hold, nothing is computed or stored; arg_reduce: no candidate
};

// map: every store at every point of the loops.
// reduce: the first store's value is combined over `reduced`; the other stores are done at every point.
// arg_reduce: a reduce that stores the position of the extreme.
// scatter: a map in the order of its loops. Its stores may go where data says, over elements written before.
// scan: a reduce whose first store takes the value so far, at every point.
// top_k: the first store takes the positions of the best elements along the one reduced variable, counted by
// `rank`, best first, of equals the first; the others take these elements. NaN is larger than every number.
// suppress: counted by `rank`, the first store takes positions along the first of two reduced variables: the
// position of the largest float above -inf, of equals the first, among those that no taken position excludes;
// -1 if none is left. The second store's value says whether the position at the first variable is excluded by
// a taken one at the second. Its place, which is working memory, may be any along the first variable.
enum class NestKind { map, reduce, arg_reduce, scatter, scan, top_k, suppress };

// What readers ask of a kind that need not tell it from all others; who must, has a switch.
struct NestKindRow {
  NestKind kind;
  const char* name;       // in the text
  bool reduces = false;   // over `reduced`, by `combine`
  bool extremes = false;  // `combine` is min or max
  bool ranks = false;     // `rank` counts what is found
  int positions = 0;      // so many stores take positions, of i64, instead of their values
};
constexpr NestKindRow kNestKinds[] = {
    {NestKind::map, "map"},
    {NestKind::reduce, "reduce", true},
    {NestKind::arg_reduce, "arg_reduce", true, true, false, 1},
    {NestKind::scatter, "scatter"},
    {NestKind::scan, "scan", true},
    {NestKind::top_k, "top_k", true, true, true, 1},
    {NestKind::suppress, "suppress", true, true, true, 2},
};
constexpr const NestKindRow& row(NestKind kind) {
  return kNestKinds[static_cast<size_t>(kind)];
}
constexpr bool reduces(NestKind kind) {
  return row(kind).reduces;
}
constexpr bool ranks(NestKind kind) {
  return row(kind).ranks;
}

// The part low .. high - 1 of one variable, in which every condition along it is decided.
struct Segment {
  int64_t low = 0, high = 0;
  std::vector<Store> stores;
};

// A loop around nests over the values low .. high - 1 of its variable (of a grid variable: those that the
// slice has).
struct OuterLoop {
  LoopVariable variable;
  int64_t low = 0, high = 1;
  bool operator==(const OuterLoop&) const = default;
};

struct Nest {
  NestKind kind = NestKind::map;
  bool first_slice_only = false;  // slice 0 alone runs it
  // A worker need not run the nest again in its next slice if the grid variables on which its stores to
  // scratch depend have the same values.
  bool kept = false;
  std::vector<OuterLoop> around;      // outermost first; neighbouring nests share those that they begin with
  std::vector<LoopVariable> loops;    // outermost first
  std::vector<LoopVariable> reduced;  // of kinds that reduce
  ScalarFn combine = ScalarFn::add;
  LoopVariable rank;  // of kinds that rank
  // reduce: starts anew where this holds; elsewhere it goes on from the stored value. Depends on the
  // variables around the nest alone.
  Condition anew;
  Index position;  // arg_reduce: in terms of `reduced`
  bool select_last = false;
  // arg_reduce: the first NaN; else a NaN neither replaces an element nor is replaced. reduce: else a NaN may
  // be lost, since it shows elsewhere.
  bool nan_wins = true;
  std::vector<Store> stores;
  std::vector<Segment> segments;  // empty: not cut; else all of the variable `cut`, in order: the same stores
  std::string cut;

  double work() const;  // points visited in one pass of the loops around it
  std::vector<int> roots() const;
};

// How many loops two nests that follow one another are in together.
size_t shared_loops(const std::vector<OuterLoop>& a, const std::vector<OuterLoop>& b);

// The stores' values, then the run-time values in their offsets.
std::vector<int> roots_of(const std::vector<Store>& stores);
// Of those without a condition.
std::vector<int> always_stored(const std::vector<Store>& stores);

// A variable of the parallel grid. A slice has a chunk of `chunk` values and loops over them inside.
struct GridVariable {
  LoopVariable variable;
  int64_t chunk = 1;
  // Slices of one chunk begin when those of the chunk before are done. Such variables come first.
  bool ordered = false;
  int64_t count() const { return (variable.extent + chunk - 1) / chunk; }
  IndexRange values(int64_t block) const {  // in one of its chunks
    return {block * chunk, std::min((block + 1) * chunk, variable.extent) - 1};
  }
  std::string block() const { return variable.name + "_block"; }  // of a chunked one: counts its chunks
};

int64_t slices_of(const std::vector<GridVariable>& grid);
// Of each grid variable, which of its chunks the slice has.
std::vector<int64_t> blocks_of(const std::vector<GridVariable>& grid, int64_t slice);

struct Phase {
  std::vector<GridVariable> grid;  // outermost first: the last one changes fastest
  std::vector<Nest> nests;         // in order
  int64_t slices() const { return slices_of(grid); }
  int64_t rounds() const;     // of slices that may run in any order: as many as ordered variables have chunks
  double slice_work() const;  // of all nests, chunked variables taken whole
  const GridVariable* chunked(const std::string& name) const;        // null: not a chunked variable
  const GridVariable* grid_variable(const std::string& name) const;  // null: none
};

struct TileGraph {
  std::vector<Buffer> buffers;  // arguments, then scratch
  int64_t scratch_bytes = 0;
  ExprPool pool;
  std::vector<Phase> phases;

  std::string name(int buffer) const;  // "in0", "const1", "out0", "temp0", "s2"
};

std::string print(const TileGraph& graph);  // parsed by parse_tile_graph (kernel/schedule.h)

// After a pass (codegen/passes) it cannot be shown that the graph is one: its accesses may leave their
// buffers.
class Unproven : public Error {
 public:
  using Error::Error;
};

// What is wrong with the graph: types or variables that do not fit, an access outside of its buffer, a store
// to a buffer that is only read. Empty if nothing is. coverage_fault (kernel/region.h) checks more.
std::string structural_fault(const TileGraph& graph);
std::string structural_fault(const TileGraph& graph, const Phase& phase, const Nest& nest);

// Whether the points of a scatter along its innermost loop, `variable`, go to elements of their own, at fixed
// strides, wherever data says.
bool scatters_in_lanes(const TileGraph& graph, const Nest& nest, const std::string& variable);

}  // namespace korch::tile
