#include "korch/plan/plan_json.h"

#include <nlohmann/json.hpp>

#include "korch/base/error.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlanFormat = 1;  // raised when the fields below change meaning

Json to_json(const TensorType& type) {
  return {{"dtype", name(type.dtype)}, {"shape", type.shape}};
}

TensorType type_from(const Json& json) {
  TensorType type;
  if (!parse_dtype(json.at("dtype").get<std::string>(), &type.dtype))
    throw std::runtime_error("unknown dtype");
  type.shape = json.at("shape").get<Shape>();
  return type;
}

const char* role_name(TensorRole role) {
  switch (role) {
    case TensorRole::intermediate:
      return "intermediate";
    case TensorRole::input:
      return "input";
    case TensorRole::output:
      return "output";
    case TensorRole::constant:
      return "constant";
  }
  return "?";
}

TensorRole role_from(const std::string& text) {
  for (TensorRole role :
       {TensorRole::intermediate, TensorRole::input, TensorRole::output, TensorRole::constant})
    if (text == role_name(role)) return role;
  throw std::runtime_error("unknown tensor role");
}

Json to_json(const PlanTensor& tensor) {
  Json json = to_json(tensor.type);
  json["name"] = tensor.name;
  json["value"] = tensor.value;
  json["layout"] = to_string(tensor.layout);
  json["bytes"] = tensor.size_bytes;
  json["role"] = role_name(tensor.role);
  json["index"] = tensor.index;
  json["alias_of"] = tensor.alias_of;
  json["alias_offset"] = tensor.alias_offset_bytes;
  return json;
}

PlanTensor tensor_from(const Json& json) {
  PlanTensor tensor;
  tensor.type = type_from(json);
  tensor.name = json.at("name");
  tensor.value = json.at("value");
  if (!parse_layout(json.at("layout").get<std::string>(), &tensor.layout))
    throw std::runtime_error("unknown layout");
  tensor.size_bytes = json.at("bytes");
  tensor.role = role_from(json.at("role"));
  tensor.index = json.at("index");
  tensor.alias_of = json.at("alias_of");
  tensor.alias_offset_bytes = json.at("alias_offset");
  return tensor;
}

Json to_json(const Kernel& kernel) {
  Json phases = Json::array();
  for (const KernelPhase& phase : kernel.phases)
    phases.push_back({{"symbol", phase.symbol}, {"grid", phase.grid}, {"grain", phase.grain}});
  Json packing = Json::array();
  for (const Packing& p : kernel.constant_packing)
    packing.push_back({{"kind", p.kind}, {"params", p.params}});
  return {{"key", kernel.key().hex()},
          {"library", kernel.call.library},
          {"function", kernel.call.function},
          {"phases", phases},
          {"packing", packing},
          {"scratch", kernel.scratch_bytes},
          {"temporaries", kernel.temporary_bytes},
          {"flops", kernel.flops},
          {"bytes", kernel.bytes}};
}

Kernel kernel_from(const Json& json) {
  Kernel kernel;
  kernel.call.library = json.at("library");
  kernel.call.function = json.at("function");
  for (const Json& p : json.at("phases"))
    kernel.phases.push_back({p.at("symbol"), p.at("grid"), p.at("grain")});
  for (const Json& p : json.at("packing"))
    kernel.constant_packing.push_back({p.at("kind"), p.at("params").get<std::vector<int64_t>>()});
  kernel.scratch_bytes = json.at("scratch");
  kernel.temporary_bytes = json.at("temporaries").get<std::vector<int64_t>>();
  kernel.flops = json.at("flops");
  kernel.bytes = json.at("bytes");
  return kernel;
}

Json to_json(const PlanStep& step) {
  Json rejected = Json::array(), wiring = Json::array();
  for (const RejectedKernel& r : step.rejected)
    rejected.push_back({{"what", r.what}, {"us", r.cost_us}, {"same_inputs", r.same_inputs}});
  for (const PlanPrimitive& p : step.wiring)
    wiring.push_back(
        {{"inputs", p.inputs}, {"outputs", p.outputs}, {"origins", p.origins}, {"work", p.work}});
  return {{"kernel", step.kernel},
          {"label", step.label},
          {"implementation", step.implementation},
          {"inputs", step.inputs},
          {"constants", step.constants},
          {"outputs", step.outputs},
          {"primitives", step.primitives},
          {"wiring", wiring},
          {"onnx_nodes", step.onnx_nodes},
          {"predicted_us", step.predicted_us},
          {"measured", step.measured},
          {"bound_us", step.bound_us},
          {"rejected", rejected}};
}

