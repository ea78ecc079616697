// Classical learners but trees (rules_trees.cpp), and what prepares their features and shows their results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/onnx/learners.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

// Of elements with keys or categories.
constexpr int64_t kMaxKeyComparisons = int64_t{1} << 26;

void require_few_comparisons(const Term& x, int64_t keys) {
  const double count = static_cast<double>(element_count(x.shape())) * static_cast<double>(keys);
  if (count > static_cast<double>(kMaxKeyComparisons))
    x.node().unsupported(
        fmt::format("{:.0f} comparisons of elements with keys, more than {}", count, kMaxKeyComparisons));
}

Term logarithm(const Term& x) {
  return apply(Op::Log, {x});
}

// ONNX Runtime's approximation of the normal distribution's inverse, with its constants.
Term probit(const Term& x) {
  const Term y = x * 2.0 - 1.0;
  const Term log = logarithm((1.0 - y) * (y + 1.0));
  const Term v = log * 0.5 + 2 / (3.14159 * 0.147);
  const Term root = sqrt(sqrt(v * v - log * (1 / 0.147)) - v);
  return select(y < 0.0, -root, root) * 1.41421356;
}

// Elements near 0 stay out of it.
Term softmax_but_zero(const Term& scores) {
  const Term most = reduce(Op::ReduceMax, scores, {1});
  const Term counts = number_like(scores, 1e-7) < abs(scores);
  const Term powers = exp(scores - most);
  const Term sum = reduce(Op::ReduceSum, select(counts, powers, 0), {1});
  return select(counts, powers, scores * exp(-most)) / sum;
}

// A sequence of maps, which korch has none of: the tensor that they are made of.
Results zip_map(NodeImport& n) {
  const Operand& x = n.input(0);
  if (x->dtype() != DType::f32 || x->rank() < 1 || x->rank() > 2) n.invalid("needs float32 of rank 1 or 2");
  n.require_known(x, x->rank() - 1, "the number of classes");
  const size_t labels =
      n.ints_attr("classlabels_int64s", {}).size() + n.strings_attr("classlabels_strings", {}).size();
  if (static_cast<int64_t>(labels) != x->shape().back())
    n.invalid(fmt::format("{} labels for {} columns", labels, x->shape().back()));
  n.builder().warn(
      fmt::format("{}: ZipMap makes maps from classes to scores; the result is the tensor of scores, with a "
                  "column for each class in the order of its labels",
                  n.origin()));
  return {x};
}

// [rows, features] times coefficients [results, features], plus what is given of each.
Term linear_scores(NodeImport& n, const Term& x, int64_t results, const std::vector<double>& added) {
  const std::vector<double> coefficients = n.floats_attr("coefficients");
  if (results < 1 || static_cast<int64_t>(coefficients.size()) != results * x.extent(1))
    n.invalid(fmt::format("{} coefficients for {} features and {} results", coefficients.size(), x.extent(1),
                          results));
  const Term weights = constant(n, DType::f32, {results, x.extent(1)}, coefficients);
  const Term product = apply(Op::MatMul, {x, weights}, MatMulAttrs{false, true});
  if (added.empty()) return product;
  if (static_cast<int64_t>(added.size()) != results)
    n.invalid(fmt::format("{} intercepts for {} results", added.size(), results));
  return product + constant(n, DType::f32, {results}, added);
}

Results linear_regressor(NodeImport& n) {
  const Term x = feature_rows(n, false);
  const int64_t targets = n.int_attr("targets", 1);
  const Term scores = linear_scores(n, x, targets, n.floats_attr("intercepts"));
  const ScoreTransform transform = score_transform(n);
  return {targets == 1 ? transformed_single(scores, transform) : transformed(scores, transform)};
}

Results linear_classifier(NodeImport& n) {
  n.ignore("multi_class");
  const Term x = feature_rows(n, false);
  const ClassLabels labels = class_labels(n, "classlabels_ints", "classlabels_strings");
  const std::vector<double> intercepts = n.floats_attr("intercepts");
  const auto classes = static_cast<int64_t>(intercepts.size());
  if (classes < 1) n.invalid("intercepts must not be empty: they tell the number of classes");
  if (classes != labels.count && !(classes == 1 && labels.count == 2))
    n.invalid(fmt::format("{} labels for {} intercepts", labels.count, classes));
  const Term scores = linear_scores(n, x, classes, intercepts);
  const ScoreTransform transform = score_transform(n);
  if (classes > 1) return {chosen_labels(greatest_class(scores), labels), transformed(scores, transform)};
  if (labels.count != 2) n.unsupported("one class alone");
  const Term positive = cast(reshape(number_like(scores, 0) < scores, {scores.extent(0)}), DType::i64);
  return {chosen_labels(positive, labels), both_scores(scores, false, transform)};
}

