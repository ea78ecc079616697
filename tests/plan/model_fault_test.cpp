// Tables of another version, cut off or with references that lead outside are refused; what is accepted can
// be followed.
#include "korch/plan/model_fault.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace korch::rt {
namespace {

int32_t nothing(const korch_kernel_context*, int64_t, int64_t) {
  return 0;
}

constexpr int kSteps = 3;

// One of everything, in one piece: a model of one input and one output of rank 2 with an extent that the run
// tells, whose extents are those of one dimension.
struct Tables {
  Tables() {
    model.size_bytes = sizeof(Tables);
    model.input_count = model.output_count = model.dimension_count = model.shape_plan_count = 1;
    model.shape_plans = &shape_plan;
    model.output_ranks = &output_rank;
    model.weights = &weights;
    model.weights_bytes = sizeof weights;
    model.extents = &extent;
    model.extent_count = 1;
    model.extent_rules = &rule;
    model.extent_rule_count = 1;
    model.fitting = &fitting;
    model.fitting_count = 1;
    fitting.steps = &extent_steps;
    fitting.count = 1;
    fitting.text = rule_text;
    steps[1].refusal = text;
    rule.factors = numbers;
    rule.text = rule_text;
    shape_plan.bounds = numbers;
    shape_plan.output_dims = &output_dims;
    shape_plan.extents = numbers;
    output_dims = numbers;
    fill_program();
  }
  void fill_program() {
    Program& program = shape_plan.program;
    program.steps = steps;
    program.step_count = kSteps;
    program.threads = 1;
    program.arena_bytes = 64;
    program.tasks = &tasks;
    for (Step& step : steps) fill(step);
    fill(other);
    steps[0].variants = &variants;
    steps[1].library_params = numbers;
    steps[1].library_param_count = 2;
    steps[1].library_floats = floats;
    steps[1].library_float_count = 2;
    steps[2].jump_arg = 0;
    steps[2].jump = -2;
    variants.others = &other;
    variants.costs = costs;
    variants.count = 2;
    variants.extent_count = 1;
    variants.most[0] = 9;
    tasks.tasks = &task;
    tasks.task_count = 1;
    tasks.events = events;
    tasks.event_count = 2;
    tasks.triggers = &one;
    tasks.trigger_count = 1;
  }
  void fill(Step& step) {
    step.phases = &phase;
    step.phase_count = 1;
    step.args = args;
    step.arg_count = 4;
    step.limits = &limit;
    step.limit_count = 1;
    step.name = text;
  }

  Model model;
  ShapePlan shape_plan;
  OutputExtent extent{0, 1};
  ExtentRule rule;
  FittingExtents fitting;
  ExtentSteps extent_steps{2, 8, 2};
  Ref<int64_t> output_dims;
  Step steps[kSteps], other;
  VariantTable variants;
  VariantCost costs[2] = {};
  Phase phase{nothing, 4, 1, 0};
  BufferRef args[4] = {{kArena, 0, 64}, {kWeights, 0, 8}, {kInput, 1, 0}, {kOutput, 1, 0}};
  SliceLimit limit{0, 0, 1, 4, 1, 0, 1};
  TaskTable tasks;
  SliceTask task{1, 0, 0, 4, 0, 0, 1};
  TaskEvent events[2] = {{0, 0, 1, 1, 0}, {1, 1, 0, 1, 0}};
  int64_t numbers[2] = {3, 5};
  float floats[2] = {};
  uint32_t output_rank = 2, zero = 0, one = 1;
  int64_t weights = 0;
  char rule_text[8] = "n", text[8] = "step";  // the last bytes
};

// A copy to read within, from a place that ends with it.
class Copy {
 public:
  explicit Copy(const std::string& bytes)
      : words_(new uint64_t[bytes.size() / sizeof(uint64_t) + 1]), size_bytes_(bytes.size()) {
    std::memcpy(words_.get(), bytes.data(), bytes.size());
  }
  std::string fault() const { return model_fault(words_.get(), size_bytes_); }
  const Model& model() const { return *reinterpret_cast<const Model*>(words_.get()); }