PlanStep step_from(const Json& json) {
  PlanStep step;
  step.kernel = json.at("kernel");
  step.label = json.at("label");
  step.implementation = json.at("implementation");
  step.inputs = json.at("inputs").get<std::vector<int>>();
  step.constants = json.at("constants").get<std::vector<int>>();
  step.outputs = json.at("outputs").get<std::vector<int>>();
  step.primitives = json.at("primitives").get<std::vector<std::string>>();
  step.onnx_nodes = json.at("onnx_nodes").get<std::vector<std::string>>();
  step.predicted_us = json.at("predicted_us");
  step.bound_us = json.at("bound_us");
  step.measured = json.value("measured", false);  // this, wiring and same_inputs: older executables have none
  for (const Json& r : json.at("rejected"))
    step.rejected.push_back({r.at("what"), r.at("us"), r.value("same_inputs", false)});
  for (const Json& p : json.value("wiring", Json::array()))
    step.wiring.push_back({p.at("inputs"), p.at("outputs"), p.at("origins"), p.at("work")});
  return step;
}

Json to_json(const Peaks& peaks) {
  return {{"flops_per_us", peaks.flops_per_us},
          {"l2_bytes_per_us", peaks.l2_bytes_per_us},
          {"l3_bytes_per_us", peaks.l3_bytes_per_us},
          {"dram_bytes_per_us", peaks.dram_bytes_per_us},
          {"launch_us", peaks.launch_us}};
}

Peaks peaks_from(const Json& json) {
  return {json.at("flops_per_us"), json.at("l2_bytes_per_us"), json.at("l3_bytes_per_us"),
          json.at("dram_bytes_per_us"), json.at("launch_us")};
}

Json to_json(const PlanReport& r) {
  Json runs = Json::array(), struck = Json::array();
  for (const StruckKernel& kernel : r.struck)
    struck.push_back({{"key", kernel.key}, {"kernel", kernel.kernel}, {"reason", kernel.reason}});
  for (const WholeRun& run : r.whole_runs)
    runs.push_back(
        {{"plan", run.plan}, {"predicted_us", run.predicted_us}, {"measured_us", run.measured_us}});
  return {{"model", r.model},
          {"network", r.network},
          {"strategy", r.strategy},
          {"accuracy", r.accuracy},
          {"target", r.target},
          {"solver_status", r.solver_status},
          {"objective_us", r.objective_us},
          {"bound_us", r.bound_us},
          {"gap", r.gap},
          {"primitives", r.primitives},
          {"execution_states", r.execution_states ? Json(*r.execution_states) : Json()},
          {"candidates", r.candidates},
          {"columns", r.columns},
          {"kernels", r.kernels},
          {"measured", r.measured},
          {"solves", r.solves},
          {"cuts", r.cuts},
          {"solver_s", r.solver_s},
          {"bound_violations", r.bound_violations},
          {"certified", r.certified},
          {"bounds", r.bounds},
          {"learned_violations", r.learned_violations},
          {"rules", r.rules},
          {"alternatives", r.alternatives},
          {"alternatives_used", r.alternatives_used},
          {"alternative_constant_bytes", r.alternative_constant_bytes},
          {"pruned", r.pruned},
          {"limits", r.limits},
          {"refused", r.refused},
          {"struck", struck},
          {"recomputed", r.recomputed},
          {"whole_runs", runs},
          {"kept_plan", kept_plan(r)},
          {"predicted_us", predicted_us(r)},
          {"measured_us", r.measured_us},
          {"peaks", to_json(r.peaks)}};
}

