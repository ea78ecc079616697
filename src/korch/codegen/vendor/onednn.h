// oneDNN as kernel families: descriptors of calls that the runtime makes (runtime/cpu/onednn.h), and its
// packed weights.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/implementation.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

void list_onednn_conv(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                      std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<Kernel> generate_onednn_conv(const Graph& graph, const Candidate& candidate,
                                    const Implementation& implementation, const Device& target);
void list_onednn_matmul(const Graph& graph, const Candidate& candidate, const Device& target,
                        Accuracy accuracy, std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<Kernel> generate_onednn_matmul(const Graph& graph, const Candidate& candidate,
                                      const Implementation& implementation, const Device& target);

namespace vendor {

// Packing kind "onednn": params are those of the LibraryCall, then its floats as bit patterns.
std::string pack_onednn(const HostTensor& constant, const std::vector<int64_t>& params);

}  // namespace vendor
}  // namespace korch