  // Whether all rows that the executor reads lie within.
  bool leads_inside() const {
    const Model& m = model();
    bool all = has(m.shape_plans, m.shape_plan_count) && has(m.output_ranks, m.output_count) &&
               has(m.extents, m.extent_count) && has(m.extent_rules, m.extent_rule_count) &&
               has(m.fitting, m.fitting_count);
    for (uint32_t v = 0; all && v < m.shape_plan_count; ++v) {
      const Program& program = m.shape_plans[v].program;
      all = has(m.shape_plans[v].bounds, m.dimension_count) && has(program.steps, program.step_count);
      for (uint32_t s = 0; all && s < program.step_count; ++s) {
        const Step& step = program.steps[s];
        all = step_is_inside(step);
        for (uint32_t l = 0; all && step.variants != nullptr && l + 1 < step.variants->count; ++l)
          all = has(step.variants, 1) && step_is_inside(step.variants->others[l]);
      }
      if (const TaskTable* tasks = program.tasks; all && tasks != nullptr)
        all = has(tasks->tasks, tasks->task_count) && has(tasks->events, tasks->event_count) &&
              has(tasks->triggers, tasks->trigger_count);
    }
    return all;
  }

 private:
  template <typename T>
  bool has(const Ref<T>& rows, uint64_t count) const {
    const char *first = reinterpret_cast<const char*>(rows.get()),
               *begin = reinterpret_cast<char*>(words_.get());
    return count == 0 || (first >= begin && count * sizeof(T) <= size_bytes_ &&
                          first + count * sizeof(T) <= begin + size_bytes_);
  }
  bool step_is_inside(const Step& step) const {
    bool all = has(step.phases, step.phase_count) && has(step.args, step.arg_count) &&
               has(step.limits, step.limit_count) && has(step.library_params, step.library_param_count) &&
               has(step.name, 1) && has(step.name, std::strlen(step.name) + 1);
    for (uint32_t a = 0; all && a < step.arg_count; ++a) all = step.args[a].memory <= kOutput;
    return all && step.jump_arg < static_cast<int64_t>(step.arg_count);
  }

