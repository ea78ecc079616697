#include "korch/plan/plan_json.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "korch/base/error.h"
#include "korch/base/json.h"

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
    phases.push_back(
        {{"symbol", phase.symbol}, {"grid", phase.grid}, {"grain", phase.grain}, {"rounds", phase.rounds}});
  Json packing = Json::array();
  for (const Packing& p : kernel.constant_packing)
    packing.push_back({{"kind", p.kind}, {"params", p.params}});
  return {{"key", kernel.key().hex()},
          {"library", kernel.call.library},
          {"function", kernel.call.function},
          {"call_params", kernel.call.params},
          {"call_floats", kernel.call.floats},
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
  kernel.call.params = json.value("call_params", std::vector<int64_t>());  // older executables lack them
  kernel.call.floats = json.value("call_floats", std::vector<float>());
  for (const Json& p : json.at("phases"))
    kernel.phases.push_back({p.at("symbol"), p.at("grid"), p.at("grain"), p.value("rounds", int64_t{1})});
  for (const Json& p : json.at("packing"))
    kernel.constant_packing.push_back({p.at("kind"), p.at("params").get<std::vector<int64_t>>()});
  kernel.scratch_bytes = json.at("scratch");
  kernel.temporary_bytes = json.at("temporaries").get<std::vector<int64_t>>();
  kernel.flops = json.at("flops");
  kernel.bytes = json.at("bytes");
  return kernel;
}

Json to_json(const std::vector<PlanSliceLimit>& limits) {
  Json json = Json::array();
  for (const PlanSliceLimit& l : limits)
    json.push_back({{"phase", l.phase},
                    {"tensor", l.tensor},
                    {"stride", l.stride},
                    {"count", l.count},
                    {"times", l.times},
                    {"plus", l.plus},
                    {"by", l.by}});
  return json;
}

std::vector<PlanSliceLimit> limits_from(const Json& json) {
  std::vector<PlanSliceLimit> limits;
  for (const Json& l : json) {
    const int64_t by = l.at("by");
    limits.push_back({l.at("phase"), l.at("tensor"), l.at("stride"), l.at("count"), l.at("times"),
                      l.value("plus", by - 1), by});  // older executables round up
  }
  return limits;
}

Json to_json(const PlanLaunches& launches) {
  Json ways = Json::array();
  for (const PlanLaunch& way : launches.ways) {
    Json shares = Json::array();
    for (const rt::NeededShare& s : way.shares)
      shares.push_back({{"times", s.times}, {"plus", s.plus}, {"by", s.by}, {"count", s.count}});
    ways.push_back({{"kernel", way.kernel},
                    {"constants", way.constants},
                    {"limits", to_json(way.limits)},
                    {"implementation", way.implementation},
                    {"shares", shares},
                    {"over", way.over},
                    {"under", way.under},
                    {"error", way.error},
                    {"measured_us", way.measured_us}});
  }
  return {{"extents", launches.extents},
          {"samples", launches.samples},
          {"trusted", launches.trusted},
          {"ways", ways}};
}

PlanLaunches launches_from(const Json& json) {
  PlanLaunches launches;
  launches.extents = json.at("extents").get<std::vector<int>>();
  launches.samples = json.at("samples").get<std::vector<std::vector<int64_t>>>();
  launches.trusted = json.at("trusted");
  for (const Json& w : json.at("ways")) {
    PlanLaunch way;
    way.kernel = w.at("kernel");
    way.constants = w.at("constants").get<std::vector<int>>();
    way.limits = limits_from(w.at("limits"));
    way.implementation = w.at("implementation");
    for (const Json& s : w.at("shares"))
      way.shares.push_back({s.at("times"), s.at("plus"), s.at("by"), s.at("count")});
    way.over = w.at("over").get<std::vector<double>>();  // what is not finite has no text: an error
    way.under = w.at("under").get<std::vector<double>>();
    way.error = w.at("error");
    way.measured_us = w.at("measured_us").get<std::vector<double>>();
    launches.ways.push_back(std::move(way));
  }
  return launches;
}

