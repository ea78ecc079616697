// Which element types each of ONNX's operators takes, found by trying (bench/onnx_types.py).
#pragma once

#include <map>
#include <string>

namespace korch::onnx {

// By operator: the types that its first input may have (or its result, where it has no input), as korch
// writes them, separated by spaces. Operators for which ONNX has no case of tensors are not there.
const std::map<std::string, std::string>& operator_types();

}  // namespace korch::onnx
