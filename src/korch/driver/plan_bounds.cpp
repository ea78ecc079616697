#include "korch/driver/plan_bounds.h"

#include <algorithm>
#include <limits>
#include <set>

namespace korch {
namespace {

using Extents = std::vector<int64_t>;

// Rows of a register tile: a plan for more computes whole ones.
constexpr int64_t kTile = 12;
// Slices beyond an extent are left out, but loops inside slices run up to the bound: between both, an extent
// counts as rounded up to a part of the bound. Of a cache (it may be empty) only loops grow, of images and
// tokens (there may be one) most of all slices; of sequences and images, each has slices of its own.
constexpr int64_t kParts = 2, kPartsOfCache = 1, kPartsOfMany = 16;
// Bounds that are looked at along a dimension.
constexpr size_t kMostLevels = 24;

// Whether its inputs have another open axis inside of each place of this one: sequences, images.
bool has_others_inside(const OpenDimension& dimension, const std::vector<OpenDimension>& all) {
  return std::ranges::all_of(dimension.axes, [&](const OpenDimension::Axis& axis) {
    return std::ranges::any_of(all, [&](const OpenDimension& other) {
      return std::ranges::any_of(other.axes, [&](const OpenDimension::Axis& inner) {
        return inner.input == axis.input && axis.axis == 0 && inner.axis > 0;
      });
    });
  });
}

// What a plan computes of a dimension.
int64_t computed(const OpenDimension& dimension, int64_t bound, int64_t extent) {
  const int64_t parts = dimension.least == 0 ? kPartsOfCache : dimension.least == 1 ? kPartsOfMany : kParts;
  const int64_t granule = std::max({std::min(kTile, bound), (bound + parts - 1) / parts, int64_t{1}});
  return std::min(bound, (std::max(extent, int64_t{1}) + granule - 1) / granule * granule);
}

// Descending; at most kMostLevels, evenly among them.
std::vector<int64_t> levels_along(const OpenDimension& dimension, size_t d,
                                  const std::vector<LikelyRun>& runs) {
  std::set<int64_t, std::greater<>> levels;
  for (const int64_t level : extent_levels(dimension)) levels.insert(level);
  if (!dimension.sum)
    for (const LikelyRun& run : runs) levels.insert(run.extents[d]);
  std::vector<int64_t> all(levels.begin(), levels.end());
  if (all.size() <= kMostLevels) return all;
  std::vector<int64_t> some;
  for (size_t i = 0; i < kMostLevels; ++i) some.push_back(all[i * (all.size() - 1) / (kMostLevels - 1)]);
  return some;
}

class BoundsChooser {
 public:
  BoundsChooser(const std::vector<OpenDimension>& dimensions, const std::vector<LikelyRun>& runs,
                const TimeOf& time_of, double least_saved)
      : dimensions_(dimensions), runs_(runs), time_of_(time_of), least_saved_(least_saved) {
    for (const LikelyRun& run : runs_) alone_.push_back(std::max(time_of_(run.extents), 1e-9));
    costs_.assign(runs_.size(), std::numeric_limits<double>::infinity());
    for (const OpenDimension& dimension : dimensions)
      are_apart_.push_back(!dimension.axes.empty() && has_others_inside(dimension, dimensions));
  }

  std::vector<Extents> choose() {
    const std::vector<Extents> all = candidates();
    take(all[0]);
    while (chosen_.size() < kMostPlans) {
      double most = least_saved_ * sum();
      const Extents* best = nullptr;
      for (const Extents& plan : all)
        if (const double saved = saving(plan); saved > most) {
          most = saved;
          best = &plan;
        }
      if (best == nullptr) break;
      take(*best);
    }
    return chosen_;
  }

