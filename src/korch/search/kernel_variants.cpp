#include "korch/search/kernel_variants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "korch/backend/spell.h"
#include "korch/kernel/sum_order.h"
#include "korch/runtime/variant_cost.h"
#include "korch/variants/cover.h"
#include "korch/variants/fit.h"

namespace korch {
namespace {

// Times the best that a trial may take in a quick look at an extent, to count there.
constexpr double kHopeless = 1.5;
constexpr double kLeast_us = 1e-3;  // that anything takes
constexpr double kPoorFit = 0.15;   // relative error from which on a cost does not tell
// Of the range of an extent, least first, where it is measured.
constexpr double kPlaces[] = {0, 0.25, 0.5, 0.75, 1};
constexpr double kPlacesOfTwo[] = {0, 0.4, 1};  // where there are two extents, each

// A kernel that may become a variant.
struct Trial {
  int column = -1;
  std::vector<PlanSliceLimit> limits;
  std::vector<double> us;                         // at each sample; infinite where it is hopeless
  std::vector<std::vector<NeededSlices>> needed;  // at each sample
};

using Samples = std::vector<std::vector<int64_t>>;

class VariantFinder {
 public:
  VariantFinder(const Graph& graph, Columns& columns, KernelBank& bank, const Device& target,
                const VariantOptions& options, BuiltPlan& built)
      : graph_(graph),
        columns_(columns),
        bank_(bank),
        target_(target),
        options_(options),
        most_(options.most_s),
        built_(built),
        made_(made_by(built.plan)) {
    for (size_t c = 0; c < columns.infos.size(); ++c)
      if (columns.infos[c].kind == ColumnInfo::Kind::kernel)
        by_candidate_[columns.infos[c].candidate].push_back(static_cast<int>(c));
  }

  void run() {
    for (const auto& [step, open] : built_.open_steps) {
      if (columns_.infos[open.column].kind != ColumnInfo::Kind::kernel) continue;
      if (is_over()) {
        built_.plan.report.limits.push_back(
            "variants: the time for measuring ended before all steps had variants");
        return;
      }
      add(step, open);
    }
  }

 private:
  void add(int number, const OpenStep& open);
  std::vector<Trial> trials_of(int number, const OpenStep& open);
  Samples samples_of(const std::vector<int>& extents, const OpenStep& open) const;
  std::pair<int64_t, int64_t> range_of(int extent, const OpenStep& open) const;
  std::vector<int> other_columns(int column);
  std::optional<std::vector<PlanSliceLimit>> limits_of(int column, int number, const OpenStep& open) const;
  std::optional<std::set<std::string>> sum_orders_of(int column) const;
  void measure(const std::vector<int>& extents, const Samples& samples, std::vector<Trial>& trials);
  KernelVariant variant_of(const Trial& trial, const std::vector<int>& extents, const Samples& samples,
                           const PlanStep& step);
  std::vector<size_t> chosen_trials(const std::vector<Trial>& trials) const;
  int kernel_of(int column);
  // Null where no tile graph describes the kernel.
  const tile::ScheduledGraph* tiles_of(int column) const {
    const Result<Spec>& spec = bank_.spec(request_of(column));
    return spec.ok() && spec.value()->tiles ? &*spec.value()->tiles : nullptr;
  }
  bool is_over() const { return options_.deadline.is_over() || most_.is_over(); }
  bool exact() const { return options_.which == WhichVariants::exact; }
  KernelRequest request_of(int column) const { return kernel_request(graph_, columns_, column); }

