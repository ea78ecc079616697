#include "kernel_list.h"

#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/ir/text.h"

namespace korch::testing {
namespace {

using Json = nlohmann::json;

Json to_json(const TensorType& type) {
  return {{"dtype", name(type.dtype)}, {"shape", type.shape}};
}

TensorType type_of(const Json& json) {
  TensorType type;
  KORCH_ASSERT(parse_dtype(json.at("dtype").get<std::string>(), &type.dtype), "a type that was printed");
  type.shape = json.at("shape").get<Shape>();
  return type;
}

Json to_json(const CandidateGraph& candidate) {
  Json generated = Json::array(), literals = Json::array();
  for (const TensorType& type : candidate.generated) generated.push_back(to_json(type));
  for (const auto& [hash, value] : large_constants(candidate.graph)) {
    if (!is_integer(value.dtype())) continue;  // generated
    Json literal = to_json(value.type());
    literal["values"] = as_int_vector(value);
    literals.push_back(literal);
  }
  return {{"text", print(candidate.graph)}, {"generated", generated}, {"literals", literals}};
}

CandidateGraph candidate_of(const Json& json) {
  CandidateGraph candidate;
  Graph constants;
  for (const Json& type : json.at("generated")) {
    candidate.generated.push_back(type_of(type));
    constants.add_constant(generated_constant(candidate.generated.back(), candidate.generated.size() - 1));
  }
  for (const Json& literal : json.at("literals")) {
    const TensorType type = type_of(literal);
    const HostTensor wide =
        HostTensor::of<int64_t>(DType::i64, type.shape, literal.at("values").get<std::vector<int64_t>>());
    constants.add_constant(converted(wide, type.dtype));
  }
  candidate.graph = parse_graph(json.at("text").get<std::string>(), large_constants(constants));
  return candidate;
}

Json to_json(const std::vector<Layout>& layouts) {
  Json list = Json::array();
  for (const Layout& layout : layouts) list.push_back(to_string(layout));
  return list;
}

std::vector<Layout> layouts_of(const Json& json) {
  std::vector<Layout> layouts;
  for (const Json& text : json) {
    layouts.emplace_back();
    KORCH_ASSERT(parse_layout(text.get<std::string>(), &layouts.back()), "a layout that was printed");
  }
  return layouts;
}

Json to_json(const ListedKernel& kernel) {
  Json packings = Json::array();
  for (const Packing& packing : kernel.launch.constant_packing)
    packings.push_back({{"kind", packing.kind}, {"params", packing.params}});
  return {{"image", kernel.image},
          {"implementation", kernel.implementation},
          {"flops", kernel.flops},
          {"symbols", kernel.symbols},
          {"grids", kernel.launch.grids},
          {"threads", kernel.launch.threads},
          {"workspace_bytes", kernel.launch.workspace_bytes},
          {"temporary_bytes", kernel.launch.temporary_bytes},
          {"packings", packings},
          {"inputs", to_json(kernel.launch.input_layouts)},
          {"outputs", to_json(kernel.launch.output_layouts)}};
}

ListedKernel kernel_of(const Json& json) {
  ListedKernel kernel;
  kernel.image = json.at("image").get<std::string>();
  kernel.implementation = json.at("implementation").get<std::string>();
  kernel.flops = json.at("flops").get<double>();
  kernel.symbols = json.at("symbols").get<std::vector<std::string>>();
  kernel.launch.grids = json.at("grids").get<std::vector<int64_t>>();
  kernel.launch.threads = json.at("threads").get<int64_t>();
  kernel.launch.workspace_bytes = json.at("workspace_bytes").get<int64_t>();
  kernel.launch.temporary_bytes = json.at("temporary_bytes").get<std::vector<int64_t>>();
  for (const Json& packing : json.at("packings"))
    kernel.launch.constant_packing.push_back(
        {packing.at("kind").get<std::string>(), packing.at("params").get<std::vector<int64_t>>()});
  kernel.launch.input_layouts = layouts_of(json.at("inputs"));
  kernel.launch.output_layouts = layouts_of(json.at("outputs"));
  return kernel;
}

}  // namespace

void write_kernel_list(const std::string& folder, const std::vector<ListedGraph>& list) {
  Json json = Json::array();
  for (const ListedGraph& graph : list) {
    Json kernels = Json::array();
    for (const ListedKernel& kernel : graph.kernels) kernels.push_back(to_json(kernel));
    json.push_back({{"model", graph.model},
                    {"timed", graph.timed},
                    {"checked_rows", graph.checked_rows},
                    {"graph", to_json(graph.candidate)},
                    {"kernels", kernels}});
  }
  write_file(folder + "/kernels.json", json.dump(1));
}

std::vector<ListedGraph> read_kernel_list(const std::string& folder) {
  std::vector<ListedGraph> list;
  for (const Json& entry : Json::parse(read_file(folder + "/kernels.json"))) {
    ListedGraph graph;
    graph.model = entry.at("model").get<std::string>();
    graph.timed = entry.at("timed").get<bool>();
    graph.checked_rows = entry.at("checked_rows").get<int64_t>();
    graph.candidate = candidate_of(entry.at("graph"));
    for (const Json& kernel : entry.at("kernels")) graph.kernels.push_back(kernel_of(kernel));
    list.push_back(std::move(graph));
  }
  return list;
}

CandidateGraph as_read_back(const CandidateGraph& candidate) {
  return candidate_of(to_json(candidate));
}

}  // namespace korch::testing
