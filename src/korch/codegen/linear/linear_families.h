// The families of kernels for candidates with one linear primitive (docs/design/codegen-linear.md). Each
// appends what it can offer, or why it declines.
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

#define KORCH_LINEAR_FAMILY(name)                                                                           \
  void list_##name(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy accuracy, \
                   std::vector<Implementation>& found, std::vector<Refusal>& refused);                      \
  Result<Kernel> generate_##name(const Graph& graph, const Candidate& candidate,                            \
                                 const Implementation& implementation, const Target& target);

KORCH_LINEAR_FAMILY(
    conv_direct)  // Conv of one or two spatial axes as register tiles over pixels (also "conv_pixels")
KORCH_LINEAR_FAMILY(matmul)          // MatMul, batched or not, either operand constant
KORCH_LINEAR_FAMILY(attention)       // Attention: both products and the softmax between them, by blocks
KORCH_LINEAR_FAMILY(depthwise)       // Conv with one input channel per output channel
KORCH_LINEAR_FAMILY(conv_winograd)   // WinogradInput, WinogradProduct and WinogradOutput
KORCH_LINEAR_FAMILY(winograd_part)   // one of the three

#undef KORCH_LINEAR_FAMILY

// Every linear primitive, plainly: the last resort.
void list_linear_generic(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy accuracy,
                         std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::TileGraph> build_linear_generic(const Graph& graph, const Candidate& candidate,
                                             const Implementation& implementation, const Target& target);

}  // namespace korch
