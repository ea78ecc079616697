#include "korch/package/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/ir/refusal.h"
#include "korch/plan/program.h"
#include "korch/runtime/library.h"

namespace korch {
namespace {

const rt::LibraryFunction& function_of(const LibraryCall& call) {
  const rt::LibraryFunction* function =
      rt::find_library_function(call.library.c_str(), call.function.c_str());
  KORCH_ASSERT(function != nullptr, "no library function " + call.library + "." + call.function);
  return *function;
}

// A phase's first row in the table, where each round has one.
uint32_t table_phase(const Kernel& kernel, int phase) {
  int64_t row = 0;
  for (int p = 0; p < phase; ++p) row += kernel.phases[static_cast<size_t>(p)].rounds;
  return static_cast<uint32_t>(row);
}

class ModelWriter {
 public:
  ModelWriter(const Plan& plan, const WeightsLayout& weights, const DeviceCode* gpu)
      : whole_(plan), weights_(weights), gpu_(gpu) {
    blob_.add<rt::Model>();
  }

  Blob write(const std::vector<Placement>& placements, Isa isa) {
    for (const Kernel& kernel : whole_.kernels) add_kernel(kernel);
    const Rows shape_plans = blob_.add<rt::ShapePlan>(placements.size());
    size_t copies = 0;
    for (size_t v = 0; v < placements.size(); ++v) {
      add_shape_plan(placements[v], copies, shape_plans, v);
      copies += placements[v].memory.copies.size();
    }
    std::vector<uint32_t> ranks;
    for (const PlanIo& output : whole_.outputs)
      ranks.push_back(static_cast<uint32_t>(output.type.shape.size()));
    std::vector<rt::OutputExtent> extents;
    for (const OutputExtent& e : whole_.extents)
      extents.push_back({static_cast<uint32_t>(e.output), static_cast<uint32_t>(e.axis)});
    const Rows output_ranks = blob_.put(ranks), output_extents = blob_.put(extents),
               rules = add_extent_rules(), fitting = add_fitting(), images = add_images();

    rt::Model* model = blob_.at<rt::Model>({});
    model->magic = rt::kModelMagic;
    model->version = rt::kModelVersion;
    model->isa = static_cast<uint32_t>(isa);
    model->size_bytes = blob_.bytes().size();
    model->input_count = static_cast<uint32_t>(whole_.inputs.size());
    model->dimension_count = static_cast<uint32_t>(whole_.dimensions.size());
    blob_.refer(model->shape_plans, model->shape_plan_count, shape_plans);
    blob_.refer(model->output_ranks, model->output_count, output_ranks);
    model->weights_bytes = static_cast<uint64_t>(weights_.size_bytes);
    if (weights_.size_bytes > 0) blob_.link(model->weights, kWeightsSymbol);
    blob_.refer(model->extents, model->extent_count, output_extents);
    blob_.refer(model->extent_rules, model->extent_rule_count, rules);
    blob_.refer(model->fitting, model->fitting_count, fitting);
    blob_.refer(model->images, model->image_count, images);
    if (gpu_ != nullptr) model->compute_capability = static_cast<uint32_t>(gpu_->compute_capability);
    return std::move(blob_);
  }

 private:
  // What steps of several shape plans share.
  struct KernelTables {
    Rows phases, params, floats;
  };

  void add_kernel(const Kernel& kernel) {
    const auto number = static_cast<int>(kernels_.size());
    if (gpu_ != nullptr && kernel.call.library.empty()) {
      kernels_.push_back({add_device_phases(kernel, number), {}, {}});
      return;
    }
    const Rows phases = blob_.add<rt::Phase>(table_phase(kernel, static_cast<int>(kernel.phases.size())));
    rt::Phase* row = blob_.at<rt::Phase>(phases);
    for (const KernelPhase& phase : kernel.phases) {
      KORCH_ASSERT(phase.grid >= 0 && phase.grain >= 1,
                   "phase '" + phase.symbol + "' has no slices to hand out");
      const std::string symbol =
          kernel.call.library.empty() ? linked_symbol(number, phase.symbol) : phase.symbol;
      for (int64_t round = 0; round < phase.rounds; ++round, ++row) {
        blob_.link(row->function, symbol);
        row->grid = phase.grid;
        row->grain = phase.grain;
        row->first = round * phase.grid;
      }
    }
    kernels_.push_back({phases, blob_.put(kernel.call.params), blob_.put(kernel.call.floats)});
  }

