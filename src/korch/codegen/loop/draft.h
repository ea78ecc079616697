// A tile graph in the making. Lowering tries several grids and sets of intermediates. So a nest only names
// Values and coordinates, and the Composer makes their expressions anew each time. The final draft becomes a
// TileGraph.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/codegen/loop/compose.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// A Value held in scratch: per slice the region base[axis] .. base[axis] + extents[axis] - 1, where the bases
// depend on grid variables only.
struct IntermediateBuffer {
  ValueId value = kNoId;
  TensorType type;  // of the whole Value
  std::vector<Index> base;
  Shape extents;
  Shape strides;             // elements
  int64_t offset_bytes = 0;  // in the worker's scratch
  Index offset(const std::vector<Index>& coords) const;
};

// One Value that a nest computes: `source` composed at `coords`.
struct DraftTarget {
  ValueId source = kNoId;      // the Value itself, or a reduction's operand
  bool define = false;         // one step below `source`, which is an intermediate
  std::vector<Index> coords;   // of source
  std::vector<Index> reduced;  // not empty: `source` is a linear primitive's result, and this of it is summed
  int argument =
      -1;  // the output it is written to, at `offset`; else the intermediate buffer of `intermediate`
  ValueId intermediate = kNoId;
  Index offset;  // in elements, of the argument or the intermediate buffer
};

// Its bodies (`stores`) are still missing; its targets tell what they will be.
struct DraftNest : Nest {
  // A reduction's first target is its result; what follows are intermediates that it stores as it reads them.
  std::vector<DraftTarget> targets;
  std::vector<ValueId> inlined;  // those intermediates: computed here, read from memory by later nests
};

struct Draft {
  std::vector<GridVariable> grid;  // outermost first
  std::vector<DraftNest> nests;    // in order
  std::vector<IntermediateBuffer> buffers;
  int64_t scratch_bytes = 0;
  std::map<ValueId, Argument> memory;  // inputs and constants
  std::vector<Buffer> arguments;       // inputs, constants, outputs
  std::unique_ptr<ExprPool> pool;
  std::unique_ptr<Composer> composer;

  const IntermediateBuffer& buffer_of(ValueId value) const;
  double slice_work() const;  // of all nests
  void place_buffers();       // in the scratch, one after the other
  // The roots of the nest's targets.
  std::vector<int> roots(const DraftNest& nest) const;
  // The nest with its bodies, which go into the graph's pool; buffers are numbered as in tile_graph().
  Nest with_bodies(const DraftNest& nest, TileGraph& graph) const;
  TileGraph tile_graph() const;

 private:
  int buffer_number(ValueId intermediate) const;
};

// The first division in the nest's expressions that splitting an allowed variable resolves.
Split find_split(const ExprPool& pool, const std::vector<int>& roots, const DraftNest& nest,
                 const std::function<bool(const std::string&)>& allowed);

}  // namespace korch::tile