Json to_json(const PlanStep& step) {
  Json rejected = Json::array(), wiring = Json::array();
  for (const RejectedKernel& r : step.rejected)
    rejected.push_back({{"what", r.what}, {"us", r.cost_us}, {"same_inputs", r.same_inputs}});
  for (const PlanPrimitive& p : step.wiring)
    wiring.push_back(
        {{"inputs", p.inputs}, {"outputs", p.outputs}, {"origins", p.origins}, {"work", p.work}});
  Json json = {{"kernel", step.kernel},
               {"label", step.label},
               {"implementation", step.implementation},
               {"inputs", step.inputs},
               {"constants", step.constants},
               {"outputs", step.outputs},
               {"other_end", step.other_end},
               {"primitives", step.primitives},
               {"wiring", wiring},
               {"onnx_nodes", step.onnx_nodes},
               {"predicted_us", step.predicted_us},
               {"measured", step.measured},
               {"bound_us", step.bound_us},
               {"limits", to_json(step.limits)},
               {"rejected", rejected}};
  if (!step.launches.ways.empty()) json["launches"] = to_json(step.launches);
  return json;
}

PlanStep step_from(const Json& json) {
  PlanStep step;
  step.kernel = json.at("kernel");
  step.label = json.at("label");
  step.implementation = json.at("implementation");
  step.inputs = json.at("inputs").get<std::vector<int>>();
  step.constants = json.at("constants").get<std::vector<int>>();
  step.outputs = json.at("outputs").get<std::vector<int>>();
  step.other_end = json.value("other_end", -1);  // older executables have no loops
  step.primitives = json.at("primitives").get<std::vector<std::string>>();
  step.onnx_nodes = json.at("onnx_nodes").get<std::vector<std::string>>();
  step.predicted_us = json.at("predicted_us");
  step.bound_us = json.at("bound_us");
  step.measured = json.value("measured", false);  // this, wiring and same_inputs: older executables have none
  for (const Json& r : json.at("rejected"))
    step.rejected.push_back({r.at("what"), r.at("us"), r.value("same_inputs", false)});
  for (const Json& p : json.value("wiring", Json::array()))
    step.wiring.push_back({p.at("inputs"), p.at("outputs"), p.at("origins"), p.at("work")});
  step.limits = limits_from(json.value("limits", Json::array()));
  if (json.contains("launches")) step.launches = launches_from(json.at("launches"));
  return step;
}

Json to_json(const Device& device) {
  return Json::parse(to_text(device));
}
Json to_json(const StruckKernel& kernel) {
  return {{"key", kernel.key}, {"kernel", kernel.kernel}, {"reason", kernel.reason}};
}
Json to_json(const WholeRun& run) {
  return {{"plan", run.plan}, {"predicted_us", run.predicted_us}, {"measured_us", run.measured_us}};
}
Json to_json(const ScheduleRun& run) {
  return {{"schedule", run.schedule},
          {"measured_us", run.measured_us},
          {"ratio", run.ratio},
          {"ratio_high", run.ratio_high}};
}
Json to_json(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}
template <typename T>
Json to_json(const std::vector<T>& items) {
  Json json = Json::array();
  for (const T& item : items) {
    if constexpr (std::is_constructible_v<Json, T>)
      json.push_back(item);
    else
      json.push_back(to_json(item));
  }
  return json;
}

template <typename T>
void read(const Json& json, T& value) {
  value = json.get<T>();
}
void read(const Json& json, std::optional<double>& number) {
  if (!json.is_null()) number = json.get<double>();
}
void read(const Json& json, Device& device) {
  device = device_from_text(json.dump());
}
void read(const Json& json, std::vector<StruckKernel>& struck) {
  for (const Json& kernel : json)
    struck.push_back({kernel.at("key"), kernel.at("kernel"), kernel.at("reason")});
}
void read(const Json& json, std::vector<WholeRun>& runs) {
  for (const Json& run : json)
    runs.push_back({run.at("plan"), run.at("predicted_us"), run.at("measured_us")});
}
void read(const Json& json, std::vector<ScheduleRun>& runs) {
  for (const Json& run : json)
    runs.push_back({run.at("schedule"), run.at("measured_us"), run.at("ratio"), run.at("ratio_high")});
}