  Rows add_device_phases(const Kernel& kernel, int number) {
    const size_t count = kernel.phases.size();
    const Rows phases = blob_.add<rt::Phase>(count), functions = blob_.add<rt::DeviceFunction>(count);
    for (size_t p = 0; p < count; ++p) {
      const KernelPhase& phase = kernel.phases[p];
      const Rows symbol = blob_.put_text(phase.symbol);
      rt::DeviceFunction* function = blob_.at<rt::DeviceFunction>(functions, p);
      blob_.refer(function->name, symbol);
      function->image = static_cast<uint32_t>(number);
      function->threads = static_cast<uint32_t>(gpu_->threads);
      function->blocks = static_cast<uint32_t>(std::max<int64_t>(1, phase.grid));  // none is no launch
      function->workspace_bytes = static_cast<uint64_t>(kernel.scratch_bytes);
      rt::Phase* row = blob_.at<rt::Phase>(phases, p);
      row->device = function;
      row->grid = phase.grid;
      row->grain = phase.grain;
    }
    return phases;
  }

  Rows add_images() {
    if (gpu_ == nullptr) return {};
    const auto bytes = [&](const std::string& image) {
      return blob_.put(std::vector<unsigned char>(image.begin(), image.end()));
    };
    const Rows images = blob_.add<rt::DeviceImage>(gpu_->images.size());
    for (size_t i = 0; i < gpu_->images.size(); ++i) {
      const Rows code = bytes(gpu_->images[i]),
                 emulated = gpu_->emulated.empty() ? Rows() : bytes(gpu_->emulated[i]);
      rt::DeviceImage* row = blob_.at<rt::DeviceImage>(images, i);
      blob_.refer(row->code, row->code_bytes, code);
      blob_.refer(row->emulated, row->emulated_bytes, emulated);
    }
    return images;
  }

  Rows add_extent_rules() {
    std::vector<std::string> names;
    for (const OpenDimension& dimension : whole_.dimensions) names.push_back(dimension.name);
    std::vector<size_t> summed;
    for (size_t d = 0; d < whole_.dimensions.size(); ++d)
      if (whole_.dimensions[d].sum) summed.push_back(d);
    const Rows rules = blob_.add<rt::ExtentRule>(summed.size());
    for (size_t r = 0; r < summed.size(); ++r) {
      const ExtentSum& sum = *whole_.dimensions[summed[r]].sum;
      std::vector<int64_t> factors(names.size(), 0);
      for (const auto& [dimension, factor] : sum.terms) factors[static_cast<size_t>(dimension)] = factor;
      const Rows factor_rows = blob_.put(factors), text = blob_.put_text(to_string(sum, names));
      rt::ExtentRule* rule = blob_.at<rt::ExtentRule>(rules, r);
      rule->dimension = static_cast<uint32_t>(summed[r]);
      rule->plus = sum.plus;
      blob_.refer(rule->factors, factor_rows);
      blob_.refer(rule->text, text);
    }
    return rules;
  }

  Rows add_fitting() {
    std::vector<size_t> some;
    for (size_t d = 0; d < whole_.dimensions.size(); ++d)
      if (!whole_.dimensions[d].fitting.empty()) some.push_back(d);
    const Rows rows = blob_.add<rt::FittingExtents>(some.size());
    for (size_t i = 0; i < some.size(); ++i) {
      const std::vector<ExtentSteps>& fitting = whole_.dimensions[some[i]].fitting;
      std::vector<rt::ExtentSteps> steps;
      for (const auto& [first, last, step] : fitting) steps.push_back({first, last, step});
      const Rows step_rows = blob_.put(steps), text = blob_.put_text(to_string(fitting));
      rt::FittingExtents* row = blob_.at<rt::FittingExtents>(rows, i);
      row->dimension = static_cast<uint32_t>(some[i]);
      blob_.refer(row->steps, row->count, step_rows);
      blob_.refer(row->text, text);
    }
    return rows;
  }

