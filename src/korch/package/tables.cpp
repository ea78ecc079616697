#include "korch/package/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "korch/base/error.h"
#include "korch/package/embedded.h"
#include "korch/package/seal.h"
#include "korch/runtime/library.h"

namespace korch {
namespace {

// A header's text without what needs other files: types come from the compiler, the rest stands above it.
std::string declarations(std::string_view header) {
  std::string text;
  while (!header.empty()) {
    const size_t end = std::min(header.find('\n'), header.size() - 1);
    const std::string_view line = header.substr(0, end + 1);
    header.remove_prefix(end + 1);
    if (line.rfind("#include", 0) != 0 && line.rfind("#pragma once", 0) != 0) text += line;
  }
  return text;
}

std::string all_declarations() {
  std::string text =
      "typedef __INT32_TYPE__ int32_t;\ntypedef __UINT32_TYPE__ uint32_t;\n"
      "typedef __INT64_TYPE__ int64_t;\ntypedef __UINT64_TYPE__ uint64_t;\n";
  for (std::string_view header : {abi_h(), korch_h(), step_h(), model_h(), check_h()})
    text += declarations(header);
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\')
      result += fmt::format("\\{:03o}", byte);
    else
      result += c;
  }
  return result + '"';
}

std::string literal(float value) {
  if (std::isnan(value)) return "__builtin_nanf(\"\")";
  if (std::isinf(value)) return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
  return fmt::format("{:a}f", value);
}

std::string literal(int64_t value) {
  return value == INT64_MIN ? "(-9223372036854775807L - 1)" : fmt::format("{}L", value);
}

// `name` and a count for a table that may be empty: C++ has no arrays of length zero.
std::string reference(const std::string& name, size_t count) {
  return fmt::format("{}, {}", count == 0 ? "nullptr" : name, count);
}

// Of rt::Schedule.
const char* schedule_name(PlanSchedule schedule) {
  switch (schedule) {
    case PlanSchedule::barrier:
      return "barrier";
    case PlanSchedule::dynamic:
      return "dynamic";
    case PlanSchedule::assigned:
      return "assigned";
  }
  return "?";
}

// Events that tasks and events trigger stand in one table, which each has a part of.
std::string task_table(const PlanTasks& tasks) {
  std::string task_rows, event_rows, order, ends;
  std::vector<int> triggers;
  const auto part = [&](const std::vector<int>& events) {
    const size_t first = triggers.size();
    triggers.insert(triggers.end(), events.begin(), events.end());
    return fmt::format("{}, {}", first, events.size());
  };
  for (const Task& task : tasks.graph.tasks)
    task_rows += fmt::format("{{{}, {}, {}, {}, {}, {}}},\n", task.step, task.phase, task.begin, task.end,
                             task.waits, part(task.triggers));
  const std::vector<std::pair<int, int>> waiting = waiting_tasks(tasks.graph);
  for (size_t e = 0; e < tasks.graph.events.size(); ++e)
    event_rows += fmt::format("{{{}, {}, {}, {}}},\n", tasks.graph.events[e].needed, waiting[e].first,
                              waiting[e].second - waiting[e].first, part(tasks.graph.events[e].then));
  size_t end = 0;
  for (const std::vector<int>& mine : tasks.assignment) {
    order += fmt::format("{}{}", fmt::join(mine, ", "), mine.empty() ? "" : ",\n");
    ends += fmt::format("{}, ", end += mine.size());
  }
  return fmt::format(
      "static const SliceTask task_rows[] = {{\n{}}};\nstatic const TaskEvent event_rows[] = {{\n{}}};\n"
      "static const uint32_t task_triggers[] = {{{}}};\nstatic const uint32_t task_order[] = {{{}}};\n"
      "static const uint32_t order_ends[] = {{{}}};\n"
      "static const TaskTable tasks = {{task_rows, {}, event_rows, {}, task_triggers, task_order, "
      "order_ends, {}}};\n",
      task_rows, event_rows, fmt::join(triggers, ", "), order, ends, tasks.graph.tasks.size(),
      tasks.graph.events.size(), tasks.assignment.size());
}

class TableWriter {
 public:
  TableWriter(const Plan& plan, const std::vector<Placement>& placements, const WeightsLayout& weights)
      : whole_(plan), placements_(placements), weights_(weights) {}

