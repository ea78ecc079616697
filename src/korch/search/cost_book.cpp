#include "korch/search/cost_book.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_set>

#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"

namespace korch {

CostBook::CostBook(const Graph& graph, Columns& columns, CostSource& source, CostBookOptions options)
    : graph_(graph),
      columns_(columns),
      source_(source),
      options_(std::move(options)),
      is_known_(columns.infos.size()),
      is_built_(columns.infos.size()) {
  for (size_t id = 0; id < columns.infos.size(); ++id)
    by_key_[columns.infos[id].key].push_back(static_cast<int>(id));
}

void CostBook::measure(const std::vector<int>& columns) {
  look(columns, [this](int id) -> std::optional<Care> {
    if (columns_.problem.columns[id].measured) return std::nullopt;
    return is_known_[id] ? Care::thorough : Care::quick;
  });
  raise_bounds();
}

void CostBook::look_again(const std::vector<int>& columns) {
  look(columns, [this](int id) -> std::optional<Care> {
    const Column& column = columns_.problem.columns[id];
    if (!column.may_cost_less) return std::nullopt;
    return column.measured ? Care::twice : Care::thorough;
  });
  raise_bounds();
}

// One look at each kernel of these columns, with the care that `care_of` its first column wants, if any.
template <typename CareOf>
void CostBook::look(const std::vector<int>& columns, const CareOf& care_of) {
  std::map<Care, std::vector<int>> wanted;
  std::unordered_set<Hash, HashHasher> seen;
  for (int id : columns)
    if (const std::optional<Care> care = care_of(id); care && seen.insert(columns_.infos[id].key).second)
      wanted[*care].push_back(id);
  for (const auto& [care, of_care] : wanted) look(of_care, care);
}

void CostBook::look(const std::vector<int>& columns, Care care) {
  // Compiled together, then measured; progress and deadline are seen in between.
  constexpr size_t kFew = 4, kMany = 16;
  constexpr double kLeastRuns = 3;  // of a kernel that takes long, in one look
  const size_t batch_size = (options_.small_batches ? kFew : kMany) * static_cast<size_t>(source_.machines());
  for (size_t i = 0; i < columns.size(); i += batch_size) {
    throw_if_interrupted();
    if (options_.progress)
      options_.progress(looked_at_ + static_cast<int64_t>(i),
                        looked_at_ + static_cast<int64_t>(columns.size()));
    options_.deadline.check();
    const std::vector<int> batch(columns.begin() + i,
                                 columns.begin() + std::min(i + batch_size, columns.size()));
    // A kernel that is compiled or runs cannot be stopped: none begins that would end too late by what is
    // known of it, or of those before.
    Taken& taken = taken_[care];
    const auto size = static_cast<double>(batch.size());
    if (taken.kernels > 0 && options_.deadline.left_s() < size * taken.seconds / taken.kernels)
      throw BudgetSpent{};
    double least_s = 0;
    for (const int id : batch)
      if (const double us = columns_.problem.columns[id].cost_us; std::isfinite(us))
        least_s += kLeastRuns * us * 1e-6;
    if (options_.deadline.left_s() < least_s) throw BudgetSpent{};
    const Stopwatch stopwatch;
    const std::vector<Result<Cost>> costs = source_.measure(batch, care);
    taken.seconds += stopwatch.seconds();
    taken.kernels += size;
    for (size_t k = 0; k < batch.size(); ++k) record(batch[k], costs[k]);
  }
  looked_at_ += static_cast<int64_t>(columns.size());
}

void CostBook::record(int column, const Result<Cost>& cost) {
  if (!cost) count_refusal(cost.refusal());
  const std::vector<int>& ids = same_kernel(column);
  const bool first_look = !is_known_[ids[0]];
  for (int id : ids) {
    Column& same = columns_.problem.columns[id];
    same.cost_us = cost ? cost.value().us : std::numeric_limits<double>::infinity();
    same.measured = !cost || cost.value().care >= Care::thorough;
    same.may_cost_less = cost && cost.value().care < Care::twice;
    is_known_[id] = true;
  }
  if (cost && estimates_) estimates_->observe(ids[0], cost.value().us);
  if (!cost || !learned_) return;
  if (!first_look) return learned_->correct(ids[0], cost.value().us);
  learned_violations_ += cost.value().us < learned_->bound_us(ids[0]);
  learn_from(ids[0]);
}

void CostBook::take_carried_costs() {
  for (const auto& [key, ids] : by_key_) {
    if (is_view(ids[0])) continue;
    if (const std::optional<Cost> cost = source_.carried(ids[0])) record(ids[0], *cost);
  }
  take_quick_costs();
}

bool CostBook::build(const std::vector<int>& plan) {
  std::vector<int> kernels;
  for (int id : plan)
    if (!is_view(id)) kernels.push_back(id);
  const std::vector<std::optional<Refusal>> refusals = source_.build(kernels);
  bool complete = true;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!refusals[i]) {
      for (int id : same_kernel(kernels[i])) is_built_[id] = true;
      continue;
    }
    complete = false;
    drop_all(kernels[i], *refusals[i]);
  }
  for (size_t i = 0; i < kernels.size(); ++i)
    if (refusals[i]) propose_alike(kernels[i]);
  return complete;
}

