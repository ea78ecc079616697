#include "korch/onnx/operator_types.h"

#include "korch/base/embed.h"

namespace korch {
std::string_view operator_types_text();  // a line per operator: its name and the types
}
KORCH_EMBED(operator_types_text, KORCH_OPERATOR_TYPES)

namespace korch::onnx {

std::string operator_types(const std::string& op_type) {
  const std::string_view text = operator_types_text();
  const std::string before = "\n" + op_type + " ";
  const size_t found = text.find(before);
  if (found == std::string_view::npos) return "";
  const std::string_view types = text.substr(found + before.size());
  return std::string(types.substr(0, types.find('\n')));
}

}  // namespace korch::onnx