  std::string write(Isa isa) {
    text_ = all_declarations();
    text_ += fmt::format("extern \"C\" const char {}[];\nnamespace korch::rt {{\n", kWeightsSymbol);
    for (size_t k = 0; k < whole_.kernels.size(); ++k) write_kernel(k);
    write_io("inputs", whole_.inputs);
    write_io("outputs", whole_.outputs);
    std::string extents;
    for (const PlanExtent& e : whole_.extents) extents += fmt::format("{{{}, {}}}, ", e.output, e.axis);
    if (!extents.empty()) text_ += fmt::format("static const OutputExtent extents[] = {{{}}};\n", extents);
    const size_t open_axes = write_dimensions(), rules = write_extent_rules();
    size_t copies = 0;
    for (const Placement& placed : placements_) {
      write_variant(placed, copies);
      copies += placed.memory.copies.size();
    }
    text_ += fmt::format("static const Variant variants[] = {{\n{}}};\n", variant_rows_);
    text_ += fmt::format("static const char* const step_names[] = {{\n{}}};\n", step_names(copies));
    text_ += "}  // namespace korch::rt\nusing namespace korch::rt;\n";
    int64_t arena_bytes = 0;
    for (const Placement& placed : placements_)
      arena_bytes = std::max(arena_bytes, placed.memory.arena_bytes);
    text_ += fmt::format(
        "extern \"C\" const Model korch_model = {{\n"
        "  variants, {0}, {1}, {2},\n"
        "  {{KORCH_API_VERSION, {3}, {4}, {5}, {6}, inputs, outputs, {7}, step_names, {8}, {9},\n"
        "   {10}, {11}, {12}, {13}}}, {14}, {15}}};\n",
        placements_.size(), weights_.size_bytes > 0 ? kWeightsSymbol : "nullptr", static_cast<int>(isa),
        quoted(name(isa)), whole_.threads, whole_.inputs.size(), whole_.outputs.size(),
        whole_.steps.size() + copies, arena_bytes, weights_.size_bytes, whole_.dimensions.size(), open_axes,
        whole_.dimensions.empty() ? "nullptr" : "dimensions", open_axes == 0 ? "nullptr" : "open_axes",
        reference("extents", whole_.extents.size()), reference("extent_rules", rules));
    text_ += fmt::format(
        "extern \"C\" __attribute__((section(\"{}\"))) const CheckRecord korch_check_record = {{}};\n",
        kCheckSection);
    return std::move(text_);
  }

