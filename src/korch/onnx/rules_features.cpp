// Features as classical learners take them: n-grams counted, values scaled, thresholds.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Of elements of windows with elements of n-grams: every window meets every n-gram, since which of them it is
// is known to the data alone.
constexpr int64_t kMaxComparisons = int64_t{1} << 26;

// The n-grams of one length, one after the other.
struct Grams {
  int64_t length;
  std::vector<int64_t> tokens;
  int64_t count() const { return static_cast<int64_t>(tokens.size()) / length; }
  std::vector<int64_t> tokens_at(int64_t place) const {  // of each n-gram
    std::vector<int64_t> result;
    for (int64_t gram = 0; gram < count(); ++gram) result.push_back(tokens[gram * length + place]);
    return result;
  }
};

void require_different(NodeImport& n, const Grams& grams) {
  std::set<std::vector<int64_t>> seen;
  for (auto gram = grams.tokens.begin(); gram != grams.tokens.end(); gram += grams.length)
    if (!seen.emplace(gram, gram + grams.length).second)
      n.invalid(fmt::format("pool_int64s holds the {}-gram {} twice", grams.length,
                            to_string(Shape(gram, gram + grams.length))));
}

// The pool by length, from 1 on.
std::vector<Grams> read_pool(NodeImport& n) {
  if (n.has("pool_strings")) n.unsupported("pool_strings: strings; look them up before, and give numbers");
  const std::vector<int64_t> pool = n.ints_attr("pool_int64s", {}), begins = n.ints_attr("ngram_counts", {});
  const auto size = static_cast<int64_t>(pool.size());
  if (pool.empty() || begins.empty()) n.invalid("pool_int64s and ngram_counts must not be empty");
  n.bounded("ngram_counts", begins, 0, size);
  if (begins[0] != 0 || !std::is_sorted(begins.begin(), begins.end()))
    n.invalid("ngram_counts must begin with 0 and not decrease");
  std::vector<Grams> result;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    Grams grams{static_cast<int64_t>(i) + 1, {pool.begin() + begins[i], pool.begin() + end}};
    if (end - begins[i] != grams.count() * grams.length)
      n.invalid(fmt::format("{} elements of pool_int64s are no whole number of {}-grams", end - begins[i],
                            grams.length));
    require_different(n, grams);
    result.push_back(std::move(grams));
  }
  return result;
}

// Where windows of a length begin in a row, and how far apart their elements lie: up to so many are skipped
// between them. Windows of one element are the same however many are.
struct SkippingWindow {
  int64_t begin, distance;
};
std::vector<SkippingWindow> windows_of(int64_t row, int64_t length, int64_t max_skipped) {
  std::vector<SkippingWindow> result;
  for (int64_t distance = 1; distance <= (length == 1 ? 1 : max_skipped + 1); ++distance) {
    const int64_t count = row - (length - 1) * distance;
    if (count <= 0) break;
    for (int64_t begin = 0; begin < count; ++begin) result.push_back({begin, distance});
  }
  return result;
}

// How many there are: windows_of would make them.
int64_t window_count(int64_t row, int64_t length, int64_t max_skipped) {
  if (length == 1) return row;
  const int64_t distances = std::min(max_skipped + 1, (row - 1) / (length - 1));
  return distances * row - (length - 1) * (distances * (distances + 1) / 2);
}

// How often each n-gram is in each row of x [rows, elements], [rows, n-grams].
Term counted(const Term& x, const Grams& grams, int64_t max_skipped) {
  NodeImport& n = x.node();
  const std::vector<SkippingWindow> windows = windows_of(x.extent(1), grams.length, max_skipped);
  if (windows.empty()) return expand(Term(n, DType::i32, 0), {x.extent(0), grams.count()});
  std::optional<Term> same;
  for (int64_t place = 0; place < grams.length; ++place) {
    std::vector<int64_t> places;
    for (const SkippingWindow& window : windows) places.push_back(window.begin + place * window.distance);
    const Term elements = apply(Op::Gather, {x, Term(n, n.ints(places))}, AxisAttrs{1});
    const Term equal = insert_axis(elements, 2) == Term(n, n.ints(grams.tokens_at(place)));
    same = same ? *same && equal : equal;
  }
  return reduce(Op::ReduceSum, cast(*same, DType::i32), {1}, false);
}

