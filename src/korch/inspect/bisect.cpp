#include "korch/inspect/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "korch/base/hash.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/plan_graph.h"
#include "korch/inspect/references.h"
#include "korch/ir/text.h"
#include "korch/package/graphs.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

constexpr int64_t kKeptBytes = 64 << 20;  // of one kernel's data: what a reproducer may take on disk

// Calls visit(element, its place in memory) for all elements of a tensor.
template <typename Visit>
void for_each_place(const PlanTensor& tensor, const Visit& visit) {
  const Shape& shape = tensor.type.shape;
  const int64_t count = tensor.type.elements();
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(i, element_offset(shape, tensor.layout, index));
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

HostTensor read_tensor(const PlanTensor& tensor, const void* memory) {
  HostTensor values(tensor.type);
  const size_t width = size_bytes(tensor.type.dtype);
  const auto* from = static_cast<const char*>(memory);
  auto* to = static_cast<char*>(values.mutable_raw());
  for_each_place(tensor, [&](int64_t element, int64_t place) {
    std::memcpy(to + element * static_cast<int64_t>(width), from + place * static_cast<int64_t>(width),
                width);
  });
  return values;
}

void write_tensor(const PlanTensor& tensor, const HostTensor& values, void* memory) {
  const size_t width = size_bytes(tensor.type.dtype);
  const auto* from = static_cast<const char*>(values.raw());
  auto* to = static_cast<char*>(memory);
  for_each_place(tensor, [&](int64_t element, int64_t place) {
    std::memcpy(to + place * static_cast<int64_t>(width), from + element * static_cast<int64_t>(width),
                width);
  });
}

std::string bytes_of(const PlanTensor& tensor, const HostTensor& values) {
  std::string bytes(static_cast<size_t>(physical_bytes(tensor.type, tensor.layout)), '\0');
  write_tensor(tensor, values, bytes.data());
  return bytes;
}

std::string allowed_of(const PlanTensor& tensor, const Tolerance& tolerance) {
  const auto places =
      static_cast<size_t>(physical_bytes(tensor.type, tensor.layout)) / size_bytes(tensor.type.dtype);
  std::vector<float> allowed(places, std::numeric_limits<float>::infinity());
  for_each_place(tensor, [&](int64_t element, int64_t place) {
    if (tolerance.is_judged(element)) allowed[place] = static_cast<float>(tolerance.allowed(element));
  });
  return {reinterpret_cast<const char*>(allowed.data()), allowed.size() * sizeof(float)};
}

class Bisector {
 public:
  // `first_step`: of the plan among all that the executable has.
  Bisector(const Plan& plan, int first_step, const PlanPrimitives& primitives, const References& references,
           const JudgeStep& judge_step)
      : plan_(plan),
        first_step_(first_step),
        primitives_(primitives),
        references_(references),
        judge_step_(judge_step) {}

  // Judges a step by the memory of its arguments, and puts right what it wrote. From the first one on of
  // which too little is known none is judged: later ones may read what it wrote.
  void judge(int number, void* const* args) {
    number -= first_step_;
    if (number < 0 || number >= static_cast<int>(plan_.steps.size())) return;  // a copy to a graph output
    const PlanStep& step = plan_.steps[static_cast<size_t>(number)];
    if (first_unjudged_ < 0 && !is_known(step)) first_unjudged_ = number;
    if (first_unjudged_ >= 0) return;
    void* const* outputs = args + step.inputs.size() + step.constants.size();
    StepDeviation found;
    found.step = first_step_ + number;
    found.kernel = fmt::format("{}, {}", step.label, step.implementation);
    std::vector<HostTensor> got;
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[step.outputs[i]];
      got.push_back(read_tensor(tensor, outputs[i]));
      const Deviation deviation = compared(step, reference(tensor), got.back());
      if (i > 0 && deviation.ratio <= found.deviation.ratio) continue;
      found.tensor = tensor.name;
      found.deviation = deviation;
    }
    if (!found.deviation.passed()) found.data = data_of(step, args, got);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[step.outputs[i]];
      write_tensor(tensor, reference(tensor).exact(), outputs[i]);
    }
    if (result.largest.step < 0 || found.deviation.ratio > result.largest.deviation.ratio)
      result.largest = found;
    if (!found.deviation.passed()) result.wrong.push_back(std::move(found));
  }

  // -1: all were judged.
  int first_unjudged() const { return first_unjudged_ < 0 ? -1 : first_step_ + first_unjudged_; }

  Bisection result;

 private:
  const Tolerance* known(const PlanTensor& tensor) const {
    const auto id = primitives_.ids.find(tensor.value);
    KORCH_ASSERT(id != primitives_.ids.end(), "%" + tensor.name + " is not in the graph of its plan");
    return references_.find(id->second);
  }

  const Tolerance& reference(const PlanTensor& tensor) const { return *known(tensor); }

  bool is_known(const PlanStep& step) const {
    const auto all = [&](const std::vector<int>& tensors) {
      return std::all_of(tensors.begin(), tensors.end(),
                         [&](int id) { return known(plan_.tensors[id]) != nullptr; });
    };
    return all(step.inputs) && all(step.outputs);
  }

  Deviation compared(const PlanStep& step, const Tolerance& tolerance, const HostTensor& got) const {
    if (!judge_step_) return tolerance.compare(got);
    std::vector<const HostTensor*> read;
    for (int id : step.inputs) read.push_back(&reference(plan_.tensors[id]).exact());
    return judge_step_(plan_, step, read, tolerance, got);
  }

  // Inputs as they should be, which is what the kernel got: its own results may stand in their place by now.
  StepData data_of(const PlanStep& step, void* const* args, const std::vector<HostTensor>& got) const {
    int64_t bytes = 0;
    for (const std::vector<int>* tensors : {&step.inputs, &step.constants, &step.outputs})
      for (int id : *tensors) bytes += plan_.tensors[id].size_bytes;
    StepData data;
    if (bytes > kKeptBytes) return data;
    for (int id : step.inputs)
      data.inputs.push_back(bytes_of(plan_.tensors[id], reference(plan_.tensors[id]).exact()));
    for (size_t i = 0; i < step.constants.size(); ++i)
      data.constants.emplace_back(static_cast<const char*>(args[step.inputs.size() + i]),
                                  static_cast<size_t>(plan_.tensors[step.constants[i]].size_bytes));
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[step.outputs[i]];
      data.expected.push_back(bytes_of(tensor, reference(tensor).exact()));
      data.allowed.push_back(allowed_of(tensor, reference(tensor)));
      data.got.push_back(bytes_of(tensor, got[i]));
    }
    return data;
  }

  const Plan& plan_;
  const int first_step_;
  const PlanPrimitives& primitives_;
  const References& references_;
  const JudgeStep& judge_step_;
  int first_unjudged_ = -1;
};

