// Where a phase's scratch lies on a GPU: in registers, in shared memory, or in the block's workspace.
#pragma once

#include <map>
#include <set>

#include "korch/codegen/cuda/held_tile.h"
#include "korch/codegen/cuda/pipeline.h"
#include "korch/codegen/cuda/row_group.h"

namespace korch::tile {

// What a nest reads and writes in memory: buffers.
struct Accesses {
  std::set<int> read, written;
  void add(const Accesses& other);
};
Accesses accesses(const RowGraph& rows, size_t phase, size_t nest);

// Held tiles in registers; all else in shared memory as far as that goes, then in the workspace. Buffers that
// are filled and read at different times of a slice may share memory.
struct ScratchPlaces {
  std::map<int, HeldTile> held;
  std::vector<Pipeline> pipelines;
  std::map<int, int64_t> shared, workspace;  // offsets
  std::map<int, std::set<int>> neighbours;   // others in the same memory
  int64_t shared_bytes = 0, workspace_bytes = 0;
  int stages(int buffer) const;
  std::set<int> with_neighbours(const std::set<int>& buffers) const;
};

// Pipelines need all of their panels in shared memory.
ScratchPlaces scratch_places(const RowGraph& rows, size_t phase, bool with_pipelines = true);

}  // namespace korch::tile
