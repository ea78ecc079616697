// Simplifications of a primitive Graph that are always good and change no result beyond what a library's pow
// may differ by: all are exact, except that x + 0 keeps a -0 and that x^3 becomes two rounded products (as
// ONNX Runtime does). Each pass is named, in one table, and says how many changes it made.
#pragma once

#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct SimplifyPass {
  const char* name;
  int (*run)(Graph& graph);  // returns the number of changes
};

// In the order in which they run.
const std::vector<SimplifyPass>& simplify_passes();

// Runs all passes until none changes anything. Returns the number of changes.
int simplify(Graph& graph);

namespace passes {

// Values without elements become constants; their readers are filled (a sum of nothing) or go on without them
// (a concat).
int remove_empty(Graph& graph);
// Nodes that return an input unchanged: reshapes to the same shape, whole slices, x * 1, x + 0, ...
int remove_identities(Graph& graph);
// Transposes, expands and reductions that touch only extents of 1 become reshapes; gathers of evenly spaced
// constant positions become slices.
int normalize_views(Graph& graph);
// Reshape of reshape, transpose of transpose, slice of slice, expand of expand.
int merge_views(Graph& graph);
// Expands whose user broadcasts by itself.
int drop_expands(Graph& graph);
// A transpose of the last two axes before a MatMul becomes a flag of it; one that moves the innermost axis
// away and can leave it in place by such a flag does.
int absorb_transposes(Graph& graph);
// transpose(merging reshape) becomes reshape(transpose), splitting reshape(transpose) becomes
// transpose(reshape): a transpose of the axes of an image next to its convolution is a change of layout,
// which may cost nothing.
int separate_axes(Graph& graph);
// Constants that repeat themselves along an axis and are read only elementwise lose that axis.
int shrink_constants(Graph& graph);
// Constant indices of GatherElements are int32 where that holds them, and of what repeats itself there is
// one.
int narrow_indices(Graph& graph);
// A transpose of what GatherElements reads by constant indices moves to its operands: the indices' is folded,
// so that they are read in the order of the result.
int transpose_gathers(Graph& graph);
// Powers with small constant exponents become products; division by powers of two becomes multiplication.
int reduce_strength(Graph& graph);
// Constants become the second operand of sums and products, so that equal kernels have equal text, whoever
// wrote the node.
int constants_second(Graph& graph);
// Nodes over constants alone (interpreter.h), as long as the graph does not grow much.
int fold_constant_nodes(Graph& graph);
// Equal nodes over equal inputs become one.
int merge_common(Graph& graph);

// Folding may make the graph this much larger per node: a mask or a position table, not a weight-sized
// tensor.
constexpr int64_t kFoldedGrowthBytes = int64_t{1} << 20;
// With one element along axes that repeat it, and no leading axes of one.
HostTensor without_repetition(HostTensor tensor);

}  // namespace passes
}  // namespace korch
