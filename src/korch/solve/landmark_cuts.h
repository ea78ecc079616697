// A lower bound on all plans from disjoint shares of cuts: the heuristic LM-cut of planning (Helmert and
// Domshlak, Landmarks, critical paths and abstractions: what's the difference anyway?, ICAPS 2009).
#pragma once

#include <span>
#include <vector>

#include "korch/solve/network.h"

namespace korch {

// Every plan runs one of these arcs. The shares of all cuts together pay no arc more than its cost, so that
// their sum is a lower bound.
struct LandmarkCut {
  double share_us = 0;
  std::vector<int> arcs;  // ascending; none where the required nodes cannot be reached, which ends the list
};

// A cut is what may be the first to make a node of the goal's zone (from where a required node is reached for
// nothing): all that reads no node of the zone; or, of both sides, less: all that reads only nodes that are
// reached without it. Many cuts of the first kind pay for more at once, one of the second kind says more.
enum class CutSides { zone, both };

// Costs in microseconds per arc, not negative; infinite: cannot run. Ends early, with the cuts found so far,
// when the time is over. Networks of more than `part` nodes are taken in by so many, nearest first: the time
// is then in proportion to the network, and the bound some per cent lower.
constexpr size_t kLandmarkPart = 2000;
std::vector<LandmarkCut> landmark_cuts(const Network& network, std::span<const double> cost_us,
                                       double time_limit_s, CutSides sides, size_t part = kLandmarkPart);

}  // namespace korch
