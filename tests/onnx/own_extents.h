// What models compute whose results have extents that depend on the data.
#pragma once

#include "one_node.h"

namespace korch {

// The outputs at their own extents.
inline std::vector<HostTensor> run_cropped(const ModelBuilder& b, const std::vector<HostTensor>& inputs) {
  const Graph graph = import_onnx_bytes(b.bytes());
  std::vector<HostTensor> outputs = interpret(graph, inputs);
  const std::vector<Shape> shapes = output_shapes(graph, outputs);
  outputs.resize(outputs.size() - graph.extents().size());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs[i].cropped(shapes[i]);
  return outputs;
}

inline void expect(const HostTensor& result, const Shape& shape, const Values& values) {
  EXPECT_EQ(result.shape(), shape);
  Values got;
  for (int64_t i = 0; i < result.elements(); ++i) got.push_back(element_as_double(result, i));
  expect_near(got, values);
}

}  // namespace korch
