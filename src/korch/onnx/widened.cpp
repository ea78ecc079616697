#include "korch/onnx/widened.h"

#include <fmt/format.h>

#include <set>

namespace korch::onnx {
namespace {

constexpr int64_t kWorthALine = 4096;  // elements: norms and biases are not

// Whether its operands in float16 or bfloat16 become float32 (fission/widen.h).
bool widens(const Node& node) {
  const Category category = info(node.op).category;
  return category != Category::constant && category != Category::layout && node.op != Op::NarrowMatMul;
}

}  // namespace

std::string widened_weights_note(const GraphBuilder& builder, const Graph& graph) {
  GraphBuilder::Widened all = builder.widened();
  const auto add = [&](const TensorType& type, int64_t narrow_bytes) {
    if (type.elements() < kWorthALine) return;
    ++all.tensors;
    all.narrow_bytes += narrow_bytes;
    all.bytes += type.elements() * static_cast<int64_t>(sizeof(float));
  };
  std::set<ValueId> read, widened;
  for (NodeId id : graph.topological_order())
    for (ValueId input : graph.node(id).inputs) {
      read.insert(input);
      const TensorType& type = graph.value(input).type;
      if (widens(graph.node(id)) && is_small_float(type.dtype) && graph.constant(input) != nullptr &&
          widened.insert(input).second)
        add(type, type.bytes());
    }
  for (const auto& [operand, narrow_bytes] : builder.floats())
    if (operand->id != kNoId && read.contains(operand->id)) add(operand->type, narrow_bytes);
  if (all.tensors == 0) return "";
  const bool one = all.tensors == 1;
  return fmt::format(
      "{} of narrow weights, {:.1f} MB, {} float32, {:.1f} MB: no product reads them as they are",
      one ? "a tensor" : fmt::format("{} tensors", all.tensors), static_cast<double>(all.narrow_bytes) / 1e6,
      one ? "is" : "are", static_cast<double>(all.bytes) / 1e6);
}

}  // namespace korch::onnx
