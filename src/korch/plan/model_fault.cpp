#include "korch/plan/model_fault.h"

#include <cstdlib>

#include "korch/plan/task_fault.h"

namespace korch::rt {
namespace {

// A byte that is neither 0 nor 1 is no bool.
bool is_bool(const bool& value) {
  return *reinterpret_cast<const unsigned char*>(&value) <= 1;
}

bool is_finite(double value) {
  return value - value == 0;
}

bool is_usable(const VariantCost& cost) {
  for (uint32_t i = 0; i < kVariantTerms; ++i)
    if (!is_finite(cost.over[i]) || !is_finite(cost.under[i])) return false;
  for (const NeededShare& share : cost.shares)
    if (share.by < 1 || share.times < 0 || share.count < 0) return false;
  return true;
}

bool is_usable(const SliceLimit& limit, const Step& step) {
  return limit.phase < step.phase_count && limit.arg < step.arg_count && limit.stride >= 1 &&
         limit.count >= 1 && limit.times >= 0 && limit.by >= 1;
}

// Null when there is no memory to find out.
const char* fault_of_tasks(const Program& program) {
  const uint64_t numbers = task_fault_room(*program.tasks) + 1;
  auto* room = static_cast<uint32_t*>(std::malloc(numbers * sizeof(uint32_t)));
  if (room == nullptr) return nullptr;
  const bool fits = task_fault(program, room)[0] == '\0';
  std::free(room);
  return fits ? "" : "have tasks that cannot be run";
}

// Whatever is a reference is looked at where it lies: its distance counts from there.
class ModelCheck {
 public:
  ModelCheck(const Model& model, uint64_t size_bytes)
      : model_(model), begin_(reinterpret_cast<uint64_t>(&model)), size_bytes_(size_bytes) {}

  const char* fault() const {
    if (!holds(model_.shape_plans, model_.shape_plan_count) || model_.shape_plan_count < 1)
      return kShapePlans;
    if (!holds(model_.output_ranks, model_.output_count)) return "have outputs that lead outside of them";
    if (model_.weights_bytes > 0 && model_.weights.distance() == 0) return "lack the weights";
    if (!images_fit()) return "have code that leads outside of them";
    if (!extents_fit()) return "have extents that lead outside of them";
    for (uint32_t v = 0; v < model_.shape_plan_count; ++v) {
      const ShapePlan& shape_plan = model_.shape_plans[v];
      if (!shapes_fit(shape_plan)) return kShapePlans;
      const char* fault = program_fault(shape_plan.program);
      if (fault == nullptr || fault[0] != '\0') return fault;
    }
    return "";
  }

 private:
  static constexpr const char* kShapePlans = "have plans that lead outside of them";

  // Whether so many rows lie within. No row is followed before.
  template <typename T>
  bool holds(const Ref<T>& rows, uint64_t count) const {
    if (count == 0) return true;
    const uint64_t at = reinterpret_cast<uint64_t>(&rows) + rows.distance() - begin_;
    return rows.distance() != 0 && at <= size_bytes_ && at % alignof(T) == 0 &&
           count <= (size_bytes_ - at) / sizeof(T);
  }

  bool holds_text(const Ref<char>& text) const {
    for (uint64_t length = 1; holds(text, length); ++length)
      if (text[length - 1] == '\0') return true;
    return false;
  }

  bool images_fit() const {
    if (!holds(model_.images, model_.image_count)) return false;
    for (uint32_t i = 0; i < model_.image_count; ++i) {
      const DeviceImage& image = model_.images[i];
      if (!holds(image.code, image.code_bytes) || !holds(image.emulated, image.emulated_bytes)) return false;
    }
    return true;
  }

  bool phase_fits(const Phase& phase) const {
    if (phase.grid < 0 || phase.grain < 1) return false;
    if (phase.device.distance() == 0) return phase.function.distance() != 0;
    return holds(phase.device, 1) && holds_text(phase.device->name) &&
           phase.device->image < model_.image_count && phase.device->threads >= 1;
  }

  bool extents_fit() const {
    if (!holds(model_.extents, model_.extent_count) || !holds(model_.extent_rules, model_.extent_rule_count))
      return false;
    for (uint64_t i = 0; i < model_.extent_count; ++i) {
      const OutputExtent& extent = model_.extents[i];
      if (extent.output >= model_.output_count || extent.axis >= model_.output_ranks[extent.output])
        return false;
    }
    for (uint64_t i = 0; i < model_.extent_rule_count; ++i) {
      const ExtentRule& rule = model_.extent_rules[i];
      if (rule.dimension >= model_.dimension_count || !holds(rule.factors, model_.dimension_count) ||
          !holds_text(rule.text))
        return false;
    }
    return fitting_extents_fit();
  }

  bool fitting_extents_fit() const {
    if (!holds(model_.fitting, model_.fitting_count)) return false;
    for (uint64_t i = 0; i < model_.fitting_count; ++i) {
      const FittingExtents& fitting = model_.fitting[i];
      if (fitting.dimension >= model_.dimension_count || !holds(fitting.steps, fitting.count) ||
          !holds_text(fitting.text))
        return false;
      for (uint32_t s = 0; s < fitting.count; ++s)
        if (fitting.steps[s].step < 1 || fitting.steps[s].first < 0) return false;
    }
    return true;
  }

