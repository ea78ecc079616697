#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/ir/op.h"
#include "korch/report/explanations.h"
#include "korch/report/report.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Category category) {
  static constexpr const char* kNames[] = {"layout", "elementwise", "reduce", "reduce",
                                           "layout", "linear",      "other",  "other"};
  static_assert(std::size(kNames) == static_cast<size_t>(Category::composite) + 1);
  return kNames[static_cast<size_t>(category)];
}

// What colours a step: the first of these that one of its primitives is.
constexpr const char* kByWeight[] = {"linear", "other", "reduce", "elementwise", "layout"};

// Time and where it is spent, by some name.
struct Share {
  double us = 0;
  int primitives = 0;
  std::vector<int> steps;  // ascending

  void add(double more_us, int step) {
    us += more_us;
    ++primitives;
    if (steps.empty() || steps.back() != step) steps.push_back(step);
  }
};

Json to_json(const std::map<std::string, Share>& shares) {
  std::vector<const std::pair<const std::string, Share>*> order;
  for (const auto& share : shares) order.push_back(&share);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.us > b->second.us; });
  Json json = Json::array();
  for (const auto* share : order)
    json.push_back({{"name", share->first},
                    {"us", share->second.us},
                    {"primitives", share->second.primitives},
                    {"steps", share->second.steps}});
  return json;
}

// Of every step the bytes that hold something, each counted once.
std::vector<int64_t> live_bytes(const std::vector<ReportBuffer>& buffers, size_t steps) {
  std::vector<const ReportBuffer*> by_offset;
  for (const ReportBuffer& buffer : buffers) by_offset.push_back(&buffer);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const auto* a, const auto* b) { return a->offset_bytes < b->offset_bytes; });
  std::vector<int64_t> live(steps, 0), covered_to(steps, 0);
  for (const ReportBuffer* buffer : by_offset)
    for (int s = buffer->first_step; s <= buffer->last_step; ++s) {
      int64_t& covered = covered_to.at(static_cast<size_t>(s));
      const int64_t begin = std::max(covered, buffer->offset_bytes);
      covered = std::max(covered, buffer->offset_bytes + buffer->size_bytes);
      live[static_cast<size_t>(s)] += std::max<int64_t>(0, covered - begin);
    }
  return live;
}

