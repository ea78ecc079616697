// Trains trees with LightGBM, by the C interface of its library, which korch loads only for that.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "korch/estimate/tree_model.h"

namespace korch {

struct TrainingRow {
  Features features;
  double target = 0;  // ln(cost / bound)
  double weight = 1;
};

struct BoostOptions {
  int trees = 400, leaves = 31, least_rows = 8;  // of a model; of a tree; of a leaf
  double rate = 0.05;
  double quantile = 0.5;  // of the targets that the model says; 0.5: the middle
  unsigned seed = 1;
};

class LightGbm {
 public:
  // `library`: lib_lightgbm.so; as the dynamic loader finds it where it is empty. Throws Error{usage} where
  // there is none.
  explicit LightGbm(const std::string& library);
  ~LightGbm();
  LightGbm(const LightGbm&) = delete;
  LightGbm& operator=(const LightGbm&) = delete;

  // The same trees for the same rows on one machine.
  std::vector<RegressionTree> train(const std::vector<TrainingRow>& rows,
                                    const BoostOptions& options = {}) const;

 private:
  struct Functions;
  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
};

}  // namespace korch