Results imputer(NodeImport& n) {
  const Term x(n, n.input(0));
  const bool real = is_float(x.dtype());
  std::vector<double> values;
  if (real)
    values = n.floats_attr("imputed_value_floats");
  else
    for (int64_t value : n.ints_attr("imputed_value_int64s", {}))
      values.push_back(static_cast<double>(value));
  for (const char* other :
       {"imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"})
    n.ignore(other);
  const auto count = static_cast<int64_t>(values.size());
  if (x.rank() > 0) n.require_known(x, x.rank() - 1, "the number of features");
  if (x.rank() < 1 || (count != 1 && count != x.shape().back()))
    n.invalid(fmt::format("{} imputed values for {}", count, to_string(x.operand()->type)));
  const Term imputed = real ? constant(n, x.dtype(), {count}, values)
                            : cast(Term(n, n.ints(n.ints_attr("imputed_value_int64s", {}))), x.dtype());
  const double replaced = real ? n.element_attr("replaced_value_float", 0) : 0;
  const Term missing = real && std::isnan(replaced) ? apply(Op::IsNaN, {x})
                       : real                       ? x == number_like(x, replaced)
                              : x == cast(integer(n, n.int_attr("replaced_value_int64", 0)), x.dtype());
  return {select(missing, imputed, x)};
}

Results one_hot_encoder(NodeImport& n) {
  if (n.has("cats_strings")) n.unsupported("cats_strings: strings; give numbers");
  const std::vector<int64_t> categories = n.ints_attr("cats_int64s", {});
  if (categories.empty()) n.invalid("cats_int64s must not be empty");
  const Term x(n, n.input(0));
  require_few_comparisons(x, static_cast<int64_t>(categories.size()));
  if (!n.flag("zeros", true))
    n.builder().warn(fmt::format(
        "{}: a category that is not listed is an error in ONNX (zeros = 0), and has zeros here", n.origin()));
  return {cast(insert_axis(cast(x, DType::i64), x.rank()) == Term(n, n.ints(categories)), DType::f32)};
}

// The keys, or values, of LabelEncoder as numbers.
Term label_numbers(NodeImport& n, const std::string& what) {
  if (n.has((what + "_strings").c_str())) n.unsupported(what + "_strings: strings; encode numbers");
  if (n.has((what + "_tensor").c_str())) {
    const Term tensor(n, n.constant(n.tensor_attr((what + "_tensor").c_str())));
    return reshape(tensor, {element_count(tensor.shape())});
  }
  const std::string ints = what + "_int64s", floats = what + "_floats";
  if (n.has(ints.c_str())) return {n, n.ints(n.ints_attr(ints.c_str(), {}))};
  const std::vector<double> values = n.floats_attr(floats.c_str());
  return constant(n, DType::f32, {static_cast<int64_t>(values.size())}, values);
}

Term default_label(NodeImport& n, DType type) {
  n.ignore("default_string");
  n.ignore("default_int64");
  n.ignore("default_float");
  if (n.has("default_tensor")) return reshape({n, n.constant(n.tensor_attr("default_tensor"))}, {});
  return is_float(type) ? Term(n, type, n.element_attr("default_float", -0.0))
                        : cast(integer(n, n.int_attr("default_int64", -1)), type);
}

void require_different_keys(NodeImport& n, const HostTensor& keys) {
  std::set<double> seen;
  int64_t nans = 0;
  for (int64_t i = 0; i < keys.elements(); ++i) {
    const double key = element_as_double(keys, i);
    if (std::isnan(key) ? ++nans > 1 : !seen.insert(key).second)
      n.unsupported(fmt::format("the key {} twice", key));
  }
}

Results label_encoder(NodeImport& n) {
  if (n.has("classes_strings")) n.unsupported("classes_strings: strings; encode numbers");
  const Term x(n, n.input(0)), keys = label_numbers(n, "keys"), values = label_numbers(n, "values");
  const int64_t count = keys.extent(0);
  if (count < 1 || values.extent(0) != count)
    n.invalid(fmt::format("{} keys for {} values", count, values.extent(0)));
  if (keys.dtype() != x.dtype())
    n.invalid(fmt::format("keys of type {} for elements of type {}", name(keys.dtype()), name(x.dtype())));
  require_different_keys(n, *keys.operand()->constant);
  require_few_comparisons(x, count);
  const Term each = insert_axis(x, x.rank());
  Term same = each == keys;
  if (is_float(x.dtype()) && n.opset() >= 4)
    same = same || (apply(Op::IsNaN, {each}) && apply(Op::IsNaN, {keys}));
  const Term hits = cast(same, DType::i32);
  const Term place = apply(Op::ArgMax, {hits}, ArgReduceAttrs{x.rank(), false, false});
  const Term found = reduce(Op::ReduceMax, hits, {x.rank()}, false) == 1.0;
  const Term value = apply(Op::Gather, {values, place}, AxisAttrs{0});
  return {select(found, value, cast(default_label(n, values.dtype()), values.dtype()))};
}

