// The block graph: how one kernel computes a group, between its terms and a tile graph. Axes have roles: the
// values of a `grid` axis are dealt out to slices; a loop goes over the values of its axis in blocks; all
// others are whole within a step. Steps are Values over axes: loads, elementwise primitives, folds. A fold
// over the axis of the loop it stands in is an accumulator, `running`; its readers in the loop see its value
// so far. What it has of earlier blocks may be multiplied by a factor first (`rescale`), where its terms
// depend on other accumulators: an online softmax is
//
//   block {
//     axes b grid, m grid, n, d, e
//     leaf q f32 [b, m, d]
//     leaf k f32 [b, n, d]
//     leaf v f32 [b, n, e]
//     %0 = load q
//     loop n {
//       %1 = load k
//       %2 = Mul(%0, %1)
//       %3 = sum d %2
//       %4 = max n %3
//       %5 = before %4
//       %6 = Sub(%5, %4)
//       %7 = Exp(%6)
//       %8 = Sub(%3, %4)
//       %9 = Exp(%8)
//       %10 = sum n %9 rescaled %7
//       %11 = load v
//       %12 = Mul(%9, %11)
//       %13 = sum n %12 rescaled %7
//     }
//     %14 = Div(%13, %10)
//     result %14
//   }
//
// Exp(Sub(x, r)) of a maximum r means 0 where both are -inf, as of a row that a mask leaves nothing of: a
// lowering takes 0 in place of such an r. The graph itself reads r plainly.
//
// It knows no extents: an instance binds them (Terms::axes, and a schedule). After Mirage's block graphs
// (arXiv 2405.05751, section 3), with axes for their maps of grids and loops.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/block/term.h"

namespace korch::block {

struct Step {
  enum class Kind {
    leaf,
    number,
    call,
    fold,
    window,  // args[0] by `window` (TermKind)
    before   // what the accumulator args[0] of the same loop was before this block; at first its identity
  };
  Kind kind = Kind::number;
  DType type = DType::f32;
  int leaf = -1;
  double number = 0;
  Op op = Op::Add;
  ScalarAttrs scalars = {};
  std::vector<int> args = {};  // earlier steps
  ScalarFn combine = ScalarFn::add;
  AxisSet over = 0;
  // Of a fold over its loop's axis, which adds: an earlier step of the loop; or -1.
  int rescale = -1;
  Window window = {};
  // 0: before the first loop; 2 i + 1: in loop i; 2 i + 2: behind it, and before the next one.
  int place = 0;
  AxisSet axes = 0;  // that its value depends on; without the loop's axis for an accumulator
  bool operator==(const Step&) const = default;
};

struct BlockGraph {
  std::vector<Axis> axes;  // extents of the instance; 0 where none is bound
  AxisSet grid = 0;
  std::vector<int> loops;  // the axis of each loop, in order
  std::vector<Leaf> leaves;
  std::vector<std::string> leaf_names;
  std::vector<Step> steps;  // by place; operands before their readers
  std::vector<int> results;

  bool in_loop(const Step& step) const { return step.place % 2 == 1; }
  int loop_axis(const Step& step) const { return in_loop(step) ? loops[step.place / 2] : -1; }
  // A fold over the axis of its own loop.
  bool is_running(const Step& step) const {
    return step.kind == Step::Kind::fold && in_loop(step) && (step.over & axis_set(loop_axis(step))) != 0;
  }
  bool operator==(const BlockGraph&) const = default;
};

std::string print(const BlockGraph& graph);
// Throws Error{invalid} with the line and what is wrong. What it gives is verified.
BlockGraph parse_block_graph(std::string_view text);

// What is wrong with the graph; empty if nothing is: operands that do not stand before their readers, or in a
// later loop; a step in a loop read behind it that is no accumulator; a value of a loop's axis outside of the
// loop; a rescaling that depends on the loop's axis or of a fold that does not add; a result that lacks a
// grid axis, or axes that differ between results.
std::string fault_in(const BlockGraph& graph);

// Sets `type` and `axes` of a step whose operands stand in the graph.
void complete(const BlockGraph& graph, Step& step);

// What the graph computes if each rescaling does what it should, which are the other equations to be proven:
// an accumulator that a step of its loop reads stands for its final value, since a sum of earlier blocks,
// multiplied by the rescaling, is what it would be by the new values of the accumulators that its terms read.
struct Meaning {
  Terms terms;  // the results
  // The same and more, over leaves of its own for what accumulators were. Pairs of its terms must be equal
  // for all values of their leaves: for each sum of terms T(r), where r are the accumulators that T reads,
  // those of T(before r) * rescale and T(r).
  Terms of_accumulators;
  std::vector<std::pair<int, int>> equations;
};
Meaning meaning_of(const BlockGraph& graph);

}  // namespace korch::block
