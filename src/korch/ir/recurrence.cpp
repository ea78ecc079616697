#include "korch/ir/recurrence.h"

#include <sstream>

namespace korch {

std::optional<RecurrenceOperands> recurrence_operands(const RecurrenceAttrs& attrs) {
  RecurrenceOperands result;
  if (attrs.cell == "lstm")
    result.gates = 4, result.states = 2;
  else if (attrs.cell == "gru")
    result.gates = 3;
  else if (attrs.cell != "rnn")
    return std::nullopt;
  if (attrs.cell == "gru" && attrs.linear_before_reset) result.bias = result.count++;
  if (attrs.cell == "lstm" && attrs.peepholes) result.peepholes = result.count++;
  if (attrs.masked) result.mask = result.count++;
  result.resets_operand = attrs.cell == "gru" && !attrs.linear_before_reset;
  return result;
}

std::vector<Activation> activations_of(const RecurrenceAttrs& attrs) {
  const size_t wanted = attrs.cell == "lstm" ? 3 : attrs.cell == "gru" ? 2 : 1;
  std::vector<Activation> result;
  std::istringstream names(attrs.activations);
  for (std::string word; names >> word;) {
    const std::optional<Op> op = parse_op(word);
    const size_t i = result.size();
    if (!op || info(*op).category != Category::elementwise || info(*op).max_inputs != 1 ||
        i >= attrs.alphas.size() || i >= attrs.betas.size())
      return {};
    result.push_back({*op, {attrs.alphas[i], attrs.betas[i]}});
  }
  if (result.size() != wanted) result.clear();
  return result;
}

}  // namespace korch