  // `copies`: those of the shape plans before.
  void add_shape_plan(const Placement& placed, size_t copies, const Rows& shape_plans, size_t number) {
    const ShapePlan& shape_plan = placed.shape_plan;
    const Plan part = plan_of(whole_, shape_plan);
    plan_ = &part;
    memory_ = &placed.memory;
    const Rows steps = add_steps(), tasks = placed.tasks ? add_tasks(*placed.tasks) : Rows(),
               bounds = blob_.put(shape_plan.bounds), extents = blob_.put(shape_plan.extents),
               output_dims = blob_.add<rt::Ref<int64_t>>(shape_plan.output_shapes.size());
    for (size_t o = 0; o < shape_plan.output_shapes.size(); ++o) {
      const Rows dims = blob_.put(shape_plan.output_shapes[o]);
      blob_.refer(*blob_.at<rt::Ref<int64_t>>(output_dims, o), dims);
    }
    int64_t scratch_bytes = 0;
    for (const PlanStep& step : plan_->steps)
      visit_kernels(step,
                    [&](int k) { scratch_bytes = std::max(scratch_bytes, kernel_of(k).scratch_bytes); });

    rt::ShapePlan* row = blob_.at<rt::ShapePlan>(shape_plans, number);
    blob_.refer(row->program.steps, row->program.step_count, steps);
    row->program.threads = static_cast<uint32_t>(plan_->threads);
    row->program.arena_bytes = static_cast<uint64_t>(memory_->arena_bytes);
    row->program.scratch_bytes = static_cast<uint64_t>(scratch_bytes);
    row->program.flushes_subnormals = plan_->flushes_subnormals;
    blob_.refer(row->program.tasks, tasks);
    row->program.schedule = plan_->schedule;
    row->predicted_us = shape_plan.predicted_us;
    blob_.refer(row->bounds, bounds);
    blob_.refer(row->output_dims, output_dims);
    blob_.refer(row->extents, extents);
    row->first_step = static_cast<uint32_t>(shape_plan.first_step);
    row->first_copy = static_cast<uint32_t>(whole_.steps.size() + copies);
    row->copy_count = static_cast<uint32_t>(memory_->copies.size());
  }

  // Events that tasks and events trigger stand in one table, which each has a part of.
  Rows add_tasks(const TaskGraph& graph) {
    std::vector<uint32_t> triggers;
    const auto add_triggers = [&](const std::vector<int>& events, auto* row) {
      row->first_trigger = static_cast<uint32_t>(triggers.size());
      row->trigger_count = static_cast<uint32_t>(events.size());
      triggers.insert(triggers.end(), events.begin(), events.end());
    };
    const Rows task_rows = blob_.add<rt::SliceTask>(graph.tasks.size());
    rt::SliceTask* row = blob_.at<rt::SliceTask>(task_rows);
    for (const Task& task : graph.tasks) {
      row->step = static_cast<uint32_t>(task.step);
      row->phase = static_cast<uint32_t>(task.phase);
      row->begin = task.begin;
      row->end = task.end;
      row->waits = static_cast<uint32_t>(task.waits);
      add_triggers(task.triggers, row++);
    }
    const std::vector<std::pair<int, int>> waiting = waiting_tasks(graph);
    const Rows event_rows = blob_.add<rt::TaskEvent>(graph.events.size());
    rt::TaskEvent* event = blob_.at<rt::TaskEvent>(event_rows);
    for (size_t e = 0; e < graph.events.size(); ++e, ++event) {
      event->needed = static_cast<uint32_t>(graph.events[e].needed);
      event->first_task = static_cast<uint32_t>(waiting[e].first);
      event->task_count = static_cast<uint32_t>(waiting[e].second - waiting[e].first);
      add_triggers(graph.events[e].then, event);
    }
    const Rows trigger_rows = blob_.put(triggers), at = blob_.add<rt::TaskTable>();
    rt::TaskTable* table = blob_.at<rt::TaskTable>(at);
    blob_.refer(table->tasks, table->task_count, task_rows);
    blob_.refer(table->events, table->event_count, event_rows);
    blob_.refer(table->triggers, table->trigger_count, trigger_rows);
    return at;
  }

