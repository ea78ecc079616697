#include "korch/structures/structured_candidates.h"

#include <fmt/format.h>

#include <memory>

#include "korch/structures/describe.h"

namespace korch::structures {
namespace {

// The first words of a reason, by which it is counted.
std::string kind_of(const std::string& why) {
  return why.substr(0, why.find(':'));
}

block::BlockGraph with_extents(block::BlockGraph graph, const block::Terms& group) {
  for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = group.axes[i].extent;
  return graph;
}

}  // namespace

bool StructureBook::knows(const block::Terms& group) const {
  return by_text_.contains(groups::structure_text(group));
}

const Searched& StructureBook::find(const block::Terms& group, const Options& options) {
  std::string text = groups::structure_text(group);
  const auto [place, is_new] = by_text_.try_emplace(text, searched_.size());
  if (!is_new) return searched_[place->second];
  Searched& searched = searched_.emplace_back();
  searched.group = std::move(text);
  block::SearchLimits limits = options.search;
  limits.saturation.deadline = options.deadline;
  for (block::BlockGraph& graph : block::structures(group, limits, searched.log)) {
    if (static_cast<int>(searched.accepted.size()) == options.structures || options.deadline.is_over()) break;
    Checked checked = check_structure(group, graph);
    ++searched.checked;
    if (checked.accepted) {
      searched.accepted.push_back(std::move(graph));
      searched.checks.push_back(std::move(checked));
    } else {
      ++searched.refused[kind_of(checked.why)];
    }
  }
  return searched;
}

StructuredCandidates structured_candidates(const Graph& graph, const Device& device, const Options& options,
                                           StructureBook& book) {
  StructuredCandidates result;
  groups::WorkloadOptions wanted = options.workloads;
  wanted.deadline = options.deadline;
  groups::Workloads workloads = groups::find_workloads(graph, device, wanted);
  for (const auto& [rule, count] : workloads.dropped) result.counts["workload " + rule] += count;
  int late = 0, searches = 0;
  for (groups::Workload& workload : workloads.groups) {
    if (options.deadline.is_over()) {
      ++late;
      continue;
    }
    const block::Terms& terms = workload.group.terms;
    if (!book.knows(terms) && searches++ >= options.searches) {
      ++result.counts["workload beyond most searches"];
      continue;
    }
    const Searched& searched = book.find(terms, options);
    for (size_t i = 0; i < searched.accepted.size(); ++i) {
      workload.candidate.structures.push_back(std::make_shared<const block::PlacedGraph>(
          block::PlacedGraph{with_extents(searched.accepted[i], terms), workload.group.leaves,
                             workload.group.results, "found by search: " + describe(searched.checks[i])}));
    }
    if (workload.candidate.structures.empty())
      ++result.counts["workload without structures"];
    else
      result.candidates.push_back(std::move(workload.candidate));
  }
  for (const Searched& searched : book.all()) {
    for (const auto& [check, count] : searched.refused) result.counts["structure " + check] += count;
    if (!searched.log.saturation.saturated) ++result.counts["structures: the e-graph did not saturate"];
  }
  if (late > 0)
    result.limits.push_back(
        fmt::format("structures: the time was over before {} groups were searched for kernels", late));
  return result;
}

}  // namespace korch::structures
