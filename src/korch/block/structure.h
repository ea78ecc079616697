// One block graph of a choice: where each value stands, given the loops and the loop of each fold that runs.
//
// A value of a loop's axis stands in the loop that reads it, once in each; any other as early as it can. A
// fold over a loop's axis is an accumulator of its loop; from behind the loop one reads its final value. Who
// reads an accumulator r within its loop sees its value so far. A sum of terms T(r) may do that where T = u v
// for a u that r is not free in and a v that the loop's axis is not free in: what it holds of earlier blocks
// is rescaled by v(r) / v(before r). The e-graph knows u and v, which here must be exponentials: exp(s - r) =
// exp(s) exp(-r). That is the law of online softmax (Milakov and Gimelshein, arXiv 1805.02867), found as one
// question about a class.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "korch/block/block_graph.h"
#include "korch/block/choice.h"

namespace korch::block {

struct LoopPlan {
  std::vector<int> loops;          // their axes
  std::map<ClassId, int> loop_of;  // of each class that a fold over a loop's axis computes
};

// The folds of the choice over one of the axes, each after those that its terms read.
std::vector<ClassId> running_folds(const EGraph& graph, const Chooser::Choice& choice, AxisSet axes);
// Those that the terms of a fold read without another one between.
std::vector<ClassId> folds_read_by(const EGraph& graph, const Chooser::Choice& choice, ClassId fold,
                                   AxisSet axes);

// Without grid; or why there is none.
std::variant<BlockGraph, std::string> structure_of(const EGraph& graph, const Chooser& chooser,
                                                   const Chooser::Choice& choice, const Terms& group,
                                                   const std::vector<ClassId>& results, const LoopPlan& plan);

}  // namespace korch::block
