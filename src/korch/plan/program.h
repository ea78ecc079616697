// A network as the runtime runs it: plain tables that refer to each other by distances. `package` writes them
// into an executable, where the runtime reads them in place; `profile` builds them in memory.
#pragma once

#include <cstdint>

#include "korch/plan/ref.h"

struct korch_kernel_context;  // runtime/abi.h

namespace korch::rt {

using KernelFunction = int32_t(const korch_kernel_context* context, int64_t begin, int64_t end);

// A kernel of a GPU: `blocks` of `threads`. Its arguments are the step's, then an int that it sets to 1 where
// an index is out of range, then workspace for each block.
struct DeviceFunction {
  Ref<char> name = {};
  uint32_t image = 0;  // Model::images
  uint32_t threads = 0, blocks = 0;
  uint64_t workspace_bytes = 0;  // of a block
};

struct Phase {
  Ref<KernelFunction> function = {};
  int64_t grid = 0;  // its number of slices
  int64_t grain = 0;
  int64_t first = 0;
  Ref<DeviceFunction> device = {};  // in place of `function`
};

enum MemoryKind : uint32_t { kArena, kWeights, kInput, kOutput };

struct BufferRef {
  uint32_t memory;  // a MemoryKind
  uint32_t index;   // for kInput and kOutput
  uint64_t offset;  // bytes
};

// Slices that a run does not need. Slice s of the phase has the value (s / stride) % count; slices whose
// value is (extent * times + plus) / by or more write nothing that counts. The extent is the i64 at
// args[arg].
struct SliceLimit {
  uint32_t phase, arg;
  int64_t stride, count, times, plus, by;
};

struct LibraryOps;  // create/destroy of a library call's state (runtime/library.h)
struct VariantTable;

struct Step {
  Ref<Phase> phases = {};
  uint32_t phase_count = 0;
  Ref<BufferRef> args = {};
  uint32_t arg_count = 0;
  Ref<LibraryOps> library = {};  // null for generated code
  Ref<int64_t> library_params = {};
  uint32_t library_param_count = 0;
  Ref<float> library_floats = {};
  uint32_t library_float_count = 0;
  Ref<char> name = {};  // for --profile and error messages
  // What is wrong with a run where an index lies outside of its axis; null: that.
  Ref<char> refusal = {};
  // For the ends of a loop: if the bool at args[jump_arg] is `jump_when`, the next step is `jump` further on
  // (or back).
  int32_t jump_arg = -1;  // -1: the one behind it is
  int32_t jump = 0;
  bool jump_when = false;
  Ref<SliceLimit> limits = {};  // by phase, of each outer strides first
  uint32_t limit_count = 0;
  Ref<VariantTable> variants = {};  // its kernel variants; null: none
};

// The share of a step that a run needs along an extent e: at least floor((e * times + plus) / by) of `count`;
// all of it if `count` is 0.
struct NeededShare {
  int64_t times = 1, plus = 0, by = 1, count = 0;
};

constexpr uint32_t kMostKernelVariants = 16;  // of a step, its own included
constexpr uint32_t kMostVariantExtents = 2, kVariantTerms = 6;

// Microseconds of a step as a function of the shares x and y that a run needs: a ratio of two polynomials,
// given by their coefficients of 1, x, y, x^2, x y, y^2.
struct VariantCost {
  NeededShare shares[kMostVariantExtents];
  double over[kVariantTerms] = {}, under[kVariantTerms] = {};
};

// The kernel variants of a step, which have the same results. Variant 0 is the step itself, variant i
// others[i - 1]: generated code that jumps nowhere.
struct VariantTable {
  Ref<Step> others = {};
  Ref<VariantCost> costs = {};  // of each variant
  uint32_t count = 0;           // of variants
  uint32_t extent_count = 0;
  uint32_t extent_args[kMostVariantExtents] = {};  // of the step: one i64 each
  // Costs were measured for extents in this range. Beyond it, and if they are not trusted, runs try the best
  // three variants.
  int64_t least[kMostVariantExtents] = {}, most[kMostVariantExtents] = {};
  bool trusted = false;
  uint32_t shares = 1;  // of the variant that a run takes: what tasks of the step count
};

// The task graph (plan/task_graph.h), which replaces the barriers between phases. A task is slices [begin,
// end) of a phase. For a step with variants it is shares [begin, end) of the slices that a run needs of the
// phase, if the variant that it takes has that phase; tasks of its first phase wait for one event.
struct SliceTask {
  uint32_t step, phase;
  int64_t begin, end;
  uint32_t waits;  // for this event
  uint32_t first_trigger, trigger_count;
};

// Fires when it was triggered so often; then its tasks may run, and it triggers others.
struct TaskEvent {
  uint32_t needed;
  uint32_t first_task, task_count;
  uint32_t first_trigger, trigger_count;
};

// Event 0 fires when a run begins, the last one when all tasks are done. Of the tasks that may run the first
// is the most urgent.
struct TaskTable {
  Ref<SliceTask> tasks = {};
  uint32_t task_count = 0;
  Ref<TaskEvent> events = {};
  uint32_t event_count = 0;
  Ref<uint32_t> triggers = {};  // the events that tasks and events trigger
  uint32_t trigger_count = 0;
};

// How slices are ordered and shared among workers (docs/design/tasks.md). Numbered as
// korch_options::schedule.
enum class Schedule : int32_t {
  barrier = 1,  // a phase begins when the one before it has ended
  dynamic,      // tasks run when what they wait for has happened, on any worker
};

struct Program {
  Ref<Step> steps = {};
  uint32_t step_count = 0;
  uint32_t threads = 0;
  uint64_t arena_bytes = 0;
  uint64_t scratch_bytes = 0;  // per worker, the largest over the steps
  // Results too small for a normal number become 0 while it runs: such results cost a CPU some hundred cycles
  // each.
  bool flushes_subnormals = false;
  Ref<TaskTable> tasks = {};  // null: phase after phase
  Schedule schedule = Schedule::barrier;
};

// An axis of an output whose extent the run writes, after the outputs, as one i64.
struct OutputExtent {
  uint32_t output, axis;
};

// The sum that an extent must be: `plus`, and each of Model::dimension_count dimensions' extents times a
// factor. A run with another extent is refused.
struct ExtentRule {
  uint32_t dimension = 0;
  int64_t plus = 0;
  Ref<int64_t> factors = {};
  Ref<char> text = {};  // "past + 1"
};

// Extents first, first + step, ... up to last.
struct ExtentSteps {
  int64_t first, last, step;
};

// The extents of a dimension with which the network fits together. A run with another is refused.
struct FittingExtents {
  uint32_t dimension = 0, count = 0;
  Ref<ExtentSteps> steps = {};
  Ref<char> text = {};  // "2, 4, 6, ..."
};

// The network for shapes up to some bounds.
struct ShapePlan {
  Program program;
  double predicted_us = 0;             // at its bounds
  Ref<int64_t> bounds = {};            // of each dimension; null: there is none
  Ref<Ref<int64_t>> output_dims = {};  // of each output, at these bounds; null: of rank 0
  Ref<int64_t> extents = {};           // of each of Model::extents: what it is, or -1 where the run tells
  // Where korch_model_info counts its steps, and those of them that copy outputs.
  uint32_t first_step = 0, first_copy = 0, copy_count = 0;
};

// Machine code for a GPU, as the driver loads it.
struct DeviceImage {
  Ref<unsigned char> code = {};
  uint64_t code_bytes = 0;
  // The same for an emulated one (docs/design/cuda.md); null: none was wanted.
  Ref<unsigned char> emulated = {};
  uint64_t emulated_bytes = 0;
};

constexpr uint64_t kModelMagic = 0x4c444d4843524f4b;  // "KORCHMDL"
// Raised with every change of a struct that a Model refers to.
constexpr uint32_t kModelVersion = 4;

// The root of an executable's tables: the beginning of a section (package/executable.h) that holds all that
// it refers to, except code and weights. plan/model_fault.h checks that.
struct Model {
  // These three stand here in every version.
  uint64_t magic = kModelMagic;
  uint32_t version = kModelVersion;
  uint32_t isa = 0;         // IsaLevel (runtime/model.h)
  uint64_t size_bytes = 0;  // of the section

  uint32_t input_count = 0, output_count = 0, dimension_count = 0;
  uint32_t shape_plan_count = 0;
  Ref<ShapePlan> shape_plans = {};  // the first takes all shapes
  Ref<uint32_t> output_ranks = {};  // of each output
  Ref<void> weights = {};           // null: there are none
  uint64_t weights_bytes = 0;
  Ref<OutputExtent> extents = {};
  uint64_t extent_count = 0;
  Ref<ExtentRule> extent_rules = {};
  uint64_t extent_rule_count = 0;
  Ref<FittingExtents> fitting = {};
  uint64_t fitting_count = 0;

  // Of the GPU that it runs on: 10 times the major, and the minor compute capability; 0: a CPU.
  uint32_t compute_capability = 0;
  uint32_t image_count = 0;
  Ref<DeviceImage> images = {};
};

}  // namespace korch::rt