PlanReport report_from(const Json& json) {
  PlanReport r;
  r.model = json.at("model");
  r.network = json.value("network", "");
  r.strategy = json.at("strategy");
  r.accuracy = json.at("accuracy");
  r.target = json.at("target");
  r.solver_status = json.at("solver_status");
  r.objective_us = json.at("objective_us");
  r.bound_us = json.at("bound_us");
  r.gap = json.at("gap");
  r.primitives = json.at("primitives");
  r.candidates = json.at("candidates");
  r.columns = json.at("columns");
  r.kernels = json.value("kernels", r.columns);  // before there was this, columns were counted
  r.measured = json.at("measured");
  r.solves = json.at("solves");
  r.cuts = json.value("cuts", 0);  // older executables have none
  r.bound_violations = json.at("bound_violations");
  r.certified = json.at("certified");
  r.bounds = json.at("bounds");
  r.learned_violations = json.at("learned_violations");
  // Executables from before these were reported have none of them.
  r.solver_s = json.value("solver_s", 0.0);
  if (json.contains("execution_states") && !json.at("execution_states").is_null())
    r.execution_states = json.at("execution_states");
  r.rules = json.value("rules", std::vector<std::string>());
  r.alternatives = json.value("alternatives", std::map<std::string, int>());
  r.alternatives_used = json.value("alternatives_used", std::map<std::string, int>());
  r.alternative_constant_bytes = json.value("alternative_constant_bytes", int64_t{0});
  r.pruned = json.at("pruned").get<std::map<std::string, int>>();
  r.limits = json.value("limits", std::vector<std::string>());
  r.refused = json.at("refused").get<std::map<std::string, int>>();
  for (const Json& kernel : json.value("struck", Json::array()))
    r.struck.push_back({kernel.at("key"), kernel.at("kernel"), kernel.at("reason")});
  r.recomputed = json.at("recomputed").get<std::vector<std::string>>();
  for (const Json& run : json.value("whole_runs", Json::array()))
    r.whole_runs.push_back({run.at("plan"), run.at("predicted_us"), run.at("measured_us")});
  r.measured_us = json.at("measured_us");
  if (json.contains("peaks")) r.peaks = peaks_from(json.at("peaks"));
  return r;
}

template <typename T>
Json array_of(const std::vector<T>& items) {
  Json json = Json::array();
  for (const T& item : items) json.push_back(to_json(item));
  return json;
}

Json io_json(const std::vector<PlanIo>& items) {
  Json json = Json::array();
  for (const PlanIo& io : items) {
    json.push_back(to_json(io.type));
    json.back()["name"] = io.name;
  }
  return json;
}

Plan parse(const Json& json) {
  if (json.at("format") != kPlanFormat) throw std::runtime_error("another plan format");
  Plan plan;
  for (const Json& io : json.at("inputs")) plan.inputs.push_back({io.at("name"), type_from(io)});
  for (const Json& io : json.at("outputs")) plan.outputs.push_back({io.at("name"), type_from(io)});
  for (const Json& k : json.at("kernels")) plan.kernels.push_back(kernel_from(k));
  for (const Json& t : json.at("tensors")) plan.tensors.push_back(tensor_from(t));
  for (const Json& s : json.at("steps")) plan.steps.push_back(step_from(s));
  plan.threads = json.at("threads");
  plan.flushes_subnormals = json.value("flushes_subnormals", false);
  plan.report = report_from(json.at("report"));
  return plan;
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  const Json json = {{"format", kPlanFormat},
                     {"threads", plan.threads},
                     {"flushes_subnormals", plan.flushes_subnormals},
                     {"report", to_json(plan.report)},
                     {"inputs", io_json(plan.inputs)},
                     {"outputs", io_json(plan.outputs)},
                     {"steps", array_of(plan.steps)},
                     {"kernels", array_of(plan.kernels)},
                     {"tensors", array_of(plan.tensors)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);  // names from a model may not be UTF-8
}

Plan plan_from_json(const std::string& text) {
  try {
    return parse(Json::parse(text));
  } catch (const std::exception& e) {
    throw Error(ErrorKind::io, std::string("the plan inside the executable cannot be read: ") + e.what());
  }
}

}  // namespace korch
