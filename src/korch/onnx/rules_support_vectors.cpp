// Support vector machines, as ONNX Runtime has them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "korch/onnx/bounded.h"
#include "korch/onnx/learners.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

// What a row has to do with each support vector [vectors, features].
Term support_kernel(NodeImport& n, const Term& x, const Term& vectors, const std::string& kind) {
  std::vector<double> numbers = n.floats_attr("kernel_params");  // gamma, coef0, degree
  if (!numbers.empty() && numbers.size() != 3) n.invalid("kernel_params needs three numbers");
  numbers.resize(3, 0);
  const Term product = apply(Op::MatMul, {x, vectors}, MatMulAttrs{false, true});
  if (kind == "LINEAR") return product;
  if (kind == "POLY") return {n, power(n, product * numbers[0] + numbers[1], numbers[2])};
  if (kind == "SIGMOID") return tanh(product * numbers[0] + numbers[1]);
  const Term apart = insert_axis(x, 1) - insert_axis(vectors, 0);
  return exp(reduce(Op::ReduceSum, apart * apart, {2}, false) * -numbers[0]);
}

Results svm_regressor(NodeImport& n) {
  const Term x = feature_rows(n, false);
  const int64_t supports = n.int_attr("n_supports", 0);
  const std::string kind = n.word_attr("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"});
  const std::vector<double> coefficients = n.floats_attr("coefficients"),
                            vectors = n.floats_attr("support_vectors"), rho = n.floats_attr("rho");
  const int64_t expected = supports > 0 ? supports : x.extent(1);
  if (supports < 0 || static_cast<int64_t>(coefficients.size()) != expected || rho.empty() ||
      static_cast<int64_t>(vectors.size()) != supports * x.extent(1))
    n.invalid(fmt::format("{} support vectors of {} features have {} numbers, {} coefficients and {} offsets",
                          supports, x.extent(1), vectors.size(), coefficients.size(), rho.size()));
  if (supports == 0 && kind != "LINEAR") n.invalid("kernel_type without support vectors");
  const Term weights = constant(n, DType::f32, {expected, 1}, coefficients);
  const Term near =
      supports == 0 ? x
                    : support_kernel(n, x, constant(n, DType::f32, {supports, x.extent(1)}, vectors), kind);
  if (supports == 0) n.ignore("kernel_params");
  const Term sum = matmul(near, weights) + rho[0];
  if (score_transform(n) != ScoreTransform::none) n.unsupported("post_transform");
  if (!n.flag("one_class", false)) return {sum};
  const Term one = number_like(sum, 1);
  return {select(number_like(sum, 0) < sum, one, -1)};
}

// Pairs of classes i < j in order, a machine for each: above 0 it is for class i.
std::vector<std::pair<int64_t, int64_t>> class_pairs(int64_t classes) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) pairs.emplace_back(i, j);
  return pairs;
}

// Each machine's score, [rows, pairs]. Coefficients [classes - 1, vectors]: those of a vector of class i
// beside class j stand in row j - 1 if j is behind i, else in row j.
Term pair_scores(NodeImport& n, const Term& x, const std::vector<int64_t>& per_class,
                 const std::string& kind) {
  const int64_t count = std::accumulate(per_class.begin(), per_class.end(), int64_t{0});
  const auto classes = static_cast<int64_t>(per_class.size());
  const auto pairs = class_pairs(classes);
  const std::vector<double> coefficients = n.floats_attr("coefficients"), rho = n.floats_attr("rho"),
                            vectors = n.floats_attr("support_vectors");
  if (static_cast<int64_t>(coefficients.size()) != (classes - 1) * count || rho.size() < pairs.size() ||
      static_cast<int64_t>(vectors.size()) != count * x.extent(1))
    n.invalid(fmt::format(
        "{} support vectors of {} features for {} classes have {} numbers, {} coefficients and {} "
        "offsets",
        count, x.extent(1), classes, vectors.size(), coefficients.size(), rho.size()));
  std::vector<int64_t> first(per_class.size(), 0);
  std::partial_sum(per_class.begin(), per_class.end() - 1, first.begin() + 1);
  const auto width = static_cast<int64_t>(pairs.size());
  n.require_moderate({DType::f32, {count, width}});
  std::vector<double> weights(static_cast<size_t>(count * width), 0);
  for (int64_t p = 0; p < width; ++p) {
    const auto [i, j] = pairs[static_cast<size_t>(p)];
    for (const auto& [of, row] : {std::pair(i, j - 1), std::pair(j, i)})
      for (int64_t v = first[of]; v < first[of] + per_class[of]; ++v)
        weights[v * width + p] = coefficients[row * count + v];
  }
  const Term near = support_kernel(n, x, constant(n, DType::f32, {count, x.extent(1)}, vectors), kind);
  return matmul(near, constant(n, DType::f32, {count, width}, weights)) +
         constant(n, DType::f32, {width}, {rho.begin(), rho.begin() + width});
}

// The class that most machines are for, the first of several.
Term most_votes(NodeImport& n, const Term& scores, int64_t classes) {
  const auto pairs = class_pairs(classes);
  std::vector<double> above, below;
  for (const auto& [i, j] : pairs)
    for (int64_t c = 0; c < classes; ++c) {
      above.push_back(c == i ? 1 : 0);
      below.push_back(c == j ? 1 : 0);
    }
  const Shape shape = {static_cast<int64_t>(pairs.size()), classes};
  const Term yes = cast(number_like(scores, 0) < scores, DType::f32);
  return greatest_class(matmul(yes, constant(n, DType::f32, shape, above)) +
                        matmul(1.0 - yes, constant(n, DType::f32, shape, below)));
}

