#include "check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::test {

std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed, int64_t integer_limit) {
  std::mt19937_64 random(seed);
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs()) {
    const TensorType& type = graph.value(input).type;
    HostTensor values(TensorType{DType::f64, type.shape});
    for (int64_t i = 0; i < values.elements(); ++i) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      const double limit = type.dtype == DType::bool_ ? 2 : static_cast<double>(integer_limit);
      values.mutable_data<double>()[i] = is_float(type.dtype) ? unit * 4 - 2 : std::floor(unit * limit);
    }
    inputs.push_back(converted(values, type.dtype));
  }
  return inputs;
}

void expect_close(const std::vector<HostTensor>& expected, const std::vector<HostTensor>& actual,
                  double tolerance) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t t = 0; t < expected.size(); ++t) {
    ASSERT_EQ(to_string(expected[t].type()), to_string(actual[t].type()));
    double largest = 1e-300;
    for (int64_t i = 0; i < expected[t].elements(); ++i) {
      const double value = std::abs(element_as_double(expected[t], i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    for (int64_t i = 0; i < expected[t].elements(); ++i) {
      const double want = element_as_double(expected[t], i), got = element_as_double(actual[t], i);
      if (std::isnan(want) || std::isinf(want)) {
        ASSERT_TRUE(want == got || (std::isnan(want) && std::isnan(got)))
            << "element " << i << ": " << want << ", " << got;
      } else {
        ASSERT_LE(std::abs(want - got), tolerance * largest)
            << "element " << i << ": " << want << " became " << got;
      }
    }
  }
}

void expect_fission_is_equal(const Graph& graph, const std::vector<HostTensor>& inputs, double tolerance) {
  verify(graph, GraphForm::imported);
  const std::vector<HostTensor> expected = interpret(graph, inputs);
  const Graph plain = apply_fission_rules(graph);
  verify(plain, GraphForm::primitive);
  const Graph simplified = fission(graph);
  verify(simplified, GraphForm::primitive);
  {
    SCOPED_TRACE("rules alone:\n" + print(plain));
    expect_close(expected, interpret(plain, inputs), tolerance);
  }
  SCOPED_TRACE("with simplifications:\n" + print(simplified));
  expect_close(expected, interpret(simplified, inputs), tolerance);
  ASSERT_EQ(simplified.output_names(), graph.output_names());
}

Graph one_node(const std::vector<std::string>& input_types, const std::string& node,
               const std::string& result) {
  std::string text = "graph {\n";
  for (size_t i = 0; i < input_types.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    text += "  input %" + name + " : " + input_types[i] + " \"" + name + "\"\n";
  }
  return parse_graph(text + "  %y = " + node + " : " + result + " @ \"node\"\n  output %y \"y\"\n}\n");
}

int count(const Graph& graph, Op op) {
  int found = 0;
  for (NodeId id : graph.topological_order()) found += graph.node(id).op == op;
  return found;
}

}  // namespace korch::test
