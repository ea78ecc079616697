#include "visit_jobs.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <numeric>
#include <regex>
#include <set>

#include "../check_kernel.h"
#include "../linear_cases.h"
#include "../model_candidates.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/codegen/packing.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/ir/winograd.h"

namespace korch::testing {
namespace {

using Json = nlohmann::json;

constexpr size_t kBatch = 32;              // kernels of one image
constexpr double kStableFlops = 2e8;       // more: the interpreter computes the results once
constexpr uint64_t kSampleSeed = 77;       // sampled elements
constexpr uint64_t kFirstConstant = 1000;  // generated_constant's seeds

// What device.cu calls a type; -1: it makes none of it.
int type_code(DType type) {
  const DType known[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::bool_, DType::u8, DType::i8};
  const auto found = std::find(std::begin(known), std::end(known), type);
  return found == std::end(known) ? -1 : static_cast<int>(found - std::begin(known));
}

// visit_place's description of a layout.
Json place_of(const Shape& shape, const Layout& layout) {
  Json desc = {shape.size(), layout.block_axis, layout.block};
  for (int64_t extent : shape) desc.push_back(extent);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool blocked = static_cast<int>(axis) == layout.block_axis;
    std::vector<int64_t> index(shape.size(), 0);
    index[axis] = blocked ? layout.block : 1;
    desc.push_back(shape[axis] > index[axis] ? element_offset(shape, layout, index) : 0);
  }
  return desc;
}

Json place_of(const Shape& shape, const Packing& packing) {
  const std::vector<int64_t>& p = packing.params;
  if (packing.kind == "row_major") return place_of(shape, Layout{});
  if (packing.kind == "depthwise") {
    const int64_t channels = shape[0];
    return {2, -1, 1, channels, element_count(shape) / channels, 1, p[0]};
  }
  Layout layout;
  layout.order.assign(p.begin(), p.end() - 2);
  layout.block_axis = static_cast<int>(p[p.size() - 2]);
  layout.block = static_cast<int>(p.back());
  return place_of(shape, layout);
}

// visit_columns' description.
Json columns_of(const Shape& shape, const std::vector<int64_t>& p) {
  if (p[0] == 0) {
    const int64_t taps = std::accumulate(shape.begin() + 2, shape.end(), int64_t{1}, std::multiplies<>());
    const int64_t columns = shape[0] / p[1];
    return {columns * shape[1] * taps, taps, 1, shape[1], taps, columns, shape[1] * taps, p[2], p[3]};
  }
  const int64_t rows = shape[shape.size() - 2], cols = shape.back();
  if (p[0] == 1) return {rows * cols, 1, 0, rows, cols, cols, 1, p[2], p[3]};
  return {rows * cols, 1, 0, cols, 1, rows, cols, p[2], p[3]};
}

// visit_winograd's description, and its matrix: what the packing makes of weights that are 1 at one place.
void add_winograd(const Shape& shape, const std::vector<int64_t>& p, Json& argument) {
  WinogradAttrs attrs;
  attrs.tile = p[0];
  attrs.taps = shape[2];
  const int64_t parts = channel_parts(attrs), taps = attrs.taps * attrs.taps, elements = tile_elements(attrs);
  const int64_t places = parts * parts * taps;
  Json matrix = Json::array();
  std::vector<std::vector<float>> columns;
  for (int64_t place = 0; place < places; ++place) {
    HostTensor unit(TensorType{DType::f32, {parts, parts, attrs.taps, attrs.taps}});
    std::fill_n(unit.mutable_data<float>(), places, 0.0f);
    unit.mutable_data<float>()[place] = 1;
    const std::string packed = pack(unit, {"winograd", {p[0], 1, 0}});
    const float* values = reinterpret_cast<const float*>(packed.data());
    columns.emplace_back(values, values + elements);
  }
  for (int64_t element = 0; element < elements; ++element)
    for (int64_t place = 0; place < places; ++place)
      matrix.push_back(static_cast<double>(columns[place][element]));
  argument["how"] = "winograd";
  argument["desc"] = {elements, shape[0] / parts, shape[1] / parts, shape[1], taps, parts, p[1], p[2]};
  argument["matrix"] = matrix;
}

Json tensor_of(const TensorType& type) {
  return {{"type", type_code(type.dtype)}, {"size", size_bytes(type.dtype)}, {"elements", type.elements()}};
}

Json filled(const TensorType& type, uint64_t seed, const Range& range) {
  Json argument = tensor_of(type);
  argument["seed"] = seed;
  argument["range"] = {range.low, range.high, range.count};
  return argument;
}

// One of each of `count` equal runs of the elements (visit_sample of device.cu).
int64_t sampled_element(int64_t k, int64_t count, int64_t total) {
  const int64_t begin = k * total / count, end = (k + 1) * total / count;
  const uint64_t bits = random_bits(kSampleSeed, static_cast<uint64_t>(k));
  return begin + static_cast<int64_t>(bits % static_cast<uint64_t>(end - begin));
}

int64_t elements(const Graph& graph, const Candidate& candidate) {
  int64_t count = 0;
  for (const auto* list : {&candidate.inputs, &candidate.constants, &candidate.outputs})
    for (ValueId value : *list) count += graph.value(value).type.elements();
  return count;
}

std::string operators_of(const Graph& graph, const Candidate& candidate) {
  std::string names;
  for (NodeId id : candidate.nodes)
    names += (names.empty() ? "" : " ") + std::string(info(graph.node(id).op).name);
  return names;
}

bool same_bytes(const HostTensor& a, const HostTensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0;
}

// Why no device makes the data of this kernel; empty: one does.
std::string unmade(const Graph& graph, const Candidate& whole, const CudaKernel& kernel) {
  for (const auto* list : {&whole.inputs, &whole.constants, &whole.outputs})
    for (ValueId value : *list)
      if (const DType type = graph.value(value).type.dtype; type_code(type) < 0)
        return "data of type " + std::string(name(type)) + " are not made on the device";
  for (const Packing& packing : kernel.constant_packing)
    if (packing.kind == "column_groups")
      return "constants packed as column_groups are not made on the device";
  return "";
}

// Registers and bytes of spills by symbol, from what ptxas says of a program; what it says of functions that
// a kernel calls is left out.
void add_report(const std::string& log, const std::string& architecture, Json& report) {
  static const std::regex entry(R"(entry function '(\w+)')"), function(R"(properties for (\w+))"),
      registers(R"(Used (\d+) registers)"), spills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
  std::smatch match;
  std::string symbol, described;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, entry)) symbol = match[1];
    if (std::regex_search(line, match, function)) described = match[1];
    if (std::regex_search(line, match, registers))
      report[symbol][architecture]["registers"] = std::stoi(match[1]);
    if (described == symbol && std::regex_search(line, match, spills))
      report[symbol][architecture]["spill_bytes"] = std::stoi(match[1]) + std::stoi(match[2]);
  }
}

}  // namespace

