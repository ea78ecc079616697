#include "korch/search/estimates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "korch/search/kernel_kinds.h"

namespace korch {

Estimates::Estimates(const Graph& graph, const Columns& columns, CostSource& source, double caution)
    : columns_(columns),
      caution_(caution),
      estimates_(columns.infos.size()),
      kinds_(columns.infos.size()),
      observed_(columns.infos.size(), std::numeric_limits<double>::quiet_NaN()) {
  std::vector<int> kernels;
  std::unordered_map<std::string, int> numbers = {{"", 0}};
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    const ColumnInfo& info = columns.infos[id];
    if (info.kind == ColumnInfo::Kind::view || info.representative != static_cast<int>(id)) continue;
    kernels.push_back(static_cast<int>(id));
    kinds_[id].push_back(0);
    std::vector<std::string> names = kind_names(graph, columns, info);
    std::reverse(names.begin(), names.end());
    for (const std::string& name : names)
      kinds_[id].push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
  }
  residuals_.resize(numbers.size());
  const std::vector<CostEstimate> estimates = source.estimates(kernels);
  for (size_t i = 0; i < kernels.size(); ++i) estimates_[static_cast<size_t>(kernels[i])] = estimates[i];
}

// Each kind adds what its kernels say beyond the wider one, the less the fewer they are.
double Estimates::correction(int column) const {
  constexpr double kFew = 3;
  double sum = 0;
  for (const int kind : kinds_[static_cast<size_t>(column)]) {
    const Residuals& seen = residuals_[static_cast<size_t>(kind)];
    if (seen.count > 0) sum += (seen.sum / seen.count - sum) * seen.count / (seen.count + kFew);
  }
  return sum;
}

double Estimates::no_less_than_bound(int column, double log_factor) const {
  return columns_.infos[static_cast<size_t>(column)].bound_us * std::exp(std::max(0.0, log_factor));
}

double Estimates::us(int column) const {
  const int first = first_of(column);
  const CostEstimate& estimate = estimates_[static_cast<size_t>(first)];
  return no_less_than_bound(column, estimate.factor + correction(first) - caution_ * estimate.low);
}

double Estimates::low_us(int column) const {
  const int first = first_of(column);
  const CostEstimate& estimate = estimates_[static_cast<size_t>(first)];
  return no_less_than_bound(column, estimate.factor + std::min(0.0, correction(first)) + estimate.low);
}

void Estimates::observe(int column, double cost_us) {
  const auto id = static_cast<size_t>(columns_.infos[static_cast<size_t>(column)].representative);
  const double residual = std::log(cost_us / columns_.infos[id].bound_us) - estimates_[id].factor;
  const double before = observed_[id];
  for (const int kind : kinds_[id]) {
    Residuals& seen = residuals_[static_cast<size_t>(kind)];
    if (std::isnan(before)) ++seen.count;
    seen.sum += residual - (std::isnan(before) ? 0 : before);
  }
  observed_[id] = residual;
}

}  // namespace korch
