// Pass: which variable of a nest counts the lanes of vectors, and whether blocks are transposed on the way.
//
// Before                         after, for 16 lanes
//   map i0 in 4, i1 in 64 {        map i0 in 4, i1 in 64 lanes 16 along i1 {
//
// The variable is the one whose accesses cost least. Bodies stay as they are; the tile graph means the same.
#pragma once

#include <string>
#include <vector>

#include "korch/kernel/schedule.h"

namespace korch::tile {

void vectorize(ScheduledGraph& graph, int lanes);

NestSchedule choose_lanes(const TileGraph& graph, const Phase& phase, const Nest& nest, int lanes);

// The variable among `variables` that loads run along while stores run along `vector_variable`; empty when no
// f32 load is like that. `loads`, if given, receives those loads.
std::string find_transposed(const ExprPool& pool, const Nest& nest,
                            const std::vector<LoopVariable>& variables, const std::string& vector_variable,
                            int lanes, std::vector<int>* loads);

}  // namespace korch::tile
