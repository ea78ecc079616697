// NaN, infinities, subnormal, huge numbers and -0: what the self-check feeds beside random numbers, and what
// is demanded of a plan and its kernels then (docs/design/inspect.md, "Special values").
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

// What a plan may not keep of special values, one sentence per algorithm that it uses: rewrite rules that say
// so (RewriteRule::non_finite), subnormal results. A strict plan has none but that
// bytes lose NaN.
std::vector<std::string> special_value_limits(const Plan& plan);

// What algorithms of a plan may do with special values (RewriteRule::non_finite).
struct SpecialLimits {
  bool spreads = false, loses = false, overflows = false;
};

// As Tolerance::compare, with special values in what was read (docs/design/inspect.md has the table). Among
// `extremes` what should be NaN is not judged: whether a sum of opposite infinities is one depends on how
// terms are put together. Where an algorithm of the plan spreads special values over its tile, what should be
// finite may be anything, and an infinity NaN or another one; where one `overflows`, among extremes. NaN must
// be NaN, but where the plan `loses` NaN among bytes. Whole numbers, which may come of comparing those, are
// judged where none of this holds.
Deviation compare_special(const Tolerance& tolerance, const HostTensor& got, SpecialValues values,
                          const SpecialLimits& limits);

// A JudgeStep for inputs with special values: as compare_special where what the step `read` holds some. A
// step spreads what any rule of the plan spreads, since no plan tells which rules a step stems from.
Deviation compare_special_step(const Plan& plan, const PlanStep& step,
                               const std::vector<const HostTensor*>& read, const Tolerance& tolerance,
                               const HostTensor& got);

struct SpecialCheck {
  bool passed = true;
  std::string not_fed;                // why no special values were judged; empty: they were
  std::vector<Deviation> deviations;  // of the outputs, when not passed
  Bisection bisection;                // when not passed: the kernels at fault
};

// Runs the executable with special values in `inputs`, in two runs. An executable is condemned only where a
// kernel is to blame: across kernels, what algebra makes of an infinity is nobody's fault. Costs two runs of
// the interpreter in float32, side by side; more only where something looks wrong. Throws Undecided where
// that is not judged by the deadline.
SpecialCheck check_special_values(const Graph& imported, LoadedExecutable& executable,
                                  const std::vector<HostTensor>& inputs, uint64_t seed,
                                  const Deadline& deadline, const ImportWithin& import_within = {});

}  // namespace korch
