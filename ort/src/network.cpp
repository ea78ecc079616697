#include "network.h"

namespace korch::ort {

std::vector<std::string> open_parts(const Network& network, const std::string& value) {
  const auto found = network.types.find(value);
  if (found == network.types.end() || !found->second.has_tensor_type()) return {"type"};
  const proto::TypeProto::Tensor& type = found->second.tensor_type();
  if (!type.has_shape()) return {"rank"};
  std::vector<std::string> open;
  for (const auto& dimension : type.shape().dim()) {
    if (dimension.has_dim_value() && dimension.dim_value() >= 0) continue;
    open.push_back(dimension.dim_param().empty() ? "?" : dimension.dim_param());
  }
  return open;
}

}  // namespace korch::ort
