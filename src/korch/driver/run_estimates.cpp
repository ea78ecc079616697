#include "korch/driver/run_estimates.h"

#include <algorithm>
#include <cmath>

#include "korch/driver/likely_runs.h"
#include "korch/fission/fission.h"
#include "korch/profile/footprint.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

// An empty cache has a logarithm, too.
double log_of(int64_t extent) {
  return std::log1p(static_cast<double>(extent));
}

}  // namespace

double greedy_estimate_us(const Graph& network, const CompileOptions& options, const Device& device,
                          const CostModel& model) {
  constexpr int kWidth = 4;  // of the search for layouts
  CompileOptions greedy = options;
  greedy.strategy = Strategy::greedy;
  greedy.measure = Measure::none;
  const StageDeadlines deadlines(0);
  const Setting setting{greedy, device, deadlines};
  const Graph primitives = fission(network);
  const Rewritten rewritten = with_alternatives(primitives, setting);
  KernelBank bank(rewritten.graph, device, nullptr, footprint_bytes(primitives));
  bank.set_cost_model(model);
  Candidates candidates = find_candidates(rewritten, bank, setting);
  Columns columns = make_columns(rewritten, std::move(candidates.all), candidates.first_optional, setting);
  std::vector<KernelRequest> requests;
  std::vector<size_t> asked;
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    if (columns.infos[id].kind == ColumnInfo::Kind::view) continue;
    asked.push_back(id);
    requests.push_back(kernel_request(rewritten.graph, columns, static_cast<int>(id)));
  }
  if (bank.has_estimates()) {
    const std::vector<CostEstimate> estimates = bank.estimates(requests);
    for (size_t i = 0; i < asked.size(); ++i)
      columns.problem.columns[asked[i]].cost_us *= std::exp(estimates[i].factor);
  }
  return Orchestrator(columns.problem).regress({}, kWidth).objective_us;
}

RunEstimates::RunEstimates(const std::vector<OpenDimension>& dimensions, const Estimate& estimate) {
  constexpr size_t kMostTogether = 2;  // dimensions: nine estimates
  for (size_t d = 0; d < dimensions.size(); ++d)
    if (!dimensions[d].sum) axes_.push_back({d, {dimensions[d].most}});
  together_ = axes_.size() <= kMostTogether;
  for (Axis& axis : axes_) {
    const OpenDimension& dimension = dimensions[axis.dimension];
    const double middle = std::expm1((log_of(dimension.least) + log_of(dimension.most)) / 2);
    const auto between = fitting_up_to(dimension, static_cast<int64_t>(middle));
    if (together_ && between > dimension.least && between < dimension.most) axis.levels.push_back(between);
    axis.levels.push_back(dimension.least);
  }
  std::vector<std::vector<size_t>> points = {std::vector<size_t>(axes_.size(), 0)};
  for (size_t a = 0; a < axes_.size(); ++a)
    for (size_t l = 1; l < axes_[a].levels.size(); ++l)
      for (size_t p = 0, count = together_ ? points.size() : 1; p < count; ++p) {
        if (points[p][a] != 0) continue;
        points.push_back(points[p]);
        points.back()[a] = l;
      }
  for (const std::vector<size_t>& point : points) {
    std::vector<int64_t> extents;
    for (const OpenDimension& dimension : dimensions) extents.push_back(dimension.most);
    for (size_t a = 0; a < axes_.size(); ++a) extents[axes_[a].dimension] = axes_[a].levels[point[a]];
    std::map<std::string, int64_t> bounds;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const auto& [name, least, most, where, sum, fitting] = dimensions[d];
      bounds[name] = sum ? std::clamp(sum->of(extents), least, most) : extents[d];
    }
    const std::optional<double> us = estimate(bounds);
    if (us && *us > 0) log_us_[point] = std::log(*us);
  }
}

RunEstimates::Place RunEstimates::place_on(const Axis& axis, int64_t extent) {
  size_t above = 0;
  while (above + 2 < axis.levels.size() && extent <= axis.levels[above + 1]) ++above;
  if (above + 1 == axis.levels.size()) return {above, 0};
  const double high = log_of(axis.levels[above]), low = log_of(axis.levels[above + 1]);
  return {above, std::clamp((high - log_of(extent)) / (high - low), 0.0, 1.0)};
}

// Where there is no estimate, in proportion to the extents.
double RunEstimates::log_at(const std::vector<size_t>& levels) const {
  if (const auto known = log_us_.find(levels); known != log_us_.end()) return known->second;
  const auto whole = log_us_.find(std::vector<size_t>(levels.size(), 0));
  double log_us = whole != log_us_.end() ? whole->second : 0;
  for (size_t a = 0; a < levels.size(); ++a)
    log_us += log_of(axes_[a].levels[levels[a]]) - log_of(axes_[a].levels[0]);
  return log_us;
}

double RunEstimates::us(const std::vector<int64_t>& extents) const {
  std::vector<Place> places;
  for (const Axis& axis : axes_) places.push_back(place_on(axis, extents[axis.dimension]));
  const std::vector<size_t> whole(axes_.size(), 0);
  double log_us = together_ ? 0 : log_at(whole);
  if (!together_) {
    for (size_t a = 0; a < axes_.size(); ++a) {
      std::vector<size_t> least = whole;
      least[a] = axes_[a].levels.size() - 1;
      log_us += places[a].below * (log_at(least) - log_at(whole));
    }
    return std::exp(log_us);
  }
  for (size_t corner = 0; corner < size_t{1} << axes_.size(); ++corner) {
    std::vector<size_t> levels;
    double share = 1;
    for (size_t a = 0; a < axes_.size(); ++a) {
      const bool is_below = (corner >> a & 1) != 0;
      share *= is_below ? places[a].below : 1 - places[a].below;
      levels.push_back(std::min(places[a].above + (is_below ? 1 : 0), axes_[a].levels.size() - 1));
    }
    if (share > 0) log_us += share * log_at(levels);
  }
  return std::exp(log_us);
}

}  // namespace korch
