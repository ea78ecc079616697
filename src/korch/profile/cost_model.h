// What kernels cost that nobody measured, as the search and the bounds of a proof need it: learned (by trees,
// estimate/tree_model.h), or analytic: the bounds by the device's speeds stand for the costs.
#pragma once

#include <memory>
#include <string>

#include "korch/estimate/tree_model.h"

namespace korch {

// Of a kernel, in logarithms.
struct CostEstimate {
  double factor = 0;  // the middle of cost / bound
  double low = 0;     // the 5 % quantile of cost / that middle, at most 0
};

class CostModel {
 public:
  // Analytic.
  CostModel() = default;
  // Throws Error as tree_model_from_text.
  CostModel(std::string_view text, const std::string& file);

  bool is_learned() const { return trees_ != nullptr; }
  // Of a learned one.
  CostEstimate estimate(const Features& features) const;
  const TreeModel& trees() const { return *trees_; }
  // Equal for models that say the same.
  const std::string& key() const { return key_; }

 private:
  std::shared_ptr<const TreeModel> trees_;
  std::string key_ = "analytic";
};

// "analytic"; "shipped", the program's own; else a file of `korch costs train`. A file that is none throws
// Error. If the program's own is none, `warning` says so, and bounds stand for costs.
CostModel cost_model_named(const std::string& name, std::string& warning);
// The program's own; `text`: of its file.
CostModel own_cost_model(std::string_view text, std::string& warning);

}  // namespace korch
