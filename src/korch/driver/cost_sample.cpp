#include "korch/driver/cost_sample.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/interrupt.h"
#include "korch/search/plan_builder.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

using Keys = std::unordered_set<Hash, HashHasher>;

// What kernels may cost: the middle, and how far around it.
struct Guess {
  std::vector<double> log_us;  // by column
  double spread = 0;
};

// Kernels stay far behind their bounds, each kind in its own way: the spread is wide.
Guess by_bounds(const Columns& columns) {
  Guess guess{{}, 0.7};
  for (const Column& column : columns.problem.columns) guess.log_us.push_back(std::log(column.cost_us));
  return guess;
}

Guess by_model(const Graph& graph, const Columns& columns, KernelBank& bank) {
  Guess guess = by_bounds(columns);
  guess.spread = 0.3;
  std::vector<KernelRequest> requests;
  std::vector<size_t> asked;
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    if (columns.infos[id].kind == ColumnInfo::Kind::view) continue;
    asked.push_back(id);
    requests.push_back(kernel_request(graph, columns, static_cast<int>(id)));
  }
  const std::vector<CostEstimate> estimates = bank.estimates(requests);
  for (size_t i = 0; i < asked.size(); ++i) guess.log_us[asked[i]] += estimates[i].factor;
  return guess;
}

// The columns of the best plan at costs that are drawn for each kernel.
std::vector<int> plan_by_chance(const Columns& columns, const Guess& guess, std::mt19937_64& random) {
  constexpr int kWidth = 4;
  Problem problem = columns.problem;
  std::normal_distribution<double> spread(0, guess.spread);
  std::unordered_map<Hash, double, HashHasher> drawn;
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    if (columns.infos[id].kind == ColumnInfo::Kind::view) continue;
    const auto [more, is_new] = drawn.try_emplace(columns.infos[id].key, 0);
    if (is_new) more->second = spread(random);
    problem.columns[id].cost_us = std::exp(guess.log_us[id] + more->second);
  }
  return Orchestrator(problem).regress({}, kWidth).chosen;
}

// Adds the first column of each of these kernels, while there are fewer than `most`.
void add_new(const Columns& columns, const std::vector<int>& chosen, size_t most, Keys& known,
             std::vector<int>& sample) {
  for (const int id : chosen)
    if (sample.size() < most && columns.infos[id].kind != ColumnInfo::Kind::view &&
        known.insert(columns.infos[id].key).second)
      sample.push_back(columns.infos[id].representative);
}

}  // namespace

void measure_sample(const Graph& graph, const Columns& columns, KernelBank& bank, int kernels,
                    uint64_t seed) {
  constexpr int kPlans = 5;         // of each guess
  constexpr size_t kTogether = 32;  // compiled, then measured
  std::mt19937_64 random(seed);
  Keys known;
  std::vector<int> sample, all(columns.infos.size());
  const auto most = static_cast<size_t>(kernels);
  std::vector<Guess> guesses = {by_bounds(columns)};
  if (bank.has_estimates()) guesses.push_back(by_model(graph, columns, bank));
  for (size_t g = 0; g < guesses.size(); ++g) {
    const size_t enough = most / 2 * (g + 1) / guesses.size();
    for (int i = 0; i < kPlans && sample.size() < enough; ++i)
      add_new(columns, plan_by_chance(columns, guesses[g], random), enough, known, sample);
  }
  for (size_t id = 0; id < all.size(); ++id) all[id] = static_cast<int>(id);
  std::shuffle(all.begin(), all.end(), random);
  add_new(columns, all, most, known, sample);
  for (size_t i = 0; i < sample.size(); i += kTogether) {
    throw_if_interrupted();
    std::vector<KernelRequest> requests;
    for (size_t k = i; k < std::min(i + kTogether, sample.size()); ++k)
      requests.push_back(kernel_request(graph, columns, sample[k]));
    bank.measure(requests, Care::thorough);
  }
  bank.release_memory();
}

}  // namespace korch
