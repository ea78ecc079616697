#include "korch/onnx/rules.h"

#include <unordered_map>

namespace korch::onnx {

const RuleRow* find_rule(const std::string& domain, const std::string& op_type) {
  static const std::unordered_map<std::string, RuleRow> table = [] {
    std::unordered_map<std::string, RuleRow> result;
    for (const auto* rows :
         {&elementwise_rules(), &shape_rules(), &layout_rules(), &indexing_rules(), &reduction_rules(),
          &linear_rules(), &pooling_rules(), &normalization_rules(), &resize_rules(), &sequence_rules()}) {
      for (const RuleRow& row : *rows) {
        const bool fresh = result.emplace(row.op_type, row).second;
        KORCH_ASSERT(fresh, std::string("two import rules for ") + row.op_type);
      }
    }
    return result;
  }();
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  const auto found = table.find(op_type);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace korch::onnx
