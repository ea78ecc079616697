#include "korch/inspect/special_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/fission/fission.h"
#include "korch/inspect/open_shapes.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"
#include "korch/plan/plan_json.h"
#include "korch/rewrite/bfloat16_products.h"
#include "korch/rewrite/bfloat16_storage.h"
#include "korch/rewrite/rule.h"

namespace korch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = 1e18;       // its square is a float32 number still
constexpr double kLooksHuge = 1e15;  // ordinary Values of a check stay below

std::vector<double> numbers_of(SpecialValues values) {
  if (values == SpecialValues::nan) return {kNaN};
  return {kInfinity, -kInfinity, kHuge, 1e-39, -0.0};
}

bool is_fed(const Graph& graph, ValueId input, int64_t least_elements) {
  const TensorType& type = graph.value(input).type;
  return is_float(type.dtype) && type.elements() >= least_elements;
}

// Why no special values are fed; empty: they are.
std::string obstacle(const Graph& graph) {
  const auto& inputs = graph.inputs();
  if (std::none_of(inputs.begin(), inputs.end(), [&](ValueId id) { return is_fed(graph, id, 1); }))
    return "no input is a float";
  for (NodeId id : graph.topological_order())
    if (is_loop_end(graph.node(id).op)) return "a loop may not end";
  return "";
}

// The rules of what the plan computes that do so with special values. A plan counts what each rule made of
// it, and does not know in which steps.
std::vector<std::string> rules_that(NonFinite what, const Plan& plan) {
  std::vector<std::string> names;
  for (const RewriteRule& rule : rewrite_rules())
    if (rule.non_finite == what && plan.report.alternatives_used.count(rule.name) != 0)
      names.emplace_back(rule.name);
  // What is above the largest number of bfloat16, and below that of float32.
  if (what == NonFinite::overflows)
    for (const char* rounding : {kProductOfBfloat16, kStorageAsBfloat16})
      if (plan.report.alternatives_used.count(rounding) != 0) names.emplace_back(rounding);
  return names;
}

SpecialLimits limits_of(const Plan& plan) {
  return {.spreads = !rules_that(NonFinite::spread, plan).empty(),
          .loses = !rules_that(NonFinite::lost, plan).empty(),
          .overflows = !rules_that(NonFinite::overflows, plan).empty()};
}

// What looks wrong beside one run of the primitives in float32 is looked at closely: another kind of number,
// or a finite one that is far off.
bool looks_right(const HostTensor& got, const HostTensor& run) {
  constexpr double kFar = 1e-3;
  if (got.shape() != run.shape()) return false;
  double sum = 0;
  int64_t finite = 0;
  const int64_t count = run.elements();
  for (int64_t i = 0; i < count; ++i)
    if (const double x = std::fabs(element_as_double(run, i)); x < kLooksHuge) sum += x, ++finite;
  const double usual = finite > 0 ? sum / static_cast<double>(finite) : 0;
  for (int64_t i = 0; i < count; ++i) {
    const double a = element_as_double(run, i), b = element_as_double(got, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::fabs(a - b) <= kFar * (usual + std::fabs(a))) || !std::isfinite(a)) return false;
  }
  return true;
}

// One of the two runs.
class SpecialRun {
 public:
  SpecialRun(const Graph& imported, const std::vector<HostTensor>& inputs, SpecialValues values)
      : imported_(imported), inputs_(with_special_values(imported, inputs, values)), values_(values) {}

  void interpret(const Graph& primitives, const Plan& plan, uint64_t seed, const Deadline& deadline) {
    run_ = interpret_rounding_at_random(primitives, inputs_, seed, {}, {}, Roundings::of_operators, deadline,
                                        products_of(plan));
  }

  bool looks_right(LoadedExecutable& executable) {
    got_ = executable.run(dense_inputs(imported_, inputs_));
    const std::vector<Shape> shapes = output_shapes(imported_, run_);
    for (size_t i = 0; i < got_.size(); ++i)
      if (!korch::looks_right(got_[i], run_[i].cropped(shapes[i]))) return false;
    return true;
  }

  // The whole judgement.
  void judge(LoadedExecutable& executable, const Plan& plan, uint64_t seed, const Deadline& deadline,
             const ImportWithin& import_within, SpecialCheck* check) const {
    const SpecialLimits limits = limits_of(plan);
    InterpretOptions options;
    options.deadline = deadline;
    const std::vector<HostTensor> exact = korch::interpret(imported_, inputs_, options);
    const std::vector<Tolerance> tolerances =
        output_tolerances(imported_, inputs_, exact, seed, deadline, products_of(plan));
    std::vector<Deviation> deviations;
    bool passed = true;
    for (size_t i = 0; i < got_.size(); ++i) {
      deviations.push_back(compare_special(tolerances[i], got_[i], values_, limits));
      passed = passed && deviations.back().passed();
    }
    if (passed) return;
    Bisection bisection =
        bisect(imported_, executable, inputs_, deadline, import_within, compare_special_step);
    if (bisection.wrong.empty() && bisection.budget_spent) throw BudgetSpent{};
    if (bisection.wrong.empty()) return;
    check->passed = false;
    check->deviations = std::move(deviations);
    check->bisection = std::move(bisection);
  }

 private:
  const Graph& imported_;
  const std::vector<HostTensor> inputs_;
  const SpecialValues values_;
  std::vector<HostTensor> run_, got_;
};

}  // namespace