// Of its kernel.
void CostBook::drop_all(int column, const Refusal& refusal) {
  count_refusal(refusal);
  for (int id : same_kernel(column)) drop(columns_.problem.columns[id]);
}

// Kernels that hold all primitives of one that does not exist, or some of them and no others, are often
// refused for its reason. To propose them takes less than a plan with each of them.
void CostBook::propose_alike(int column) {
  if (columns_.infos[column].kind != ColumnInfo::Kind::kernel) return;
  const auto nodes_of = [&](int id) -> const std::vector<NodeId>& {
    return columns_.candidates[columns_.infos[id].candidate].nodes;
  };
  const std::set<NodeId> held(nodes_of(column).begin(), nodes_of(column).end());
  std::vector<int> alike;
  for (int id = 0; id < static_cast<int>(columns_.infos.size()); ++id) {
    if (columns_.infos[id].kind != ColumnInfo::Kind::kernel || same_kernel(id)[0] != id ||
        std::isinf(columns_.problem.columns[id].cost_us))
      continue;
    const auto common = std::count_if(nodes_of(id).begin(), nodes_of(id).end(),
                                      [&](NodeId node) { return held.count(node) != 0; });
    if (static_cast<size_t>(common) == std::min(held.size(), nodes_of(id).size())) alike.push_back(id);
  }
  const std::vector<std::optional<Refusal>> refusals = source_.refusals_of(alike);
  for (size_t i = 0; i < alike.size(); ++i)
    if (refusals[i]) drop_all(alike[i], *refusals[i]);
}

bool CostBook::cost_more_when_built(const std::vector<int>& plan) {
  bool any = false;
  for (int id : plan) {
    if (is_view(id)) continue;
    const std::optional<Cost> cost = source_.cost_when_built(id);
    if (!cost || cost->us <= columns_.problem.columns[id].cost_us) continue;
    record(id, *cost);
    any = true;
  }
  return any;
}

void CostBook::count_refusal(const Refusal& refusal) {
  ++columns_.refused[name(refusal.reason)];
  refusal_examples_.emplace(refusal.reason, refusal.detail);
}

void CostBook::drop(Column& column) {
  column.measured = true;
  column.may_cost_less = false;
  column.cost_us = std::numeric_limits<double>::infinity();
}

void CostBook::take_quick_costs() {
  for (size_t id = 0; id < is_known_.size(); ++id)
    if (is_known_[id]) columns_.problem.columns[id].measured = true;
}

void CostBook::learn() {
  plain_.emplace(graph_, columns_);
  measure(plain_->probes());
  learned_.emplace(graph_, columns_, plain_->plain_costs_us());
  for (const auto& [key, ids] : by_key_)
    if (is_known_[ids[0]]) learn_from(ids[0]);
  raise_bounds();
}

void CostBook::learn_from(int column) {
  const double cost_us = columns_.problem.columns[column].cost_us;
  if (std::isfinite(cost_us)) learned_->observe(column, cost_us);
}

