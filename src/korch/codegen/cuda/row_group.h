// Nests that follow one another and go over the same elements of the same rows, as those of a softmax or of a
// normalization do: the threads of a block share out rows and elements once for all of them, so that what one
// nest loads or computes of an element stays in its thread's registers for the next one.
#pragma once

#include <set>
#include <vector>

#include "korch/kernel/schedule.h"

namespace korch::tile {

// Nests [first, end) of a phase, whose loops count rows and columns: maps over both or over rows alone, and
// reduces of columns. A team of threads has a row; a thread has `lanes` neighbouring columns, then those that
// are team * lanes further, and so on.
struct RowGroup {
  size_t first = 0, end = 0;
  LoopVariable row, column;
  int64_t team = 1;
  int lanes = 1;
  int64_t points() const;  // of a thread, of so many lanes each
  // Of each nest, the expressions whose values it keeps in registers for nests after it, and those that it
  // finds there. None: rows are too long, and are read again.
  std::vector<std::set<int>> kept, found;
  // Of each nest that reduces, the expression that loads its result; -1 of others.
  std::vector<int> results;
  // Of that nest, what it evaluates: all but what it finds.
  std::set<int> needed(const ExprPool& pool, const Nest& nest, size_t number) const;
  std::set<int> in_registers;  // buffers of results that no nest outside of the group reads
};

// The same graph where nests of a group have its loops, and what one of them stored in scratch only for the
// others is computed from what they read.
struct RowGraph {
  ScheduledGraph graph;
  std::vector<std::vector<RowGroup>> groups;  // of each phase, in order

  const RowGroup* group_of(size_t phase, size_t nest) const;  // null: in none
};

RowGraph with_row_groups(const ScheduledGraph& graph);

}  // namespace korch::tile