std::vector<HostTensor> with_special_values(const Graph& graph, const std::vector<HostTensor>& inputs,
                                            SpecialValues values) {
  constexpr int64_t kFewElements = 8;
  const auto has_many = [&](ValueId id) { return is_fed(graph, id, kFewElements); };
  const bool any = std::any_of(graph.inputs().begin(), graph.inputs().end(), has_many);
  const std::vector<double> numbers = numbers_of(values);
  std::vector<HostTensor> result = inputs;
  for (size_t number = 0; number < inputs.size(); ++number) {
    if (!is_fed(graph, graph.inputs()[number], any ? kFewElements : 1)) continue;
    const DType type = inputs[number].dtype();
    HostTensor wide = converted(inputs[number], DType::f64);
    const int64_t count = wide.elements();
    // Far from one another, and elsewhere in each input.
    const int64_t step = std::max<int64_t>(1, count / static_cast<int64_t>(numbers.size()));
    for (size_t i = 0; i < numbers.size() && static_cast<int64_t>(i) < count; ++i) {
      const int64_t at = static_cast<int64_t>(i) * step + step / 2 + static_cast<int64_t>(number) * 7;
      wide.mutable_data<double>()[at % count] = numbers[i];
    }
    result[number] = converted(wide, type);
  }
  return result;
}

std::vector<std::string> special_value_limits(const Plan& plan) {
  std::vector<std::string> limits;
  for (const std::string& rule : rules_that(NonFinite::spread, plan))
    limits.push_back(rule + ": an infinity, a NaN or a huge number may spoil the results beside it");
  for (const std::string& rule : rules_that(NonFinite::lost, plan))
    limits.push_back(rule + ": a NaN may become a number where it is rounded to a byte");
  for (const std::string& rule : rules_that(NonFinite::overflows, plan))
    limits.push_back(rule + ": an intermediate result of a huge number may be infinite");
  if (plan.flushes_subnormals) limits.emplace_back("subnormal results are 0");
  return limits;
}

Deviation compare_special(const Tolerance& tolerance, const HostTensor& got, SpecialValues values,
                          const SpecialLimits& limits) {
  const auto& [spreads, loses, overflows] = limits;
  const HostTensor& exact = tolerance.exact();
  if (got.shape() != exact.shape()) return tolerance.compare(got);
  const bool extremes = values == SpecialValues::extremes;
  if (!is_float(exact.dtype())) return extremes || spreads || loses ? Deviation{} : tolerance.compare(got);
  HostTensor wide = converted(got, DType::f64);
  double* numbers = wide.mutable_data<double>();
  for (int64_t i = 0; i < wide.elements(); ++i) {
    const double wanted = element_as_double(exact, i), is = numbers[i];
    const bool undefined = extremes && (spreads || overflows || std::isnan(wanted));
    const bool spread = spreads && (std::isfinite(wanted) || (std::isinf(wanted) && !std::isfinite(is)));
    const bool lost = loses && std::isnan(wanted);
    if (undefined || spread || lost) numbers[i] = wanted;
  }
  return tolerance.compare(converted(wide, exact.dtype()));
}

Deviation compare_special_step(const Plan& plan, const PlanStep&, const std::vector<const HostTensor*>& read,
                               const Tolerance& tolerance, const HostTensor& got) {
  bool is_special = false, is_extreme = false;
  for (const HostTensor* tensor : read)
    for (int64_t i = 0; is_float(tensor->dtype()) && i < tensor->elements(); ++i) {
      const double x = element_as_double(*tensor, i);
      is_special = is_special || !(std::fabs(x) < kLooksHuge);
      is_extreme = is_extreme || std::fabs(x) >= kLooksHuge;
    }
  if (!is_special) return tolerance.compare(got);
  return compare_special(tolerance, got, is_extreme ? SpecialValues::extremes : SpecialValues::nan,
                         limits_of(plan));
}

SpecialCheck check_special_values(const Graph& imported, LoadedExecutable& executable,
                                  const std::vector<HostTensor>& inputs, uint64_t seed,
                                  const Deadline& deadline, const ImportWithin& import_within) {
  SpecialCheck check;
  bool looks_wrong = false;
  check.not_fed = obstacle(imported);
  if (!check.not_fed.empty()) return check;
  try {
    const Plan plan = plan_from_json(executable.info().plan_json);
    const Graph primitives = fission(imported);
    SpecialRun runs[] = {{imported, inputs, SpecialValues::nan}, {imported, inputs, SpecialValues::extremes}};
    run_in_parallel(std::size(runs), usable_cpus(),
                    [&](size_t i) { runs[i].interpret(primitives, plan, seed + i, deadline); });
    for (SpecialRun& run : runs) {
      looks_wrong = check.passed && !run.looks_right(executable);
      if (looks_wrong) run.judge(executable, plan, seed, deadline, import_within, &check);
    }
  } catch (const BudgetSpent&) {
    if (looks_wrong) throw Undecided{{}, "with a NaN or an infinity in its inputs a result looks wrong"};
    check.not_fed = "the budget was spent";
  } catch (const Error& error) {  // an index that comes from a NaN, say
    if (error.kind() != ErrorKind::invalid) throw;
    check.not_fed = error.what();
  }
  return check;
}

}  // namespace korch