 private:
  // Tables in a namespace of its own, and its row. `copies`: those of the variants before.
  void write_variant(const Placement& placed, size_t copies) {
    const std::string space = fmt::format("v{}", variant_count_++);
    const PlanVariant& variant = placed.variant;
    const Plan part = plan_of(whole_, variant);
    plan_ = &part;
    memory_ = &placed.memory;
    step_rows_.clear();
    step_count_ = 0;
    text_ += fmt::format("namespace {} {{\n", space);
    for (size_t s = 0; s < plan_->steps.size(); ++s) write_step(s);
    for (const OutputCopy& copy : memory_->copies) write_copy(copy);
    text_ += fmt::format("static const Step steps[] = {{\n{}}};\n", step_rows_.empty() ? "{}" : step_rows_);
    if (placed.tasks) text_ += task_table(*placed.tasks);
    const auto table = [&](const std::string& name, const std::vector<int64_t>& numbers) {
      if (numbers.empty()) return std::string("nullptr");
      text_ += fmt::format("static const int64_t {}[] = {{{}}};\n", name, fmt::join(numbers, ", "));
      return space + "::" + name;
    };
    std::string output_dims;
    for (size_t o = 0; o < variant.output_shapes.size(); ++o)
      output_dims += table(fmt::format("output_dims{}", o), variant.output_shapes[o]) + ", ";
    const std::string bounds = table("bounds", variant.bounds),
                      known = table("known_extents", variant.extents);
    text_ += "}\n";
    text_ += fmt::format("static const int64_t* const {}_output_dims[] = {{{}}};\n", space,
                         output_dims.empty() ? "nullptr" : output_dims);
    int64_t scratch_bytes = 0;
    for (const PlanStep& step : plan_->steps)
      visit_kernels(step,
                    [&](int k) { scratch_bytes = std::max(scratch_bytes, kernel_of(k).scratch_bytes); });
    variant_rows_ += fmt::format(
        "  {{{{{0}::steps, {1}, {2}, {3}, {4}, {5}, {6}, Schedule::{7}}}, {8}, {9}, {0}_output_dims, {10}, "
        "{11}, {12}, {13}}},\n",
        space, step_count_, plan_->threads, memory_->arena_bytes, scratch_bytes, plan_->flushes_subnormals,
        placed.tasks ? fmt::format("&{}::tasks", space) : "nullptr", schedule_name(plan_->schedule),
        variant.predicted_us, bounds, known, variant.first_step, whole_.steps.size() + copies,
        memory_->copies.size());
  }

  std::string step_names(size_t copies) const {
    std::string rows;
    for (const PlanStep& step : whole_.steps) rows += fmt::format("  {},\n", quoted(step.label));
    for (size_t c = 0; c < copies; ++c) rows += "  \"copy output\",\n";
    return rows.empty() ? "\"\"" : rows;
  }

  // The number of open axes.
  size_t write_dimensions() {
    std::string rows, axes;
    size_t count = 0;
    for (size_t d = 0; d < whole_.dimensions.size(); ++d) {
      const PlanDimension& dimension = whole_.dimensions[d];
      rows += fmt::format("{{{}, {}, {}}}, ", quoted(dimension.name), dimension.least, dimension.most);
      for (const auto& [input, axis] : dimension.axes)
        axes += fmt::format("{{{}, {}, {}}}, ", input, axis, d);
      count += dimension.axes.size();
    }
    if (!rows.empty()) text_ += fmt::format("static const korch_dimension dimensions[] = {{{}}};\n", rows);
    if (count > 0) text_ += fmt::format("static const korch_open_axis open_axes[] = {{{}}};\n", axes);
    return count;
  }

  // Their number.
  size_t write_extent_rules() {
    std::vector<std::string> names;
    for (const PlanDimension& dimension : whole_.dimensions) names.push_back(dimension.name);
    std::string rows;
    size_t count = 0;
    for (size_t d = 0; d < whole_.dimensions.size(); ++d) {
      const std::optional<ExtentSum>& sum = whole_.dimensions[d].sum;
      if (!sum) continue;
      std::vector<int64_t> factors(names.size(), 0);
      for (const auto& [dimension, factor] : sum->terms) factors[static_cast<size_t>(dimension)] = factor;
      text_ +=
          fmt::format("static const int64_t extent_factors{}[] = {{{}}};\n", d, fmt::join(factors, ", "));
      rows += fmt::format("{{{0}, {1}, extent_factors{0}, {2}}}, ", d, literal(sum->plus),
                          quoted(to_string(*sum, names)));
      ++count;
    }
    if (count > 0) text_ += fmt::format("static const ExtentRule extent_rules[] = {{{}}};\n", rows);
    return count;
  }

