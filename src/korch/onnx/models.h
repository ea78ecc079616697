// The models of models/: skeletons whose weights, and the inputs that go with them, are generated
// (generator.h; models/README.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "korch/tensor/host_tensor.h"

namespace korch {

// Names of the skeletons in a folder, sorted. Throws Error{io} when there is no such folder.
std::vector<std::string> list_models(const std::string& models_dir);

// The full model, serialized. Throws Error{usage} on an unknown name, naming those there are.
std::string fill_skeleton(const std::string& models_dir, const std::string& name);
void write_model(const std::string& models_dir, const std::string& name, const std::string& path);

// The reference inputs, in the order of the graph's inputs.
std::vector<std::pair<std::string, HostTensor>> model_inputs(const std::string& models_dir,
                                                             const std::string& name);

}  // namespace korch
