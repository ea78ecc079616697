#include "korch/structures/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace korch::structures {
namespace {

std::string counts(const std::map<std::string, int>& counted) {
  std::vector<std::string> items;
  for (const auto& [what, count] : counted) items.push_back(fmt::format("{} {}", count, what));
  return items.empty() ? "none" : fmt::format("{}", fmt::join(items, ", "));
}

std::string log_text(const block::SearchLog& log) {
  std::string text = fmt::format(
      "e-graph: {} nodes in {} classes, {} after {} sweeps\n", log.saturation.nodes, log.saturation.classes,
      log.saturation.saturated ? "saturated" : "not saturated", log.saturation.sweeps);
  text += fmt::format("generated: {} block graphs of {} choices of nodes; left out: {}\n", log.generated,
                      log.choices, counts(log.pruned));
  return text;
}

}  // namespace

std::string describe(const Checked& checked) {
  if (!checked.accepted) return "refused: " + checked.why;
  const std::string bound = checked.field.error_bound < 1
                                ? fmt::format("a difference passes with a probability of 2^{:.0f} at most",
                                              std::log2(checked.field.error_bound))
                                : "no bound on what they overlook is known";
  std::string text =
      fmt::format("equal by laws; the same in {} tests over a field ({})", checked.field.tests, bound);
  if (checked.error > 0)
    text += fmt::format("; {:.2g} times the primitives' error in float32", checked.error);
  return text + (checked.two_phases ? "; also in two phases" : "; one phase: " + checked.one_phase);
}

std::string describe(const Searched& searched) {
  std::string text = searched.group;
  if (searched.was_searched) text += log_text(searched.log);
  text += fmt::format("checked: {}; refused: {}\n", searched.checked, counts(searched.refused));
  for (size_t i = 0; i < searched.accepted.size(); ++i)
    text += fmt::format("structure {}: {}\n{}", i, describe(searched.accepted[i].checked),
                        block::print(searched.accepted[i].graph));
  return text;
}

}  // namespace korch::structures
