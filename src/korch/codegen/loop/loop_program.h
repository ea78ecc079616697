// What lowering makes of a candidate and the printers spell: phases of a parallel grid, each slice a sequence
// of loop nests over symbolic coordinates. Bodies are not stored: a nest says which Values stand at which
// coordinates, and the Composer gives their expressions (again with narrower ranges where a loop is cut into
// segments).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/codegen/loop/compose.h"

namespace korch::loop {

// A Value held in scratch: per slice the region base[axis] .. base[axis] + extents[axis] - 1, where the bases
// depend on grid variables only.
struct StageBuffer {
  ValueId value = kNoId;
  DType type = DType::f32;
  std::vector<Index> base;
  Shape extents;
  Shape strides;             // elements
  int64_t offset_bytes = 0;  // in the worker's scratch
  Index offset(const std::vector<Index>& coords) const;
};

// One Value that a nest computes: `source` composed at `coords`, put at `destination`.
struct NestTarget {
  ValueId source = kNoId;     // the Value itself, or a reduction's operand
  bool define = false;        // one step below `source`, which is a stage
  std::vector<Index> coords;  // of source
  int argument = -1;          // the output it is written to, at `offset`; else the stage buffer of `stage`
  ValueId stage = kNoId;
  Index offset;  // in elements, of the argument or the stage buffer
};

enum class NestKind { map, reduce, arg_reduce };

struct Nest {
  NestKind kind = NestKind::map;
  bool first_slice_only = false;      // a small output that no slice's share fits: slice 0 makes all of it
  std::vector<LoopVariable> loops;    // outermost first
  std::vector<LoopVariable> reduced;  // reduce and arg_reduce: combined over these
  ScalarFn combine = ScalarFn::add;
  Index position;  // arg_reduce: the index along the axis, in terms of `reduced`
  bool select_last = false;
  // A reduction's first target is its result; what follows are stages that it stores as it reads them.
  std::vector<NestTarget> targets;
  std::vector<ValueId> inlined;  // those stages: computed here, read from memory by later nests
  double work() const;           // elements visited
};

// A variable of the parallel grid; values step .. in steps of `chunk` (a chunked variable loops inside the
// slice).
struct GridVariable {
  LoopVariable variable;
  int64_t chunk = 1;
  int64_t count() const { return (variable.extent + chunk - 1) / chunk; }
};

struct Program {
  std::vector<GridVariable> grid;  // outermost first
  std::vector<Nest> nests;         // in order
  std::vector<StageBuffer> buffers;
  int64_t scratch_bytes = 0;
  std::map<ValueId, Argument> arguments;  // inputs and constants
  std::vector<DType> argument_types;      // of all arguments, by number
  std::unique_ptr<ExprPool> pool;
  std::unique_ptr<Composer> composer;

  const StageBuffer& buffer_of(ValueId value) const;
  int64_t grid_size() const;
  double slice_work() const;  // of all nests
  // The roots of the nest's targets; `ranges` replaces variables (by narrower ones).
  std::vector<int> roots(const Nest& nest, const std::map<std::string, Index>& ranges = {}) const;
};

// The first division in the nest's expressions that splitting an allowed variable resolves.
Split find_split(const ExprPool& pool, const std::vector<int>& roots, const Nest& nest,
                 const std::function<bool(const std::string&)>& allowed);

}  // namespace korch::loop