Results feature_vectorizer(NodeImport& n) {
  const std::vector<int64_t> widths = n.ints_attr("inputdimensions", {});
  const std::vector<Operand> inputs = n.all_inputs();
  if (widths.size() != inputs.size())
    n.invalid(fmt::format("{} inputdimensions for {} inputs", widths.size(), inputs.size()));
  std::vector<Term> parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->rank() == 2) n.require_known(inputs[i], 1, "the number of features");
    if (inputs[i]->rank() != 2 || inputs[i]->shape()[1] != widths[i])
      n.unsupported(fmt::format("input {}, {}, is not [rows, {}] as inputdimensions says", i,
                                to_string(inputs[i]->type), widths[i]));
    parts.push_back(cast(Term(n, inputs[i]), DType::f32));
  }
  return {concat(parts, 1)};
}

}  // namespace

Term feature_rows(NodeImport& n, bool wide) {
  const Term x(n, n.input(0));
  if (x.rank() != 1 && x.rank() != 2) n.invalid("features need rank 1 or 2");
  n.require_known(x, x.rank() - 1, "the number of features");
  const Term real = wide && x.dtype() == DType::f64 ? x : cast(x, DType::f32);
  return x.rank() == 2 ? real : reshape(real, {1, x.extent(0)});
}

ScoreTransform score_transform(NodeImport& n) {
  const std::string word = n.string_attr("post_transform", "NONE");
  for (size_t i = 0; i < std::size(kScoreTransforms); ++i)
    if (word == kScoreTransforms[i]) return static_cast<ScoreTransform>(i);
  n.invalid("post_transform " + quoted_name(word));
}

Term transformed(const Term& scores, ScoreTransform transform) {
  switch (transform) {
    case ScoreTransform::none:
      return scores;
    case ScoreTransform::softmax:
      return softmax(scores, 1);
    case ScoreTransform::logistic:
      return sigmoid(scores);
    case ScoreTransform::softmax_zero:
      return softmax_but_zero(scores);
    case ScoreTransform::probit:
      return probit(scores);
  }
  return scores;
}

Term transformed_single(const Term& score, ScoreTransform transform) {
  return transform == ScoreTransform::probit ? probit(score) : score;
}

Term both_scores(const Term& score, bool opposite, ScoreTransform transform) {
  if (transform == ScoreTransform::probit) score.node().unsupported("PROBIT of one score for two classes");
  if (transform == ScoreTransform::logistic) return sigmoid(concat({-score, score}, 1));
  return concat({opposite ? -score : 1.0 - score, score}, 1);
}

ClassLabels class_labels(NodeImport& n, const char* numbers, const char* strings) {
  ClassLabels labels;
  labels.numbers = n.ints_attr(numbers, {});
  const std::vector<std::string> words = n.strings_attr(strings, {});
  labels.strings = !words.empty();
  if (labels.strings == !labels.numbers.empty()) n.invalid(fmt::format("needs {} or {}", numbers, strings));
  labels.count = static_cast<int64_t>(labels.strings ? words.size() : labels.numbers.size());
  if (labels.strings && n.output_used(0))
    n.unsupported(
        "labels that are strings: take its first output out of the model's outputs and read its scores, or "
        "export the model with integers as labels");
  return labels;
}

Operand chosen_labels(const Term& indices, const ClassLabels& labels) {
  if (labels.strings) return nullptr;
  NodeImport& n = indices.node();
  return apply(Op::Gather, {Term(n, n.ints(labels.numbers)), indices}, AxisAttrs{0});
}

Term greatest_class(const Term& scores) {
  return apply(Op::ArgMax, {scores}, ArgReduceAttrs{1, false, false});
}

std::vector<RuleRow> more_learner_rules() {
  return {
      {"LinearRegressor", linear_regressor},
      {"LinearClassifier", linear_classifier},
      {"Imputer", imputer},
      {"OneHotEncoder", one_hot_encoder},
      {"LabelEncoder", label_encoder, 1, 4},
      {"FeatureVectorizer", feature_vectorizer},
      {"ZipMap", zip_map},
  };
}

}  // namespace korch::onnx
