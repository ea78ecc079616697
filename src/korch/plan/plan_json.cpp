#include "korch/plan/plan_json.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>

#include "korch/base/error.h"
#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPlanFormat = 1;  // raised when the fields below change meaning

template <typename T, typename U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

// The fields of each struct, listed once: `f(name, field)` writes them and reads them. `f.text` is a field by
// its text, `f.where` one that is there where it says something, `f.note` what follows from others.
void fields(Like<OutputExtent> auto& e, auto&& f) {
  f("output", e.output)("axis", e.axis);
}
void fields(Like<OpenDimension::Axis> auto& a, auto&& f) {
  f("input", a.input)("axis", a.axis);
}
void fields(Like<ExtentSum::Term> auto& t, auto&& f) {
  f("dimension", t.dimension)("factor", t.factor);
}
void fields(Like<ExtentSum> auto& s, auto&& f) {
  f("plus", s.plus)("terms", s.terms);
}
void fields(Like<ExtentSteps> auto& s, auto&& f) {
  f("first", s.first)("last", s.last)("step", s.step);
}
void fields(Like<OpenDimension> auto& d, auto&& f) {
  f("name", d.name)("least", d.least)("most", d.most)("axes", d.axes);
  f.where(d.sum.has_value(), "sum", d.sum);
  f.where(!d.fitting.empty(), "fitting", d.fitting);
}
void fields(Like<TensorType> auto& t, auto&& f) {
  f.text("dtype", t.dtype)("shape", t.shape);
}
void fields(Like<PlanIo> auto& io, auto&& f) {
  fields(io.type, f);
  f("name", io.name);
}
void fields(Like<PlanTensor> auto& t, auto&& f) {
  fields(t.type, f);
  f("name", t.name)("value", t.value)
      .text("layout", t.layout)("bytes", t.size_bytes)
      .text("role", t.role)("index", t.index)("alias_of", t.alias_of)("alias_offset", t.alias_offset_bytes);
}
void fields(Like<KernelPhase> auto& p, auto&& f) {
  f("symbol", p.symbol)("grid", p.grid)("grain", p.grain)("rounds", p.rounds);
}
void fields(Like<FunctionResources> auto& r, auto&& f) {
  f("threads", r.threads)("registers", r.registers)("shared", r.shared_bytes)("stack", r.stack_bytes)(
      "local_stores", r.local_store_bytes)("local_loads", r.local_load_bytes)("instructions", r.instructions)(
      "local_instructions", r.local_instructions);
}
void fields(Like<Packing> auto& p, auto&& f) {
  f("kind", p.kind)("params", p.params);
}
void fields(Like<Kernel> auto& k, auto&& f) {
  f.note("key", [&] { return k.key().hex(); });
  f("library", k.call.library)("function", k.call.function)("call_params", k.call.params)(
      "call_floats", k.call.floats)("phases", k.phases)("packing", k.constant_packing)(
      "scratch", k.scratch_bytes)("temporaries", k.temporary_bytes)("flops", k.flops)("bytes", k.bytes);
  f.where(!k.resources.empty(), "resources", k.resources);
}
void fields(Like<PlanSliceLimit> auto& l, auto&& f) {
  f("phase", l.phase)("tensor", l.tensor)("stride", l.stride)("count", l.count)("times", l.times)(
      "plus", l.plus)("by", l.by);
}
void fields(Like<rt::NeededShare> auto& s, auto&& f) {
  f("times", s.times)("plus", s.plus)("by", s.by)("count", s.count);
}
void fields(Like<KernelVariant> auto& w, auto&& f) {
  f("kernel", w.kernel)("constants", w.constants)("limits", w.limits)("implementation", w.implementation)(
      "shares", w.shares)("over", w.over)("under", w.under)("error", w.error)("measured_us", w.measured_us);
}
void fields(Like<KernelVariants> auto& l, auto&& f) {
  f("extents", l.extents)("samples", l.samples)("trusted", l.trusted)("ways", l.list);
}
void fields(Like<RejectedKernel> auto& r, auto&& f) {
  f("what", r.what)("us", r.cost_us)("same_inputs", r.same_inputs);
}
void fields(Like<PlanPrimitive> auto& p, auto&& f) {
  f("inputs", p.inputs)("outputs", p.outputs)("origins", p.origins)("work", p.work);
}
void fields(Like<PlanStep> auto& s, auto&& f) {
  f("kernel", s.kernel)("label", s.label)("implementation", s.implementation)("inputs", s.inputs)(
      "constants", s.constants)("outputs", s.outputs)("other_end", s.other_end)("primitives", s.primitives)(
      "wiring", s.wiring)("onnx_nodes", s.onnx_nodes)("predicted_us", s.predicted_us)("measured", s.measured)(
      "bound_us", s.bound_us)("limits", s.limits)("rejected", s.rejected);
  f.where(!s.structure.empty(), "structure", s.structure);
  f.where(!s.variants.list.empty(), "launches", s.variants);
  f.where(s.cost_from != CostFrom::here, "cost_from", s.cost_from);
}
void fields(Like<StruckKernel> auto& k, auto&& f) {
  f("key", k.key)("kernel", k.kernel)("reason", k.reason);
}
void fields(Like<WholeRun> auto& r, auto&& f) {
  f("plan", r.plan)("predicted_us", r.predicted_us)("measured_us", r.measured_us);
}
void fields(Like<ScheduleRun> auto& r, auto&& f) {
  f("schedule", r.schedule)("measured_us", r.measured_us)("ratio", r.ratio)("ratio_high", r.ratio_high);
}
void fields(Like<PlanReport> auto& r, auto&& f) {
  visit_report(r, [&](const ReportField& field, auto& value) { f(field.key, value); });
  f.note("kept_plan", [&] { return kept_plan(r); });
  f.note("predicted_us", [&] { return predicted_us(r); });
}
void fields(Like<ShapePlan> auto& v, auto&& f) {
  f("first_step", v.first_step)("end_step", v.end_step)("first_tensor", v.first_tensor)(
      "end_tensor", v.end_tensor)("predicted_us", v.predicted_us)("bounds", v.bounds)(
      "output_shapes", v.output_shapes)("extents", v.extents)
      .text("schedule", v.schedule)("schedules", v.schedules);
}
void fields(Like<StatePair> auto& s, auto&& f) {
  f("input", s.input)("output", s.output)("axis", s.axis);
}
void fields(Like<Plan> auto& p, auto&& f) {
  f("threads", p.threads)("flushes_subnormals", p.flushes_subnormals)
      .text("schedule", p.schedule)("report", p.report)("inputs", p.inputs)("outputs", p.outputs)(
          "dimensions", p.dimensions)("extents", p.extents)("variants", p.shape_plans)("steps", p.steps)(
          "kernels", p.kernels)("tensors", p.tensors);
  f.where(!p.states.empty(), "states", p.states);
}

