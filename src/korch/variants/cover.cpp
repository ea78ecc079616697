#include "korch/variants/cover.h"

#include <algorithm>
#include <cmath>

#include "korch/base/error.h"

namespace korch::variants {
namespace {

using Table = std::vector<std::vector<double>>;

constexpr double kMostCovers = 20000;  // of one size, that are tried one by one
constexpr double kGain = 1e-12;        // of a logarithm: above what rounding makes

// Logarithms of what each variant takes at each sample over the best of all.
Table log_regrets(const Table& us) {
  Table result = us;
  for (size_t s = 0; s < us[0].size(); ++s) {
    double best = INFINITY;
    for (const std::vector<double>& variant : us) best = std::min(best, variant[s]);
    for (size_t v = 0; v < us.size(); ++v) {
      const bool runs = std::isfinite(us[v][s]);
      result[v][s] = runs ? std::min(std::log(us[v][s] / best), std::log(kCannot)) : std::log(kCannot);
    }
  }
  return result;
}

class Coverer {
 public:
  Coverer(const Table& us, bool has_first) : logs_(log_regrets(us)), has_first_(has_first) {}

  double mean(const std::vector<size_t>& variants) const {
    double sum = 0;
    for (size_t s = 0; s < logs_[0].size(); ++s) {
      double least = std::log(kCannot);
      for (size_t v : variants) least = std::min(least, logs_[v][s]);
      sum += least;
    }
    return sum / static_cast<double>(logs_[0].size());
  }

  // Variants one after the other, each that which gains most; no further where nothing is gained.
  std::vector<size_t> greedy(size_t most) const {
    std::vector<size_t> chosen;
    if (has_first_) chosen.push_back(0);
    double now = mean(chosen);
    while (chosen.size() < most) {
      const auto [gain, variant] = best_addition(chosen, now);
      if (gain <= kGain && !chosen.empty()) break;
      chosen.push_back(variant);
      now -= gain;
    }
    return chosen;
  }

  // One for one as long as that gains.
  void exchange(std::vector<size_t>& chosen) const {
    constexpr int kMostRounds = 20;
    double now = mean(chosen);
    bool gains = true;
    for (int round = 0; gains && round < kMostRounds; ++round) {
      gains = false;
      for (size_t i = has_first_ ? 1 : 0; i < chosen.size(); ++i) {
        std::vector<size_t> others = chosen;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const double without = mean(others);
        const auto [gain, variant] = best_addition(others, without);
        if (without - gain >= now - kGain) continue;
        chosen[i] = variant;
        now = without - gain;
        gains = true;
      }
    }
  }

  // The best of this size, by trying all.
  std::vector<size_t> exact(size_t size) const {
    std::vector<size_t> chosen(size), best;
    for (size_t i = 0; i < size; ++i) chosen[i] = i;
    double least = INFINITY;
    for (;;) {
      const double now = mean(chosen);
      if (now < least - kGain) {
        least = now;
        best = chosen;
      }
      size_t i = size;
      while (i > 0 && chosen[i - 1] == logs_.size() - size + i - 1) --i;
      if (i <= (has_first_ ? 1 : 0)) return best;
      ++chosen[i - 1];
      for (; i < size; ++i) chosen[i] = chosen[i - 1] + 1;
    }
  }

  bool few(size_t size) const {
    double count = 1;
    const size_t fixed = has_first_ ? 1 : 0;
    for (size_t i = 0; i + fixed < size; ++i)
      count *= static_cast<double>(logs_.size() - fixed - i) / static_cast<double>(i + 1);
    return count <= kMostCovers;
  }

  // Those first that gain most.
  void order(std::vector<size_t>& chosen) const {
    std::vector<size_t> ordered;
    if (has_first_) ordered.push_back(0);
    while (ordered.size() < chosen.size()) {
      size_t next = logs_.size();
      double least = INFINITY;
      for (size_t v : chosen) {
        if (std::find(ordered.begin(), ordered.end(), v) != ordered.end()) continue;
        ordered.push_back(v);
        if (const double now = mean(ordered); now < least) {
          least = now;
          next = v;
        }
        ordered.pop_back();
      }
      ordered.push_back(next);
    }
    chosen = std::move(ordered);
  }

 private:
  std::pair<double, size_t> best_addition(const std::vector<size_t>& chosen, double now) const {
    std::vector<double> least(logs_[0].size(), std::log(kCannot));
    for (size_t v : chosen)
      for (size_t s = 0; s < least.size(); ++s) least[s] = std::min(least[s], logs_[v][s]);
    double best = INFINITY;
    size_t variant = 0;
    for (size_t v = 0; v < logs_.size(); ++v) {
      double sum = 0;
      for (size_t s = 0; s < least.size(); ++s) sum += std::min(least[s], logs_[v][s]);
      sum /= static_cast<double>(least.size());
      if (sum < best) {
        best = sum;
        variant = v;
      }
    }
    return {now - best, variant};
  }

  const Table logs_;
  const bool has_first_;
};

}  // namespace

double regret(const Table& us, const std::vector<size_t>& variants) {
  return std::exp(Coverer(us, false).mean(variants));
}

Cover cover(const Table& us, const CoverOptions& options) {
  KORCH_ASSERT(!us.empty() && !us[0].empty() && options.most > 0, "a cover of nothing");
  const Coverer coverer(us, options.has_first);
  const size_t most = std::min(options.most, us.size());
  std::vector<size_t> largest = coverer.greedy(most);
  coverer.exchange(largest);
  const double wanted = coverer.mean(largest) + std::log1p(options.free_regret);
  Cover result;
  for (size_t size = 1; size <= largest.size(); ++size) {
    result.optimal = coverer.few(size);
    if (result.optimal) {
      result.chosen = coverer.exact(size);
    } else {
      result.chosen = coverer.greedy(size);
      coverer.exchange(result.chosen);
    }
    if (coverer.mean(result.chosen) <= wanted) break;
  }
  coverer.order(result.chosen);
  result.regret = std::exp(coverer.mean(result.chosen));
  return result;
}

}  // namespace korch::variants
