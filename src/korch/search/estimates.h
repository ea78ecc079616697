// Costs of kernels that nobody measured, by a model (estimate/tree_model.h) and by what was measured of their
// kinds here.
#pragma once

#include <vector>

#include "korch/search/columns.h"
#include "korch/search/cost_source.h"

namespace korch {

class Estimates {
 public:
  // `columns` outlives it.
  Estimates(const Graph& graph, const Columns& columns, CostSource& source);

  // The middle of what the column's kernel may cost.
  double us(int column) const;
  // A kernel was measured, by its representative column, or measured again: its last cost counts.
  void observe(int column, double cost_us);

 private:
  // How far costs were from the model, in logarithms.
  struct Residuals {
    double sum = 0;
    int count = 0;
  };
  double correction(int column) const;

  const Columns& columns_;
  std::vector<double> log_factors_;      // by column: ln(cost / bound)
  std::vector<std::vector<int>> kinds_;  // by column, wide first; into residuals_
  std::vector<Residuals> residuals_;
  std::vector<double> observed_;  // by column: the residual that counts, NaN: none
};

}  // namespace korch