VisitJobs::VisitJobs(std::string folder, VisitOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

void VisitJobs::refuse(const std::string& model, const std::string& what, const std::string& reason) {
  refused_.push_back({{"model", model}, {"what", what}, {"reason", reason}});
}

void VisitJobs::add_model(const std::string& model) {
  const ModelCandidates found = model_candidates(model, 0, 0);
  for (const Candidate& candidate : found.unlisted)
    refuse(model, operators_of(found.graph, candidate), "no family has it for a GPU");
  for (const auto& [hash, count] : found.uses) uses_[hash.hex()][model] = count;
  size_t left = options_.most_kernels;
  for (const Candidate& candidate : found.greedy) {
    if (!added_.insert(canonical_hash(found.graph, candidate)).second) continue;
    if (elements(found.graph, candidate) > options_.most_elements ||
        cuda_implementations(found.graph, candidate).back().flops > options_.most_flops) {
      ++too_large_;
      continue;
    }
    if (left-- == 0) break;
    add_candidate(model, found.graph, candidate);
  }
  compile_waiting();
  std::cout << model << ": " << found.greedy.size() << " candidates, " << jobs_.size() << " jobs so far, "
            << values_.size() << " bytes of values" << std::endl;
}

void VisitJobs::add_candidate(const std::string& model, const Graph& graph, const Candidate& candidate) {
  const CandidateGraph made = candidate_graph(graph, candidate);
  const Candidate whole = whole_candidate(made.graph);
  std::vector<Implementation> ways = cuda_implementations(made.graph, whole);
  if (ways.size() > 2) ways.erase(ways.begin() + 1, ways.end() - 1);
  Json expected;
  for (const Implementation& way : ways)
    if (add_kernel(model, made, whole, way, expected))
      jobs_.back()["candidate"] = canonical_hash(graph, candidate).hex();
}

void VisitJobs::add_cases() {
  std::set<std::string> seen;
  for (const LinearCase& c : linear_cases()) {
    const CandidateGraph made = case_graph(c.text);
    const Candidate whole = whole_candidate(made.graph);
    Json expected;
    for (const Implementation& way : cuda_implementations(made.graph, whole)) {
      if (jobs_.size() == options_.most_kernels) return compile_waiting();
      const Result<CudaKernel> kernel = generate_cuda(made.graph, whole, way, "k0");
      if (!kernel.ok()) continue;
      std::string kinds = way.family;
      for (const Packing& packing : kernel.value().constant_packing) kinds += " " + packing.kind;
      if (seen.insert(kinds).second) add_kernel(c.name, made, whole, way, expected);
    }
  }
  compile_waiting();
}

Json VisitJobs::expected_of(const Graph& graph, const Candidate& whole, double flops, Range* range) {
  const Reference reference =
      reference_of(graph, whole, flops > kStableFlops ? Trial::once : Trial::until_stable);
  *range = reference.range;
  Json outputs = Json::array();
  for (ValueId output : whole.outputs) {
    const HostTensor& values = reference.values.at(output);
    const int64_t total = values.elements(), count = std::min<int64_t>(total, options_.samples);
    outputs.push_back({{"at", values_.size()},
                       {"samples", count},
                       {"seed", kSampleSeed},
                       {"scale", scale_of(values)},
                       {"tolerance", kTolerance}});
    const bool single = graph.value(output).type.dtype == DType::f32;
    outputs.back()["stored"] = single ? "f" : "d";
    for (int64_t k = 0; k < count; ++k) {
      const double value = element_as_double(values, sampled_element(k, count, total));
      const float rounded = static_cast<float>(value);
      values_ += single ? std::string(reinterpret_cast<const char*>(&rounded), sizeof rounded)
                        : std::string(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  return outputs;
}

bool VisitJobs::add_kernel(const std::string& model, const CandidateGraph& made, const Candidate& whole,
                           const Implementation& way, Json& expected) {
  const Graph& graph = made.graph;
  const std::string what = operators_of(graph, whole) + " (" + to_string(way) + ")";
  Result<CudaKernel> printed = generate_cuda(graph, whole, way, "k" + std::to_string(jobs_.size()));
  if (!printed.ok())
    return refuse(model, what, std::string(name(printed.refusal().reason)) + " " + printed.refusal().detail),
           false;
  CudaKernel kernel = std::move(printed).value();
  if (const std::string why = unmade(graph, whole, kernel); !why.empty())
    return refuse(model, what, why), false;
  if (expected.is_null()) {
    Range range;
    Json outputs = expected_of(graph, whole, way.flops, &range);
    expected = {{"outputs", outputs}, {"range", {range.low, range.high}}};
  }
  Json arguments = Json::array();
  for (size_t i = 0; i < whole.inputs.size(); ++i) {
    const TensorType& type = graph.value(whole.inputs[i]).type;
    // The reference numbers inputs in the graph's order.
    const auto& all = graph.inputs();
    const auto number = std::find(all.begin(), all.end(), whole.inputs[i]) - all.begin();
    Json argument = filled(type, static_cast<uint64_t>(number),
                           {expected["range"][0], expected["range"][1], index_count(graph, whole.inputs[i])});
    argument.update(
        {{"role", "input"}, {"how", "place"}, {"desc", place_of(type.shape, way.input_layouts[i])}});
    argument["bytes"] = physical_bytes(type, way.input_layouts[i]);
    arguments.push_back(argument);
  }
  for (size_t i = 0; i < whole.constants.size(); ++i)
    arguments.push_back(constant_argument(made, whole.constants[i], kernel.constant_packing[i]));
  for (size_t i = 0; i < whole.outputs.size(); ++i) {
    const TensorType& type = graph.value(whole.outputs[i]).type;
    Json argument = tensor_of(type);
    argument.update({{"role", "output"}, {"desc", place_of(type.shape, way.output_layouts[i])}});
    argument["bytes"] = physical_bytes(type, way.output_layouts[i]);
    argument["expected"] = expected["outputs"][i];
    arguments.push_back(argument);
  }
  Json symbols = Json::array(), grids = Json::array();
  for (const CudaPhase& phase : kernel.phases) {
    symbols.push_back(phase.symbol);
    grids.push_back(phase.grid);
  }
  jobs_.push_back({{"model", model},
                   {"what", what},
                   {"family", way.family},
                   {"image", images_},
                   {"symbols", symbols},
                   {"grids", grids},
                   {"threads", kernel.threads},
                   {"workspace_bytes", kernel.workspace_bytes},
                   {"temporary_bytes", kernel.temporary_bytes},
                   {"arguments", arguments},
                   {"flops", way.flops},
                   {"bytes", way.bytes},
                   {"text", hash_text(kernel.source).hex()}});
  waiting_.push_back(std::move(kernel));
  if (waiting_.size() == (options_.architectures[0] == "emulated" ? 1 : kBatch)) compile_waiting();
  return true;
}

Json VisitJobs::constant_argument(const CandidateGraph& made, ValueId constant, const Packing& packing) {
  const HostTensor& value = *made.graph.constant(constant);
  const std::string packed = pack(value, packing);
  const std::vector<int64_t>& p = packing.params;
  Json argument = tensor_of(value.type());
  // Which of the generated constants it is shows in its values: seeds are numbers of those.
  for (size_t i = 0; i < made.generated.size(); ++i)
    if (made.generated[i] == value.type() && same_bytes(value, generated_constant(value.type(), i)))
      argument = filled(value.type(), kFirstConstant + i, kPositiveInputRange);
  argument.update({{"role", "constant"}, {"bytes", packed.size()}, {"packing", packing.kind}});
  if (!argument.contains("seed")) {
    argument.update({{"how", "literal"}, {"at", values_.size()}});
    values_ += packed;
  } else if (packing.kind == "columns") {
    argument.update({{"how", "columns"}, {"desc", columns_of(value.shape(), p)}});
  } else if (packing.kind == "winograd") {
    add_winograd(value.shape(), p, argument);
  } else {
    argument.update({{"how", "place"}, {"desc", place_of(value.shape(), packing)}});
  }
  return argument;
}

void VisitJobs::compile_waiting() {
  if (waiting_.empty()) return;
  const std::string text = waiting_.size() == 1 ? waiting_[0].source : as_one_program(waiting_);
  for (const std::string& architecture : options_.architectures) {
    const std::string path = folder_ + "/" + std::to_string(images_) + "." + architecture;
    if (architecture == "emulated") {
      write_file(path, text);
      continue;
    }
    std::string log;
    const Result<std::string> cubin = Nvrtc::get().compile(text, architecture, &log);
    if (!cubin.ok()) throw Error(ErrorKind::internal, cubin.refusal().detail);
    write_file(path, cubin.value());
    add_report(log, architecture, report_);
  }
  ++images_;
  waiting_.clear();
}

void VisitJobs::write() {
  compile_waiting();
  const std::string device = read_file(options_.device_source);
  for (const std::string& architecture : options_.architectures) {
    const Result<std::string> image =
        architecture == "emulated" ? Result<std::string>(device) : Nvrtc::get().compile(device, architecture);
    if (!image.ok()) throw Error(ErrorKind::internal, image.refusal().detail);
    write_file(folder_ + "/device." + architecture, image.value());
  }
  write_file(folder_ + "/values.bin", values_);
  const Json all = {{"jobs", jobs_},           {"refused", refused_},
                    {"uses", uses_},           {"resources", report_},
                    {"too_large", too_large_}, {"architectures", options_.architectures}};
  write_file(folder_ + "/jobs.json", all.dump());
}

}  // namespace korch::testing
