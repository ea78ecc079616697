// How one nest is vectorized: which variable counts the lanes, and whether a block is transposed on the way.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/loop/loop_program.h"

namespace korch::loop {

struct Schedule {
  std::string vector_variable;  // empty: element by element
  bool horizontal = false;      // the vector variable is one that is reduced over
  std::string tile_variable;    // not empty: loads are contiguous along it, stores along the vector variable
  std::vector<int> tile_loads;  // the nodes loaded in transposed blocks
};

// `roots` are the nest's expressions over their full ranges.
Schedule schedule_nest(const Program& program, const Nest& nest, const std::vector<int>& roots, int lanes);

// The variable among `variables` that loads run along while stores run along `vector_variable`, and those
// loads; empty when no f32 load is like that.
std::string find_tile(const Program& program, const Nest& nest, const std::vector<int>& roots,
                      const std::vector<LoopVariable>& variables, const std::string& vector_variable,
                      int lanes, std::vector<int>* loads);

// Nodes below the roots that every evaluation computes (not inside guards and folds).
std::vector<int> unconditional_nodes(const ExprPool& pool, const std::vector<int>& roots);

// Element offset in memory of a load or stage node.
Index access_offset(const Program& program, int node);

}  // namespace korch::loop