std::string text_of(const std::map<std::string, int64_t>& extents) {
  std::string text;
  for (const auto& [name, extent] : extents)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, extent);
  return text;
}

// One sample, judged by the plan that runs on it.
class Case {
 public:
  Case(const Graph& imported, LoadedExecutable& executable, const std::vector<HostTensor>& inputs)
      : imported_(imported),
        executable_(executable),
        inputs_(inputs),
        all_(plan_from_json(executable.info().plan_json)) {
    read_graphs(executable.info().path, &all_);
    const std::vector<OpenDimension>& open = imported.open_dimensions();
    for (size_t d = 0; d < open.size(); ++d)
      extents_[open[d].name] = element_as_int(inputs[inputs.size() - open.size() + d], 0);
    choose();
    plan_ = plan_of(all_, shape_plan_);
    for (size_t d = 0; d < all_.dimensions.size(); ++d)
      bounds_[all_.dimensions[d].name] = shape_plan_.bounds[d];
  }

  // Why no kernel can be judged; empty: they can.
  std::string obstacle() const {
    if (const std::string& made_from = all_.report.network;
        !made_from.empty() && made_from != hash_text(print(imported_)).hex())
      return "the executable was made from another network, or from this one with other options (--shape, "
             "--model-seed) or by another version of korch";
    if (std::any_of(plan_.steps.begin(), plan_.steps.end(),
                    [](const PlanStep& step) { return step.other_end >= 0; }))
      return "of a network with loops kernels are not judged one by one";
    if (plan_.graph.text.empty())
      return "the executable is of before these kept the primitives of their plan: compile the model again";
    return "";
  }

  // `import_within` may lack where the plan is that for the largest extents.
  Bisection judge(const Deadline& deadline, const ImportWithin& import_within, const JudgeStep& judge_step) {
    Bisection result;
    if (!is_largest_ && !import_within) {
      result.unknown = fmt::format(
          "the run took the plan for extents up to {}, and the network is at hand "
          "for the largest ones alone",
          text_of(bounds_));
      return result;
    }
    const Graph network = is_largest_ ? imported_ : import_within(bounds_);
    const PlanPrimitives primitives = read_plan_graph(plan_.graph, network);
    // At the plan's bounds, so that everything counts; those that have but one extent are closed there.
    const std::vector<HostTensor> dense = dense_inputs(imported_, with_extents(imported_, inputs_, bounds_));
    std::vector<HostTensor> inputs = dense;
    inputs.resize(network.inputs().size());
    inputs = with_extents(network, std::move(inputs), bounds_);
    References references(primitives.graph, products_of(plan_));
    references.run(inputs, deadline);
    Bisector bisector(plan_, shape_plan_.first_step, primitives, references, judge_step);
    std::vector<HostTensor> outputs = executable_.allocate_outputs();
    executable_.run_observed(dense, outputs,
                             [&](int number, void* const* args) { bisector.judge(number, args); });
    result = std::move(bisector.result);
    add_limits(bisector.first_unjudged(), &result);
    return result;
  }

