#include "korch/inspect/executable_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/inspect/verify.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

std::string list_of(const std::vector<PlanIo>& inputs) {
  std::string text;
  for (const PlanIo& io : inputs)
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", io.name, to_string(io.type));
  return text;
}

}  // namespace

std::vector<HostTensor> executable_inputs(const LoadedExecutable& executable, uint64_t seed,
                                          const std::map<std::string, std::string>& files) {
  const std::vector<PlanIo>& ios = executable.inputs();
  Graph graph;
  for (const PlanIo& io : ios) graph.add_input(io.type, io.name);
  std::vector<HostTensor> inputs = random_inputs(graph, seed);
  for (const auto& [name, path] : files) {
    const auto found =
        std::find_if(ios.begin(), ios.end(), [&](const PlanIo& io) { return io.name == name; });
    if (found == ios.end())
      throw Error(ErrorKind::invalid,
                  fmt::format("there is no input named '{}'; the inputs are {}", name, list_of(ios)));
    const HostTensor tensor = read_npy(path);
    const std::optional<HostTensor> input = as_type(tensor, found->type);
    if (!input)
      throw Error(ErrorKind::invalid, fmt::format("input '{}' is {}, but '{}' holds {}", name,
                                                  to_string(found->type), path, to_string(tensor.type())));
    inputs[found - ios.begin()] = *input;
  }
  return inputs;
}

}  // namespace korch