void CostBook::estimate(double caution) {
  std::vector<int> kernels;
  for (const auto& [key, ids] : by_key_)
    if (!is_view(ids[0])) kernels.push_back(ids[0]);
  std::ranges::sort(kernels);
  const std::vector<std::optional<Refusal>> refusals = source_.refusals_of(kernels);
  for (size_t i = 0; i < kernels.size(); ++i)
    if (refusals[i]) drop_all(kernels[i], *refusals[i]);
  estimates_.emplace(graph_, columns_, source_, caution);
  columns_.estimated = true;
  for (const auto& [key, ids] : by_key_)
    if (const double us = columns_.problem.columns[ids[0]].cost_us; is_known_[ids[0]] && std::isfinite(us))
      estimates_->observe(ids[0], us);
  raise_bounds();
}

// What stands for the costs that nobody knows.
template <typename CostOf>
void CostBook::put_in_place(const CostOf& cost_of) {
  for (size_t id = 0; id < columns_.infos.size(); ++id) {
    const int column = static_cast<int>(id);
    if (is_known_[id] || is_view(column)) continue;
    Column& place = columns_.problem.columns[id];
    if (!place.measured && std::isfinite(place.cost_us)) place.cost_us = cost_of(column);
  }
}

void CostBook::stand_low() {
  put_in_place([&](int id) { return estimates_->low_us(id); });
}

CostBook::Audit CostBook::audit(std::vector<int> columns, int most) {
  std::erase_if(columns, [&](int id) {
    return is_known_[id] || is_view(id) || std::isinf(columns_.problem.columns[id].cost_us);
  });
  for (int& id : columns) id = same_kernel(id)[0];
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  // Their order by keys, which are hashes, has nothing to do with their costs.
  std::ranges::sort(columns, {}, [&](int id) { return columns_.infos[id].key; });
  if (columns.size() > static_cast<size_t>(most)) columns.resize(static_cast<size_t>(most));
  std::vector<double> low_us;
  for (const int id : columns) low_us.push_back(estimates_->low_us(id));
  measure(columns);
  measure(columns);  // a quick look alone would be too high
  Audit audit;
  for (size_t i = 0; i < columns.size(); ++i) {
    const double us = columns_.problem.columns[columns[i]].cost_us;
    audit.measured += std::isfinite(us);
    audit.below += us < low_us[i];
  }
  return audit;
}

void CostBook::raise_bounds() {
  if (estimates_) put_in_place([&](int id) { return estimates_->us(id); });
  if (!learned_) return;
  learned_->correct_plain(plain_->plain_costs_us());
  for (size_t id = 0; id < columns_.infos.size(); ++id)
    if (Column& column = columns_.problem.columns[id]; !column.measured && !is_known_[id])
      column.cost_us = learned_->bound_us(static_cast<int>(id));
}

void CostBook::look_again_at_linear_alone(double much_us) {
  std::vector<int> doubtful = plain_->probes();
  std::erase_if(doubtful, [&](int id) {
    return columns_.problem.columns[id].cost_us < much_us && !learned_->is_unusual(same_kernel(id)[0]);
  });
  look_again(doubtful);
}

int CostBook::drop_dominated(const std::function<bool(int column)>& is_spared) {
  int dropped = 0;
  const std::vector<bool> dominated = plain_->dominated();
  for (size_t id = 0; id < dominated.size(); ++id) {
    Column& column = columns_.problem.columns[id];
    if (!dominated[id] || column.measured || is_known_[id] || is_spared(static_cast<int>(id))) continue;
    drop(column);
    ++dropped;
  }
  return dropped;
}

int CostBook::kernels() const {
  return static_cast<int>(std::count_if(by_key_.begin(), by_key_.end(), [&](const auto& key_and_ids) {
    const std::vector<int>& ids = key_and_ids.second;
    return !is_view(ids[0]) && std::any_of(ids.begin(), ids.end(), [&](int id) {
      return is_known_[id] || std::isfinite(columns_.problem.columns[id].cost_us);
    });
  }));
}

int CostBook::measured() const {
  return static_cast<int>(std::count_if(by_key_.begin(), by_key_.end(), [&](const auto& key_and_ids) {
    return is_known_[key_and_ids.second[0]] && !is_view(key_and_ids.second[0]);
  }));
}

int CostBook::bound_violations() const {
  return static_cast<int>(std::count_if(by_key_.begin(), by_key_.end(), [&](const auto& key_and_ids) {
    const int id = key_and_ids.second[0];
    return is_known_[id] && !is_view(id) &&
           columns_.problem.columns[id].cost_us < columns_.infos[id].bound_us;
  }));
}

}  // namespace korch
