// Which element types each of ONNX's operators takes, found by trying (bench/onnx_types.py).
#pragma once

#include <string>

namespace korch::onnx {

// The types that an operator's first input may have (or its result, where it has no input), as korch writes
// them, separated by spaces. Empty for operators of which ONNX has no case of tensors.
std::string operator_types(const std::string& op_type);

}  // namespace korch::onnx
