#include "korch/profile/cost_model.h"

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/estimate/shipped_model.h"
#include "korch/profile/cost_row.h"

namespace korch {

CostModel::CostModel(std::string_view text, const std::string& file)
    : trees_(std::make_shared<TreeModel>(tree_model_from_text(text, file, kCostProtocol))),
      key_(hash_text(std::string(text)).hex()) {}

CostEstimate CostModel::estimate(const Features& features) const {
  return {trees_->log_factor(features), trees_->log_low(features)};
}

CostModel own_cost_model(std::string_view text, std::string& warning) {
  try {
    return CostModel(text, "the program's own model of costs");
  } catch (const Error& error) {
    warning = std::string(error.what()) + "; bounds stand for costs that are not measured";
    return {};
  }
}

CostModel cost_model_named(const std::string& name, std::string& warning) {
  if (name == "analytic") return {};
  if (name == "shipped") {
    // Read once: it takes longer than to compile a small network.
    static std::string own_warning;
    static const CostModel own = own_cost_model(shipped_model_text(), own_warning);
    warning = own_warning;
    return own;
  }
  return CostModel(read_file(name), name);
}

}  // namespace korch
