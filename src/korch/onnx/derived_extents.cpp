#include "korch/onnx/derived_extents.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>

#include "korch/base/error.h"
#include "korch/onnx/input_shapes.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

constexpr int64_t kLeastPresumed = 64;             // of the largest extent that is presumed
constexpr int64_t kMostExtent = int64_t{1} << 40;  // as everywhere in the importer
constexpr int64_t kMostFactor = int64_t{1} << 20;  // products with kMostExtent stay in int64

bool is_small(const NamedSum& sum) {
  return std::abs(sum.plus) <= kMostExtent &&
         std::all_of(sum.terms.begin(), sum.terms.end(),
                     [](const auto& term) { return std::abs(term.second) <= kMostExtent; });
}

// sum := product (("+" | "-") product)*; product := factor ("*" factor)*; factor := number | name | "(" sum
// ")".
class NameReader {
 public:
  NameReader(std::string_view text, const std::set<std::string>& dimensions)
      : text_(text), dimensions_(dimensions) {}

  std::optional<NamedSum> whole() {
    std::optional<NamedSum> result = sum();
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  std::optional<NamedSum> sum() {
    std::optional<NamedSum> result = product();
    while (result) {
      const int64_t sign = took('+') ? 1 : took('-') ? -1 : 0;
      if (sign == 0) break;
      const std::optional<NamedSum> next = product();
      if (!next) return std::nullopt;
      result->plus += sign * next->plus;
      for (const auto& [dimension, factor] : next->terms) result->add(dimension, sign * factor);
      if (!is_small(*result)) return std::nullopt;
    }
    return result;
  }

  std::optional<NamedSum> product() {
    std::optional<NamedSum> result = factor();
    while (result && took('*')) {
      std::optional<NamedSum> next = factor();
      if (!next) return std::nullopt;
      if (!next->terms.empty()) std::swap(result, next);
      if (!next->terms.empty()) return std::nullopt;  // of two dimensions
      if (std::abs(next->plus) > kMostFactor) return std::nullopt;
      result->plus *= next->plus;
      for (auto& [dimension, times] : result->terms) times *= next->plus;
      if (!is_small(*result)) return std::nullopt;
    }
    return result;
  }

  std::optional<NamedSum> factor() {
    if (++depth_ > kDeepest) return std::nullopt;
    if (took('(')) {
      std::optional<NamedSum> inner = sum();
      return took(')') ? inner : std::nullopt;
    }
    const size_t from = at_;
    const auto is_part = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    const std::string word(text_.substr(from, at_ - from));
    if (dimensions_.contains(word)) return NamedSum{0, {{word, 1}}};
    NamedSum number;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number.plus);
    const bool is_number = !word.empty() && error == std::errc() && end == word.data() + word.size();
    return is_number && std::abs(number.plus) <= kMostFactor ? std::optional(number) : std::nullopt;
  }

  bool took(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip();
    return true;
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  static constexpr int kDeepest = 16;  // factors

  const std::string_view text_;
  const std::set<std::string>& dimensions_;
  size_t at_ = 0;
  int depth_ = 0;
};

// What the options give, and what they leave out.
struct Dimensions {
  Dimensions(const proto::GraphProto& graph, const ImportOptions& options) {
    std::set<std::string> constants;
    for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) constants.insert(tensor.values().name());
    ImportOptions given = options;
    given.derived = DerivedDimensions();
    InputShapes shapes(graph, constants, given);
    int number = 0;
    for (const auto& input : graph.input())
      if (!constants.contains(input.name()) && input.type().has_tensor_type() &&
          dtype_of(input.type().tensor_type().elem_type()))
        shapes.of(input, number++);
    known = shapes.known();
    unknown.insert(shapes.unknown().begin(), shapes.unknown().end());
  }

  std::map<std::string, InputShapes::Range> known;
  std::set<std::string> unknown;
};

ImportOptions with_presumed(const ImportOptions& options, const Dimensions& dimensions) {
  int64_t sum = 0;
  for (const auto& [name, range] : dimensions.known) sum = std::min(sum + range.most, kMostExtent);
  ImportOptions presumed = options;
  presumed.on_warning = nullptr;
  presumed.derived = DerivedDimensions();
  for (const std::string& name : dimensions.unknown)
    presumed.derived->emplace(name, DerivedDimension{1, std::max(sum, kLeastPresumed)});
  return presumed;
}