constexpr const char* kRoles[] = {"intermediate", "input", "output", "constant"};
constexpr const char* kCostsFrom[] = {"here", "carried", "model", "estimate"};
std::string word(CostFrom from) {
  return kCostsFrom[static_cast<size_t>(from)];
}
std::string word(TensorRole role) {
  return kRoles[static_cast<size_t>(role)];
}
std::string word(const Layout& layout) {
  return to_string(layout);
}
std::string word(DType dtype) {
  return name(dtype);
}
std::string word(PlanSchedule schedule) {
  return name(schedule);
}

bool parse(const std::string& text, DType* dtype) {
  return parse_dtype(text, dtype);
}
bool parse(const std::string& text, Layout* layout) {
  return parse_layout(text, layout);
}
bool parse(const std::string& text, PlanSchedule* schedule) {
  return parse_schedule(text, schedule);
}
bool parse(const std::string& text, CostFrom* from) {
  const auto found = std::find(std::begin(kCostsFrom), std::end(kCostsFrom), text);
  *from = static_cast<CostFrom>(found - std::begin(kCostsFrom));
  return found != std::end(kCostsFrom);
}
bool parse(const std::string& text, TensorRole* role) {
  const auto found = std::find(std::begin(kRoles), std::end(kRoles), text);
  *role = static_cast<TensorRole>(found - std::begin(kRoles));
  return found != std::end(kRoles);
}

