#include "korch/interp/evaluate.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/attention.h"

namespace korch {

// In the types of the operands, which are f64 where all is computed in float64.
Results evaluate_attention(const Evaluation& e) {
  std::vector<TensorType> types;
  for (const HostTensor& input : e.inputs) types.push_back(input.type());
  return interpret(attention_definition(types), e.inputs, {Precision::native, nullptr}, e.stop);
}

}  // namespace korch
