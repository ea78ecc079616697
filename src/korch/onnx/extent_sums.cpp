#include "korch/onnx/extent_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace korch::onnx {
namespace {

constexpr int64_t kMostFactor = int64_t{1} << 20, kMostTimes = int64_t{1} << 40;  // products stay in int64

bool is_number(const Graph& graph, ValueId value) {
  const TensorType& type = graph.value(value).type;
  return type.dtype == DType::i64 && type.elements() == 1;
}

std::optional<int64_t> small_number(const Graph& graph, ValueId value) {
  const HostTensor* constant = graph.constant(value);
  if (constant == nullptr || constant->elements() != 1) return std::nullopt;
  const int64_t number = element_as_int(*constant, 0);
  return std::abs(number) <= kMostFactor ? std::optional(number) : std::nullopt;
}

}  // namespace

// Whether they are one operator's of the same operands.
bool ExtentSums::is_alike(ValueId a, ValueId b, int depth) {
  if (a == b) return true;
  const std::vector<NodeId>&of_a = graph_.value(a).producers, &of_b = graph_.value(b).producers;
  if (of_a.empty() || of_b.empty() || depth == 0) return false;
  const Node &p = graph_.node(of_a[0]), &q = graph_.node(of_b[0]);
  const auto place = [](const Node& node, ValueId value) {
    return std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin();
  };
  if (p.op != q.op || p.inputs.size() != q.inputs.size() || place(p, a) != place(q, b) || p.attrs != q.attrs)
    return false;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const bool are_numbers = is_number(graph_, p.inputs[i]) && is_number(graph_, q.inputs[i]);
    if (are_numbers ? !is_same(p.inputs[i], q.inputs[i], depth - 1)
                    : !is_alike(p.inputs[i], q.inputs[i], depth - 1))
      return false;
  }
  return true;
}

bool ExtentSums::is_same(ValueId a, ValueId b, int depth) {
  if (a == b) return true;
  Terms difference;
  add(a, 1, depth, &difference);
  add(b, -1, depth, &difference);
  return difference.number == 0 && difference.terms.empty();
}

Range ExtentSums::difference(ValueId a, ValueId b) {
  Terms sum;
  add(a, 1, kDeepest, &sum);
  add(b, -1, kDeepest, &sum);
  Range range{static_cast<double>(sum.number), static_cast<double>(sum.number)};
  for (const auto& [value, times] : sum.terms) {
    const Range of = ranges_.of({value, 0});
    const auto factor = static_cast<double>(times);
    range.low += factor * (times > 0 ? of.low : of.high);
    range.high += factor * (times > 0 ? of.high : of.low);
  }
  return range;
}

void ExtentSums::add(ValueId value, int64_t times, int depth, Terms* sum) {
  const bool is_small = std::abs(times) <= kMostTimes / kMostFactor;
  if (const auto number = small_number(graph_, value); number && is_small) {
    sum->number += times * *number;
    return;
  }
  const std::vector<NodeId>& producers = graph_.value(value).producers;
  if (producers.empty() && is_small && add_dimension(value, times, depth, sum)) return;
  if (!producers.empty() && depth > 0 && is_small && is_number(graph_, value) &&
      add_parts(graph_.node(producers[0]), times, depth - 1, sum))
    return;
  add_term(value, times, depth, sum);
}

// False where it is no extent that must be a sum of others.
bool ExtentSums::add_dimension(ValueId value, int64_t times, int depth, Terms* sum) {
  const std::vector<OpenDimension>& open = graph_.open_dimensions();
  for (size_t d = 0; d < open.size(); ++d) {
    if (!open[d].sum || graph_.extent_input(d) != value) continue;
    sum->number += times * open[d].sum->plus;
    for (const auto& [term, factor] : open[d].sum->terms)
      add_term(graph_.extent_input(static_cast<size_t>(term)), times * factor, depth, sum);
    return true;
  }
  return false;
}

// False where the node is no sum.
bool ExtentSums::add_parts(const Node& node, int64_t times, int depth, Terms* sum) {
  if (node.op == Op::Reshape) {
    add(node.inputs[0], times, depth, sum);
    return true;
  }
  if (node.op == Op::Add || node.op == Op::Sub) {
    add(node.inputs[0], times, depth, sum);
    add(node.inputs[1], node.op == Op::Add ? times : -times, depth, sum);
    return true;
  }
  for (size_t i = 0; node.op == Op::Mul && i < 2; ++i)
    if (const auto number = small_number(graph_, node.inputs[i])) {
      add(node.inputs[1 - i], times * *number, depth, sum);
      return true;
    }
  // What divides; the rest is rounded down where the whole is not negative.
  const auto by = node.op == Op::Div ? small_number(graph_, node.inputs[1]) : std::nullopt;
  if (!by || *by < 1 || ranges_.of({node.inputs[0], 0}).low < 0) return false;
  Terms whole;
  add(node.inputs[0], 1, depth, &whole);
  const auto divides = [&](const auto& term) { return term.second % *by == 0; };
  if (whole.number < 0 || !std::all_of(whole.terms.begin(), whole.terms.end(), divides)) return false;
  sum->number += times * (whole.number / *by);
  for (const auto& [value, count] : whole.terms) add_term(value, times * (count / *by), depth, sum);
  return true;
}

void ExtentSums::add_term(ValueId value, int64_t times, int depth, Terms* sum) {
  const auto same = std::find_if(sum->terms.begin(), sum->terms.end(),
                                 [&](const auto& term) { return is_alike(term.first, value, depth); });
  if (same == sum->terms.end()) {
    sum->terms.emplace_back(value, times);
    return;
  }
  same->second += times;
  if (same->second == 0) sum->terms.erase(same);
}

}  // namespace korch::onnx
