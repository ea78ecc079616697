#include "korch/onnx/regrouped.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "korch/onnx/bounded.h"

namespace korch::onnx {
namespace {

constexpr int kMostProducers = 64;  // that are followed

// What an extent is the product of.
struct Factors {
  int64_t number = 1;
  std::vector<ValueId> values;
};

bool is_scalar_i64(const Graph& graph, ValueId value) {
  const TensorType& type = graph.value(value).type;
  return type.dtype == DType::i64 && type.elements() == 1;
}

void add_factors(const Graph& graph, ValueId value, int depth, Factors* factors) {
  int64_t product = 0;
  if (const HostTensor* constant = graph.constant(value);
      constant != nullptr &&
      !__builtin_mul_overflow(factors->number, element_as_int(*constant, 0), &product)) {
    factors->number = product;
    return;
  }
  const std::vector<NodeId>& producers = graph.value(value).producers;
  if (!producers.empty() && depth < kMostProducers) {
    const Node& node = graph.node(producers[0]);
    if (node.op == Op::Reshape) return add_factors(graph, node.inputs[0], depth + 1, factors);
    if (node.op == Op::Mul && is_scalar_i64(graph, node.inputs[0]) && is_scalar_i64(graph, node.inputs[1])) {
      for (ValueId input : node.inputs) add_factors(graph, input, depth + 1, factors);
      return;
    }
  }
  factors->values.push_back(value);
}

// Takes the factors of the one out of the other's, but for the numbers; false where they are no part of
// these.
bool divide_values(GraphBuilder& builder, Factors* all, const Factors& by) {
  for (ValueId value : by.values) {
    const auto same = std::find_if(all->values.begin(), all->values.end(),
                                   [&](ValueId other) { return builder.is_same(value, other); });
    if (same == all->values.end()) return false;
    all->values.erase(same);
  }
  return true;
}

bool divide(GraphBuilder& builder, Factors* all, const Factors& by) {
  if (by.number == 0 || all->number % by.number != 0) return false;
  all->number /= by.number;
  return divide_values(builder, all, by);
}

bool is_same(GraphBuilder& builder, ValueId a, ValueId b) {
  if (builder.is_same(a, b)) return true;
  Factors x, y;
  add_factors(builder.graph(), a, 0, &x);
  add_factors(builder.graph(), b, 0, &y);
  return divide(builder, &x, y) && x.number == 1 && x.values.empty();
}

}  // namespace

bool has_extents(const Operand& reshaped, const std::vector<Extent>& target, GraphBuilder& builder) {
  for (size_t axis = 0; axis < target.size(); ++axis) {
    if (target[axis].bound == -1) continue;
    const Operand extent = extent_of(reshaped, static_cast<int64_t>(axis)), wanted = target[axis].counted;
    if ((extent == nullptr) != (wanted == nullptr)) return false;
    if (extent != nullptr && !is_same(builder, builder.value(extent), builder.value(wanted))) return false;
  }
  return true;
}

bool has_as_many_elements(const Term& x, const std::vector<Extent>& target) {
  GraphBuilder& builder = x.node().builder();
  Factors before, after;
  const auto add = [&](const Operand& counted, int64_t bound, Factors* factors) {
    if (counted != nullptr) add_factors(builder.graph(), builder.value(counted), 0, factors);
    return counted != nullptr || !__builtin_mul_overflow(factors->number, bound, &factors->number);
  };
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!add(extent_of(x, axis), x.extent(axis), &before)) return false;
  for (const Extent& extent : target)
    if (extent.bound == -1 || !add(extent.counted, extent.bound, &after)) return false;
  return divide(builder, &before, after) && before.number == 1 && before.values.empty();
}