struct Writer {
  Json json = Json::object();

  template <typename T>
  Writer& operator()(const char* key, const T& value) {
    json[key] = json_of(value);
    return *this;
  }
  template <typename T>
  Writer& text(const char* key, const T& value) {
    json[key] = word(value);
    return *this;
  }
  template <typename T>
  void where(bool is_there, const char* key, const T& value) {
    if (is_there) (*this)(key, value);
  }
  template <typename F>
  void note(const char* key, const F& value) {
    json[key] = value();
  }

  template <typename T>
  static Json json_of(const T& value) {
    if constexpr (requires(Writer f) { fields(value, f); }) {
      Writer writer;
      fields(value, writer);
      return std::move(writer.json);
    } else {
      return value;
    }
  }
  static Json json_of(CostFrom from) { return word(from); }
  static Json json_of(const Device& device) { return Json::parse(to_text(device)); }
  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json();
  }
  template <typename T>
  static Json json_of(const std::vector<T>& items) {
    Json json = Json::array();
    for (const T& item : items) json.push_back(json_of(item));
    return json;
  }
};

struct Reader {
  const Json& json;

  template <typename T>
  const Reader& operator()(const char* key, T& value) const {
    read(json.at(key), value);
    return *this;
  }
  template <typename T>
  const Reader& text(const char* key, T& value) const {
    if (parse(json.at(key).get<std::string>(), &value)) return *this;
    throw std::runtime_error(std::string("unknown ") + key);
  }
  template <typename T>
  void where(bool, const char* key, T& value) const {
    if (json.contains(key)) (*this)(key, value);
  }
  template <typename F>
  void note(const char*, const F&) const {}

  template <typename T>
  static void read(const Json& json, T& value) {
    if constexpr (requires(Reader f) { fields(value, f); })
      fields(value, Reader{json});
    else
      json.get_to(value);
  }
  static void read(const Json& json, CostFrom& from) {
    if (!parse(json.get<std::string>(), &from)) throw std::runtime_error("unknown origin of a cost");
  }
  static void read(const Json& json, Device& device) { device = device_from_text(json.dump()); }
  template <typename T>
  static void read(const Json& json, std::optional<T>& value) {
    if (!json.is_null()) read(json, value.emplace());
  }
  template <typename T>
  static void read(const Json& json, std::vector<T>& items) {
    if (!json.is_array()) throw std::runtime_error("no list");
    for (const Json& item : json) read(item, items.emplace_back());
  }
};

// `korch explain` follows them.
void check_references(const Plan& plan) {
  const auto require = [](bool holds) {
    if (!holds) throw std::runtime_error("a reference leads outside of the plan");
  };
  const auto tensors = static_cast<int>(plan.tensors.size()), steps = static_cast<int>(plan.steps.size());
  for (const PlanStep& step : plan.steps) {
    visit_tensors(step, [&](int t) { require(t >= 0 && t < tensors); });
    visit_kernels(step, [&](int k) { require(k >= 0 && k < static_cast<int>(plan.kernels.size())); });
    require(step.other_end < steps);
  }
  for (int t = 0; t < tensors; ++t) require(plan.tensors[static_cast<size_t>(t)].alias_of < t);
  for (const ShapePlan& part : plan.shape_plans) {
    require(part.first_step >= 0 && part.first_step <= part.end_step && part.end_step <= steps);
    require(part.first_tensor >= 0 && part.first_tensor <= part.end_tensor && part.end_tensor <= tensors);
  }
}

