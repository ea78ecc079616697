#include "korch/onnx/open_inputs.h"

#include <algorithm>

#include "korch/onnx/input_shapes.h"
#include "korch/onnx/model_file.h"

namespace korch {

std::set<std::string> open_inputs(const std::string& path) {
  const onnx::proto::ModelProto model = onnx::load_model_file(path);
  std::set<std::string> constants, open;
  for (const auto& constant : model.graph().initializer()) constants.insert(constant.name());
  for (const auto& input : model.graph().input()) {
    const auto& dims = input.type().tensor_type().shape().dim();
    if (!constants.contains(input.name()) && std::any_of(dims.begin(), dims.end(), onnx::is_open))
      open.insert(input.name());
  }
  return open;
}

}  // namespace korch