std::optional<Extent> left_extent(const Term& x, const std::vector<Extent>& target) {
  NodeImport& n = x.node();
  const Graph& graph = n.builder().graph();
  const auto add = [&](const Operand& counted, int64_t bound, Factors* factors) {
    if (counted != nullptr) add_factors(graph, n.builder().value(counted), 0, factors);
    return counted != nullptr || !__builtin_mul_overflow(factors->number, bound, &factors->number);
  };
  Factors all, others;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!add(extent_of(x, axis), x.extent(axis), &all)) return std::nullopt;
  for (const Extent& extent : target)
    if (extent.bound != -1 && !add(extent.counted, extent.bound, &others)) return std::nullopt;
  if (others.number == 0 || !divide_values(n.builder(), &all, others)) return std::nullopt;
  const int64_t common = std::gcd(all.number, others.number), by = others.number / common;
  all.number /= common;
  double bound = static_cast<double>(all.number);
  Term product = integer(n, all.number);
  for (ValueId value : all.values) {
    auto factor = std::make_shared<OperandState>();
    factor->id = value;
    factor->type = graph.value(value).type;
    bound *= n.range(factor).high;
    product = product * reshape({n, factor}, {});
  }
  bound = std::floor(bound / static_cast<double>(by));
  if (!(bound >= 0 && bound <= static_cast<double>(x.operand()->type.elements()))) return std::nullopt;
  if (by != 1) {  // of whatever extents divide: others are noted
    if (all.values.empty()) return std::nullopt;
    const Term whole = product;
    product = whole / static_cast<double>(by);
    n.builder().note_meeting(product * static_cast<double>(by), whole, n.origin(), {product});
  }
  if (all.values.empty()) return Extent{all.number, nullptr};
  const Operand counted = product;
  counted->upper = static_cast<int64_t>(bound);
  return Extent{static_cast<int64_t>(bound), counted};
}

Term regrouped(const Term& x, const std::vector<Extent>& target) {
  NodeImport& n = x.node();
  size_t in = x.shape().size(), out = target.size();
  Shape suffix;
  while (in > 0 && out > 0 && target[out - 1].counted == nullptr &&
         extent_of(x, static_cast<int64_t>(in) - 1) == nullptr &&
         x.shape()[in - 1] == target[out - 1].bound) {
    suffix.insert(suffix.begin(), x.shape()[--in]);
    --out;
  }
  // The number of a place among those that count, and from it the place among the data's.
  const auto rank = static_cast<int64_t>(out);
  Term place = integer(n, 0), stride = integer(n, 1);
  for (size_t axis = out; axis-- > 0;) {
    const Extent& extent = target[axis];
    place = place + positions(n, DType::i64, extent.bound, static_cast<int64_t>(axis), rank) * stride;
    stride = stride * (extent.counted != nullptr ? Term(n, extent.counted) : integer(n, extent.bound));
  }
  Term from = integer(n, 0);
  int64_t rows = 1;
  for (size_t axis = in; axis-- > 0;) {
    const Term extent = max(length(x, static_cast<int64_t>(axis)), integer(n, 1));
    from = from + apply(Op::Mod, {place, extent}) * static_cast<double>(rows);
    place = place / extent;
    rows *= x.shape()[axis];
  }
  Shape shape = {rows};
  shape.insert(shape.end(), suffix.begin(), suffix.end());
  const Term inside = min(from, integer(n, std::max<int64_t>(rows - 1, 0)));
  const Term result = apply(Op::Gather, {reshape(at_bounds(x), shape), inside}, AxisAttrs{0});
  std::vector<Operand> extents;
  // As many elements before as after.
  const auto multiply = [&](const Operand& counted, int64_t bound, std::pair<int64_t, Term>* product) {
    if (counted != nullptr)
      product->second = product->second * Term(n, counted);
    else
      product->first *= bound;
  };
  std::pair<int64_t, Term> before{1, integer(n, 1)}, after{1, integer(n, 1)};
  for (int64_t axis = 0; axis < x.rank(); ++axis) multiply(extent_of(x, axis), x.extent(axis), &before);
  for (const Extent& extent : target) {
    extents.push_back(extent.counted);
    multiply(extent.counted, extent.bound, &after);
  }
  const int64_t common = std::max<int64_t>(std::gcd(before.first, after.first), 1);
  const auto scaled = [&](const std::pair<int64_t, Term>& product) {
    const int64_t times = product.first / common;
    return times == 1 ? product.second : product.second * static_cast<double>(times);
  };
  n.builder().note_meeting(scaled(before), scaled(after), n.origin(), {result});
  return {n, n.bounded(result, extents)};
}

}  // namespace korch::onnx