std::map<std::string, NamedSum> solved_sums(const ImportOptions& options, const Dimensions& dimensions,
                                            const SolveExtents& solve) {
  std::map<std::string, NamedSum> sums;
  std::vector<OpenDimension> open;
  try {
    open = solve(with_presumed(options, dimensions), dimensions.unknown);
  } catch (const Error& error) {  // the presumed extents may be such as no run has
    if (error.kind() != ErrorKind::invalid && error.kind() != ErrorKind::unsupported &&
        error.kind() != ErrorKind::resource)
      throw;
  }
  for (const std::string& name : dimensions.unknown)
    for (const OpenDimension& dimension : open) {
      if (dimension.name != name || !dimension.sum) continue;
      NamedSum& sum = sums[name];
      sum.plus = dimension.sum->plus;
      for (const auto& [term, factor] : dimension.sum->terms)
        sum.add(open[static_cast<size_t>(term)].name, factor);
    }
  return sums;
}

// With what the names of sums stand for, as far as that is known. Nothing where numbers get as large as no
// extent has them.
std::optional<NamedSum> expanded(const NamedSum& sum, const std::map<std::string, NamedSum>& sums) {
  NamedSum result = sum;
  for (size_t round = 0; round <= sums.size(); ++round) {
    const auto term = std::find_if(result.terms.begin(), result.terms.end(),
                                   [&](const auto& named) { return sums.contains(named.first); });
    if (term == result.terms.end()) break;
    const auto [name, factor] = *term;
    if (std::abs(factor) > kMostFactor || !is_small(sums.at(name))) return std::nullopt;
    result.terms.erase(term);
    result.plus += factor * sums.at(name).plus;
    for (const auto& [inner, times] : sums.at(name).terms) result.add(inner, factor * times);
    if (!is_small(result)) return std::nullopt;
  }
  return result;
}

// Nothing where its extents would be none.
std::optional<DerivedDimension> derived_dimension(const std::string& dimension,
                                                  const std::map<std::string, NamedSum>& sums,
                                                  const Dimensions& dimensions) {
  const std::optional<NamedSum> sum = expanded(sums.at(dimension), sums);
  if (!sum) return std::nullopt;
  DerivedDimension result{sum->plus, sum->plus, sum->plus, {}};
  bool is_known = true;
  for (const auto& [name, factor] : sum->terms) {
    if (factor < 1 || factor > kMostFactor || result.most > kMostExtent) return std::nullopt;
    const auto range = dimensions.known.find(name);
    if (range == dimensions.known.end()) {
      if (!dimensions.unknown.contains(name) || sums.contains(name)) return std::nullopt;
      is_known = false;
      result.terms.emplace_back(name, factor);
      continue;
    }
    const auto [least, most] = range->second;
    result.least += factor * least;
    result.most += factor * most;
    if (least == most)
      result.plus += factor * most;
    else
      result.terms.emplace_back(name, factor);
  }
  if (!is_known) return DerivedDimension{0, -1, result.plus, result.terms};
  if (result.most < 0 || result.most > kMostExtent) return std::nullopt;
  result.least = std::max<int64_t>(result.least, 0);
  return result;
}

}  // namespace

void NamedSum::add(const std::string& dimension, int64_t factor) {
  const auto known =
      std::find_if(terms.begin(), terms.end(), [&](const auto& term) { return term.first == dimension; });
  if (known == terms.end())
    terms.emplace_back(dimension, factor);
  else
    known->second += factor;
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
}

std::optional<NamedSum> sum_of_name(std::string_view name, const std::set<std::string>& dimensions) {
  if (dimensions.contains(std::string(name)) && name.find_first_of("+-*") == std::string_view::npos)
    return std::nullopt;
  std::optional<NamedSum> sum = NameReader(name, dimensions).whole();
  return sum && !sum->terms.empty() ? sum : std::nullopt;
}

DerivedDimensions derived_dimensions(const proto::GraphProto& graph, const ImportOptions& options,
                                     const SolveExtents& solve) {
  const Dimensions dimensions(graph, options);
  if (dimensions.unknown.empty()) return {};
  std::map<std::string, NamedSum> sums = solved_sums(options, dimensions, solve);
  std::set<std::string> names = dimensions.unknown;
  for (const auto& [name, range] : dimensions.known) names.insert(name);
  for (const std::string& name : dimensions.unknown)
    if (const auto sum = sum_of_name(name, names); sum && !sums.contains(name)) sums.emplace(name, *sum);
  DerivedDimensions result;
  for (const auto& [name, sum] : sums)
    if (const auto derived = derived_dimension(name, sums, dimensions)) result.emplace(name, *derived);
  return result;
}

}  // namespace korch::onnx