class Report {
 public:
  explicit Report(const ReportInput& input) : input_(input), plan_(*input.plan) {
    KORCH_ASSERT(input.step_us.empty() || input.step_us.size() == plan_.steps.size(), "a time per step");
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      for (int tensor : plan_.steps[s].outputs) maker_[tensor] = static_cast<int>(s);
      for (const PlanPrimitive& primitive : plan_.steps[s].wiring)
        for (int64_t value : primitive.outputs) computed_by_[value].push_back(static_cast<int>(s));
    }
  }

  Json json() {
    Json json = head();
    json["tensors"] = tensors();
    json["steps"] = Json::array();
    for (size_t s = 0; s < plan_.steps.size(); ++s) json["steps"].push_back(step(s));
    json["edges"] = edges();
    if (!input_.spans.empty()) json["workers"] = workers();
    if (!input_.memory.buffers.empty()) json["memory"] = memory();
    json["layouts"] = layouts_explained(plan_);
    json["families"] = Json::object();
    for (const auto& [name, family] : families_named(plan_, input_.families))
      json["families"][name] = {{"what", family.what}, {"numbers", family.numbers}};
    json["by_operator"] = to_json(by_operator_);
    json["by_node"] = to_json(by_node_);
    return json;
  }

 private:
  Json head() const {
    const PlanReport& r = plan_.report;
    Json json = {{"model", r.model},
                 {"target", r.target},
                 {"strategy", r.strategy},
                 {"accuracy", r.accuracy},
                 {"threads", plan_.threads},
                 {"certified", r.certified},
                 {"gap", r.gap},
                 {"predicted_us", predicted_us(r)},
                 {"measured_us", r.measured_us},
                 {"text", input_.text},
                 {"device", Json::parse(to_text(r.device))},
                 {"peaks_are", r.peaks_are},
                 {"doubts", r.doubts},
                 {"shape_plans", Json::array()},
                 {"inputs", Json::array()},
                 {"outputs", Json::array()}};
    for (const ShapePlan& part : plan_.shape_plans) json["shape_plans"].push_back(shape_plan(part));
    for (const PlanIo& io : plan_.inputs) json["inputs"].push_back(io.name);
    for (const PlanIo& io : plan_.outputs) json["outputs"].push_back(io.name);
    return json;
  }

  // Which shapes it is for, and its steps, up to the one before end_step.
  Json shape_plan(const ShapePlan& part) const {
    std::string bounds;
    for (size_t d = 0; d < std::min(part.bounds.size(), plan_.dimensions.size()); ++d)
      bounds += (d == 0 ? "" : ", ") + plan_.dimensions[d].name + " up to " + std::to_string(part.bounds[d]);
    return {{"bounds", bounds}, {"first_step", part.first_step}, {"end_step", part.end_step}};
  }

  Json tensors() const {
    Json json = Json::array();
    for (const PlanTensor& tensor : plan_.tensors)
      json.push_back({{"name", tensor.name},
                      {"type", to_string(tensor.type)},
                      {"layout", to_string(tensor.layout)},
                      {"bytes", tensor.size_bytes},
                      {"view", tensor.alias_of >= 0}});
    return json;
  }

  double step_us(size_t s) const {
    return input_.step_us.empty() ? plan_.steps[s].predicted_us : input_.step_us[s];
  }

  Json step(size_t s) {
    const PlanStep& step = plan_.steps[s];
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(step.kernel)];
    Json phases = Json::array(), rejected = Json::array();
    for (const KernelPhase& phase : kernel.phases) phases.push_back(phase.slices());
    for (const RejectedKernel& r : step.rejected)
      rejected.push_back({{"what", r.what}, {"us", r.cost_us}, {"same_inputs", r.same_inputs}});
    Json json = {{"label", step.label},
                 {"implementation", step.implementation},
                 {"kernel", step.kernel},
                 {"library", kernel.call.library},
                 {"function", kernel.call.function},
                 {"grids", phases},
                 {"us", step.predicted_us},
                 {"measured", step.measured && step.cost_from == CostFrom::here},
                 {"cost", cost_word(step.cost_from, step.measured)},
                 {"bound_us", step.bound_us},
                 {"flops", kernel.flops},
                 {"bytes", kernel.bytes},
                 {"inputs", step.inputs},
                 {"constants", step.constants},
                 {"outputs", step.outputs},
                 {"onnx_nodes", step.onnx_nodes},
                 {"rejected", rejected},
                 {"primitives", primitives(s)},
                 {"category", category(step)}};
    if (!input_.step_us.empty()) json["run_us"] = input_.step_us[s];
    return json;
  }

  static std::vector<std::string> operators(const PlanStep& step) {
    std::vector<std::string> names;
    for (size_t at = 0, i = 0; i < step.primitives.size(); ++i) {
      const size_t end = std::min(step.label.find('+', at), step.label.size());
      names.push_back(step.label.substr(at, end - at));
      at = std::min(end + 1, step.label.size());
    }
    return names;
  }

  static std::string category(const PlanStep& step) {
    std::vector<std::string> present;
    for (const std::string& op : operators(step)) present.push_back(category(op));
    for (const char* name : kByWeight)
      if (std::find(present.begin(), present.end(), name) != present.end()) return name;
    return "layout";  // a reorder
  }

  static std::string category(const std::string& op) {
    const std::optional<Op> known = parse_op(op);
    return known ? name_of(info(*known).category) : "other";
  }

  // Each primitive of a step with its part of the step's time: by its part of the work.
  Json primitives(size_t s) {
    const PlanStep& step = plan_.steps[s];
    const std::vector<std::string> names = operators(step);
    double work = 0;
    for (const PlanPrimitive& primitive : step.wiring) work += primitive.work;
    if (names.empty()) {
      by_operator_[step.label].add(step_us(s), static_cast<int>(s));
      by_node_[""].add(step_us(s), static_cast<int>(s));
    }
    Json json = Json::array();
    for (size_t p = 0; p < names.size(); ++p) {
      const double part = work > 0 ? step.wiring[p].work / work : 1.0 / names.size();
      by_operator_[names[p]].add(part * step_us(s), static_cast<int>(s));
      add_nodes(s, step.wiring[p].origins, part * step_us(s));
      json.push_back({{"op", names[p]},
                      {"text", step.primitives[p]},
                      {"part", part},
                      {"category", category(names[p])},
                      {"inputs", step.wiring[p].inputs},
                      {"outputs", step.wiring[p].outputs},
                      {"nodes", step.wiring[p].origins}});
      const std::vector<int> others = other_steps(s, step.wiring[p]);
      if (!others.empty()) json.back()["also_in"] = others;
    }
    return json;
  }

  // To the ONNX nodes that a primitive is from, alike.
  void add_nodes(size_t s, const std::vector<int>& origins, double us) {
    if (origins.empty()) by_node_[""].add(us, static_cast<int>(s));
    for (int node : origins)
      by_node_[plan_.steps[s].onnx_nodes.at(static_cast<size_t>(node))].add(
          us / static_cast<double>(origins.size()), static_cast<int>(s));
  }

  std::vector<int> other_steps(size_t s, const PlanPrimitive& primitive) const {
    std::vector<int> others;
    for (int64_t value : primitive.outputs)
      for (int other : computed_by_.at(value))
        if (other != static_cast<int>(s)) others.push_back(other);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return others;
  }

  // "sN" the step that made a tensor, or what it is a view of; "iN" an input; "" a constant, or the extent of
  // an input.
  std::string origin(int tensor) const {
    while (true) {
      const auto made = maker_.find(tensor);
      if (made != maker_.end()) return "s" + std::to_string(made->second);
      const PlanTensor& t = plan_.tensors[static_cast<size_t>(tensor)];
      if (t.role == TensorRole::input)
        return t.index < static_cast<int>(plan_.inputs.size()) ? "i" + std::to_string(t.index) : "";
      if (t.alias_of < 0 || t.alias_of >= tensor) return "";
      tensor = t.alias_of;
    }
  }

  Json edges() const {
    Json json = Json::array();
    const auto add = [&](int tensor, const std::string& to) {
      const std::string from = origin(tensor);
      if (!from.empty()) json.push_back({{"from", from}, {"to", to}, {"tensor", tensor}});
    };
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      std::vector<int> read = plan_.steps[s].inputs;
      std::sort(read.begin(), read.end());
      read.erase(std::unique(read.begin(), read.end()), read.end());
      for (int tensor : read) add(tensor, "s" + std::to_string(s));
    }
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].role == TensorRole::output &&
          plan_.tensors[t].index < static_cast<int>(plan_.outputs.size()))
        add(static_cast<int>(t), "o" + std::to_string(plan_.tensors[t].index));
    return json;
  }

  // Of each worker [step, begin, end], of the plan's steps alone; the longest ones where there are too many
  // to draw.
  Json workers() const {
    constexpr size_t kMost = 8000;
    std::vector<ReportSpan> spans;
    for (const ReportSpan& span : input_.spans)
      if (span.step < static_cast<int>(plan_.steps.size())) spans.push_back(span);
    double least_us = 0;
    if (spans.size() > kMost) {
      std::vector<double> durations;
      for (const ReportSpan& span : spans) durations.push_back(span.end_us - span.begin_us);
      std::nth_element(durations.begin(), durations.begin() + kMost, durations.end(), std::greater<>());
      least_us = durations[kMost];
    }
    Json json = Json::array();
    const auto rounded = [](double us) { return std::round(us * 100) / 100; };
    for (const ReportSpan& span : spans) {
      while (json.size() <= static_cast<size_t>(span.worker)) json.push_back(Json::array());
      if (span.end_us - span.begin_us < least_us) continue;
      json[static_cast<size_t>(span.worker)].push_back(
          {span.step, rounded(span.begin_us), rounded(span.end_us)});
    }
    return json;
  }

  // Buffers as [tensor, first step, last step, offset, bytes].
  Json memory() const {
    const ReportMemory& memory = input_.memory;
    const std::vector<int64_t> live = live_bytes(memory.buffers, plan_.steps.size());
    Json buffers = Json::array();
    for (const ReportBuffer& b : memory.buffers)
      buffers.push_back({b.tensor, b.first_step, b.last_step, b.offset_bytes, b.size_bytes});
    return {{"arena_bytes", memory.arena_bytes},
            {"weights_bytes", memory.weights_bytes},
            {"buffers", buffers},
            {"live", live},
            {"peak_step", std::max_element(live.begin(), live.end()) - live.begin()}};
  }

  const ReportInput& input_;
  const Plan& plan_;
  std::map<int, int> maker_;                            // of a tensor: the step that writes it
  std::map<int64_t, std::vector<int>> computed_by_;     // of a Value: the steps with a primitive for it
  std::map<std::string, Share> by_operator_, by_node_;  // "": of no node
};

}  // namespace

std::string report_data(const ReportInput& input) {
  return Report(input).json().dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace korch
