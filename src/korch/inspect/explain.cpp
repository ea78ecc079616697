#include "korch/inspect/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/plan/plan_json.h"
#include "korch/variants/choice.h"

namespace korch {
namespace {

constexpr int64_t kMostPlaces = 4096;  // of an extent that are looked at one by one

std::string extent_name(const Plan& plan, int tensor) {
  const PlanTensor& t = plan.tensors[static_cast<size_t>(tensor)];
  const size_t first = plan.inputs.size(), at = static_cast<size_t>(t.index);
  const bool is_dimension = t.role == TensorRole::input && at >= first && at - first < plan.dimensions.size();
  return is_dimension ? plan.dimensions[at - first].name : "%" + t.name;
}

std::vector<int64_t> places_between(int64_t least, int64_t most) {
  const int64_t step = std::max<int64_t>(1, (most - least) / kMostPlaces);
  std::vector<int64_t> places;
  for (int64_t at = least; at <= most; at += step) places.push_back(at);
  return places;
}

std::string tensor_text(const Plan& plan, int id) {
  const PlanTensor& tensor = plan.tensors[id];
  return fmt::format("%{} {} {}", tensor.name, to_string(tensor.type), to_string(tensor.layout));
}

// Along each extent, the others at their most: which variant from where on.
std::string choices_text(const Plan& plan, const KernelVariants& variants) {
  std::string text;
  for (size_t e = 0; e < variants.extents.size(); ++e) {
    std::vector<int64_t> extents = variants.samples[0];
    int64_t least = extents[e], most = extents[e];
    for (const std::vector<int64_t>& sample : variants.samples) {
      for (size_t i = 0; i < extents.size(); ++i) extents[i] = std::max(extents[i], sample[i]);
      least = std::min(least, sample[e]);
      most = std::max(most, sample[e]);
    }
    text += fmt::format("    {}:", extent_name(plan, variants.extents[e]));
    size_t before = variants.list.size();
    for (const int64_t at : places_between(least, most)) {
      extents[e] = at;
      const size_t variant = variants::chosen_variant(variants, extents);
      if (variant != before) text += fmt::format(" from {} variant {},", at, variant);
      before = variant;
    }
    text += fmt::format(" up to {}\n", most);
  }
  return text;
}

std::string explain_variants(const Plan& plan, const KernelVariants& variants) {
  if (variants.list.empty()) return "";
  std::string text = fmt::format(
      "  variants, of which each run takes the one that is predicted fastest for its extents{}:\n",
      variants.trusted ? "" : " (which tells little: runs try three)");
  for (size_t w = 0; w < variants.list.size(); ++w) {
    const KernelVariant& variant = variants.list[w];
    const auto [least, most] = std::minmax_element(variant.measured_us.begin(), variant.measured_us.end());
    text +=
        fmt::format("    variant {}: {}, measured {:.2f} to {:.2f} us, predicted with an error of {:.1f} %\n",
                    w, variant.implementation, *least, *most, 100 * variant.error);
  }
  return text + choices_text(plan, variants);
}

std::string explain_step(const Plan& plan, size_t number) {
  const PlanStep& step = plan.steps[number];
  const Kernel& kernel = plan.kernels[step.kernel];
  std::string text =
      fmt::format("step {}: {}\n  implementation: {}\n", number, step.label, step.implementation);
  if (!kernel.call.library.empty())
    text += fmt::format("  library call: {} {}\n", kernel.call.library, kernel.call.function);
  const std::string word = cost_word(step.cost_from, step.measured);
  text += fmt::format("  predicted {:.2f} us ({}), {:.3g} flops, {:.3g} bytes\n", step.predicted_us,
                      step.cost_from == CostFrom::here
                          ? fmt::format("lower bound before measuring {:.2f} us", step.bound_us)
                          : fmt::format("{}; lower bound {:.2f} us", word, step.bound_us),
                      kernel.flops, kernel.bytes);
  for (size_t p = 0; p < kernel.resources.size(); ++p)
    text += fmt::format("  {}: {} blocks of {} threads, {}\n", kernel.phases[p].symbol, kernel.phases[p].grid,
                        kernel.resources[p].threads, describe(kernel.resources[p], plan.report.device));
  for (int id : step.inputs) text += "  reads   " + tensor_text(plan, id) + "\n";
  for (int id : step.constants)
    text +=
        fmt::format("  weights %{} {} bytes packed\n", plan.tensors[id].name, plan.tensors[id].size_bytes);
  for (int id : step.outputs) text += "  writes  " + tensor_text(plan, id) + "\n";
  text += "  primitives:\n";
  for (const std::string& line : step.primitives) text += "    " + line + "\n";
  text += fmt::format("  ONNX nodes: {}\n", fmt::join(step.onnx_nodes, ", "));
  if (!step.structure.empty()) text += "  structure, " + step.structure;
  text += explain_variants(plan, step.variants);
  text += step.rejected.empty()
              ? "  no other kernel makes the same outputs\n"
              : "  rejected alternatives, the cheapest (a bound where none was measured):\n";
  for (const RejectedKernel& r : step.rejected)
    text += fmt::format("    {:10.2f} us  {}{}\n", r.cost_us, r.what,
                        r.same_inputs ? "" : ", from other tensors");
  return text;
}

std::string counts_text(const char* title, const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [what, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  return text.empty() ? "" : fmt::format("{}: {}\n", title, text);
}

// Of a plan for a range of shapes in the middle of it.
std::string schedules_text(const std::vector<ScheduleRun>& runs, PlanSchedule kept) {
  std::string text;
  for (const ScheduleRun& run : runs)
    text += fmt::format("run whole by its schedules: {} {:.1f} us{}\n", run.schedule, run.measured_us,
                        run.schedule == name(kept) ? ", kept" : "");
  return text;
}

std::string interface_text(const Plan& plan) {
  std::string text;
  for (const PlanIo& io : plan.inputs) text += fmt::format("input  {} {}\n", io.name, to_string(io.type));
  for (const OpenDimension& dimension : plan.dimensions)
    text += fmt::format("open   {} is {} to {}{}, as each run says\n", dimension.name, dimension.least,
                        dimension.most,
                        dimension.fitting.empty() ? "" : ", one of " + to_string(dimension.fitting));
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    text += fmt::format("output {} {}", plan.outputs[i].name, to_string(plan.outputs[i].type));
    for (const OutputExtent& extent : plan.extents)
      if (extent.output == static_cast<int>(i))
        text += fmt::format(", axis {} up to {} as the run has it", extent.axis,
                            plan.outputs[i].type.shape[static_cast<size_t>(extent.axis)]);
    text += "\n";
  }
  for (const StatePair& state : plan.states) {
    const PlanIo& output = plan.outputs[static_cast<size_t>(state.output)];
    text +=
        fmt::format("state  {} is {} of the run before, {}\n",
                    plan.inputs[static_cast<size_t>(state.input)].name, output.name,
                    state.axis < 0 ? "all of it made anew"
                                   : fmt::format("in place: rows along axis {} are appended, {} bytes in all",
                                                 state.axis, output.type.bytes()));
  }
  return text;
}

std::string variants_text(const Plan& plan) {
  std::string text;
  for (const ShapePlan& shape_plan : plan.shape_plans) {
    text += fmt::format("plan   steps {} to {}, predicted {:.1f} us, schedule {}, for up to",
                        shape_plan.first_step, shape_plan.end_step - 1, shape_plan.predicted_us,
                        name(shape_plan.schedule));
    for (size_t d = 0; d < plan.dimensions.size(); ++d)
      text += fmt::format(" {}={}", plan.dimensions[d].name, shape_plan.bounds[d]);
    text += "\n" + schedules_text(shape_plan.schedules, shape_plan.schedule);
  }
  if (!plan.shape_plans.empty())
    text += "what follows is of the first of these plans, but for the list of steps\n";
  return text;
}

std::string candidates_text(const PlanReport& r) {
  std::string text = fmt::format(
      "{} primitives ({} execution states), {} candidates, {} columns of {} different kernels; {} measured "
      "({:.1f} %), {}{} ruled out by their bounds\n",
      r.primitives, r.execution_states ? fmt::format("{:.6g}", *r.execution_states) : "uncounted",
      r.candidates, r.columns, r.kernels, r.measured, r.kernels > 0 ? 100.0 * r.measured / r.kernels : 0.0,
      modelled_text(r), r.kernels - r.measured - r.modelled);
  text += counts_text("alternatives added, by rule", r.alternatives) +
          counts_text("alternatives in this plan", r.alternatives_used);
  for (const std::string& limit : r.special_value_limits) text += "special values: " + limit + "\n";
  text += counts_text("pruned while enumerating", r.pruned) + counts_text("refused", r.refused);
  for (const StruckKernel& kernel : r.struck)
    text += fmt::format("struck, so that no plan takes it: {}: {}\n", kernel.kernel, kernel.reason);
  for (const std::string& limit : r.limits) text += "limit reached: " + limit + "\n";
  return text;
}

std::string optimality_text(const PlanReport& r) {
  std::string text;
  if (kept_plan(r) != "solver's")
    text += fmt::format("the next two lines are of the solver's plan; the {} plan was faster, run whole\n",
                        kept_plan(r));
  text += fmt::format(
      "objective {:.1f} us, {} {:.1f} us, gap {:.2f} %, solver: {}, {} solves, {} cuts, "
      "{:.1f} s\n",
      r.objective_us,
      is_bound_proven(r)                          ? "proven bound"
      : r.bounds == "quantiles" || r.modelled > 0 ? bound_word(r)
                                                  : "bound (not proven)",
      r.bound_us, 100 * r.gap, r.solver_status, r.solves, r.cuts, r.solver_s);
  if (const std::string audit = audit_text(r); !audit.empty()) text += audit + "\n";
  for (const std::string& doubt : r.doubts) text += "in doubt: " + doubt + "\n";
  const std::string condition =
      r.bounds == "learned"
          ? fmt::format(", if no kernel is much faster than all that were measured of its kind ({} were)",
                        r.learned_violations)
          : "";
  text += r.certified ? fmt::format("certificate: optimal for the measured costs{}\n", condition)
                      : fmt::format("no certificate of optimality ({} measurements below their bound)\n",
                                    r.bound_violations);
  return text;
}

std::string whole_runs_text(const Plan& plan) {
  std::string text;
  const PlanReport& r = plan.report;
  if (r.measured_us > 0)
    text += fmt::format("predicted {:.1f} us, measured whole {:.1f} us\n", predicted_us(r), r.measured_us);
  for (const WholeRun& run : r.whole_runs)
    text += fmt::format("run whole against each other: {} plan, predicted {:.1f} us, measured {:.1f} us{}\n",
                        run.plan, run.predicted_us, run.measured_us,
                        &run == &r.whole_runs[0] ? ", kept: no other is faster beyond doubt" : "");
  if (r.tasks > 0)
    text += fmt::format("{} tasks, {} events; schedule: {}\n", r.tasks, r.events, name(plan.schedule));
  if (plan.shape_plans.empty()) text += schedules_text(r.schedules, plan.schedule);
  return text;
}

// Of the functions that the steps of a GPU's plan run.
std::string resources_text(const Plan& plan) {
  int functions = 0, spilling = 0, most_registers = 0;
  double least = 1;
  for (const PlanStep& step : plan.steps)
    for (const FunctionResources& function : plan.kernels[step.kernel].resources) {
      ++functions;
      spilling += function.spills() ? 1 : 0;
      most_registers = std::max(most_registers, function.registers);
      least = std::min(least, thread_occupancy(function, plan.report.device));
    }
  if (functions == 0) return "";
  return fmt::format("{} launches: at most {} registers, occupancy {:.0f} % or more, {} spill registers\n",
                     functions, most_registers, 100 * least,
                     spilling == 0 ? "none" : fmt::format("{}", spilling));
}

std::string steps_text(const Plan& plan) {
  const bool any_from_elsewhere = std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& step) {
    return step.cost_from != CostFrom::here;
  });
  std::string text =
      any_from_elsewhere ? "\nstep  predicted us  cost       kernel\n" : "\nstep  predicted us  kernel\n";
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    text += fmt::format("{:4}  {:12.2f}  ", i, step.predicted_us);
    if (any_from_elsewhere) text += fmt::format("{:9}  ", cost_word(step.cost_from, step.measured));
    text += fmt::format("{}  [{}]\n", step.label, step.implementation);
    for (const FunctionResources& function : plan.kernels[step.kernel].resources)
      text += fmt::format("                    {}\n", describe(function, plan.report.device));
    if (!step.variants.list.empty())
      text += fmt::format("                    {} variants, by a run's extents\n", step.variants.list.size());
    if (!step.structure.empty())
      text += fmt::format("                    {}\n", step.structure.substr(0, step.structure.find('\n')));
    if (!step.onnx_nodes.empty())
      text += fmt::format("                    covers {}\n", fmt::join(step.onnx_nodes, ", "));
  }
  return text;
}

}  // namespace