Json to_json(const PlanReport& report) {
  Json json;
  visit_report(report, [&](const ReportField& field, const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_constructible_v<Json, T> && !std::is_same_v<T, std::optional<double>>)
      json[field.key] = value;
    else
      json[field.key] = to_json(value);
  });
  json["kept_plan"] = kept_plan(report);
  json["predicted_us"] = predicted_us(report);
  return json;
}

// The speeds of older executables, of which some have three of the four levels under the name of the next
// one.
void read_peaks(const Json& json, Device& device) {
  const bool shifted = json.contains("dram_bytes_per_us");
  device.flops_per_us = json.at("flops_per_us");
  device.launch_us = json.at("launch_us");
  const std::vector<const char*> names = {"l1_bytes_per_us", "l2_bytes_per_us", "l3_bytes_per_us",
                                          shifted ? "dram_bytes_per_us" : "memory_bytes_per_us"};
  for (size_t level = 0; level < device.memory.size(); ++level)
    if (const size_t name = level + (shifted ? 1 : 0); name < names.size())
      device.memory[level].bytes_per_us = json.at(names[name]);
}

PlanReport report_from(const Json& json) {
  PlanReport report;
  visit_report(report, [&](const ReportField& field, auto& value) {
    if (field.may_lack && !json.contains(field.key)) return;
    read(json.at(field.key), value);
  });
  if (json.contains("peaks")) read_peaks(json.at("peaks"), report.device);
  if (!json.contains("kernels"))
    report.kernels = report.columns;  // before there was this, columns were counted
  return report;
}

Json io_json(const std::vector<PlanIo>& items) {
  Json json = Json::array();
  for (const PlanIo& io : items) {
    json.push_back(to_json(io.type));
    json.back()["name"] = io.name;
  }
  return json;
}

// `korch explain` evaluates them.
void check_launches(const Plan& plan, const PlanStep& step) {
  const PlanLaunches& launches = step.launches;
  if (launches.ways.empty()) return;
  const auto require = [](bool holds) {
    if (!holds) throw std::runtime_error("launches of a step that make no sense");
  };
  const auto is_finite = [](double number) { return std::isfinite(number); };
  visit_tensors(step, [&](int t) { require(t >= 0 && t < static_cast<int>(plan.tensors.size())); });
  visit_kernels(step, [&](int k) { require(k >= 0 && k < static_cast<int>(plan.kernels.size())); });
  const size_t extents = launches.extents.size();
  require(extents > 0 && extents <= rt::kMostLaunchExtents && !launches.samples.empty());
  for (const std::vector<int64_t>& sample : launches.samples) require(sample.size() == extents);
  for (const PlanLaunch& way : launches.ways) {
    require(way.shares.size() == extents && way.over.size() == rt::kLaunchTerms &&
            way.under.size() == rt::kLaunchTerms);
    require(way.measured_us.size() == launches.samples.size());
    for (const rt::NeededShare& share : way.shares)
      require(share.by > 0 && share.times >= 0 && share.count >= 0);
    require(std::all_of(way.over.begin(), way.over.end(), is_finite) &&
            std::all_of(way.under.begin(), way.under.end(), is_finite));
  }
}

// Of a plan or a variant; executables of before know one.
PlanSchedule schedule_of(const Json& json) {
  PlanSchedule schedule;
  if (!parse_schedule(json.value("schedule", std::string("barrier")), &schedule))
    throw std::runtime_error("unknown schedule");
  return schedule;
}

