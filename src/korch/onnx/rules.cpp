#include "korch/onnx/rules.h"

#include <map>

#include "korch/onnx/model_index.h"

namespace korch::onnx {

std::vector<std::vector<RuleRow>> rule_tables(const std::string& domain) {
  if (domain == kRuntimeDomain)
    return {runtime_rules(),           runtime_fused_rules(),           runtime_attention_rules(),
            runtime_quantized_rules(), runtime_quantized_layer_rules(), runtime_moe_rules()};
  if (domain == kLearnerDomain)
    return {learner_rules(), more_learner_rules(), tree_rules(), support_vector_rules()};
  if (!is_onnx_domain(domain)) return {};
  return {elementwise_rules(), shape_rules(),     selection_rules(), layout_rules(),        indexing_rules(),
          reduction_rules(),   linear_rules(),    pooling_rules(),   normalization_rules(), resize_rules(),
          sequence_rules(),    attention_rules(), loss_rules(),      signal_rules(),        sampling_rules(),
          bit_rules(),         scatter_rules(),   recurrent_rules(), random_rules(),        control_rules(),
          quantized_rules(),   feature_rules(),   scan_rules(),      slice_rules(),         pad_rules()};
}

const RuleRow* find_rule(const std::string& domain, const std::string& op_type) {
  static const std::map<std::pair<std::string, std::string>, RuleRow> table = [] {
    std::map<std::pair<std::string, std::string>, RuleRow> result;
    for (const char* each : kDomains)
      for (const auto& rows : rule_tables(each))
        for (const RuleRow& row : rows) {
          const bool fresh =
              result.emplace(std::pair(std::string(each), std::string(row.op_type)), row).second;
          KORCH_ASSERT(fresh, std::string("two import rules for ") + row.op_type);
        }
    return result;
  }();
  const auto found = table.find({is_onnx_domain(domain) ? kDomains[0] : domain, op_type});
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace korch::onnx
