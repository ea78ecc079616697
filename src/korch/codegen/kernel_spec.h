// A KernelSpec is a kernel before a backend spells it: a tile graph with its schedule, or a library call. It
// is made once, when a kernel is proposed, and kept (profile/kernel_bank.h). Limits, regions, orders of sums
// and text are read from it there. Its text is its identity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "korch/codegen/implementation.h"
#include "korch/kernel/schedule.h"
#include "korch/plan/kernel.h"

namespace korch {

struct KernelSpec {
  std::optional<tile::ScheduledGraph> tiles;  // before any lowering; none: a call of a library
  Kernel kernel;                              // its launch and memory; with tiles: no source yet
};

// The tile graph's text, or the call's: on one target, two specs of one text are one kernel.
std::string print(const KernelSpec& spec);
// The tile graph in what print() gave; nothing of a call. Throws Error{invalid} for other texts.
std::optional<tile::ScheduledGraph> tiles_of(std::string_view printed);

// Why its tile graph is none (structural_fault), or nothing.
std::string fault_in(const KernelSpec& spec);
// An internal error where there is a fault.
void check(const KernelSpec& spec);
// Which takes longer than to make one: of those that may never be built it is left to who builds them.
enum class Checked { now, later };

// The kernel of a candidate in one of its implementations.
Result<KernelSpec> propose(const Graph& graph, const Candidate& candidate,
                           const Implementation& implementation, const Device& target,
                           Checked checked = Checked::now);
// The layout change of one Value as a kernel of its own.
KernelSpec propose_reorder(const TensorType& type, const Layout& from, const Layout& to, const Device& target,
                           Checked checked = Checked::now);

}  // namespace korch