// `korch explain` evaluates them.
void check_variants(const PlanStep& step) {
  const KernelVariants& variants = step.variants;
  if (variants.list.empty()) return;
  const auto require = [](bool holds) {
    if (!holds) throw std::runtime_error("variants of a step that make no sense");
  };
  const auto is_finite = [](double number) { return std::isfinite(number); };
  const size_t extents = variants.extents.size();
  require(extents > 0 && extents <= rt::kMostVariantExtents && !variants.samples.empty());
  for (const std::vector<int64_t>& sample : variants.samples) require(sample.size() == extents);
  for (const KernelVariant& variant : variants.list) {
    require(variant.shares.size() == extents && variant.over.size() == rt::kVariantTerms &&
            variant.under.size() == rt::kVariantTerms);
    require(variant.measured_us.size() == variants.samples.size());
    for (const rt::NeededShare& share : variant.shares)
      require(share.by > 0 && share.times >= 0 && share.count >= 0);
    require(std::all_of(variant.over.begin(), variant.over.end(), is_finite) &&
            std::all_of(variant.under.begin(), variant.under.end(), is_finite));
  }
}

// `korch explain` computes with them.
void check_resources(const Kernel& kernel) {
  constexpr int64_t kMost = 1 << 20;
  bool sensible = kernel.resources.empty() || kernel.resources.size() == kernel.phases.size();
  for (const FunctionResources& r : kernel.resources) {
    sensible = sensible && r.threads >= 1 && r.threads <= 1024;
    for (const int64_t count : {int64_t{r.registers}, r.shared_bytes, r.stack_bytes})
      sensible = sensible && count >= 0 && count <= kMost;
  }
  if (!sensible) throw std::runtime_error("a kernel's resources make no sense");
}

Plan checked(const Json& json) {
  if (json.at("format") != kPlanFormat) throw std::runtime_error("another plan format");
  Plan plan;
  Reader::read(json, plan);
  for (const OpenDimension& d : plan.dimensions) {
    for (const ExtentSteps& steps : d.fitting)
      if (steps.step < 1 || steps.first < 0) throw std::runtime_error("extents that are none");
    for (const ExtentSum::Term& term : d.sum.value_or(ExtentSum{}).terms)
      if (term.dimension < 0 || static_cast<size_t>(term.dimension) >= plan.dimensions.size())
        throw std::runtime_error("a sum of unknown dimensions");
  }
  for (const StatePair& s : plan.states) {
    const bool are_there = s.input >= 0 && static_cast<size_t>(s.input) < plan.inputs.size() &&
                           s.output >= 0 && static_cast<size_t>(s.output) < plan.outputs.size();
    if (!are_there ||
        s.axis >= static_cast<int>(plan.outputs[static_cast<size_t>(s.output)].type.shape.size()))
      throw std::runtime_error("a state of unknown inputs and outputs");
  }
  for (const Kernel& kernel : plan.kernels) check_resources(kernel);
  check_references(plan);
  for (const PlanStep& step : plan.steps) {
    if (step.wiring.size() != step.primitives.size()) throw std::runtime_error("primitives without wiring");
    check_variants(step);
  }
  return plan;
}

// Names from a model may not be UTF-8.
std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_text(const std::vector<ScheduleRun>& runs) {
  return Writer::json_of(runs).dump();
}

std::vector<ScheduleRun> schedule_runs_from(const std::string& text) {
  std::vector<ScheduleRun> runs;
  try {
    Reader::read(Json::parse(text), runs);
  } catch (const std::exception&) {
    runs.clear();
  }
  return runs;
}

std::string report_to_json(const PlanReport& report) {
  return text_of(Writer::json_of(report));
}

std::string plan_to_json(const Plan& plan) {
  Writer writer;
  writer("format", kPlanFormat);
  fields(plan, writer);
  return text_of(writer.json);
}

Plan plan_from_json(const std::string& text) {
  try {
    return checked(Json::parse(text));
  } catch (const std::exception& e) {
    throw Error(ErrorKind::io, std::string("the plan inside the executable cannot be read: ") + e.what());
  }
}

}  // namespace korch