  void write_kernel(size_t k) {
    const Kernel& kernel = whole_.kernels[k];
    std::string phases;
    for (const KernelPhase& phase : kernel.phases) {
      KORCH_ASSERT(phase.grid >= 0 && phase.grain >= 1,
                   "phase '" + phase.symbol + "' has no slices to hand out");
      const std::string symbol =
          kernel.call.library.empty() ? linked_symbol(static_cast<int>(k), phase.symbol) : phase.symbol;
      declare_function(symbol);
      for (int64_t round = 0; round < phase.rounds; ++round)
        phases += fmt::format("{{{}, {}, {}, {}}}, ", symbol, phase.grid, phase.grain, round * phase.grid);
    }
    text_ += fmt::format("static const Phase phases{}[] = {{{}}};\n", k, phases);
    if (!kernel.call.library.empty()) write_call(fmt::format("{}", k), kernel.call);
  }

  void declare_function(const std::string& symbol) {
    text_ += fmt::format("extern \"C\" int32_t {}(const korch_kernel_context*, int64_t, int64_t);\n", symbol);
  }

  void write_call(const std::string& id, const LibraryCall& call) {
    const rt::LibraryFunction* function =
        rt::find_library_function(call.library.c_str(), call.function.c_str());
    KORCH_ASSERT(function != nullptr, "no library function " + call.library + "." + call.function);
    std::string params, floats;
    for (int64_t value : call.params) params += literal(value) + ", ";
    for (float value : call.floats) floats += literal(value) + ", ";
    text_ += fmt::format("extern \"C\" const LibraryOps {};\n", function->ops_symbol);
    if (!call.params.empty()) text_ += fmt::format("static const int64_t params{}[] = {{{}}};\n", id, params);
    if (!call.floats.empty()) text_ += fmt::format("static const float floats{}[] = {{{}}};\n", id, floats);
  }

  // The fields of Step that describe a library call.
  std::string call_fields(const std::string& id, const LibraryCall& call) {
    if (call.library.empty()) return "nullptr, nullptr, 0, nullptr, 0";
    const rt::LibraryFunction* function =
        rt::find_library_function(call.library.c_str(), call.function.c_str());
    return fmt::format("&{}, {}, {}", function->ops_symbol, reference("params" + id, call.params.size()),
                       reference("floats" + id, call.floats.size()));
  }

  void write_args(const std::string& id, const std::vector<rt::BufferRef>& args) {
    std::string rows;
    for (const rt::BufferRef& ref : args) {
      const bool constant = ref.region == rt::kWeights;
      const uint64_t begin = constant ? static_cast<uint64_t>(weights_.offsets[ref.index]) : 0;
      rows += fmt::format("{{{}, {}, {}}}, ", ref.region, constant ? 0 : ref.index, begin + ref.offset);
    }
    if (!args.empty()) text_ += fmt::format("static const BufferRef args{}[] = {{{}}};\n", id, rows);
  }

  void write_step(size_t s) {
    const PlanStep& step = plan_->steps[s];
    const Kernel& kernel = kernel_of(step.kernel);
    const std::string id = std::to_string(s);
    std::vector<rt::BufferRef> args = buffers(step, step.constants, s, kernel);
    write_limits(id, kernel, step.limits, args);
    std::string launches = "nullptr";
    if (!step.launches.ways.empty()) {
      write_launches(s, args);
      launches = "&launches" + id;
    }
    write_args(id, args);
    add_step_row(reference(fmt::format("phases{}", step.kernel), phase_rows(kernel)),
                 reference("args" + id, args.size()), call_fields(std::to_string(step.kernel), kernel.call),
                 step.label, jump_of(*plan_, static_cast<int>(s)),
                 reference("limits" + id, step.limits.size()), launches);
  }

  const Kernel& kernel_of(int kernel) const { return plan_->kernels[static_cast<size_t>(kernel)]; }

  static int64_t phase_rows(const Kernel& kernel) {
    return table_phase(kernel, static_cast<int>(kernel.phases.size()));
  }

