#include "korch/package/graphs.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

#include "korch/base/error.h"
#include "korch/package/executable.h"
#include "korch/package/packed_json.h"

namespace korch {
namespace {

using Json = nlohmann::json;

std::string hex_of(const HostTensor& tensor) {
  constexpr const char* kDigits = "0123456789abcdef";
  const auto* bytes = static_cast<const unsigned char*>(tensor.raw());
  std::string text;
  for (int64_t i = 0; i < tensor.bytes(); ++i) {
    text += kDigits[bytes[i] / 16];
    text += kDigits[bytes[i] % 16];
  }
  return text;
}

void read_hex(const std::string& text, HostTensor& tensor) {
  if (static_cast<int64_t>(text.size()) != 2 * tensor.bytes()) throw std::runtime_error("a constant's size");
  auto* bytes = static_cast<unsigned char*>(tensor.mutable_raw());
  for (size_t i = 0; i < text.size(); i += 2) {
    const char* end = text.data() + i + 2;
    if (std::from_chars(text.data() + i, end, bytes[i / 2], 16).ptr != end)
      throw std::runtime_error("a constant's digits");
  }
}

Json json_of(const PlanGraph& graph) {
  Json constants = Json::object();
  for (const auto& [hash, tensor] : graph.constants)
    constants[hash] = {{"dtype", name(tensor.dtype())}, {"shape", tensor.shape()}, {"hex", hex_of(tensor)}};
  return {{"text", graph.text}, {"constants", constants}, {"folded", graph.folded}};
}

PlanGraph graph_of(const Json& json) {
  PlanGraph graph{json.at("text"), {}, json.at("folded").get<std::vector<std::string>>()};
  for (const auto& [hash, constant] : json.at("constants").items()) {
    TensorType type{DType::f32, constant.at("shape").get<Shape>()};
    if (!parse_dtype(constant.at("dtype").get<std::string>(), &type.dtype))
      throw std::runtime_error("unknown dtype");
    const auto& hex = constant.at("hex").get_ref<const std::string&>();
    // Before memory is asked for.
    int64_t left = static_cast<int64_t>(hex.size());
    for (const int64_t extent : type.shape) {
      if (extent <= 0 || extent > left) throw std::runtime_error("a constant's shape");
      left /= extent;
    }
    HostTensor tensor(type);
    read_hex(hex, tensor);
    graph.constants.emplace(hash, std::move(tensor));
  }
  return graph;
}

}  // namespace

std::string pack_graphs(const Plan& plan) {
  Json graphs = Json::array();
  for (const ShapePlan& shape_plan : shape_plans_of(plan)) graphs.push_back(json_of(shape_plan.graph));
  return pack_json(graphs);
}

void read_graphs(const std::string& path, Plan* plan) {
  const std::optional<Json> graphs = read_packed_json(path, kGraphsSection, "graphs");
  if (!graphs) return;
  try {
    if (plan->shape_plans.empty()) plan->graph = graph_of(graphs->at(0));
    for (size_t i = 0; i < plan->shape_plans.size(); ++i)
      plan->shape_plans[i].graph = graph_of(graphs->at(i));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::io,
                fmt::format("'{}' is not an executable written by korch: its graphs are damaged: {}", path,
                            error.what()));
  }
}

}  // namespace korch