  std::unique_ptr<uint64_t[]> words_;
  const uint64_t size_bytes_;
};

std::string bytes_of(const Tables& tables) {
  return {reinterpret_cast<const char*>(&tables), sizeof tables};
}

std::string fault_with(const std::function<void(Tables&)>& damage) {
  const auto tables = std::make_unique<Tables>();
  damage(*tables);
  return model_fault(tables.get(), sizeof(Tables));
}

// Wherever they lie.
TEST(ModelFault, WholeTablesHaveNone) {
  const auto tables = std::make_unique<Tables>();
  EXPECT_STREQ(model_fault(tables.get(), sizeof(Tables)), "");
  const Copy copy(bytes_of(*tables));
  EXPECT_EQ(copy.fault(), "");
  EXPECT_TRUE(copy.leads_inside());
  EXPECT_STREQ(copy.model().shape_plans->program.steps[1].name, "step");
}

TEST(ModelFault, WhatIsWrongIsNamed) {
  EXPECT_EQ(fault_with([](Tables& t) { ++t.model.version; }), "are of another version");
  EXPECT_EQ(fault_with([](Tables& t) { t.model.magic ^= 1; }), "do not begin as tables do");
  EXPECT_EQ(fault_with([](Tables& t) { t.model.size_bytes -= 8; }), "are cut off");
  EXPECT_EQ(fault_with([](Tables& t) { t.model.weights = nullptr; }), "lack the weights");
  const std::string outside = " outside of them";
  const auto leads = [&](const char* what, const std::function<void(Tables&)>& damage) {
    EXPECT_EQ(fault_with(damage), std::string("have ") + what + outside);
  };
  leads("plans that lead", [](Tables& t) { t.model.shape_plan_count = 2000; });
  leads("plans that lead", [](Tables& t) { t.model.shape_plan_count = 0; });
  leads("plans that lead", [](Tables& t) { t.output_dims = nullptr; });
  leads("plans that lead", [](Tables& t) { t.shape_plan.bounds = nullptr; });
  leads("outputs that lead", [](Tables& t) { t.model.output_count = 1u << 31; });
  leads("extents that lead", [](Tables& t) { t.extent.axis = 2; });
  leads("extents that lead", [](Tables& t) { t.rule.dimension = 1; });
  leads("extents that lead", [](Tables& t) { t.fitting.dimension = 1; });
  leads("extents that lead", [](Tables& t) { t.fitting.count = 2000; });
  leads("extents that lead", [](Tables& t) { t.fitting.text = nullptr; });
  leads("extents that lead", [](Tables& t) { t.extent_steps.step = 0; });
  leads("extents that lead", [](Tables& t) { t.extent_steps.first = -1; });
  leads("steps that lead", [](Tables& t) { t.shape_plan.program.step_count = 1u << 30; });
  leads("a step that jumps", [](Tables& t) { t.steps[2].jump = -3; });
  leads("a step that jumps", [](Tables& t) { t.steps[0].jump = kSteps + 1; });
  leads("a step that leads", [](Tables& t) { t.steps[1].phase_count = 1u << 30; });
  leads("a step that leads", [](Tables& t) { t.steps[1].jump_arg = 4; });
  leads("a step that leads", [](Tables& t) { t.phase.function = nullptr; });
  leads("a step that leads", [](Tables& t) { t.phase.grain = 0; });
  leads("a step that leads", [](Tables& t) { t.args[0].offset = 65; });
  leads("a step that leads", [](Tables& t) { t.args[1].offset = 9; });
  leads("a step that leads", [](Tables& t) { t.args[2].index = 2; });
  leads("a step that leads", [](Tables& t) { t.args[3].index = 2; });
  leads("a step that leads", [](Tables& t) { t.args[3].memory = 4; });
  leads("a step that leads", [](Tables& t) { t.limit.arg = 4; });
  leads("a step that leads", [](Tables& t) { t.limit.by = 0; });
  leads("a step that leads", [](Tables& t) { std::memset(t.text, 'x', sizeof t.text); });
  leads("tasks that lead", [](Tables& t) { t.task.trigger_count = 2; });
  leads("tasks that lead", [](Tables& t) { t.tasks.event_count = 100000; });
}

TEST(ModelFault, VariantsAndTasksThatCannotBeRunAreRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
  const auto variant = [](const std::function<void(Tables&)>& damage) {
    EXPECT_EQ(fault_with(damage), "have a variant that cannot be run");
  };
  variant([](Tables& t) { t.costs[1].over[2] = kNan; });
  variant([](Tables& t) { t.costs[0].under[0] = kInf; });
  variant([](Tables& t) { t.costs[0].shares[0].by = 0; });
  variant([](Tables& t) { t.costs[0].shares[1].count = -1; });
  variant([](Tables& t) { t.variants.count = 0; });
  variant([](Tables& t) { t.variants.count = kMostKernelVariants + 1; });
  variant([](Tables& t) { t.variants.others = nullptr; });
  variant([](Tables& t) { t.variants.extent_count = 3; });
  variant([](Tables& t) { t.variants.shares = 0; });
  variant([](Tables& t) { t.variants.extent_args[0] = 4; });
  variant([](Tables& t) { t.variants.least[0] = 10; });
  variant([](Tables& t) { t.other.variants = &t.variants; });
  variant([](Tables& t) { t.other.jump_arg = 0; });
  variant([](Tables& t) { t.other.phases = nullptr; });
  variant([](Tables& t) { t.other.args = nullptr; });
  EXPECT_EQ(fault_with([](Tables& t) { t.variants.trusted = true; }), "");
  // Further ones: TaskTable.TablesThatPointNowhereAreRefused.
  EXPECT_EQ(fault_with([](Tables& t) { t.events[1].needed = 2; }), "have tasks that cannot be run");
  EXPECT_EQ(fault_with([](Tables& t) { t.task.end = 5; }), "have tasks that cannot be run");
}

TEST(ModelFault, TablesThatAreCutOffAreRefused) {
  const std::string whole = bytes_of(Tables());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(Copy(whole.substr(0, size)).fault(), "are cut off") << size;
}

// Each word as numbers that lead far, and each byte with a bit changed.
TEST(ModelFault, WhatIsAcceptedCanBeFollowed) {
  const std::string whole = bytes_of(Tables());
  int refused = 0;
  const auto check = [&](const std::string& bytes, size_t at) {
    const Copy copy(bytes);
    if (copy.fault() != "")
      ++refused;
    else
      EXPECT_TRUE(copy.leads_inside()) << at;
  };
  constexpr int64_t kFar[] = {0,
                              1,
                              -1,
                              8,
                              -8,
                              int64_t{1} << 20,
                              -(int64_t{1} << 20),
                              int64_t{1} << 62,
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min(),
                              static_cast<int64_t>(sizeof(Tables)),
                              -static_cast<int64_t>(sizeof(Tables))};
  for (size_t at = 0; at + sizeof(int64_t) <= whole.size(); at += sizeof(int64_t)) {
    int64_t word;
    std::memcpy(&word, whole.data() + at, sizeof word);
    for (const int64_t far : kFar)
      for (const int64_t changed : {far, static_cast<int64_t>(static_cast<uint64_t>(word) + far)}) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &changed, sizeof changed);
        check(bytes, at);
      }
  }
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
      check(bytes, at);
    }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace korch::rt
