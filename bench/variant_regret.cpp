// What the variants that runs choose cost against the best variants: for each step with several variants to
// run it, and each of some extents, all variants are measured with what such a run needs of them.
//
//     build/release/bench/bench_variant_regret MODEL.onnx --shape seq=1..256 --at 20 --at 100 --at 150
//
// Configure with -DKORCH_BENCH=ON. `--shape` has one range; `--at` are extents of it. Regret: what the chosen
// variant takes over what the best takes, both here; where costs are not trusted runs try the best three by
// their costs, and so does this.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "command_line.h"
#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/driver/compile_part.h"
#include "korch/driver/plan_bounds.h"
#include "korch/onnx/import.h"
#include "korch/runtime/variant_cost.h"
#include "korch/variants/choice.h"

namespace korch {
namespace {

constexpr size_t kTried = 3;

ImportNetwork import_of(const std::string& model, const CompileOptions& options, const PlanBounds& bounds) {
  return [=](FileRoles&, std::vector<std::string>&) {
    ImportOptions import_options;
    import_options.shapes = options.shapes;
    import_options.least_shapes = options.least_shapes;
    import_options.bounds = bounds;
    return import_onnx(model, import_options);
  };
}

class Regrets {
 public:
  // Of one plan: with the variants that an executable gets, and with all.
  Regrets(BuiltPlan built, BuiltPlan with_all, const Device& target)
      : built_(std::move(built)),
        all_(std::move(with_all)),
        meter_(backend_of(target).meter(target, footprint_bytes())) {}

  // At this extent: the logarithm of each step's regret.
  std::vector<double> at(int64_t extent, int rounds) {
    std::vector<double> logs;
    for (size_t s = 0; s < built_.plan.steps.size(); ++s) {
      const PlanStep& step = built_.plan.steps[s];
      const KernelVariants& variants = step.variants;
      if (variants.extents.size() != 1) continue;
      std::vector<MeasuredKernel> jobs;
      for (const KernelVariant& variant : variants.list)
        jobs.push_back(job_of(built_, step, variant, extent));
      const PlanStep& same = all_.plan.steps[s];
      for (const KernelVariant& variant : same.variants.list)
        jobs.push_back(job_of(all_, same, variant, extent));
      const std::vector<double> us = measure(jobs, rounds);
      double chosen = INFINITY;
      for (const size_t variant : tried_variants(variants, extent)) chosen = std::min(chosen, us[variant]);
      const double best = *std::min_element(us.begin(), us.end());
      fmt::print("| {} | {} | {} of {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.3f} |\n", extent, step.label,
                 variants.list.size(), same.variants.list.size(), variants.trusted ? "one" : "of three",
                 us[0], chosen, best, chosen / best);
      logs.push_back(std::log(chosen / best));
    }
    return logs;
  }

 private:
  static std::vector<size_t> tried_variants(const KernelVariants& variants, int64_t extent) {
    std::vector<double> predicted = variants::predicted_us(variants, {extent});
    predicted[0] = rt::variant_rank(predicted[0], 0);
    std::vector<size_t> order(predicted.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return predicted[a] < predicted[b]; });
    order.resize(variants.trusted ? 1 : std::min(kTried, order.size()));
    return order;
  }

  // Of all tensors at once, as the whole network's weights and activations.
  int64_t footprint_bytes() const {
    int64_t bytes = 0;
    for (const PlanTensor& tensor : built_.plan.tensors) bytes += tensor.size_bytes;
    return bytes;
  }

  // Of each the least of some rounds, each once in a round.
  std::vector<double> measure(const std::vector<MeasuredKernel>& jobs, int rounds) {
    std::vector<double> us(jobs.size(), INFINITY);
    for (int round = 0; round < rounds; ++round)
      for (size_t j = 0; j < jobs.size(); ++j)
        if (const Result<Cost> cost = meter_->measure(jobs[j], Care::thorough))
          us[j] = std::min(us[j], cost.value().low_us);
    return us;
  }

