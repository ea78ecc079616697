// NaN, infinities, subnormal and huge numbers and -0: the self-check feeds them beside random numbers, and
// demands results by rules of their own (docs/design/inspect.md, "Special values").
#pragma once

#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/inspect/bisect.h"
#include "korch/inspect/tolerance.h"
#include "korch/ir/graph.h"
#include "korch/package/loaded.h"
#include "korch/plan/plan.h"

namespace korch {

enum class SpecialValues { nan, extremes };  // extremes: all but NaN

// The inputs with special values in a few elements of each float tensor; tensors of fewer than eight elements
// stay, unless no float input has more.
std::vector<HostTensor> with_special_values(const Graph& graph, const std::vector<HostTensor>& inputs,
                                            SpecialValues values);

// Where a plan may not keep special values: a sentence per algorithm that it uses, for rewrite rules that say
// so (RewriteRule::non_finite), the library's Winograd, and subnormal results. A strict plan has none, except
// that bytes lose NaN.
std::vector<std::string> special_value_limits(const Plan& plan);

// Effects of a plan's algorithms on special values (RewriteRule::non_finite, the library's Winograd).
struct SpecialLimits {
  bool spreads = false, loses = false, overflows = false;
};

// As Tolerance::compare, with special values in the inputs (docs/design/inspect.md has the table). Among
// `extremes` an expected NaN is not judged: whether a sum of opposite infinities is NaN depends on the order
// of terms. If an algorithm of the plan spreads special values over its tile, an expected finite number may
// become anything, and an infinity may become NaN or another infinity; likewise among extremes if one
// `overflows`. An expected NaN must be NaN, unless the plan `loses` NaN among bytes. Whole numbers, which may
// come from comparing such values, are judged if none of this holds.
Deviation compare_special(const Tolerance& tolerance, const HostTensor& got, SpecialValues values,
                          const SpecialLimits& limits);

// A JudgeStep for inputs with special values: compare_special if the step `read` some. Any rule of the plan
// that spreads excuses a step, since a plan does not tell which rules a step stems from. The library's
// Winograd excuses its own step alone.
Deviation compare_special_step(const Plan& plan, const PlanStep& step,
                               const std::vector<const HostTensor*>& read, const Tolerance& tolerance,
                               const HostTensor& got);

struct SpecialCheck {
  bool passed = true;
  std::string not_fed;                // why no special values were judged; empty: they were
  std::vector<Deviation> deviations;  // of the outputs, when not passed
  Bisection bisection;                // when not passed: the kernels at fault
};

// Runs the executable twice with special values in `inputs`. It is condemned only if a kernel is at fault:
// algebra across kernels may change an infinity. Costs two runs of the interpreter in float32, side by side,
// and more only if something looks wrong. Throws Undecided if that is not judged by the deadline.
SpecialCheck check_special_values(const Graph& imported, LoadedExecutable& executable,
                                  const std::vector<HostTensor>& inputs, uint64_t seed,
                                  const Deadline& deadline, const ImportWithin& import_within = {});

}  // namespace korch
