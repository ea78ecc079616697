#include "korch/fission/simplify.h"

#include "korch/interp/interpreter.h"

namespace korch {
namespace passes {

int fold_constant_nodes(Graph& graph) {
  const int folded = fold_constants(graph, kFoldedGrowthBytes);
  graph.remove_dead_nodes();
  return folded;
}

}  // namespace passes

const std::vector<SimplifyPass>& simplify_passes() {
  static const std::vector<SimplifyPass> table = {
      // First: the other passes need not think of empty Values.
      {"remove_empty", passes::remove_empty},
      {"remove_identities", passes::remove_identities},
      {"merge_views", passes::merge_views},
      {"normalize_views", passes::normalize_views},
      {"absorb_transposes", passes::absorb_transposes},
      // After absorb_transposes, which looks for transposes next to their matmul.
      {"separate_axes", passes::separate_axes},
      // Before folding, which would write out what these keep small.
      {"drop_expands", passes::drop_expands},
      {"shrink_constants", passes::shrink_constants},
      {"narrow_indices", passes::narrow_indices},
      {"transpose_gathers", passes::transpose_gathers},
      {"reduce_strength", passes::reduce_strength},
      {"constants_second", passes::constants_second},
      {"fold_constants", passes::fold_constant_nodes},
      // Last, over canonical nodes.
      {"merge_common", passes::merge_common},
  };
  return table;
}

int simplify(Graph& graph) {
  // Each pass shrinks the graph or moves a node to a simpler form, so this ends.
  int total = 0;
  for (int changes = 1; changes > 0;) {
    changes = 0;
    for (const SimplifyPass& pass : simplify_passes()) {
      changes += pass.run(graph);
      graph.remove_dead_nodes();
    }
    total += changes;
  }
  return total;
}

}  // namespace korch
