#include "korch/inspect/bisect.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>

#include "korch/fission/fission.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/special_values.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"
#include "korch/plan/plan_json.h"
#include "korch/rewrite/alternatives.h"

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
  Bisector(const Graph& imported, const Plan& plan) : plan_(plan), graph_(fission(imported)) {
    if (!plan.report.rules.empty())
      graph_ = add_alternatives(std::move(graph_), {.only = plan.report.rules}).graph;
  }

  bool is_of_this_network() const {
    for (const PlanStep& step : plan_.steps)
      for (const std::vector<int>* tensors : {&step.inputs, &step.outputs})
        for (int id : *tensors) {
          const PlanTensor& tensor = plan_.tensors[id];
          const bool exists = tensor.value >= 0 && static_cast<size_t>(tensor.value) < graph_.value_count();
          if (!exists || graph_.value(static_cast<ValueId>(tensor.value)).type != tensor.type) return false;
        }
    return true;
  }

  bool has_loops() const {
    return std::any_of(plan_.steps.begin(), plan_.steps.end(),
                       [](const PlanStep& step) { return step.other_end >= 0; });
  }

  // What every Value that steps read or write should be, and may be off by.
  void evaluate(const std::vector<HostTensor>& inputs) {
    std::map<ValueId, int> wanted;
    for (const PlanStep& step : plan_.steps)
      for (const std::vector<int>* tensors : {&step.inputs, &step.outputs})
        for (int id : *tensors) wanted.emplace(static_cast<ValueId>(plan_.tensors[id].value), id);
    std::vector<ValueId> values;
    for (const auto& [value, id] : wanted) values.push_back(value);
    Graph graph = graph_;
    graph.set_outputs(values, std::vector<std::string>(values.size()));
    interpret(graph, inputs, {Precision::float64, [&](ValueId value, const HostTensor& tensor) {
                                if (wanted.count(value) != 0)
                                  references_.try_emplace(value, graph.value(value).type.dtype, tensor);
                              }});
    for (int run = 0; run < Tolerance::kRuns; ++run)
      interpret_rounding_at_random(graph, inputs, run, [&](ValueId value, const HostTensor& tensor) {
        if (const auto found = references_.find(value); found != references_.end())
          found->second.add_run(tensor);
      });
  }

  // Judges a step by the memory of its arguments, and puts right what it wrote.
  void judge(int number, void* const* args) {
    if (number >= static_cast<int>(plan_.steps.size())) return;  // a copy to a graph output
    const PlanStep& step = plan_.steps[number];
    void* const* outputs = args + step.inputs.size() + step.constants.size();
    StepDeviation found;
    found.step = number;
    found.kernel = fmt::format("{}, {}", step.label, step.implementation);
    std::vector<HostTensor> got;
    const StepJudge judge(plan_, read_by(step));
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[step.outputs[i]];
      got.push_back(read_tensor(tensor, outputs[i]));
      const Deviation deviation = judge.compare(reference(tensor), got.back());
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

  Bisection result;

 private:
  const Tolerance& reference(const PlanTensor& tensor) const {
    return references_.at(static_cast<ValueId>(tensor.value));
  }

  std::vector<const HostTensor*> read_by(const PlanStep& step) const {
    std::vector<const HostTensor*> read;
    for (int id : step.inputs) read.push_back(&reference(plan_.tensors[id]).exact());
    return read;
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
  Graph graph_;
  std::map<ValueId, Tolerance> references_;
};

}  // namespace

Bisection bisect(const Graph& imported, LoadedExecutable& executable, const std::vector<HostTensor>& inputs) {
  const Plan plan = plan_from_json(executable.info().plan_json);
  Bisector bisector(imported, plan);
  bisector.result.other_network = !bisector.is_of_this_network();
  if (bisector.result.other_network) return std::move(bisector.result);
  bisector.result.has_loops = bisector.has_loops();
  if (bisector.result.has_loops) return std::move(bisector.result);
  const std::vector<HostTensor> all = at_bounds(imported, inputs);
  bisector.evaluate(all);
  std::vector<HostTensor> outputs = executable.allocate_outputs();
  executable.run_observed(dense_inputs(imported, all), outputs,
                          [&](int number, void* const* args) { bisector.judge(number, args); });
  return std::move(bisector.result);
}

std::string describe(const Bisection& bisection) {
  if (bisection.other_network) return "unknown: the executable was made from another network";
  if (bisection.has_loops) return "unknown: of a network with loops kernels are not judged one by one";
  const auto step_text = [](const StepDeviation& step) {
    return fmt::format("step {} ({}): output %{}: {}", step.step, step.kernel, step.tensor,
                       to_string(step.deviation));
  };
  if (bisection.largest.step < 0) return "none: the executable has no kernels";
  if (bisection.wrong.empty())
    return fmt::format(
        "none: on right inputs every kernel is right, so the difference accumulates from step to step; the "
        "largest share of its tolerance, {:.2g}, takes {}",
        bisection.largest.deviation.ratio, step_text(bisection.largest));
  std::string text = step_text(bisection.wrong[0]);
  for (size_t i = 1; i < bisection.wrong.size(); ++i)
    text += fmt::format("{} step {}", i == 1 ? "; also wrong:" : ",", bisection.wrong[i].step);
  return text;
}

}  // namespace korch