  std::vector<rt::BufferRef> buffers(const PlanStep& step, const std::vector<int>& constants, size_t s,
                                     const Kernel& kernel) const {
    std::vector<rt::BufferRef> args;
    for (const std::vector<int>* operands : {&step.inputs, &constants, &step.outputs})
      for (int id : *operands) args.push_back(memory_->tensors[static_cast<size_t>(id)]);
    const std::vector<rt::BufferRef>& temporaries = memory_->temporaries[s];
    args.insert(args.end(), temporaries.begin(),
                temporaries.begin() + static_cast<std::ptrdiff_t>(kernel.temporary_bytes.size()));
    return args;
  }

  // Their extents are further arguments.
  void write_limits(const std::string& id, const Kernel& kernel, const std::vector<PlanSliceLimit>& limits,
                    std::vector<rt::BufferRef>& args) {
    std::string rows;
    for (const PlanSliceLimit& limit : limits) {
      rows += fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}, ", table_phase(kernel, limit.phase), args.size(),
                          limit.stride, limit.count, limit.times, limit.plus, limit.by);
      args.push_back(memory_->tensors[static_cast<size_t>(limit.tensor)]);
    }
    if (!rows.empty()) text_ += fmt::format("static const SliceLimit limits{}[] = {{{}}};\n", id, rows);
  }

  // The extents that choose are further arguments of the step.
  void write_launches(size_t s, std::vector<rt::BufferRef>& args) {
    const PlanStep& step = plan_->steps[s];
    const PlanLaunches& launches = step.launches;
    std::string others, costs;
    for (size_t l = 0; l < launches.ways.size(); ++l) {
      const PlanLaunch& way = launches.ways[l];
      costs += launch_cost(way);
      if (l == 0) continue;
      const Kernel& kernel = kernel_of(way.kernel);
      KORCH_ASSERT(kernel.call.library.empty(), "a launch beside the step's own that calls a library");
      const std::string id = fmt::format("{}_{}", s, l);
      std::vector<rt::BufferRef> own = buffers(step, way.constants, s, kernel);
      write_limits(id, kernel, way.limits, own);
      write_args(id, own);
      others += step_row(reference(fmt::format("phases{}", way.kernel), phase_rows(kernel)),
                         reference("args" + id, own.size()), call_fields("", kernel.call), step.label, {},
                         reference("limits" + id, way.limits.size()), "nullptr");
    }
    if (!others.empty()) text_ += fmt::format("static const Step others{}[] = {{\n{}}};\n", s, others);
    text_ += fmt::format("static const LaunchCost costs{}[] = {{\n{}}};\n", s, costs);
    std::vector<size_t> extent_args;
    std::vector<int64_t> least, most;
    for (size_t e = 0; e < launches.extents.size(); ++e) {
      extent_args.push_back(args.size());
      args.push_back(memory_->tensors[static_cast<size_t>(launches.extents[e])]);
      least.push_back(INT64_MAX);
      most.push_back(0);
      for (const std::vector<int64_t>& sample : launches.samples) {
        least.back() = std::min(least.back(), sample[e]);
        most.back() = std::max(most.back(), sample[e]);
      }
    }
    text_ += fmt::format(
        "static const LaunchTable launches{0} = {{{1}, costs{0}, {2}, {3}, {{{4}}}, {{{5}}}, "
        "{{{6}}}, {7}, {8}}};\n",
        s, others.empty() ? "nullptr" : fmt::format("others{}", s), launches.ways.size(),
        launches.extents.size(), fmt::join(extent_args, ", "), fmt::join(least, ", "), fmt::join(most, ", "),
        launches.trusted, launch_shares(plan_->threads));
  }

  static std::string launch_cost(const PlanLaunch& way) {
    std::string shares;
    for (size_t e = 0; e < rt::kMostLaunchExtents; ++e) {
      const PlanShare share = e < way.shares.size() ? way.shares[e] : PlanShare{};
      shares += fmt::format("{{{}, {}, {}, {}}}, ", share.times, share.plus, share.by, share.count);
    }
    const auto numbers = [](const std::vector<double>& values) {
      std::string text;
      for (const double value : values) {
        KORCH_ASSERT(std::isfinite(value), "a launch's cost is no number");
        text += fmt::format("{:a}, ", value);
      }
      return text;
    };
    return fmt::format("  {{{{{}}}, {{{}}}, {{{}}}}},\n", shares, numbers(way.over), numbers(way.under));
  }

  // A phase's first row in the table, where each round has one.
  static int64_t table_phase(const Kernel& kernel, int phase) {
    int64_t row = 0;
    for (int p = 0; p < phase; ++p) row += kernel.phases[static_cast<size_t>(p)].rounds;
    return row;
  }

  void write_copy(const OutputCopy& copy) {
    const std::string id = fmt::format("_copy{}", step_count_);
    const LibraryCall call{"korch", "copy", {copy.size_bytes}, {}};
    const rt::LibraryFunction* function = rt::find_library_function("korch", "copy");
    declare_function(function->run_symbol);
    text_ += fmt::format("static const Phase phases{}[] = {{{{{}, 1, 1}}}};\n", id, function->run_symbol);
    write_call(id, call);
    write_args(id, {copy.source, copy.destination});
    add_step_row(reference("phases" + id, 1), reference("args" + id, 2), call_fields(id, call),
                 "copy output");
  }

  void add_step_row(const std::string& phases, const std::string& args, const std::string& call,
                    const std::string& label, const Jump& jump = {}, const std::string& limits = "nullptr, 0",
                    const std::string& launches = "nullptr") {
    step_rows_ += step_row(phases, args, call, label, jump, limits, launches);
    ++step_count_;
  }

  static std::string step_row(const std::string& phases, const std::string& args, const std::string& call,
                              const std::string& label, const Jump& jump, const std::string& limits,
                              const std::string& launches) {
    return fmt::format("  {{{}, {}, {}, {}, {}, {}, {}, {}, {}}},\n", phases, args, call, quoted(label),
                       jump.arg, jump.by, jump.when, limits, launches);
  }

  void write_io(const char* table, const std::vector<PlanIo>& values) {
    std::string rows;
    for (size_t i = 0; i < values.size(); ++i) {
      const Shape& shape = values[i].type.shape;
      if (!shape.empty())
        text_ +=
            fmt::format("static const int64_t {}_dims{}[] = {{{}}};\n", table, i, fmt::join(shape, ", "));
      rows += fmt::format(
          "  {{{}, \"{}\", {}, {}, {}}},\n", quoted(values[i].name), name(values[i].type.dtype), shape.size(),
          shape.empty() ? "nullptr" : fmt::format("{}_dims{}", table, i), values[i].type.bytes());
    }
    text_ +=
        fmt::format("static const korch_tensor_info {}[] = {{\n{}}};\n", table, rows.empty() ? "{}" : rows);
  }

  const Plan& whole_;
  const std::vector<Placement>& placements_;
  const WeightsLayout& weights_;
  int variant_count_ = 0;
  // The variant that is written.
  const Plan* plan_ = nullptr;
  const MemoryPlan* memory_ = nullptr;
  std::string text_, step_rows_, variant_rows_;
  int step_count_ = 0;
};

}  // namespace

std::string linked_symbol(int kernel, const std::string& symbol) {
  return fmt::format("k{}_{}", kernel, symbol);
}

Jump jump_of(const Plan& plan, int step) {
  const PlanStep& s = plan.steps[static_cast<size_t>(step)];
  if (s.other_end < 0) return {};
  return {static_cast<int>(s.inputs.size() + s.constants.size()) + 1, s.other_end + 1 - step,
          s.other_end < step};
}

std::string table_source(const Plan& plan, const std::vector<Placement>& placements,
                         const WeightsLayout& weights, Isa isa) {
  return TableWriter(plan, placements, weights).write(isa);
}

}  // namespace korch
