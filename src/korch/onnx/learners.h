// What the operators of classical learners have in common.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/rules.h"

namespace korch::onnx {

// The first input as rows [rows, features]; a vector is one row. Floats, doubles that stay so only if `wide`.
Term feature_rows(NodeImport& n, bool wide);

// What is made of scores [rows, several] at the end, as ONNX Runtime has it.
enum class ScoreTransform { none, softmax, logistic, softmax_zero, probit };
constexpr const char* kScoreTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
ScoreTransform score_transform(NodeImport& n);  // the attribute post_transform
Term transformed(const Term& scores, ScoreTransform transform);
// Of one score per row, which ONNX Runtime leaves as it is but for PROBIT.
Term transformed_single(const Term& score, ScoreTransform transform);
// Two scores of one, [rows, 1], that of the other class before it: opposite numbers, or such as add up to 1,
// as those of LOGISTIC always do.
Term both_scores(const Term& score, bool opposite, ScoreTransform transform);

// The labels of classes.
struct ClassLabels {
  std::vector<int64_t> numbers;
  int64_t count = 0;
  bool strings = false;
};
ClassLabels class_labels(NodeImport& n, const char* numbers, const char* strings);
// Those that indices [rows] name; null where they are strings and nothing reads them.
Operand chosen_labels(const Term& indices, const ClassLabels& labels);
Term greatest_class(const Term& scores);  // [rows]

}  // namespace korch::onnx
