// Which graph inputs of a model have extents that it does not say.
#pragma once

#include <set>
#include <string>

namespace korch {

// By their names. Throws as import_onnx of a file that is no model.
std::set<std::string> open_inputs(const std::string& path);

}  // namespace korch
