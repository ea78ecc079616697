// The report of a compilation on its plan. visit_report lists every field once more: by that list reports are
// written, read, printed and explained.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/device/device.h"

namespace korch {

// A plan that was run whole before one was kept.
struct WholeRun {
  std::string plan;  // "solver's", "greedy", "unchanged network's", "overlapping" or "solver's next"
  double predicted_us = 0;
  double measured_us = 0;  // the solver's: lowest median; others: by the ratio to the plan they met
};

// The plan run whole by one of its schedules.
struct ScheduleRun {
  std::string schedule;  // of PlanSchedule
  double measured_us = 0;
  double ratio = 1, ratio_high = 1;  // over the first one's time: median, upper end of its 95 % interval
};

// A kernel that proved wrong, so that no plan takes it.
struct StruckKernel {
  std::string key;     // Kernel::key, in hexadecimal
  std::string kernel;  // primitives and implementation
  std::string reason;
};

struct PlanReport {
  std::string model, network, strategy, accuracy, target, solver_status;
  double objective_us = 0, bound_us = 0, gap = 0;
  int primitives = 0;
  std::optional<double> execution_states;
  int candidates = 0, columns = 0, kernels = 0, measured = 0, modelled = 0, solves = 0, cuts = 0;
  double solver_s = 0;
  int bound_violations = 0;
  bool certified = false;
  std::string bounds;
  int learned_violations = 0;
  int audited = 0, audited_below = 0;
  std::vector<std::string> rules;
  std::map<std::string, int> alternatives, alternatives_used;
  int64_t alternative_constant_bytes = 0;
  std::vector<std::string> special_value_limits;
  std::map<std::string, int> pruned;
  std::vector<std::string> limits;
  std::map<std::string, int> refused;
  std::vector<StruckKernel> struck;
  std::vector<std::string> recomputed;
  std::vector<WholeRun> whole_runs;
  int tasks = 0, events = 0;
  std::vector<ScheduleRun> schedules;
  double measured_us = 0;
  Device device;
  std::string peaks_are;
  std::vector<std::string> doubts;
};

struct ReportField {
  const char* key;
  const char* meaning;
};

// Calls `visit` with each field's description and the field; `Report` is PlanReport, const or not.
template <typename Report, typename Visit>
void visit_report(Report& r, const Visit& visit) {
  using F = ReportField;
  visit(F{"model", "the network's file"}, r.model);
  visit(F{"network", "hash of the imported network, weights included"}, r.network);
  visit(F{"strategy", "how the plan was chosen: optimal, greedy, unfused, random:SEED"}, r.strategy);
  visit(F{"accuracy", "standard or strict"}, r.accuracy);
  visit(F{"target", "instructions, threads and processor"}, r.target);
  visit(F{"solver_status", "optimal: proven; feasible: a time limit came first; budget spent"},
        r.solver_status);
  visit(F{"objective_us", "sum of the costs of the solver's plan"}, r.objective_us);
  visit(F{"bound_us", "lower bound of every plan, by the costs and bounds of its kernels"}, r.bound_us);
  visit(F{"gap", "(objective - bound) / objective"}, r.gap);
  visit(F{"primitives", "of the network, without alternatives"}, r.primitives);
  visit(F{"execution_states", "sets of primitives that may be done at one time; null: too many to count"},
        r.execution_states);
  visit(F{"candidates", "groups of primitives that could be a kernel"}, r.candidates);
  visit(F{"columns", "candidates in all their implementations, layout changes, views"}, r.columns);
  visit(F{"kernels", "different ones among the columns"}, r.kernels);
  visit(F{"measured", "how many of the kernels were measured"}, r.measured);
  visit(F{"modelled", "of how many kernels a model gave the cost"}, r.modelled);
  visit(F{"solves", "searches, relaxations and solutions of the program"}, r.solves);
  visit(F{"cuts", "rows of the program at the end"}, r.cuts);
  visit(F{"solver_s",
          "seconds in all solves, without measuring; a replayed plan has those of its first time; 0: nothing "
          "was measured"},
        r.solver_s);
  visit(F{"bound_violations", "kernels measured below their bound: each voids the certificate"},
        r.bound_violations);
  visit(F{"certified", "all chosen kernels measured, bounds valid, optimality proven"}, r.certified);
  visit(F{"bounds",
          "analytic; learned: then the certificate rests on the measured kernels of each kind; "
          "estimated: by a model of costs; quantiles: then the bound holds if every kernel left out costs at "
          "least its 5 % quantile by this model"},
        r.bounds);
  visit(F{"learned_violations", "kernels measured below the bound learned from their kind until then"},
        r.learned_violations);
  visit(F{"audited",
          "of the kernels left out that could matter, how many were measured to judge the quantiles"},
        r.audited);
  visit(F{"audited_below", "how many of them cost less than their 5 % quantile"}, r.audited_below);
  visit(F{"rules", "rewrite rules that were tried; none: no alternatives"}, r.rules);
  visit(F{"alternatives", "primitives added, by the rule that added them"}, r.alternatives);
  visit(F{"alternatives_used", "those that the plan computes"}, r.alternatives_used);
  visit(F{"alternative_constant_bytes", "constants that only alternatives need, while compiling"},
        r.alternative_constant_bytes);
  visit(F{"special_value_limits", "where the plan may not keep NaN, infinities, huge or subnormal numbers"},
        r.special_value_limits);
  visit(F{"pruned", "candidates, kernels and alternatives left out, by the rule that did it"}, r.pruned);
  visit(F{"limits", "limits that were reached, and what was left out"}, r.limits);
  visit(F{"refused", "kernels that do not exist, by reason"}, r.refused);
  visit(F{"struck", "kernels that proved wrong, so that no plan takes them"}, r.struck);
  visit(F{"recomputed", "values that more than one step computes"}, r.recomputed);
  visit(F{"whole_runs", "plans run whole against each other, the one that was kept first; none: no contest"},
        r.whole_runs);
  visit(F{"tasks", "ranges of slices that run in any order that events allow; 0: phase after phase"},
        r.tasks);
  visit(F{"events", "counters that tasks wait for and trigger"}, r.events);
  visit(F{"schedules", "the plan run whole by each schedule; none: not compared"}, r.schedules);
  visit(F{"measured_us", "time of the whole plan, run"}, r.measured_us);
  visit(F{"device", "the device of the plan, with the speeds that bounds were computed from"}, r.device);
  visit(F{"peaks_are", "where these speeds are from: measured, or nominal ones of a target"}, r.peaks_are);
  visit(F{"doubts", "why costs may be too high, and the bound is not proven: a busy machine, nominal speeds"},
        r.doubts);
}

// Which plan was kept. Objective, bound, gap and certificate are of the solver's.
inline std::string kept_plan(const PlanReport& report) {
  return report.whole_runs.empty() ? "solver's" : report.whole_runs[0].plan;
}
// Whether the bound holds for every plan, whatever its kernels' times turn out to be.
inline bool is_bound_proven(const PlanReport& report) {
  return report.doubts.empty() && report.bounds != "estimated" && report.bounds != "quantiles";
}
// What the bound is.
inline const char* bound_word(const PlanReport& report) {
  return is_bound_proven(report)        ? "bound"
         : report.bounds == "quantiles" ? "if every kernel left out costs at least its 5 % quantile: bound"
         : report.modelled > 0          ? "bound by the model"
                                        : "bound in doubt";
}
// "5 estimated, ", of its kernels; empty: none.
inline std::string modelled_text(const PlanReport& report) {
  if (report.modelled == 0) return "";
  const bool learned = report.bounds == "estimated" || report.bounds == "quantiles";
  return std::to_string(report.modelled) + (learned ? " estimated, " : " costed by a model, ");
}
// What the audit said of the quantiles; empty: there was none.
inline std::string audit_text(const PlanReport& report) {
  if (report.audited == 0) return "";
  return "audit: of " + std::to_string(report.audited) + " kernels left out that could matter, measured, " +
         std::to_string(report.audited_below) + " cost less than their 5 % quantile";
}
inline double predicted_us(const PlanReport& report) {
  return report.whole_runs.empty() ? report.objective_us : report.whole_runs[0].predicted_us;
}

}  // namespace korch