 private:
  // All levels of all dimensions together, the largest first; of many dimensions each one's alone.
  std::vector<Extents> candidates() const {
    constexpr double kMost = 4096;
    std::vector<std::vector<int64_t>> levels;
    double count = 1;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      levels.push_back(levels_along(dimensions_[d], d, runs_));
      count *= static_cast<double>(levels.back().size());
    }
    std::vector<Extents> all = {{}};
    if (count > kMost) {
      for (const auto& of_one : levels) all[0].push_back(of_one[0]);
      for (size_t d = 0; d < levels.size(); ++d)
        for (size_t l = 1; l < levels[d].size(); ++l) {
          all.push_back(all[0]);
          all.back()[d] = levels[d][l];
        }
      for (const LikelyRun& run : runs_) all.push_back(run.extents);
      if (all.size() > static_cast<size_t>(kMost)) all.resize(static_cast<size_t>(kMost));
    } else {
      for (const auto& of_one : levels) {
        std::vector<Extents> longer;
        for (const int64_t level : of_one)
          for (Extents shorter : all) {
            shorter.push_back(level);
            longer.push_back(std::move(shorter));
          }
        all = std::move(longer);
      }
    }
    for (Extents& plan : all)
      for (size_t d = 0; d < plan.size(); ++d)
        if (const auto& sum = dimensions_[d].sum; sum && &plan != &all[0])
          plan[d] = std::clamp(sum->of(plan), dimensions_[d].least, dimensions_[d].most);
    return all;
  }

  // Of a run by a plan, over that of a plan for it alone.
  double cost(const Extents& plan, size_t r) const {
    Extents extents = runs_[r].extents;
    for (size_t d = 0; d < plan.size(); ++d) {
      if (extents[d] > plan[d]) return std::numeric_limits<double>::infinity();
      if (!are_apart_[d]) extents[d] = computed(dimensions_[d], plan[d], extents[d]);
    }
    return time_of_(extents) / alone_[r];
  }

  double sum() const {
    double all = 0;
    for (size_t r = 0; r < runs_.size(); ++r) all += runs_[r].weight * costs_[r];
    return all;
  }

  double saving(const Extents& plan) const {
    double saved = 0;
    for (size_t r = 0; r < runs_.size(); ++r)
      saved += runs_[r].weight * std::max(0.0, costs_[r] - cost(plan, r));
    return saved;
  }

  void take(const Extents& plan) {
    chosen_.push_back(plan);
    for (size_t r = 0; r < runs_.size(); ++r) costs_[r] = std::min(costs_[r], cost(plan, r));
  }

  const std::vector<OpenDimension>& dimensions_;
  const std::vector<LikelyRun>& runs_;
  const TimeOf& time_of_;
  const double least_saved_;
  std::vector<bool> are_apart_;        // dimensions of which each place has slices of its own
  std::vector<double> alone_, costs_;  // of each run: planned alone; by the best plan so far, over that
  std::vector<Extents> chosen_;
};

}  // namespace

std::vector<PlanBounds> plan_bounds(const std::vector<OpenDimension>& dimensions,
                                    const std::vector<LikelyRun>& runs, const TimeOf& time_of,
                                    double least_saved) {
  std::vector<PlanBounds> result;
  for (const Extents& plan : BoundsChooser(dimensions, runs, time_of, least_saved).choose()) {
    result.emplace_back();
    for (size_t d = 0; d < dimensions.size(); ++d) result.back()[dimensions[d].name] = plan[d];
  }
  return result;
}

PlanBounds plan_leasts(const PlanBounds& plan, const std::vector<PlanBounds>& all,
                       const std::vector<OpenDimension>& dimensions, const TimeOf& time_of) {
  const auto time = [&](const PlanBounds& bounds) {
    Extents extents;
    for (const OpenDimension& dimension : dimensions) extents.push_back(bounds.at(dimension.name));
    return time_of(extents);
  };
  PlanBounds leasts;
  for (const OpenDimension& dimension : dimensions) {
    int64_t& least = leasts[dimension.name] = dimension.least;
    for (const PlanBounds& other : all) {
      const bool is_smaller = other.at(dimension.name) < plan.at(dimension.name);
      const bool else_enough = std::all_of(plan.begin(), plan.end(), [&](const auto& bound) {
        return bound.first == dimension.name || other.at(bound.first) >= bound.second;
      });
      if (is_smaller && else_enough && time(other) < time(plan))
        least = std::max(least, other.at(dimension.name) + 1);
    }
  }
  return leasts;
}

}  // namespace korch
