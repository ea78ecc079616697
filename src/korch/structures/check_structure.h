// Whether a block graph computes what its group does: the checks before a kernel of it may cost anybody time
// (docs/design/structures.md). A compiled kernel is then checked as every other one.
#pragma once

#include <string>

#include "korch/block/block_graph.h"
#include "korch/ir/field_result.h"

namespace korch::structures {

struct Checked {
  bool accepted = false;
  std::string why;             // it is not accepted: by which check, and what that saw
  FieldResult field;           // the lowered kernel against the plainest one
  double error = 0;            // in float32, over the plainest kernel's: the largest of all scales
  int kernels = 0;             // that were lowered and compared
  bool two_phases = false;     // of it passed the same checks: its loop may be dealt out
  std::string one_phase = {};  // why not
};

// The graph's leaves and axes are those of the terms. In this order:
// 1. equal by the laws of an e-graph, its rescalings too (block/prove.h);
// 2. the tile graph that it is lowered to, at small extents and in several blocks, over finite fields against
//    the plainest kernel of the terms, `tests` times;
//    With register tiles, and without (BlockSchedule::direct).
// 3. its error in float32 against float64 at inputs of scales 1, 10 and 100: at most four times that of the
//    plainest kernel, and finite where that is.
// Then two phases of it, if it has them.
Checked check_structure(const block::Terms& group, const block::BlockGraph& graph, int tests = 64);

// Of a block graph that passed all of them when the program was made: the first, and few tests of the second.
Checked check_again(const block::Terms& group, const block::BlockGraph& graph);

}  // namespace korch::structures
