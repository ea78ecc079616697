#include "korch/onnx/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "korch/base/files.h"
#include "korch/onnx/generator.h"
#include "korch/onnx/model_file.h"

namespace korch {
namespace {

constexpr std::string_view kSuffix = ".skeleton.onnx";

onnx::proto::ModelProto load_skeleton(const std::string& models_dir, const std::string& name) {
  const std::vector<std::string> names = list_models(models_dir);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(ErrorKind::usage,
                fmt::format("there is no model {}; there are: {}", name, fmt::join(names, ", ")));
  return onnx::load_model_file(fmt::format("{}/{}{}", models_dir, name, kSuffix));
}

// The entries of metadata_props below a prefix, without it.
std::map<std::string, std::string> specs(const onnx::proto::ModelProto& model, std::string_view prefix) {
  std::map<std::string, std::string> result;
  for (const auto& entry : model.metadata_props()) {
    if (entry.key().starts_with(prefix)) result[entry.key().substr(prefix.size())] = entry.value();
  }
  return result;
}

}  // namespace

std::vector<std::string> list_models(const std::string& models_dir) {
  std::error_code error;
  std::filesystem::directory_iterator folder(models_dir, error);
  if (error)
    throw Error(ErrorKind::io,
                fmt::format("cannot read the models folder '{}': {}", models_dir, error.message()));
  std::vector<std::string> names;
  for (const auto& entry : folder) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(kSuffix)) names.push_back(file.substr(0, file.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string fill_skeleton(const std::string& models_dir, const std::string& name) {
  onnx::proto::ModelProto model = load_skeleton(models_dir, name);
  std::map<std::string, std::string> weights = specs(model, "weights/");
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const auto spec = weights.find(tensor.name());
    if (spec == weights.end()) continue;
    const Shape shape(tensor.dims().begin(), tensor.dims().end());
    const HostTensor value = onnx::generate_tensor(tensor.name(), shape, spec->second);
    tensor.set_raw_data(value.raw(), static_cast<size_t>(value.bytes()));
    weights.erase(spec);
  }
  if (!weights.empty())
    throw Error(ErrorKind::invalid,
                fmt::format("model {}: weights are specified for {}, which is no initializer", name,
                            weights.begin()->first));
  auto& entries = *model.mutable_metadata_props();
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const auto& entry) { return entry.key().starts_with("weights/"); }),
                entries.end());
  return onnx::serialize(model);
}

void write_model(const std::string& models_dir, const std::string& name, const std::string& path) {
  write_file(path, fill_skeleton(models_dir, name));
}

std::vector<std::pair<std::string, HostTensor>> model_inputs(const std::string& models_dir,
                                                             const std::string& name) {
  const onnx::proto::ModelProto model = load_skeleton(models_dir, name);
  const std::map<std::string, std::string> inputs = specs(model, "inputs/");
  std::vector<std::pair<std::string, HostTensor>> result;
  for (const auto& input : model.graph().input()) {
    const auto spec = inputs.find(input.name());
    if (spec == inputs.end())
      throw Error(ErrorKind::invalid, fmt::format("model {}: input {} has no generator", name, input.name()));
    Shape shape;
    for (const auto& dimension : input.type().tensor_type().shape().dim())
      shape.push_back(dimension.dim_value());
    result.emplace_back(input.name(), onnx::generate_tensor(input.name(), shape, spec->second));
  }
  return result;
}

}  // namespace korch
