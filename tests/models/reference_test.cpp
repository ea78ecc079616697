#include <gtest/gtest.h>

#include <cmath>

#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "korch/onnx/models.h"
#include "korch/tensor/npz.h"

namespace korch {
namespace {

const std::string kModels = KORCH_SOURCE_DIR "/models";

// max(20 x what float32 rounding does to the network, 1e-5 x the output's deviation): models/README.md.
double tolerance(const std::map<std::string, HostTensor>& ref, const std::string& output) {
  return std::max(20 * element_as_double(ref.at("noise/" + output), 0),
                  1e-5 * element_as_double(ref.at("stats/" + output), 1));
}

// The largest difference from the sampled elements; infinity where a NaN meets a number.
double largest_error(const std::map<std::string, HostTensor>& ref, const std::string& name,
                     const HostTensor& output) {
  const HostTensor& sample = ref.at("sample/" + name);
  const int64_t stride = element_as_int(ref.at("stride/" + name), 0);
  double worst = 0;
  for (int64_t i = 0; i < sample.elements(); ++i) {
    const double error = std::fabs(element_as_double(output, i * stride) - element_as_double(sample, i));
    worst = error <= worst ? worst : std::isnan(error) ? INFINITY : error;
  }
  return worst;
}

void expect_reference_outputs(const std::string& model, Precision precision) {
  const auto ref = read_npz(kModels + "/" + model + ".ref.npz");
  const Graph graph = import_onnx_bytes(fill_skeleton(kModels, model));
  std::vector<HostTensor> inputs;
  for (const auto& [name, tensor] : model_inputs(kModels, model)) inputs.push_back(tensor);
  InterpretOptions options;
  options.precision = precision;
  const std::vector<HostTensor> outputs = interpret(graph, inputs, options);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.output_names()[i];
    EXPECT_EQ(outputs[i].shape(), as_int_vector(ref.at("shape/" + name)));
    EXPECT_LE(largest_error(ref, name, outputs[i]), tolerance(ref, name)) << model << " output " << name;
  }
}

class SmallModel : public testing::TestWithParam<const char*> {};

TEST_P(SmallModel, MatchesItsReference) {
  expect_reference_outputs(GetParam(), Precision::float64);
  expect_reference_outputs(GetParam(), Precision::native);
}

INSTANTIATE_TEST_SUITE_P(Models, SmallModel,
                         testing::Values("mobilenet_v2_224", "unet_like_32", "yolox_nano_416"),
                         [](const auto& info) { return std::string(info.param); });

class DISABLED_EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(DISABLED_EveryModel, MatchesItsReference) {
  expect_reference_outputs(GetParam(), Precision::float64);
}

INSTANTIATE_TEST_SUITE_P(Models, DISABLED_EveryModel, testing::ValuesIn(list_models(kModels)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace korch
