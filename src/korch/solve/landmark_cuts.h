// A lower bound on all plans from disjoint shares of cuts: the heuristic LM-cut of planning (Helmert and
// Domshlak, Landmarks, critical paths and abstractions: what's the difference anyway?, ICAPS 2009).
#pragma once

#include <span>
#include <vector>

#include "korch/solve/network.h"

namespace korch {

// Every plan runs one of these arcs. The shares of all cuts together take no arc's cost twice, so their sum
// is a lower bound.
struct LandmarkCut {
  double share_us = 0;
  std::vector<int> arcs;  // ascending; none where the required nodes cannot be reached, which ends the list
};

// The arcs of a cut may be the first to make a node of the goal's zone (the nodes from which a required node
// is reached for nothing). zone: all arcs into it that read no node of the zone. both: fewer, only those
// whose inputs are all reached without the zone. Many cuts of the first kind pay for more at once; one cut of
// the second kind says more.
enum class CutSides { zone, both };

// Costs in microseconds per arc, not negative; infinite: cannot run. When the time is over it ends early,
// with the cuts found so far. Networks of more than `part` nodes are taken in parts of that size, nearest
// first: the time is then in proportion to the network, and the bound some per cent lower.
constexpr size_t kLandmarkPart = 2000;
std::vector<LandmarkCut> landmark_cuts(const Network& network, std::span<const double> cost_us,
                                       double time_limit_s, CutSides sides, size_t part = kLandmarkPart);

}  // namespace korch