  bool shapes_fit(const ShapePlan& shape_plan) const {
    if (!holds(shape_plan.bounds, model_.dimension_count) ||
        !holds(shape_plan.output_dims, model_.output_count) ||
        !holds(shape_plan.extents, model_.extent_count))
      return false;
    for (uint32_t o = 0; o < model_.output_count; ++o)
      if (!holds(shape_plan.output_dims[o], model_.output_ranks[o])) return false;
    return true;
  }

  const char* program_fault(const Program& program) const {
    if (!holds(program.steps, program.step_count)) return "have steps that lead outside of them";
    if (!is_bool(program.flushes_subnormals) || program.threads < 1) return "have a program that is none";
    for (uint32_t s = 0; s < program.step_count; ++s) {
      const Step& step = program.steps[s];
      const int64_t next = int64_t{s} + step.jump;
      if (next < 0 || next > program.step_count) return "have a step that jumps outside of them";
      if (!step_fits(step, program)) return "have a step that leads outside of them";
      if (!variants_fit(step, program)) return "have a variant that cannot be run";
    }
    if (program.tasks.distance() == 0) return "";
    return tasks_fit(program) ? fault_of_tasks(program) : "have tasks that lead outside of them";
  }

  bool step_fits(const Step& step, const Program& program) const {
    if (!holds(step.phases, step.phase_count) || !holds(step.args, step.arg_count) ||
        !holds(step.library_params, step.library_param_count) ||
        !holds(step.library_floats, step.library_float_count) || !holds(step.limits, step.limit_count) ||
        !holds_text(step.name) || (step.refusal.distance() != 0 && !holds_text(step.refusal)) ||
        !is_bool(step.jump_when) || step.jump_arg < -1 || step.jump_arg >= int64_t{step.arg_count})
      return false;
    for (uint32_t p = 0; p < step.phase_count; ++p)
      if (!phase_fits(step.phases[p])) return false;
    for (uint32_t a = 0; a < step.arg_count; ++a)
      if (!is_place(step.args[a], program)) return false;
    for (uint32_t l = 0; l < step.limit_count; ++l)
      if (!is_usable(step.limits[l], step)) return false;
    return true;
  }

  // Inputs and outputs are followed by extents: of dimensions, and of outputs.
  bool is_place(const BufferRef& ref, const Program& program) const {
    switch (ref.memory) {
      case kArena:
        return ref.offset <= program.arena_bytes;
      case kWeights:
        return ref.offset <= model_.weights_bytes;
      case kInput:
        return ref.index < uint64_t{model_.input_count} + model_.dimension_count;
      case kOutput:
        return ref.index < model_.output_count + model_.extent_count;
    }
    return false;
  }

  bool variants_fit(const Step& step, const Program& program) const {
    if (step.variants.distance() == 0) return true;
    if (!holds(step.variants, 1)) return false;
    const VariantTable& table = *step.variants;
    if (table.count < 1 || table.count > kMostKernelVariants || !holds(table.costs, table.count) ||
        !holds(table.others, table.count - 1) || !is_bool(table.trusted) || table.shares < 1 ||
        table.extent_count < 1 || table.extent_count > kMostVariantExtents)
      return false;
    for (uint32_t e = 0; e < table.extent_count; ++e)
      if (table.extent_args[e] >= step.arg_count || table.least[e] > table.most[e]) return false;
    for (uint32_t l = 0; l < table.count; ++l)
      if (!is_usable(table.costs[l])) return false;
    for (uint32_t l = 0; l + 1 < table.count; ++l) {
      const Step& other = table.others[l];
      if (!step_fits(other, program) || other.variants.distance() != 0 || other.library.distance() != 0 ||
          other.jump_arg >= 0)
        return false;
    }
    return true;
  }

  bool tasks_fit(const Program& program) const {
    if (!holds(program.tasks, 1)) return false;
    const TaskTable& table = *program.tasks;
    return holds(table.tasks, table.task_count) && holds(table.events, table.event_count) &&
           holds(table.triggers, table.trigger_count) &&
           triggers_fit(table.tasks.get(), table.task_count, table) &&
           triggers_fit(table.events.get(), table.event_count, table);
  }

  template <typename Row>
  static bool triggers_fit(const Row* rows, uint32_t count, const TaskTable& table) {
    for (uint32_t i = 0; i < count; ++i)
      if (uint64_t{rows[i].first_trigger} + rows[i].trigger_count > table.trigger_count) return false;
    return true;
  }

  const Model& model_;
  const uint64_t begin_, size_bytes_;
};

}  // namespace

const char* model_fault(const void* at, uint64_t size_bytes) {
  const Model& model = *static_cast<const Model*>(at);
  constexpr uint64_t kHeadBytes = 3 * sizeof(uint64_t);  // what every version has
  if (size_bytes < kHeadBytes) return "are cut off";
  if (model.magic != kModelMagic) return "do not begin as tables do";
  if (model.version != kModelVersion) return "are of another version";
  if (size_bytes < sizeof(Model) || model.size_bytes != size_bytes) return "are cut off";
  return ModelCheck(model, size_bytes).fault();
}

}  // namespace korch::rt
