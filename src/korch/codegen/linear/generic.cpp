// The plain kernel for any linear primitive of one product, offered where no other of ours is:
// linear_generic. Row-major; the loop family's nests, with the product as a sum. Any number of spatial axes,
// groups, transposed convolution, and the types that ONNX allows for MatMul.
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/loop/lower.h"

namespace korch {

using namespace linear;

namespace {

bool has_products(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::i32 || type == DType::i64 ||
         type == DType::u32 || type == DType::u64;
}

Result<LinearWorkload> generic_workload(const Graph& graph, const Candidate& candidate) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  const LinearWorkload& p = workload.value();
  if (multiplies_pairs_of_bfloat16(p))
    return Refusal{RefusalReason::unsupported_type, "product of bfloat16 in linear_generic"};
  const DType type = type_of(p, p.value).dtype;
  if (!has_products(type)) return Refusal{RefusalReason::unsupported_type, "linear primitive of this type"};
  if (type != DType::f32 && candidate.nodes.size() > 1)
    return Refusal{RefusalReason::unsupported_type, "fused linear primitive of a type other than float32"};
  if (p.data_fused || p.weight_fused)
    return Refusal{RefusalReason::no_kernel_family, "linear_generic computes no prologue"};
  return workload;
}

}  // namespace

void list_linear_generic(const Graph& graph, const Candidate& candidate, const Device&, Accuracy,
                         std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = generic_workload(graph, candidate);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const Op op = graph.node(workload.value().node).op;
  if (!found.empty() && op != Op::MatMul && op != Op::Conv) return;  // made for the others' own families
  Implementation implementation =
      with_layouts(workload.value(), "linear_generic", Order::row_major, Order::row_major);
  implementation.flops = workload.value().inner_flops;
  found.push_back(implementation);
}

Result<tile::ScheduledGraph> build_linear_generic(const Graph& graph, const Candidate& candidate,
                                                  const Implementation& implementation,
                                                  const Device& target) {
  return tile::lower(graph, candidate, implementation, target);
}

}  // namespace korch
