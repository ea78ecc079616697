// The loops of a slice around its nests, and the variables they count from, as C++ statements.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// Declares the grid variables of `slice`, the innermost changing fastest: NAME; of a chunked one NAME_block,
// NAME_begin and NAME_end.
std::string slice_variables(const Phase& phase, const std::string& index_type = "int64_t");

// Neighbouring nests share the loops that they begin with.
class SliceLoops {
 public:
  SliceLoops(const Phase& phase, BodyEmitter& emitter) : phase_(phase), emitter_(emitter) {}

  // Closes the loops that are open and not among these, and opens the others.
  void enter(const std::vector<OuterLoop>& around);
  void leave() { close_to(0); }

 private:
  void open(const OuterLoop& loop);
  void close_to(size_t depth);

  const Phase& phase_;
  BodyEmitter& emitter_;
  std::vector<OuterLoop> open_;
};

}  // namespace korch::tile
