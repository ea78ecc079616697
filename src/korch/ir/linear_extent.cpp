#include "korch/ir/linear_extent.h"

#include <algorithm>

namespace korch {
namespace {

// Adds a Value's multiple to `plus` and to `factors` of the open dimensions' extents.
class LinearForm {
 public:
  explicit LinearForm(const Graph& graph) : factors(graph.open_dimensions().size()), graph_(graph) {}

  std::vector<int64_t> factors;
  int64_t plus = 0;

  // False where it is no such sum, or too long a one.
  bool add(ValueId value, int64_t times) {
    if (rest_-- == 0) return false;
    if (const HostTensor* constant = graph_.constant(value)) {
      int64_t product = 0;
      return constant->elements() == 1 && is_integer(constant->dtype()) &&
             !__builtin_mul_overflow(element_as_int(*constant, 0), times, &product) &&
             !__builtin_add_overflow(plus, product, &plus);
    }
    const std::vector<NodeId>& producers = graph_.value(value).producers;
    if (producers.empty()) return add_dimension(value, times);
    const Node& node = graph_.node(producers[0]);
    if (node.op == Op::Reshape)
      return graph_.value(node.inputs[0]).type.elements() == 1 && add(node.inputs[0], times);
    if (node.op == Op::Add || node.op == Op::Sub)
      return add(node.inputs[0], times) && add(node.inputs[1], node.op == Op::Add ? times : -times);
    return false;
  }

 private:
  static constexpr int kMostVisited = 64;  // Values

  bool add_dimension(ValueId value, int64_t times) {
    for (size_t d = 0; d < factors.size(); ++d) {
      if (graph_.extent_input(d) != value) continue;
      const std::optional<ExtentSum>& sum = graph_.open_dimensions()[d].sum;
      plus += sum ? times * sum->plus : 0;
      if (!sum) factors[d] += times;
      for (size_t i = 0; sum && i < sum->terms.size(); ++i)
        factors[static_cast<size_t>(sum->terms[i].dimension)] += times * sum->terms[i].factor;
      return true;
    }
    return false;
  }

  const Graph& graph_;
  int rest_ = kMostVisited;
};

}  // namespace

std::optional<ExtentBeside> dimension_of_sum(const Graph& graph, ValueId value) {
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  const bool has_sums =
      std::any_of(open.begin(), open.end(), [](const OpenDimension& d) { return d.sum.has_value(); });
  LinearForm form(graph);
  if (!has_sums || !form.add(value, 1)) return std::nullopt;
  for (size_t d = 0; d < open.size(); ++d) {
    std::vector<int64_t> factors(open.size(), 0);
    const ExtentSum own{0, {{static_cast<int>(d), 1}}}, &sum = open[d].sum ? *open[d].sum : own;
    for (const auto& [term, factor] : sum.terms) factors[static_cast<size_t>(term)] = factor;
    if (factors == form.factors) return ExtentBeside{graph.extent_input(d), form.plus - sum.plus};
  }
  return std::nullopt;
}

}  // namespace korch
