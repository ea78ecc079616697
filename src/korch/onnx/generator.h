// The generator of weights and inputs that models/fill_weights.py defines: every element is a function of the
// tensor's name, a seed and the element's index, computed exactly, so the bytes are the same everywhere.
#pragma once

#include <string>

#include "korch/tensor/host_tensor.h"

namespace korch::onnx {

// `spec` is normal:<mean>:<std>:<seed>, uniform:<low>:<high>:<seed>, const:<value> (all f32) or
// randint:<low>:<high>:<seed> (i64). Throws Error{invalid} on anything else.
HostTensor generate_tensor(const std::string& name, const Shape& shape, const std::string& spec);

}  // namespace korch::onnx