// Which of `count` n-grams each place of the result holds, [places, most of one]; `count` itself: none.
HostTensor grams_of_places(NodeImport& n, const std::vector<int64_t>& place_of) {
  const auto count = static_cast<int64_t>(place_of.size());
  const int64_t places = *std::max_element(place_of.begin(), place_of.end()) + 1;
  std::vector<int64_t> filled(static_cast<size_t>(places), 0);
  for (int64_t place : place_of) ++filled[place];
  const int64_t most = *std::max_element(filled.begin(), filled.end());
  n.require_moderate({DType::i64, {places, most}});
  std::vector<int64_t> result(static_cast<size_t>(places * most), count);
  for (int64_t gram = count - 1; gram >= 0; --gram)
    result[place_of[gram] * most + --filled[place_of[gram]]] = gram;
  return HostTensor::of<int64_t>(DType::i64, {places, most}, result);
}

// Each at most once in IDF; times its weight in both but TF.
Term weighted(const Term& counts, const std::string& mode, const std::vector<double>& weights) {
  const Term real = cast(mode == "IDF" ? min(counts, number_like(counts, 1)) : counts, DType::f32);
  if (mode == "TF" || weights.empty()) return real;
  const auto count = static_cast<int64_t>(weights.size());
  return real * constant(counts.node(), DType::f32, {count}, weights);
}

struct Vectorizer {
  std::string mode;
  std::vector<Grams> pool;
  std::vector<int64_t> place_of;  // of each n-gram in the result
  std::vector<double> weights;    // of each n-gram, or none
  int64_t shortest, longest, max_skipped;
  bool counts(const Grams& grams) const {
    return shortest <= grams.length && grams.length <= longest && !grams.tokens.empty();
  }
};

Vectorizer read_vectorizer(NodeImport& n) {
  Vectorizer v{n.string_attr("mode", ""),        read_pool(n),
               n.ints_attr("ngram_indexes", {}), n.floats_attr("weights"),
               n.int_attr("min_gram_length"),    n.int_attr("max_gram_length"),
               n.int_attr("max_skip_count")};
  if (v.mode != "TF" && v.mode != "IDF" && v.mode != "TFIDF") n.invalid("mode " + quoted_name(v.mode));
  n.bounded("max_gram_length", {v.longest}, 1, static_cast<int64_t>(v.pool.size()));
  n.bounded("min_gram_length", {v.shortest}, 1, v.longest);
  n.bounded("max_skip_count", {v.max_skipped}, 0, kMaxStep);
  size_t count = 0;
  for (const Grams& grams : v.pool) count += static_cast<size_t>(grams.count());
  if (v.place_of.size() != count)
    n.invalid(fmt::format("{} ngram_indexes for {} n-grams", v.place_of.size(), count));
  if (!v.weights.empty() && v.weights.size() != count)
    n.invalid(fmt::format("{} weights for {} n-grams", v.weights.size(), count));
  n.bounded("ngram_indexes", v.place_of, 0, kMaxComparisons - 1);
  return v;
}

void require_moderate(NodeImport& n, const Vectorizer& v, int64_t rows, int64_t row) {
  double work = 0;
  for (const Grams& grams : v.pool)
    if (v.counts(grams))
      work += static_cast<double>(window_count(row, grams.length, v.max_skipped)) *
              static_cast<double>(std::max<int64_t>(rows, 1)) * static_cast<double>(grams.tokens.size());
  if (work > kMaxComparisons)
    n.unsupported(fmt::format("{:.0f} comparisons of elements with those of n-grams, more than {}", work,
                              kMaxComparisons));
}

