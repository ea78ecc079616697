// Losses of classifiers.
#include <fmt/format.h>

#include <numeric>

#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// -weight[t] log p[n, t, ...] of the targets t [n, ...], where t is not to be ignored; none, their sum, or
// the mean with these weights.
Term likelihood_loss(NodeImport& n, const Term& log_p, const Term& target) {
  const std::string reduction = n.word_attr("reduction", {"mean", "none", "sum"});
  Shape expected = log_p.shape();
  if (log_p.rank() >= 2) expected.erase(expected.begin() + 1);
  if (log_p.rank() < 2 || target.shape() != expected)
    n.invalid(fmt::format("targets {} do not name a class of each of {}", to_string(target.operand()->type),
                          to_string(log_p.operand()->type)));
  std::optional<Term> ignored, weights;
  if (n.has("ignore_index")) ignored = target == static_cast<double>(n.int_attr("ignore_index"));
  const Term classes = ignored ? select(*ignored, 0, target) : target;
  Term loss = -reshape(gather_elements(log_p, insert_axis(classes, 1), 1), expected);
  if (n.has_input(2)) weights = apply(Op::Gather, {widened({n, n.input(2)}), classes}, AxisAttrs{0});
  if (ignored) {
    weights = select(*ignored, 0, weights ? *weights : number_like(loss, 1));
    loss = select(*ignored, 0, loss);
  }
  if (weights) loss = loss * *weights;
  for (int64_t axis = 0; axis < target.rank(); ++axis)
    n.builder().note_meeting(n.length(log_p, axis == 0 ? 0 : axis + 1), n.length(target, axis), n.origin(),
                             {loss});
  if (reduction == "none") return loss;
  std::vector<int64_t> all(expected.size());
  std::iota(all.begin(), all.end(), 0);
  if (reduction == "sum") return reduce(Op::ReduceSum, loss, all, false);
  if (!weights) return reduce(Op::ReduceMean, loss, all, false);
  return reduce(Op::ReduceSum, loss, all, false) / reduce(Op::ReduceSum, *weights, all, false);
}

Results negative_log_likelihood_loss(NodeImport& n) {
  const Term loss = likelihood_loss(n, widened({n, n.input(0)}), {n, n.input(1)});
  return {cast(loss, n.input(0)->dtype())};
}

Results softmax_cross_entropy_loss(NodeImport& n) {
  if (n.input(0)->rank() < 2) n.invalid("scores have no axis of classes");
  const Term log_p = apply(Op::LogSoftmax, {widened({n, n.input(0)})}, AxisAttrs{1});
  const Term loss = likelihood_loss(n, log_p, {n, n.input(1)});
  return {cast(loss, n.input(0)->dtype()), cast(log_p, n.input(0)->dtype())};
}

}  // namespace

std::vector<RuleRow> loss_rules() {
  return {
      {"NegativeLogLikelihoodLoss", negative_log_likelihood_loss, 12, 22},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss, 12, 13},
  };
}

}  // namespace korch::onnx