// What is likely of each class where machines say how likely it is of two (Wu, Lin and Weng, "Probability
// estimates for multi-class classification by pairwise coupling", section 4): the p with the sum 1 and the
// least sum of (r_ji p_i - r_ij p_j)^2. ONNX Runtime iterates until it is near, within 0.01.
Term coupled(NodeImport& n, const Term& of_pairs, int64_t classes) {
  const Term r = cast(of_pairs, DType::f64);
  const int64_t rows = r.extent(0), size = classes + 1;
  const auto pairs = class_pairs(classes);
  // How likely i is beside j, [rows, 1].
  const auto likely = [&](int64_t i, int64_t j) {
    const auto place =
        std::find(pairs.begin(), pairs.end(), std::pair(std::min(i, j), std::max(i, j))) - pairs.begin();
    const Term first = slice(r, 1, place, 1);
    return i < j ? first : 1.0 - first;
  };
  const Term zero = slice(r, 1, 0, 1) * 0.0, one = zero + 1;
  std::vector<Term> elements;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = 0; j < classes; ++j) {
      Term element = zero;
      for (int64_t k = 0; k < classes && i == j; ++k)
        if (k != i) element = element + likely(k, i) * likely(k, i);
      elements.push_back(i == j ? element : -(likely(j, i) * likely(i, j)));
    }
    elements.push_back(one);
  }
  for (int64_t j = 0; j < classes; ++j) elements.push_back(one);
  elements.push_back(zero);
  Term all = concat(elements, 1);
  Results extents = extents_of(all);
  const Term inverse = inverted(reshape(at_bounds(all), {rows, size, size}));
  const Term result = reshape(slice(slice(inverse, 1, 0, classes), 2, classes, 1), {rows, classes});
  return cast({n, n.bounded(result, extents)}, DType::f32);
}

constexpr int64_t kMaxCoupled = kMaxInverted - 1;

// A machine for each pair of classes.
Results by_pairs(NodeImport& n, const Term& x, const std::vector<int64_t>& per_class,
                 const ClassLabels& labels) {
  const std::string kind = n.word_attr("kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"});
  if (static_cast<int64_t>(per_class.size()) != labels.count)
    n.invalid(fmt::format("vectors_per_class has {} numbers for {} classes", per_class.size(), labels.count));
  n.bounded("vectors_per_class", per_class, 0, kMaxStep);
  const Term scores = pair_scores(n, x, per_class, kind);
  const Operand label = chosen_labels(most_votes(n, scores, labels.count), labels);
  const ScoreTransform transform = score_transform(n);
  const std::vector<double> a = n.floats_attr("prob_a"), b = n.floats_attr("prob_b");
  const int64_t pairs = scores.extent(1);
  if (a.empty() && b.empty())
    return {label, pairs == 1 ? both_scores(scores, transform == ScoreTransform::none, transform)
                              : transformed(scores, transform)};
  if (static_cast<int64_t>(std::min(a.size(), b.size())) < pairs || a.size() != b.size())
    n.invalid(
        fmt::format("{} numbers prob_a and {} prob_b for {} pairs of classes", a.size(), b.size(), pairs));
  if (labels.count > kMaxCoupled)
    n.unsupported(fmt::format("probabilities of {} classes, more than {}", labels.count, kMaxCoupled));
  const auto row = [&](const std::vector<double>& numbers) {
    return constant(n, DType::f32, {pairs}, {numbers.begin(), numbers.begin() + pairs});
  };
  constexpr double kLeast = 1e-7;
  const Term likely = clamp(sigmoid(-(scores * row(a) + row(b))), kLeast, 1 - kLeast);
  return {label, transformed(coupled(n, likely, labels.count), transform)};
}

// Without support vectors: a linear score of each class.
Results by_classes(NodeImport& n, const Term& x, const ClassLabels& labels) {
  n.ignore("kernel_type");
  n.ignore("kernel_params");
  n.ignore("support_vectors");
  const std::vector<double> coefficients = n.floats_attr("coefficients"), rho = n.floats_attr("rho");
  if (static_cast<int64_t>(coefficients.size()) != labels.count * x.extent(1) || rho.empty())
    n.invalid(fmt::format("{} coefficients and {} offsets for {} classes and {} features",
                          coefficients.size(), rho.size(), labels.count, x.extent(1)));
  const Term weights = constant(n, DType::f32, {labels.count, x.extent(1)}, coefficients);
  const Term scores = apply(Op::MatMul, {x, weights}, MatMulAttrs{false, true}) + rho[0];
  Term best = greatest_class(scores);
  const bool has_odds = !n.floats_attr("prob_a").empty();
  n.ignore("prob_b");
  if (labels.count == 2 && !has_odds) {
    const bool all_positive =
        std::all_of(coefficients.begin(), coefficients.end(), [](double value) { return value >= 0; });
    const Term most = reduce(Op::ReduceMax, scores, {1}, false);
    best = select(all_positive ? 0.5 <= most : number_like(most, 0) < most, integer(n, 1), best);
  }
  return {chosen_labels(best, labels), transformed(scores, score_transform(n))};
}

Results svm_classifier(NodeImport& n) {
  const Term x = feature_rows(n, false);
  const ClassLabels labels = class_labels(n, "classlabels_ints", "classlabels_strings");
  if (labels.count < 2) n.unsupported("one class alone");
  const std::vector<int64_t> per_class = n.ints_attr("vectors_per_class", {});
  const bool has_vectors =
      std::any_of(per_class.begin(), per_class.end(), [](int64_t some) { return some != 0; });
  return has_vectors ? by_pairs(n, x, per_class, labels) : by_classes(n, x, labels);
}

}  // namespace

std::vector<RuleRow> support_vector_rules() {
  return {{"SVMRegressor", svm_regressor}, {"SVMClassifier", svm_classifier}};
}

}  // namespace korch::onnx
