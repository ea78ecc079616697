// Loop of ONNX as one that runs (running_loop.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/onnx/node_import.h"

namespace korch::onnx {

// The node's outputs; nothing if it cannot run, which `refusal` explains. A state to which the body only
// appends, a tensor or a sequence, is not carried: the appended tensors are rows. `may_vary`: other states
// may change their extents.
std::optional<std::vector<Operand>> running_loop(NodeImport& n, bool may_vary, std::string& refusal);

}  // namespace korch::onnx