  Rows add_steps() {
    const size_t own = plan_->steps.size(), copies = memory_->copies.size();
    const Rows steps = blob_.add<rt::Step>(own + copies);
    for (size_t s = 0; s < own; ++s) add_step(s, steps);
    for (size_t c = 0; c < copies; ++c) add_copy(memory_->copies[c], steps, own + c);
    return steps;
  }

  void add_step(size_t s, const Rows& steps) {
    const PlanStep& step = plan_->steps[s];
    const Kernel& kernel = kernel_of(step.kernel);
    std::vector<rt::BufferRef> args = buffers(step, step.constants, s, kernel);
    const Rows limits = add_limits(kernel, step.limits, args),
               variants = step.variants.list.empty() ? Rows() : add_variants(s, args);
    rt::Step* row = fill_step(steps, s, step.kernel, step.label, std::move(args), limits);
    if (step.other_end >= 0) fill_jump(row, step, static_cast<int>(s));
    blob_.refer(row->variants, variants);
    add_refusal(step, steps, s);
  }

  // What of a run is wrong where the step meets an index outside of its axis.
  void add_refusal(const PlanStep& step, const Rows& steps, size_t s) {
    std::vector<std::string_view> reasons;
    bool may_be_other = false;  // an index of the network's own
    for (size_t p = 0; p < step.wiring.size(); ++p) {
      bool refuses = false;
      for (const int origin : step.wiring[p].origins) {
        std::string_view reason = step.onnx_nodes[static_cast<size_t>(origin)];
        if (!reason.starts_with(kRefusal)) continue;
        refuses = true;
        reason.remove_prefix(kRefusal.size());
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
      }
      const std::string& primitive = step.primitives[p];
      const bool looks_up =
          primitive.find("Gather") != std::string::npos || primitive.find("Scatter") != std::string::npos;
      may_be_other = may_be_other || (looks_up && !refuses);
    }
    if (reasons.empty()) return;
    if (may_be_other) reasons.push_back("a gather or scatter met an index outside its axis");
    const Rows at = blob_.put_text(fmt::format("{}", fmt::join(reasons, "; or ")));
    blob_.refer(blob_.at<rt::Step>(steps, s)->refusal, at);
  }

  // From a loop's begin behind its end, from the end behind the begin; their second result says when.
  static void fill_jump(rt::Step* row, const PlanStep& step, int number) {
    row->jump_arg = static_cast<int32_t>(step.inputs.size() + step.constants.size()) + 1;
    row->jump = step.other_end + 1 - number;
    row->jump_when = step.other_end < number;
  }

  // All but where it jumps and how else it can be run.
  rt::Step* fill_step(const Rows& steps, size_t s, int kernel, const std::string& label,
                      std::vector<rt::BufferRef> args, const Rows& limits) {
    const LibraryCall& call = kernel_of(kernel).call;
    rt::Step* row = fill_tables(steps, s, kernels_[static_cast<size_t>(kernel)], label, std::move(args));
    if (!call.library.empty()) blob_.link(row->library, function_of(call).ops_symbol);
    blob_.refer(row->limits, row->limit_count, limits);
    return row;
  }

  rt::Step* fill_tables(const Rows& steps, size_t s, const KernelTables& tables, const std::string& label,
                        std::vector<rt::BufferRef> args) {
    // Constants get their places within the weights.
    for (rt::BufferRef& ref : args)
      if (ref.memory == rt::kWeights)
        ref = {rt::kWeights, 0, static_cast<uint64_t>(weights_.offsets[ref.index]) + ref.offset};
    const Rows places = blob_.put(args), text = blob_.put_text(label);
    rt::Step* row = blob_.at<rt::Step>(steps, s);
    blob_.refer(row->phases, row->phase_count, tables.phases);
    blob_.refer(row->args, row->arg_count, places);
    blob_.refer(row->library_params, row->library_param_count, tables.params);
    blob_.refer(row->library_floats, row->library_float_count, tables.floats);
    blob_.refer(row->name, text);
    row->jump_arg = -1;
    return row;
  }

