#include "check.h"

#include <cmath>
#include <numeric>
#include <random>

namespace korch {

HostTensor tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  return converted(HostTensor::of<double>(DType::f64, std::move(shape), values), dtype);
}

HostTensor f32(Shape shape, const std::vector<double>& values) {
  return tensor(DType::f32, std::move(shape), values);
}
HostTensor i64(Shape shape, const std::vector<double>& values) {
  return tensor(DType::i64, std::move(shape), values);
}

HostTensor counting(Shape shape) {
  std::vector<double> values(element_count(shape));
  std::iota(values.begin(), values.end(), 0);
  return f32(std::move(shape), values);
}

HostTensor random(Shape shape, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<double> values(element_count(shape));
  for (double& value : values) value = static_cast<double>(generator()) / 0x1p31 - 1;
  return f32(std::move(shape), values);
}

std::vector<HostTensor> evaluate(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs,
                                 Precision precision) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const HostTensor& input : inputs) ids.push_back(graph.add_input(input.type(), "x"));
  const NodeId node = graph.add_node(op, attrs, ids, {"the node"});
  graph.set_outputs(graph.node(node).outputs, std::vector<std::string>(graph.node(node).outputs.size(), "y"));
  InterpretOptions options;
  options.precision = precision;
  return interpret(graph, inputs, options);
}

void expect_values(const HostTensor& actual, const std::vector<double>& values, double tolerance) {
  ASSERT_EQ(actual.elements(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = element_as_double(actual, static_cast<int64_t>(i));
    if (value == values[i] || (std::isnan(value) && std::isnan(values[i]))) continue;
    EXPECT_NEAR(value, values[i], tolerance * (1 + std::fabs(values[i]))) << "element " << i;
  }
}

void expect_result(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs, const Shape& shape,
                   const std::vector<double>& values, double tolerance) {
  for (const Precision precision : {Precision::native, Precision::float64}) {
    SCOPED_TRACE(std::string(name(op)) + (precision == Precision::native ? " native" : " float64"));
    const HostTensor result = evaluate(op, attrs, inputs, precision)[0];
    EXPECT_EQ(to_string(result.shape()), to_string(shape));
    expect_values(result, values, tolerance);
  }
}

std::string error_of(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs) {
  try {
    evaluate(op, attrs, inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace korch
