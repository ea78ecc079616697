// Kernel variants of the steps of a plan, of which each run takes those that are fastest for its extents
// (docs/design/variants.md).
#pragma once

#include "korch/options/compile_options.h"
#include "korch/search/plan_builder.h"

namespace korch {

// For every step of which runs of smaller extents need a part: its kernel's candidate with the same inputs,
// outputs and layouts in other schedules and, of families that `columns` lists, other kernels, that give the
// same results. Each is measured at some extents with what such a run needs of it; those that are together
// nearly as good as all become variants of the step, if there is more than one. `columns` gets a column for
// each schedule that it does not list; the program is solved by then.
void add_variants(const Graph& graph, Columns& columns, KernelBank& bank, const Device& target,
                  const VariantOptions& options, BuiltPlan& built);

}  // namespace korch