 private:
  // As the runtime does: of those that can the one that is predicted to take the least.
  void choose() {
    const std::vector<ShapePlan> shape_plans = shape_plans_of(all_);
    size_t best = 0;
    for (size_t v = 1; v < shape_plans.size(); ++v) {
      bool is_better = shape_plans[v].predicted_us < shape_plans[best].predicted_us;
      for (size_t d = 0; d < all_.dimensions.size() && is_better; ++d)
        is_better = extent(all_.dimensions[d]) <= shape_plans[v].bounds[d];
      if (is_better) best = v;
    }
    is_largest_ = best == 0;
    shape_plan_ = shape_plans[best];
  }

  int64_t extent(const OpenDimension& dimension) const {
    const auto found = extents_.find(dimension.name);
    return found != extents_.end() ? found->second : dimension.most;
  }

  void add_limits(int first_unjudged, Bisection* result) const {
    const auto add = [&](const std::string& limit) {
      result->limits += (result->limits.empty() ? "" : "; ") + limit;
    };
    result->budget_spent = first_unjudged >= 0;
    if (result->budget_spent) add(fmt::format("steps from {} on not, for the budget ended", first_unjudged));
    if (extents_ != bounds_ && !extents_.empty())
      add(fmt::format("with the largest extents of the plan, {}, and not with those of the sample, {}",
                      text_of(bounds_), text_of(extents_)));
    if (std::any_of(plan_.steps.begin(), plan_.steps.end(),
                    [](const PlanStep& step) { return step.variants.list.size() > 1; }))
      add("of each step its own kernel, and not its variants for other extents");
  }

  const Graph& imported_;
  LoadedExecutable& executable_;
  const std::vector<HostTensor>& inputs_;
  Plan all_;
  std::map<std::string, int64_t> extents_, bounds_;  // of the sample; of the plan that runs on it
  ShapePlan shape_plan_;
  bool is_largest_ = true;
  Plan plan_;
};

std::string text_of(const StepDeviation& step) {
  return fmt::format("step {} ({}): output %{}: {}", step.step, step.kernel, step.tensor,
                     to_string(step.deviation));
}

}  // namespace

Bisection bisect(const Graph& imported, LoadedExecutable& executable, const std::vector<HostTensor>& inputs,
                 const Deadline& deadline, const ImportWithin& import_within, const JudgeStep& judge_step) {
  Case sample(imported, executable, inputs);
  Bisection result;
  result.unknown = sample.obstacle();
  if (!result.unknown.empty()) return result;
  try {
    return sample.judge(deadline, import_within, judge_step);
  } catch (const Error& error) {  // constants that are not there; an index beyond a smaller plan's axis
    if (error.kind() != ErrorKind::invalid) throw;
    result.unknown = error.what();
    return result;
  }
}

std::string describe(const Bisection& bisection) {
  if (!bisection.unknown.empty()) return "unknown: " + bisection.unknown;
  const std::string judged =
      bisection.limits.empty() ? "" : fmt::format(" (judged were: {})", bisection.limits);
  if (bisection.largest.step < 0)
    return bisection.budget_spent ? "unknown: the budget ended before a kernel was judged"
                                  : "none: the executable has no kernels";
  const std::string largest = fmt::format("the largest share of its tolerance, {:.2g}, takes {}",
                                          bisection.largest.deviation.ratio, text_of(bisection.largest));
  if (bisection.wrong.empty() && !bisection.limits.empty())
    return fmt::format("none of those that were judged{}; {}", judged, largest);
  if (bisection.wrong.empty())
    return "none: on right inputs every kernel is right, so the difference accumulates from step to step; " +
           largest;
  std::string text = text_of(bisection.wrong[0]);
  for (size_t i = 1; i < bisection.wrong.size(); ++i)
    text += fmt::format("{} step {}", i == 1 ? "; also wrong:" : ",", bisection.wrong[i].step);
  return text + judged;
}

}  // namespace korch
