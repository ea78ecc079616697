#include "korch/codegen/linear/operand_bits.h"

#include <algorithm>

namespace korch::linear {
namespace {

bool holds(ProductType type, const HostTensor& tensor) {
  if (tensor.dtype() != DType::f32) return false;
  const float* data = tensor.data<float>();
  return std::all_of(data, data + tensor.elements(),
                     [&](float value) { return value != value || rounded_to(type, value) == value; });
}

// Of a Value that is computed or given: of which type it was converted, however it was moved since.
ProductType converted_from(const Graph& graph, ValueId value) {
  for (NodeId id : graph.value(value).producers) {
    const Node& node = graph.node(id);
    const bool moves = info(node.op).category == Category::layout && node.inputs.size() == 1;
    const DType from = node.inputs.empty() ? DType::f32 : graph.value(node.inputs[0]).type.dtype;
    ProductType type = ProductType::f32;
    if (node.op == Op::Cast && is_small_float(from))
      type = from == DType::f16 ? ProductType::f16 : ProductType::bf16;
    if (moves) type = converted_from(graph, node.inputs[0]);
    if (type != ProductType::f32) return type;
  }
  return ProductType::f32;
}

// Of an operand beside one of type `other`: that type, if it holds the operand too; else tf32, which holds
// all narrower ones; else f32.
ProductType beside(const Graph& graph, ValueId value, ProductType other) {
  const HostTensor* constant = graph.constant(value);
  const ProductType own = constant == nullptr ? converted_from(graph, value) : ProductType::f32;
  if (constant == nullptr) return own == other || own == ProductType::f32 ? own : ProductType::tf32;
  for (ProductType type : {other, ProductType::tf32})
    if (holds(type, *constant)) return type;
  return ProductType::f32;
}

}  // namespace

ProductType exact_operands(const LinearWorkload& workload) {
  const Graph& graph = *workload.graph;
  for (const auto& [first, second] :
       {std::pair(workload.data, workload.weight), std::pair(workload.weight, workload.data)}) {
    if (graph.constant(first) != nullptr) continue;
    const ProductType type = converted_from(graph, first);
    return type == ProductType::f32 ? type : beside(graph, second, type);
  }
  return ProductType::f32;
}

int64_t speed_of(ProductType type) {
  constexpr int64_t kTf32 = 8, k16Bits = 16, kProducts = 3;
  if (type == ProductType::f32) return kTf32 / kProducts + 1;
  return type == ProductType::tf32 ? kTf32 : k16Bits;
}

}  // namespace korch::linear
