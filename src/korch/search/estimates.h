// Costs of kernels that nobody measured, by a model (estimate/tree_model.h) and by what was measured of their
// kinds here.
#pragma once

#include <vector>

#include "korch/search/columns.h"
#include "korch/search/cost_source.h"

namespace korch {

class Estimates {
 public:
  // `columns` outlives it. `caution`: by how much an estimate exceeds the middle of what its kernel may cost,
  // as a share of how far below the middle its 5 % quantile is.
  Estimates(const Graph& graph, const Columns& columns, CostSource& source, double caution = 0);

  // What the column's kernel may cost.
  double us(int column) const;
  // Its 5 % quantile. Kernels that were measured only take it down: they are those that looked cheap.
  double low_us(int column) const;
  // A kernel was measured, by its representative column, or measured again: its last cost counts.
  void observe(int column, double cost_us);

 private:
  // How far costs were from the model, in logarithms.
  struct Residuals {
    double sum = 0;
    int count = 0;
  };
  double correction(int column) const;
  double no_less_than_bound(int column, double log_factor) const;
  int first_of(int column) const { return columns_.infos[static_cast<size_t>(column)].representative; }

  const Columns& columns_;
  const double caution_;
  std::vector<CostEstimate> estimates_;  // by column
  std::vector<std::vector<int>> kinds_;  // by column, wide first; into residuals_
  std::vector<Residuals> residuals_;
  std::vector<double> observed_;  // by column: the residual that counts, NaN: none
};

}  // namespace korch
