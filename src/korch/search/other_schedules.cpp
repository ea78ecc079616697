#include "korch/search/other_schedules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "korch/base/interrupt.h"

namespace korch {
namespace {

constexpr double kLeastShare = 0.02;  // of a plan's time, of all columns of a kernel together
// Of the own cost: a cost below is better beyond what the best of many measurements flatters by; one above,
// in a quick look, is not looked at again.
constexpr double kBetter = 0.98, kLittleMore = 1.02;
constexpr size_t kMostOthers = 8;  // of each kernel, as its family names them; compiled together
constexpr size_t kMostLooks = 2;   // thorough ones, of each kernel

class ScheduleFinder {
 public:
  ScheduleFinder(const Graph& graph, const Device& target, CostSource& costs, bool by_estimates,
                 Columns& columns)
      : graph_(graph), target_(target), costs_(costs), by_estimates_(by_estimates), columns_(columns) {}

  // Columns of one kernel.
  void find(const std::vector<int>& same, std::vector<Rescheduled>& found) {
    const size_t listed = columns_.infos.size();
    const int own = same[0];
    std::vector<int> others;
    for (Implementation& other :
         rescheduled(graph_, candidate(own), columns_.infos[own].implementation, target_))
      if (others.size() < kMostOthers) others.push_back(add_column(graph_, own, std::move(other), columns_));
    if (by_estimates_ && !others.empty()) keep_promising(own, others);
    if (!others.empty()) measure(same, others, found);
    columns_.infos.resize(listed);
    columns_.problem.columns.resize(listed);
  }

 private:
  // The one that the model says costs the least, if that is clearly less than the own one.
  void keep_promising(int own, std::vector<int>& others) {
    constexpr double kClearly = 0.07;  // of a logarithm
    std::vector<int> all = {own};
    all.insert(all.end(), others.begin(), others.end());
    const std::vector<CostEstimate> said = costs_.estimates(all);
    const auto least = std::ranges::min_element(said.begin() + 1, said.end(), {}, &CostEstimate::factor);
    if (least->factor < said[0].factor - kClearly)
      others = {all[static_cast<size_t>(least - said.begin())]};
    else
      others.clear();
  }

  void measure(const std::vector<int>& same, const std::vector<int>& others,
               std::vector<Rescheduled>& found) {
    const int own = same[0];
    const std::vector<double> quick = us_of(others, Care::quick);
    const double own_us = columns_.problem.columns[own].cost_us;
    std::vector<std::pair<double, int>> near;
    for (size_t i = 0; i < others.size(); ++i)
      if (quick[i] < kLittleMore * own_us) near.emplace_back(quick[i], others[i]);
    std::sort(near.begin(), near.end());
    if (near.size() > kMostLooks) near.resize(kMostLooks);
    std::optional<std::pair<double, int>> best;
    if (!near.empty()) {
      // The own one again, since what disturbed may be over.
      double limit_us = kBetter * std::min(own_us, us_of({own}, Care::twice)[0]);
      for (const auto& [_, other] : near) {
        us_of({other}, Care::thorough);
        const double us = us_of({other}, Care::twice)[0];
        if (us < limit_us) best = {us, other}, limit_us = us;
      }
    }
    if (best)
      for (const int column : same)
        found.push_back(
            {column, to_string(columns_.infos[best->second].implementation.schedule), best->first});
  }

  const Candidate& candidate(int column) const {
    return columns_.candidates[columns_.infos[column].candidate];
  }

  // Infinite where there is no such kernel.
  std::vector<double> us_of(const std::vector<int>& columns, Care care) {
    throw_if_interrupted();
    std::vector<double> us;
    for (const Result<Cost>& cost : costs_.measure(columns, care))
      us.push_back(cost ? cost.value().us : std::numeric_limits<double>::infinity());
    return us;
  }

  const Graph& graph_;
  const Device& target_;
  CostSource& costs_;
  const bool by_estimates_;
  Columns& columns_;
};

}  // namespace

std::vector<Rescheduled> better_schedules(const Graph& graph, const Device& target,
                                          const std::vector<int>& chosen, const Deadline& deadline,
                                          CostSource& costs, bool by_estimates, Columns& columns) {
  std::map<Hash, std::vector<int>> by_key;
  double all_us = 0;
  for (const int column : chosen) {
    all_us += columns.problem.columns[column].cost_us;
    if (columns.infos[column].kind == ColumnInfo::Kind::kernel)
      by_key[columns.infos[column].key].push_back(column);
  }
  std::vector<std::pair<double, std::vector<int>>> kernels;
  for (auto& [key, same] : by_key) {
    const double us = columns.problem.columns[same[0]].cost_us * static_cast<double>(same.size());
    if (us >= kLeastShare * all_us) kernels.emplace_back(us, std::move(same));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Rescheduled> found;
  ScheduleFinder finder(graph, target, costs, by_estimates, columns);
  for (const auto& [us, same] : kernels)
    if (!deadline.is_over()) finder.find(same, found);
  return found;
}

bool add_columns(const Graph& graph, const Device& target,
                 const std::vector<Rescheduled>& rescheduled_columns, Columns& columns) {
  const size_t listed = columns.infos.size();
  std::map<Hash, int> first_of;
  for (const auto& [column, schedule, cost_us] : rescheduled_columns) {
    const ColumnInfo& info = columns.infos[column];
    bool is_known = false;
    for (Implementation& other :
         rescheduled(graph, columns.candidates[info.candidate], info.implementation, target)) {
      if (to_string(other.schedule) != schedule) continue;
      const int added = add_column(graph, column, std::move(other), columns);
      columns.problem.columns[added].cost_us = cost_us;
      columns.problem.columns[added].measured = true;
      columns.infos[added].representative = first_of.emplace(columns.infos[added].key, added).first->second;
      is_known = true;
      break;
    }
    if (is_known) continue;
    columns.infos.resize(listed);
    columns.problem.columns.resize(listed);
    return false;
  }
  return true;
}

std::vector<int> with_columns_of(const std::vector<Rescheduled>& rescheduled, int first_added,
                                 std::vector<int> chosen) {
  for (size_t i = 0; i < rescheduled.size(); ++i)
    std::replace(chosen.begin(), chosen.end(), rescheduled[i].column, first_added + static_cast<int>(i));
  return chosen;
}

}  // namespace korch
