// A map that reads along one loop what it writes along another one, as a transpose does.
#pragma once

#include <optional>
#include <string>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

constexpr int64_t kTurnedSide = 32;                                    // of a tile in shared memory
constexpr int64_t kTurnedBytes = 4 * kTurnedSide * (kTurnedSide + 1);  // lines of which begin in other banks

struct TurnedLoad {
  int load = -1;
  std::string along;  // the loop along which its elements lie beside each other
};

// The load that neighbours along `fast` make far from each other, though every store lies beside its
// neighbours' there. It is made by all points, and both loops are long.
std::optional<TurnedLoad> turned_load(const TileGraph& graph, const Phase& phase, const Nest& nest,
                                      const std::string& fast);
// Such a loop `fast`; empty: there is none.
std::string turned_along(const TileGraph& graph, const Phase& phase, const Nest& nest);

}  // namespace korch::tile
