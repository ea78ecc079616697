// The boxes of one access of a tile graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/kernel/region.h"

namespace korch::tile {

using Ranges = std::map<std::string, IndexRange>;

// One access as the graph states it: where, and when.
struct Place {
  int buffer;
  Direction direction;
  Index offset;
  std::vector<Condition> paths;  // any of them
};

// Adds the elements that are accessed as the variables take the values of `ranges`.
void add_boxes(const Place& place, const Ranges& ranges, Region& region);

}  // namespace korch::tile
