// Loop of ONNX as one that runs (running_loop.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/onnx/node_import.h"

namespace korch::onnx {

// The node's outputs; nothing where it cannot run, which `refusal` explains. A state that the body alone puts
// something behind, a tensor or a sequence, is not carried: what is put behind it are rows. `may_vary`: other
// states may change their extents.
std::optional<std::vector<Operand>> running_loop(NodeImport& n, bool may_vary, std::string& refusal);

}  // namespace korch::onnx