// The weights are the n-grams', as the specification and ONNX Runtime have it; in ONNX's reference they are
// those of the places, which differ where ngram_indexes are not 0, 1, 2, ...
Results tf_idf_vectorizer(NodeImport& n) {
  const Term given(n, n.input(0));
  const Vectorizer v = read_vectorizer(n);
  if (given.rank() != 1 && given.rank() != 2) n.invalid("data need rank 1 or 2");
  if (given.dtype() != DType::i32 && given.dtype() != DType::i64) n.invalid("data must be int32 or int64");
  n.require_known(given, given.rank() - 1, "the number of elements of a row");
  const int64_t row = given.shape().back(), rows = given.rank() == 1 ? 1 : given.extent(0);
  n.bounded("extent", {row, rows}, 0, kMaxOffset);
  require_moderate(n, v, rows, row);
  const Term x = reshape(cast(at_bounds(given), DType::i64), {rows, row});
  std::vector<Term> counts;
  for (const Grams& grams : v.pool)
    counts.push_back(v.counts(grams) ? counted(x, grams, v.max_skipped)
                                     : expand(Term(n, DType::i32, 0), {rows, grams.count()}));
  const HostTensor grams = grams_of_places(n, v.place_of);
  const int64_t places = grams.shape()[0];
  if (grams.shape()[1] > 1 && v.mode == "IDF")
    n.unsupported("IDF where several n-grams have one place: which one's weight counts is not said");
  // Behind the last n-gram, for places that have none: 0.
  const Term columns = pad(weighted(concat(counts, 1), v.mode, v.weights), 1, 0, 1, 0);
  const Term chosen = apply(Op::Gather, {columns, Term(n, n.constant(grams))}, AxisAttrs{1});
  const Term y = reduce(Op::ReduceSum, chosen, {2}, false);
  if (given.rank() == 1) return {reshape(y, {places})};
  return {n.bounded(reshape(y, {rows, places}), {extent_of(given, 0), nullptr})};
}

// Of the elements of the last axis those that the indices name; a vector is one row.
Results array_feature_extractor(NodeImport& n) {
  const Term x(n, n.input(0)), indices(n, n.input(1));
  if (x.rank() == 0) n.invalid("data need rank 1 or more");
  const int64_t count = element_count(indices.shape());
  const Term chosen = apply(Op::Gather, {x, reshape(indices, {count})}, AxisAttrs{x.rank() - 1});
  return {x.rank() == 1 ? reshape(chosen, {1, count}) : chosen};
}

// Integers and the threshold meet as float64, as in ONNX's reference.
Results binarizer(NodeImport& n) {
  const Term x(n, n.input(0)), real = is_float(x.dtype()) ? x : cast(x, DType::f64);
  return {cast(number_like(real, n.float_attr("threshold", 0)) < real, x.dtype())};
}

// What the learners' operators compute in: their results are float32, whatever comes in.
Term learned_from(const Term& x) {
  return x.dtype() == DType::f64 ? x : cast(x, DType::f32);
}

Results scaler(NodeImport& n) {
  const Term x(n, n.input(0));
  const std::vector<double> scale = n.floats_attr("scale"), offset = n.floats_attr("offset");
  const auto count = static_cast<int64_t>(scale.size());
  const bool fits = count == 1 || (x.rank() > 0 && x.shape().back() == count);
  if (scale.size() != offset.size() || !fits)
    n.invalid(fmt::format("{} scales and {} offsets for {}", scale.size(), offset.size(),
                          to_string(x.operand()->type)));
  const Term real = learned_from(x);
  const auto of_features = [&](const std::vector<double>& values) {
    return count == 1 ? number_like(real, values[0]) : constant(n, real.dtype(), {count}, values);
  };
  return {cast((real - of_features(offset)) * of_features(scale), DType::f32)};
}

// Row by row; one whose divisor is 0 stays. MAX is the greatest element, as specified, and not the greatest
// magnitude; L1 takes magnitudes, as ONNX Runtime does.
Results normalizer(NodeImport& n) {
  const std::string norm = n.word_attr("norm", {"MAX", "L1", "L2"});
  const Term given(n, n.input(0)), x = learned_from(given);
  if (x.rank() != 1 && x.rank() != 2) n.invalid("data need rank 1 or 2");
  const std::vector<int64_t> row{x.rank() - 1};
  if (element_count(x.shape()) == 0) return {cast(x, DType::f32)};
  const Term divisor = norm == "MAX"  ? reduce(Op::ReduceMax, x, row)
                       : norm == "L1" ? reduce(Op::ReduceL1, x, row)
                                      : reduce(Op::ReduceL2, x, row);
  return {cast(x / select(divisor == 0.0, 1, divisor), DType::f32)};
}

}  // namespace

std::vector<RuleRow> feature_rules() {
  return {{"TfIdfVectorizer", tf_idf_vectorizer, 9, 9}};
}

std::vector<RuleRow> learner_rules() {
  return {
      {"ArrayFeatureExtractor", array_feature_extractor},
      {"Binarizer", binarizer},
      {"Scaler", scaler},
      {"Normalizer", normalizer},
  };
}

}  // namespace korch::onnx