  static MeasuredKernel job_of(const BuiltPlan& built, const PlanStep& step, const KernelVariant& variant,
                               int64_t extent) {
    const Plan& plan = built.plan;
    MeasuredKernel job;
    job.kernel = &plan.kernels[static_cast<size_t>(variant.kernel)];
    job.object = &built.objects[static_cast<size_t>(variant.kernel)];
    for (const int tensor : step.inputs) {
      job.inputs.push_back(plan.tensors[static_cast<size_t>(tensor)].type);
      job.input_bytes.push_back(plan.tensors[static_cast<size_t>(tensor)].size_bytes);
    }
    for (const int tensor : step.outputs)
      job.output_bytes.push_back(plan.tensors[static_cast<size_t>(tensor)].size_bytes);
    for (const int tensor : variant.constants)
      job.constants.push_back(std::make_shared<const std::string>(
          built.constant_bytes[static_cast<size_t>(plan.tensors[static_cast<size_t>(tensor)].index)]));
    for (const PlanSliceLimit& limit : variant.limits)
      job.needed.push_back({limit.phase, limit.stride, limit.count,
                            std::min(limit.count, (extent * limit.times + limit.plus) / limit.by)});
    return job;
  }

  const BuiltPlan built_, all_;
  std::unique_ptr<Meter> meter_;
};

struct Arguments {
  std::string model, shape;
  std::vector<int64_t> at;
  int rounds = 3;
  CompileOptions options;
};

void run(Arguments& a) {
  const size_t equals = a.shape.find('='), dots = a.shape.find("..");
  if (equals == std::string::npos || dots == std::string::npos)
    throw Error(ErrorKind::usage, "--shape is one range, NAME=1..64");
  const std::string name = a.shape.substr(0, equals);
  const int64_t least = std::stoll(a.shape.substr(equals + 1)), most = std::stoll(a.shape.substr(dots + 2));
  a.options.shapes[name] = {most};
  a.options.least_shapes[name] = {least};
  a.options.schedule = PlanSchedule::barrier;
  const std::vector<OpenDimension> dimensions = {{name, least, most, {}}};
  const auto in_proportion = [](const std::vector<int64_t>& extents) {
    return static_cast<double>(extents[0]);
  };
  const std::vector<PlanBounds> all = plan_bounds(dimensions, likely_runs(dimensions, {}, ""), in_proportion);
  const Device target = detect_device(a.options.target, a.options.threads);
  fmt::print(
      "| extent | step | variants | chosen | its own us | chosen us | best us | regret |\n"
      "|---|---|---|---|---|---|---|---|\n");
  double sum = 0;
  size_t count = 0;
  for (const PlanBounds& bounds : all) {
    const int64_t from = plan_leasts(bounds, all, dimensions, in_proportion).at(name), to = bounds.at(name);
    std::vector<int64_t> extents;
    for (const int64_t extent : a.at)
      if (extent >= from && extent <= to) extents.push_back(extent);
    if (extents.empty()) continue;
    a.options.variants.least = {{name, from}};
    BuiltPlan part, all_ways;
    const ImportNetwork import = import_of(a.model, a.options, to == most ? PlanBounds{} : bounds);
    compile_part("regret", a.options, import, "", &part);
    CompileOptions exhaustive = a.options;
    exhaustive.variants.of_fewer = exhaustive.variants.of_same_packing = exhaustive.variants.of_own = 0;
    compile_part("regret", exhaustive, import, "", &all_ways);
    Regrets regrets(std::move(part), std::move(all_ways), target);
    for (const int64_t extent : extents)
      for (const double log : regrets.at(extent, a.rounds)) {
        sum += log;
        ++count;
      }
  }
  if (count > 0)
    fmt::print("\n{} choices, geometric mean of the regret {:.3f}\n", count,
               std::exp(sum / static_cast<double>(count)));
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  korch::CommandLine command_line("what the chosen kernel variants cost against the best ones");
  korch::Arguments a;
  a.options.strategy = korch::Strategy::greedy;
  a.options.verify = false;
  command_line.option("model", a.model).required();
  command_line.option("--shape", a.shape).required();
  command_line.option("--at", a.at).required();
  command_line.option("--threads", a.options.threads);
  command_line.option("--rounds", a.rounds, "of measurements of each variant").default_shown();
  command_line.option("--profile-db", a.options.database_path);
  if (const std::optional<int> code = command_line.parse(argc, argv)) return *code;
  try {
    korch::run(a);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