Plan parse(const Json& json) {
  if (json.at("format") != kPlanFormat) throw std::runtime_error("another plan format");
  Plan plan;
  for (const Json& io : json.at("inputs")) plan.inputs.push_back({io.at("name"), type_from(io)});
  for (const Json& io : json.at("outputs")) plan.outputs.push_back({io.at("name"), type_from(io)});
  for (const Json& e : json.value("extents", Json::array()))
    plan.extents.push_back({e.at("output"), e.at("axis")});
  for (const Json& d : json.value("dimensions", Json::array())) {
    plan.dimensions.push_back({d.at("name"), d.at("least"), d.at("most"), {}});
    for (const Json& a : d.at("axes")) plan.dimensions.back().axes.push_back({a.at("input"), a.at("axis")});
    if (const auto sum = d.find("sum"); sum != d.end()) {
      ExtentSum& made = plan.dimensions.back().sum.emplace();
      made.plus = sum->at("plus");
      for (const Json& t : sum->at("terms")) made.terms.push_back({t.at("dimension"), t.at("factor")});
    }
  }
  for (const PlanDimension& d : plan.dimensions)
    for (const ExtentSum::Term& term : d.sum.value_or(ExtentSum{}).terms)
      if (term.dimension < 0 || static_cast<size_t>(term.dimension) >= plan.dimensions.size())
        throw std::runtime_error("a sum of unknown dimensions");
  for (const Json& v : json.value("variants", Json::array())) {
    plan.variants.push_back({v.at("first_step"),
                             v.at("end_step"),
                             v.at("first_tensor"),
                             v.at("end_tensor"),
                             v.at("predicted_us"),
                             v.at("bounds"),
                             v.at("output_shapes"),
                             v.at("extents"),
                             schedule_of(v),
                             {},
                             {}});
    read(v.value("schedules", Json::array()), plan.variants.back().schedules);
  }
  for (const Json& k : json.at("kernels")) plan.kernels.push_back(kernel_from(k));
  for (const Json& t : json.at("tensors")) plan.tensors.push_back(tensor_from(t));
  for (const Json& s : json.at("steps")) plan.steps.push_back(step_from(s));
  for (const PlanStep& step : plan.steps) check_launches(plan, step);
  plan.threads = json.at("threads");
  plan.flushes_subnormals = json.value("flushes_subnormals", false);
  plan.schedule = schedule_of(json);
  plan.report = report_from(json.at("report"));
  return plan;
}

}  // namespace

std::string to_text(const std::vector<ScheduleRun>& runs) {
  return to_json(runs).dump();
}

std::vector<ScheduleRun> schedule_runs_from(const std::string& text) {
  std::vector<ScheduleRun> runs;
  try {
    read(Json::parse(text), runs);
  } catch (const std::exception&) {
    runs.clear();
  }
  return runs;
}

std::string report_to_json(const PlanReport& report) {
  return to_json(report).dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string plan_to_json(const Plan& plan) {
  Json extents = Json::array();
  for (const PlanExtent& e : plan.extents) extents.push_back({{"output", e.output}, {"axis", e.axis}});
  Json dimensions = Json::array();
  for (const PlanDimension& d : plan.dimensions) {
    Json axes = Json::array();
    for (const auto& [input, axis] : d.axes) axes.push_back({{"input", input}, {"axis", axis}});
    dimensions.push_back({{"name", d.name}, {"least", d.least}, {"most", d.most}, {"axes", axes}});
    if (!d.sum) continue;
    Json terms = Json::array();
    for (const auto& [dimension, factor] : d.sum->terms)
      terms.push_back({{"dimension", dimension}, {"factor", factor}});
    dimensions.back()["sum"] = {{"plus", d.sum->plus}, {"terms", terms}};
  }
  Json variants = Json::array();
  for (const PlanVariant& v : plan.variants)
    variants.push_back({{"first_step", v.first_step},
                        {"end_step", v.end_step},
                        {"first_tensor", v.first_tensor},
                        {"end_tensor", v.end_tensor},
                        {"predicted_us", v.predicted_us},
                        {"bounds", v.bounds},
                        {"output_shapes", v.output_shapes},
                        {"extents", v.extents},
                        {"schedule", name(v.schedule)},
                        {"schedules", to_json(v.schedules)}});
  const Json json = {{"format", kPlanFormat},
                     {"threads", plan.threads},
                     {"flushes_subnormals", plan.flushes_subnormals},
                     {"schedule", name(plan.schedule)},
                     {"report", to_json(plan.report)},
                     {"inputs", io_json(plan.inputs)},
                     {"outputs", io_json(plan.outputs)},
                     {"dimensions", dimensions},
                     {"extents", extents},
                     {"variants", variants},
                     {"steps", to_json(plan.steps)},
                     {"kernels", to_json(plan.kernels)},
                     {"tensors", to_json(plan.tensors)}};
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