  void add_copy(const OutputCopy& copy, const Rows& steps, size_t s) {
    const rt::LibraryFunction& function = function_of({"korch", "copy", {}, {}});
    const Rows phases = blob_.add<rt::Phase>(), params = blob_.put(std::vector<int64_t>{copy.size_bytes});
    rt::Phase* phase = blob_.at<rt::Phase>(phases);
    blob_.link(phase->function, function.run_symbol);
    phase->grid = phase->grain = 1;
    rt::Step* row =
        fill_tables(steps, s, {phases, params, {}}, "copy output", {copy.source, copy.destination});
    blob_.link(row->library, function.ops_symbol);
  }

  const Kernel& kernel_of(int kernel) const { return whole_.kernels[static_cast<size_t>(kernel)]; }

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
  Rows add_limits(const Kernel& kernel, const std::vector<PlanSliceLimit>& limits,
                  std::vector<rt::BufferRef>& args) {
    std::vector<rt::SliceLimit> rows;
    for (const PlanSliceLimit& limit : limits) {
      rows.push_back({table_phase(kernel, limit.phase), static_cast<uint32_t>(args.size()), limit.stride,
                      limit.count, limit.times, limit.plus, limit.by});
      args.push_back(memory_->tensors[static_cast<size_t>(limit.tensor)]);
    }
    return blob_.put(rows);
  }

  // The extents that choose are further arguments of the step.
  Rows add_variants(size_t s, std::vector<rt::BufferRef>& args) {
    const PlanStep& step = plan_->steps[s];
    const KernelVariants& variants = step.variants;
    KORCH_ASSERT(variants.extents.size() <= rt::kMostVariantExtents, "too many extents choose a variant");
    const size_t count = variants.list.size();
    const Rows others = blob_.add<rt::Step>(count - 1);
    std::vector<rt::VariantCost> cost_rows;
    for (size_t l = 0; l < count; ++l) {
      const KernelVariant& variant = variants.list[l];
      cost_rows.push_back(cost_of(variant));
      if (l == 0) continue;
      const Kernel& kernel = kernel_of(variant.kernel);
      KORCH_ASSERT(kernel.call.library.empty(), "a variant beside the step's own that calls a library");
      std::vector<rt::BufferRef> own = buffers(step, variant.constants, s, kernel);
      const Rows limits = add_limits(kernel, variant.limits, own);
      fill_step(others, l - 1, variant.kernel, step.label, std::move(own), limits);
    }
    const Rows costs = blob_.put(cost_rows), at = blob_.add<rt::VariantTable>();
    rt::VariantTable* table = blob_.at<rt::VariantTable>(at);
    blob_.refer(table->others, others);
    blob_.refer(table->costs, table->count, costs);
    table->extent_count = static_cast<uint32_t>(variants.extents.size());
    for (size_t e = 0; e < variants.extents.size(); ++e) {
      table->extent_args[e] = static_cast<uint32_t>(args.size());
      args.push_back(memory_->tensors[static_cast<size_t>(variants.extents[e])]);
      table->least[e] = INT64_MAX;
      for (const std::vector<int64_t>& sample : variants.samples) {
        table->least[e] = std::min(table->least[e], sample[e]);
        table->most[e] = std::max(table->most[e], sample[e]);
      }
    }
    table->trusted = variants.trusted;
    table->shares = static_cast<uint32_t>(variant_shares(plan_->threads));
    return at;
  }

  const Plan& whole_;
  const WeightsLayout& weights_;
  const DeviceCode* gpu_;  // null: code for a CPU
  std::vector<KernelTables> kernels_;
  // The shape plan that is written.
  const Plan* plan_ = nullptr;
  const MemoryPlan* memory_ = nullptr;
  Blob blob_;
};

}  // namespace

std::string linked_symbol(int kernel, const std::string& symbol) {
  return fmt::format("k{}_{}", kernel, symbol);
}

Blob model_tables(const Plan& plan, const std::vector<Placement>& placements, const WeightsLayout& weights,
                  Isa isa, const DeviceCode* gpu) {
  return ModelWriter(plan, weights, gpu).write(placements, isa);
}

}  // namespace korch
