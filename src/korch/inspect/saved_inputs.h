// `korch compile --save-inputs`: inputs to run an executable with, for where the network is not at hand.
#pragma once

#include <string>

#include "korch/base/file_roles.h"
#include "korch/ir/graph.h"

namespace korch {

// "<tensor>.npy", with '/' in the name as '_'.
std::string npy_name(std::string tensor);

// A file for each of the network's inputs: random_inputs of the seed that `korch verify` begins with. None is
// written where one of the names in `folder` is taken by something else (`files`, output_target).
void save_inputs(const Graph& imported, const std::string& folder, FileRoles& files);

}  // namespace korch
