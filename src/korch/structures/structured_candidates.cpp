#include "korch/structures/structured_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "korch/structures/describe.h"

namespace korch::structures {
namespace {

// The first words of a reason, by which it is counted.
std::string kind_of(const std::string& why) {
  return why.substr(0, why.find(':'));
}

// What groups have in common that the same block graphs serve: also axes that no term names, as in a file.
std::string key_of(const block::Terms& group) {
  return fmt::format("{} axes\n{}", group.axes.size(), block::structure_text(group));
}

block::BlockGraph with_extents(block::BlockGraph graph, const block::Terms& group) {
  for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = group.axes[i].extent;
  return graph;
}

// Takes what passes the checks, until there are enough.
void take_checked(const block::Terms& group, std::vector<Structure> offered, const Options& options,
                  Searched& searched) {
  for (Structure& structure : offered) {
    if (static_cast<int>(searched.accepted.size()) == options.structures || options.deadline.is_over()) break;
    structure.graph = with_extents(std::move(structure.graph), group);
    structure.checked =
        structure.is_tested ? check_again(group, structure.graph) : check_structure(group, structure.graph);
    ++searched.checked;
    if (structure.checked.accepted)
      searched.accepted.push_back(std::move(structure));
    else
      ++searched.refused[kind_of(structure.checked.why)];
  }
}

}  // namespace

void StructureBook::add(const std::vector<block::KnownGroup>& groups, const Structure& like) {
  for (const block::KnownGroup& known : groups) {
    std::vector<Structure>& structures = known_[key_of(known.group)];
    for (const block::BlockGraph& graph : known.structures) {
      if (std::ranges::any_of(structures, [&](const Structure& s) { return s.graph == graph; })) continue;
      structures.push_back(like);
      structures.back().graph = graph;
    }
  }
}

void StructureBook::add_file(const std::vector<block::KnownGroup>& groups, const std::string& path) {
  add(groups, {.graph = {}, .origin = "from " + path});
}

void StructureBook::add_shipped() {
  add(shipped_structures(), {.graph = {}, .origin = "found by search, ships with korch", .is_tested = true});
}

bool StructureBook::has(const block::Terms& group) const {
  return by_key_.contains(key_of(group));
}

const Searched& StructureBook::find(const block::Terms& group, const Options& options) {
  const std::string key = key_of(group);
  const auto [place, is_new] = by_key_.try_emplace(key, searched_.size());
  if (!is_new) return searched_[place->second];
  Searched& searched = searched_.emplace_back();
  searched.group = block::structure_text(group);
  if (const auto known = known_.find(key); known != known_.end())
    take_checked(group, known->second, options, searched);
  if (!searched.accepted.empty()) return searched;
  searched.was_searched = true;
  block::SearchLimits limits = options.search;
  limits.saturation.deadline = options.deadline;
  std::vector<Structure> found;
  for (block::BlockGraph& graph : block::structures(group, limits, searched.log))
    found.push_back({std::move(graph), "found by search"});
  take_checked(group, std::move(found), options, searched);
  return searched;
}

StructuredCandidates structured_candidates(const Graph& graph, const Device& device, const Options& options,
                                           StructureBook& book) {
  StructuredCandidates result;
  groups::WorkloadOptions wanted = options.workloads;
  wanted.deadline = options.deadline;
  groups::Workloads workloads = groups::find_workloads(graph, device, wanted);
  for (const auto& [rule, count] : workloads.dropped) result.counts["workload " + rule] += count;
  int late = 0;
  for (groups::Workload& workload : workloads.groups) {
    if (options.deadline.is_over()) {
      ++late;
      continue;
    }
    const block::Terms& terms = workload.group.terms;
    if (!book.has(terms) && std::ssize(book.all()) >= options.groups) {
      ++result.counts["workload beyond most groups"];
      continue;
    }
    const Searched& searched = book.find(terms, options);
    for (const Structure& structure : searched.accepted)
      workload.candidate.structures.push_back(std::make_shared<const block::PlacedGraph>(block::PlacedGraph{
          with_extents(structure.graph, terms), workload.group.leaves, workload.group.results,
          fmt::format("{}: {}", structure.origin, describe(structure.checked)),
          structure.checked.two_phases}));
    if (workload.candidate.structures.empty())
      ++result.counts["workload without structures"];
    else
      result.candidates.push_back(std::move(workload.candidate));
  }
  for (const Searched& searched : book.all()) {
    for (const auto& [check, count] : searched.refused) result.counts["structure " + check] += count;
    if (searched.was_searched && !searched.log.saturation.saturated)
      ++result.counts["structures: the e-graph did not saturate"];
  }
  if (late > 0)
    result.limits.push_back(
        fmt::format("structures: the time was over before {} groups were searched for kernels", late));
  return result;
}

}  // namespace korch::structures