  const Graph& graph_;
  Columns& columns_;
  KernelBank& bank_;
  const Device& target_;
  const VariantOptions& options_;
  const Deadline most_;
  BuiltPlan& built_;
  const std::vector<int> made_;
  std::map<int, std::vector<int>> by_candidate_;
  std::map<int, std::vector<int>> others_;  // by column
};

// Whether what a trial takes depends on it: not one that leaves out the whole step.
bool is_of_part(const PlanSliceLimit& limit) {
  return limit.count > 1;
}

// Tensors of the extents that what runs need of some trial depends on.
std::vector<int> extents_of(const std::vector<Trial>& trials) {
  std::vector<int> extents;
  for (const Trial& trial : trials)
    for (const PlanSliceLimit& limit : trial.limits)
      if (is_of_part(limit) && std::find(extents.begin(), extents.end(), limit.tensor) == extents.end())
        extents.push_back(limit.tensor);
  if (extents.size() > rt::kMostVariantExtents) extents.resize(rt::kMostVariantExtents);
  return extents;
}

// Of the extent in the runs that take this plan.
std::pair<int64_t, int64_t> VariantFinder::range_of(int extent, const OpenStep& open) const {
  constexpr int64_t kUsual = 16;  // of what depends on the data: the share of the most that is the least
  const Plan& plan = built_.plan;
  int64_t most = 1;
  for (const LimitedOutput& output : open.outputs)
    for (size_t axis = 0; axis < output.part.size(); ++axis)
      if (const std::optional<NeededExtent>& needed = output.part[axis];
          needed && built_.extents.contains(needed->extent) && built_.extents.at(needed->extent) == extent)
        most = std::max(
            most, (output.shape[axis] * needed->by - needed->plus) / std::max<int64_t>(needed->times, 1));
  const PlanTensor& tensor = plan.tensors[static_cast<size_t>(extent)];
  const size_t first = plan.inputs.size(), at = static_cast<size_t>(tensor.index);
  int64_t least = std::max<int64_t>(1, most / kUsual);
  if (tensor.role == TensorRole::input && at >= first && at - first < plan.dimensions.size()) {
    const OpenDimension& dimension = plan.dimensions[at - first];
    const auto known = options_.least.find(dimension.name);
    most = dimension.most;
    least = std::max<int64_t>(1, known != options_.least.end() ? known->second : dimension.least);
  }
  return {std::min(least, most), most};
}

Samples VariantFinder::samples_of(const std::vector<int>& extents, const OpenStep& open) const {
  const std::span<const double> places =
      extents.size() > 1 ? std::span<const double>(kPlacesOfTwo) : std::span<const double>(kPlaces);
  Samples samples = {{}};
  for (const int extent : extents) {
    const auto [least, most] = range_of(extent, open);
    std::set<int64_t> values;
    for (const double place : places)
      values.insert(least + std::llround(place * static_cast<double>(most - least)));
    Samples longer;
    for (const std::vector<int64_t>& sample : samples)
      for (const int64_t value : values) {
        longer.push_back(sample);
        longer.back().push_back(value);
      }
    samples = std::move(longer);
  }
  return samples;
}

// Of the same candidate and layouts: those that the program has, and other schedules of theirs.
std::vector<int> VariantFinder::other_columns(int column) {
  if (const auto known = others_.find(column); known != others_.end()) return known->second;
  const auto fits = [&](int other) {
    const Implementation &a = columns_.infos[column].implementation,
                         &b = columns_.infos[other].implementation;
    return a.input_layouts == b.input_layouts && a.output_layouts == b.output_layouts;
  };
  const int candidate = columns_.infos[column].candidate;
  std::vector<int> found;
  std::set<Hash> keys = {columns_.infos[column].key};
  const std::vector<int> listed = by_candidate_[candidate];
  for (const int other : listed)
    if (fits(other) && keys.insert(columns_.infos[other].key).second) found.push_back(other);
  for (const int from : listed) {
    if (!fits(from)) continue;
    for (Implementation& trial :
         rescheduled(graph_, columns_.candidates[candidate], columns_.infos[from].implementation, target_)) {
      const int added = add_column(graph_, from, std::move(trial), columns_);
      if (keys.insert(columns_.infos[added].key).second) found.push_back(added);
    }
  }
  return others_[column] = found;
}

// Nothing where no tile graph describes the kernel.
std::optional<std::vector<PlanSliceLimit>> VariantFinder::limits_of(int column, int number,
                                                                    const OpenStep& open) const {
  const tile::ScheduledGraph* tiles = tiles_of(column);
  if (tiles == nullptr) return std::nullopt;
  std::vector<PlanSliceLimit> limits = plan_limits(*tiles, open.outputs, built_);
  std::erase_if(limits, [&](const PlanSliceLimit& limit) {
    return made_[static_cast<size_t>(limit.tensor)] >= number;
  });
  return limits;
}

std::optional<std::set<std::string>> VariantFinder::sum_orders_of(int column) const {
  const tile::ScheduledGraph* tiles = tiles_of(column);
  if (tiles == nullptr) return std::nullopt;
  return tile::sum_orders(lowered(*tiles, target_));
}

int64_t needed_of(const PlanSliceLimit& limit, int64_t extent) {
  return std::clamp<int64_t>((extent * limit.times + limit.plus) / limit.by, 0, limit.count);
}

// Who does less takes no longer: what was disturbed takes what was measured of more.
void lower_to_more(Trial& trial) {
  const auto is_less = [](const std::vector<NeededSlices>& less, const std::vector<NeededSlices>& more) {
    for (size_t i = 0; i < less.size(); ++i)
      if (less[i].needed > more[i].needed) return false;
    return true;
  };
  const std::vector<double> us = trial.us;
  for (size_t s = 0; s < us.size(); ++s)
    for (size_t more = 0; more < us.size(); ++more)
      if (is_less(trial.needed[s], trial.needed[more])) trial.us[s] = std::min(trial.us[s], us[more]);
}

// Quickly; then again where it may be the best.
void VariantFinder::measure(const std::vector<int>& extents, const Samples& samples,
                            std::vector<Trial>& trials) {
  for (Trial& trial : trials)
    for (const std::vector<int64_t>& sample : samples) {
      std::vector<NeededSlices>& needed = trial.needed.emplace_back();
      for (const PlanSliceLimit& limit : trial.limits) {
        const auto at = std::find(extents.begin(), extents.end(), limit.tensor) - extents.begin();
        if (!is_of_part(limit) || static_cast<size_t>(at) == extents.size()) continue;
        needed.push_back(
            {limit.phase, limit.stride, limit.count, needed_of(limit, sample[static_cast<size_t>(at)])});
      }
    }
  // What disturbs makes longer: of each look the lower quartile, and of two some time apart the lower one.
  const auto look = [&](const Trial& trial, size_t s, Care care) {
    const std::optional<Cost> cost = bank_.measure_part(request_of(trial.column), trial.needed[s], care);
    return cost ? std::max(cost->low_us, kLeast_us) : INFINITY;
  };
  std::vector<double> limit_us;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (Trial& trial : trials) trial.us.push_back(look(trial, s, Care::quick));
    double best = INFINITY;
    for (const Trial& trial : trials) best = std::min(best, trial.us[s]);
    limit_us.push_back(kHopeless * best);
  }
  for (const Care care : {Care::thorough, Care::twice})
    for (size_t s = 0; s < samples.size(); ++s)
      for (Trial& trial : trials)
        if (trial.us[s] <= limit_us[s] && !is_over())
          trial.us[s] = std::min(trial.us[s], look(trial, s, care));
  for (Trial& trial : trials) lower_to_more(trial);
}

int VariantFinder::kernel_of(int column) {
  const Result<BuiltKernel>* built = bank_.find(columns_.infos[column].key);
  KORCH_ASSERT(built != nullptr && built->ok(), "a kernel that was never built");
  const Hash key = built->value().kernel.key();
  for (size_t k = 0; k < built_.plan.kernels.size(); ++k)
    if (built_.plan.kernels[k].key() == key) return static_cast<int>(k);
  built_.plan.kernels.push_back(built->value().kernel);
  built_.objects.push_back(built->value().object);
  built_.specs.push_back(built->value().spec);
  return static_cast<int>(built_.plan.kernels.size()) - 1;
}

// Of the limits on an extent the first: the others follow the same slices in other phases.
rt::NeededShare share_of(const std::vector<PlanSliceLimit>& limits, int extent) {
  for (const PlanSliceLimit& limit : limits)
    if (limit.tensor == extent && is_of_part(limit)) return {limit.times, limit.plus, limit.by, limit.count};
  return {1, 0, 1, 0};
}

// Whether there is a sample of all that lies between the least and the most of each extent.
bool is_complete(const Samples& samples) {
  int64_t all = 1;
  for (size_t e = 0; e < samples[0].size(); ++e) {
    const auto [least, most] = std::minmax_element(samples.begin(), samples.end(),
                                                   [e](const auto& a, const auto& b) { return a[e] < b[e]; });
    all *= (*most)[e] - (*least)[e] + 1;
  }
  return all == static_cast<int64_t>(samples.size());
}

KernelVariant VariantFinder::variant_of(const Trial& trial, const std::vector<int>& extents,
                                        const Samples& samples, const PlanStep& step) {
  KernelVariant variant;
  variant.kernel = kernel_of(trial.column);
  variant.limits = trial.limits;
  variant.implementation = to_string(columns_.infos[trial.column].implementation);
  const Candidate& candidate = columns_.candidates[columns_.infos[trial.column].candidate];
  const std::vector<Packing> packing =
      built_.plan.kernels[static_cast<size_t>(variant.kernel)].constant_packing;
  KORCH_ASSERT(packing.size() == candidate.constants.size() && packing.size() == step.constants.size(),
               "one packing per constant");
  for (size_t i = 0; i < packing.size(); ++i)
    variant.constants.push_back(packed_constant(graph_, candidate.constants[i], packing[i], built_));
  for (const int extent : extents) variant.shares.push_back(share_of(trial.limits, extent));
  std::vector<variants::Measurement> measurements;
  for (size_t s = 0; s < samples.size(); ++s) {
    variants::Measurement& m = measurements.emplace_back();
    m.us = trial.us[s];
    m.x = rt::needed_share(variant.shares[0], samples[s][0]);
    if (extents.size() > 1) m.y = rt::needed_share(variant.shares[1], samples[s][1]);
  }
  const variants::Rational cost = variants::fit(measurements, is_complete(samples));
  variant.over.assign(cost.over.begin(), cost.over.end());
  variant.under.assign(cost.under.begin(), cost.under.end());
  variant.error = cost.error;
  variant.measured_us = trial.us;
  return variant;
}

// The step's own alone where others gain little; those whose constants are packed as its own where others
// gain little more.
std::vector<size_t> VariantFinder::chosen_trials(const std::vector<Trial>& trials) const {
  const auto packing_of = [&](const Trial& trial) -> const std::vector<Packing>& {
    return bank_.find(columns_.infos[trial.column].key)->value().kernel.constant_packing;
  };
  std::vector<size_t> alike;
  std::vector<std::vector<double>> us, us_alike;
  for (size_t w = 0; w < trials.size(); ++w) {
    us.push_back(trials[w].us);
    if (packing_of(trials[w]) != packing_of(trials[0])) continue;
    alike.push_back(w);
    us_alike.push_back(trials[w].us);
  }
  const variants::CoverOptions options{.most = rt::kMostKernelVariants, .free_regret = options_.of_fewer};
  std::vector<size_t> chosen = variants::cover(us_alike, options).chosen;
  for (size_t& trial : chosen) trial = alike[trial];
  const variants::Cover all = variants::cover(us, options);
  if (variants::regret(us, chosen) >= (1 + options_.of_same_packing) * all.regret) chosen = all.chosen;
  return variants::regret(us, {0}) < (1 + options_.of_own) * variants::regret(us, chosen)
             ? std::vector<size_t>{0}
             : chosen;
}

// The step's own first; none where it has no other.
std::vector<Trial> VariantFinder::trials_of(int number, const OpenStep& open) {
  std::vector<Trial> trials = {{open.column, built_.plan.steps[static_cast<size_t>(number)].limits, {}, {}}};
  const std::optional<std::set<std::string>> order = sum_orders_of(open.column);
  for (const int other : other_columns(open.column)) {
    std::optional<std::vector<PlanSliceLimit>> limits = limits_of(other, number, open);
    if (!limits) continue;
    if (exact() && (!order || sum_orders_of(other) != order)) continue;
    trials.push_back({other, std::move(*limits), {}, {}});
  }
  std::vector<KernelRequest> requests;
  for (const Trial& trial : trials) requests.push_back(request_of(trial.column));
  bank_.build(requests);
  std::erase_if(trials, [&](const Trial& trial) {
    if (trial.column == open.column) return false;
    const Result<BuiltKernel>* built = bank_.find(columns_.infos[trial.column].key);
    return !built->ok() || (exact() && !bank_.same_results(requests[0], request_of(trial.column)));
  });
  return trials.size() > 1 ? trials : std::vector<Trial>{};
}

void VariantFinder::add(int number, const OpenStep& open) {
  std::vector<Trial> trials = trials_of(number, open);
  const std::vector<int> extents = extents_of(trials);
  if (extents.empty()) return;
  const Samples samples = samples_of(extents, open);
  if (samples.size() < 2) return;
  PlanStep& step = built_.plan.steps[static_cast<size_t>(number)];
  measure(extents, samples, trials);
  std::erase_if(trials, [](const Trial& trial) {
    return !std::all_of(trial.us.begin(), trial.us.end(), [](double us) { return std::isfinite(us); });
  });
  if (trials.size() < 2 || trials[0].column != open.column) return;
  const std::vector<size_t> chosen = chosen_trials(trials);
  if (chosen.size() < 2) return;
  KernelVariants variants{extents, samples, true, {}};
  for (const size_t trial : chosen) {
    variants.list.push_back(variant_of(trials[trial], extents, samples, step));
    variants.trusted = variants.trusted && variants.list.back().error <= kPoorFit;
  }
  step.variants = std::move(variants);
}

}  // namespace

void add_variants(const Graph& graph, Columns& columns, KernelBank& bank, const Device& target,
                  const VariantOptions& options, BuiltPlan& built) {
  if (options.which != WhichVariants::none) VariantFinder(graph, columns, bank, target, options, built).run();
}

}  // namespace korch
