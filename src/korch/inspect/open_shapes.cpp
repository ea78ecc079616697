#include "korch/inspect/open_shapes.h"

#include "korch/base/error.h"

namespace korch {

std::vector<HostTensor> dense_inputs(const Graph& graph, const std::vector<HostTensor>& inputs) {
  KORCH_ASSERT(inputs.size() == graph.inputs().size(), "one tensor per input and per open dimension");
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  const size_t tensors = inputs.size() - open.size();
  std::vector<Shape> shapes;
  for (size_t i = 0; i < tensors; ++i) shapes.push_back(inputs[i].shape());
  for (size_t d = 0; d < open.size(); ++d)
    for (const auto& [input, axis] : open[d].axes)
      shapes[static_cast<size_t>(input)][static_cast<size_t>(axis)] = element_as_int(inputs[tensors + d], 0);
  std::vector<HostTensor> result;
  for (size_t i = 0; i < tensors; ++i) result.push_back(inputs[i].cropped(shapes[i]));
  return result;
}

std::vector<HostTensor> with_extents(const Graph& graph, std::vector<HostTensor> inputs,
                                     const std::map<std::string, int64_t>& extents) {
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  for (size_t d = 0; d < open.size(); ++d)
    inputs[inputs.size() - open.size() + d] =
        HostTensor::of<int64_t>(DType::i64, {}, {extents.at(open[d].name)});
  return inputs;
}

}  // namespace korch