std::string explain_figures(const PlanReport& report) {
  const nlohmann::ordered_json values = nlohmann::ordered_json::parse(report_to_json(report));
  std::string text;
  visit_report(report, [&](const ReportField& field, const auto&) {
    text += fmt::format("{}: {}\n    {}\n", field.key, values.at(field.key).dump(), field.meaning);
  });
  return text;
}

std::string explain(const Plan& plan, const std::vector<std::string>& needed, const ExplainOptions& options) {
  if (options.kernel >= 0) {
    if (options.kernel >= static_cast<int>(plan.steps.size()))
      throw Error(ErrorKind::usage, fmt::format("the plan has {} steps; there is no step {}",
                                                plan.steps.size(), options.kernel));
    return explain_step(plan, static_cast<size_t>(options.kernel));
  }
  const PlanReport& r = plan.report;
  std::string text =
      fmt::format("{} for {}; strategy {}, accuracy {}\n", r.model, r.target, r.strategy, r.accuracy);
  text += interface_text(plan) + variants_text(plan) + candidates_text(r) + optimality_text(r) +
          whole_runs_text(plan);
  if (!r.recomputed.empty())
    text += fmt::format("computed more than once: {}\n", fmt::join(r.recomputed, ", "));
  text += resources_text(plan) + steps_text(plan);
  text += fmt::format("\nshared libraries needed: {}\n",
                      needed.empty() ? "none" : fmt::format("{}", fmt::join(needed, ", ")));
  return text;
}

}  // namespace korch
