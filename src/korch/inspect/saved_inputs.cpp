#include "korch/inspect/saved_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/files.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/verify.h"
#include "korch/tensor/npy.h"

namespace korch {

std::string npy_name(std::string tensor) {
  std::replace(tensor.begin(), tensor.end(), '/', '_');
  return tensor + ".npy";
}

void save_inputs(const Graph& imported, const std::string& folder, FileRoles& files) {
  std::vector<std::string> paths;
  const std::vector<HostTensor> inputs =
      dense_inputs(imported, random_inputs(imported, VerifyOptions().seed));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = imported.value(imported.inputs()[i]).name;
    paths.push_back(folder + "/" + npy_name(name));
    output_target(paths.back());
    files.writes(fmt::format("the input '{}'", name), paths.back());
  }
  make_directories(folder);
  for (size_t i = 0; i < inputs.size(); ++i) write_npy(paths[i], inputs[i]);
}

}  // namespace korch
