#include "korch/onnx/extent_equations.h"

#include <fmt/format.h>

#include <map>
#include <random>
#include <utility>

#include "korch/interp/known_values.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {

int64_t ExtentEquations::Linear::of(const std::vector<int64_t>& extents) const {
  int64_t sum = plus;
  for (size_t d = 0; d < extents.size(); ++d) sum += factors[d] * extents[d];
  return sum;
}

void ExtentEquations::Linear::replace(size_t dimension, const ExtentSum& sum) {
  const int64_t factor = std::exchange(factors[dimension], 0);
  plus += factor * sum.plus;
  for (const auto& [term, times] : sum.terms) factors[static_cast<size_t>(term)] += factor * times;
}

ExtentEquations::ExtentEquations(const Graph& graph, std::vector<bool> sought)
    : graph_(graph), sought_(std::move(sought)), open_(graph.open_dimensions()) {
  sought_.resize(open_.size());
  for (size_t d = 0; d < open_.size(); ++d) inputs_.push_back(graph.extent_input(d));
}

void ExtentEquations::add(ValueId a, ValueId b) {
  const std::optional<Linear> difference = open_difference(a, b);
  if (difference && !solve(*difference, true)) solve(*difference, false);
}

void ExtentEquations::add_sought(ValueId a, ValueId b) {
  if (const std::optional<Linear> difference = open_difference(a, b)) solve(*difference, true);
}

// Of dimensions without sums.
std::optional<ExtentEquations::Linear> ExtentEquations::open_difference(ValueId a, ValueId b) const {
  std::optional<Linear> difference = difference_of(a, b);
  for (size_t d = 0; difference && d < open_.size(); ++d)
    if (open_[d].sum) difference->replace(d, *open_[d].sum);
  return difference;
}

// For one of the dimensions that are sought, or that are not, the last one first.
bool ExtentEquations::solve(const Linear& difference, bool sought) {
  for (size_t d = open_.size(); d-- > 0;)
    if (sought_[d] == sought && solve_for(d, difference)) return true;
  return false;
}

std::vector<OpenDimension> ExtentEquations::take(std::vector<std::string>* warnings) {
  std::vector<std::string> names;
  std::vector<int64_t> leasts, mosts;
  for (const OpenDimension& dimension : open_) {
    names.push_back(dimension.name);
    leasts.push_back(dimension.least);
    mosts.push_back(dimension.most);
  }
  for (const OpenDimension& dimension : open_) {
    if (!dimension.sum) continue;
    const int64_t least = dimension.sum->of(leasts), most = dimension.sum->of(mosts);
    if (least == dimension.least && most == dimension.most) continue;
    warnings->push_back(
        fmt::format("the network fits together only where {0} is {1}, {2}..{3}, but its range is {4}..{5}: "
                    "runs in which it "
                    "is not are refused",
                    quoted_name(dimension.name), to_string(*dimension.sum, names), least, most,
                    dimension.least, dimension.most));
  }
  return std::move(open_);
}

std::optional<int64_t> ExtentEquations::difference_at(ValueId a_value, ValueId b_value,
                                                      const std::vector<int64_t>& extents) const {
  std::map<ValueId, int64_t> known;
  for (size_t d = 0; d < extents.size(); ++d) known.emplace(inputs_[d], extents[d]);
  KnownValues at(graph_, known);
  const auto a = at.number(a_value), b = at.number(b_value);
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

// Where it is linear: as each dimension makes it grow by one, and all of them wherever tried.
std::optional<ExtentEquations::Linear> ExtentEquations::difference_of(ValueId a, ValueId b) const {
  constexpr int kTried = 32;
  std::vector<int64_t> at;
  for (const OpenDimension& dimension : open_) at.push_back(dimension.least);
  const std::optional<int64_t> first = difference_at(a, b, at);
  if (!first) return std::nullopt;
  Linear linear{{}, *first};
  for (size_t d = 0; d < open_.size(); ++d) {
    ++at[d];
    const std::optional<int64_t> next = difference_at(a, b, at);
    --at[d];
    if (!next) return std::nullopt;
    linear.factors.push_back(*next - *first);
    linear.plus -= linear.factors.back() * at[d];
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < kTried; ++i) {
    for (size_t d = 0; d < open_.size(); ++d) {
      const auto range = static_cast<uint64_t>(open_[d].most - open_[d].least + 1);
      at[d] = i == 0 ? open_[d].most : open_[d].least + static_cast<int64_t>(random() % range);
    }
    if (difference_at(a, b, at) != linear.of(at)) return std::nullopt;
  }
  return linear;
}

// False where what makes the difference 0 is no sum of the other dimensions' multiples.
bool ExtentEquations::solve_for(size_t d, const Linear& difference) {
  const int64_t factor = difference.factors[d];
  if (factor != 1 && factor != -1) return false;
  ExtentSum sum{-difference.plus * factor, {}};
  for (size_t other = 0; other < open_.size(); ++other) {
    const int64_t times = -difference.factors[other] * factor;
    if (other == d || times == 0) continue;
    if (times < 0) return false;
    sum.terms.push_back({static_cast<int>(other), times});
  }
  if (sum.terms.empty() && !sought_[d]) return false;
  for (OpenDimension& dimension : open_) replace_in(dimension.sum, d, sum);
  open_[d].sum = std::move(sum);
  return true;
}

void ExtentEquations::replace_in(std::optional<ExtentSum>& known, size_t d, const ExtentSum& sum) const {
  if (!known) return;
  Linear linear{std::vector<int64_t>(open_.size(), 0), known->plus};
  for (const auto& [term, factor] : known->terms) linear.factors[static_cast<size_t>(term)] = factor;
  linear.replace(d, sum);
  known->plus = linear.plus;
  known->terms.clear();
  for (size_t other = 0; other < open_.size(); ++other)
    if (linear.factors[other] != 0) known->terms.push_back({static_cast<int>(other), linear.factors[other]});
}

}  // namespace korch::onnx
