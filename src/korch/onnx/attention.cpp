#include "korch/onnx/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "korch/onnx/bounded.h"
#include "korch/onnx/regrouped.h"

namespace korch::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_always(bool value, const Term& condition) {
  const auto& constant = condition.operand()->constant;
  if (!constant) return false;
  const auto* values = constant->data<uint8_t>();
  return std::all_of(values, values + constant->elements(), [&](uint8_t set) { return (set != 0) == value; });
}

// Whether a query may attend no key, [..., 1]. A NaN in the mask forbids nothing.
Term attends_none(const Term& bias) {
  return reduce(Op::ReduceMax, bias, {bias.rank() - 1}) == -kInfinity;
}

// The queries of the `each` heads that share keys are rows of one product; where their number is open, an
// axis of their own, along which keys are repeated.
struct Heads {
  int64_t shared_heads, each;
  bool is_open;

  Term together(const Term& x) const {  // [batch, heads, queries, size]
    if (each == 1) return x;
    if (is_open) return reshape(x, {x.extent(0), shared_heads, each, x.extent(2), x.extent(3)});
    return reshape(x, {x.extent(0), shared_heads, each * x.extent(2), x.extent(3)});
  }
  Term shared(const Term& x) const { return is_open && each > 1 ? insert_axis(x, 2) : x; }
  Term apart(const Term& x, const Term& queries) const {
    if (each == 1) return x;
    return reshape(x, {x.extent(0), shared_heads * each, queries.extent(2), x.shape().back()});
  }
};

}  // namespace

AttentionResult attend(const AttentionTerms& terms) {
  NodeImport& n = terms.q.node();
  const Term q = widened(terms.q), k = widened(terms.k), v = widened(terms.v);
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) n.invalid("queries, keys and values need rank 4");
  const int64_t heads = q.extent(1), kv_heads = k.extent(1), keys = k.extent(2);
  if (kv_heads < 1 || heads % kv_heads != 0 || v.extent(1) != kv_heads || v.extent(2) != keys)
    n.invalid(fmt::format("queries {}, keys {} and values {} do not agree", to_string(q.operand()->type),
                          to_string(k.operand()->type), to_string(v.operand()->type)));
  for (const Term& each : {q, k}) {
    const bool both = heads == kv_heads && extent_of(q, 1) != nullptr && extent_of(k, 1) != nullptr;
    if (!both) n.require_known(each, 1, "the number of heads");
    n.require_known(each, 3, "the size of a head");
  }
  const Heads grouped{kv_heads, heads / kv_heads, is_bounded(q)};
  const Term scores =
      grouped.apart(matmul(grouped.together(q * terms.scale), grouped.shared(transpose(k, {0, 1, 3, 2}))), q);
  const Term capped = terms.softcap > 0 ? tanh(scores / terms.softcap) * terms.softcap : scores;
  std::optional<Term> bias;
  if (terms.bias) bias = widened(*terms.bias);
  if (terms.allowed && !is_always(true, *terms.allowed))
    bias = select(*terms.allowed, bias ? *bias : number_like(scores, 0), -kInfinity);
  const Term biased = bias ? capped + *bias : capped;
  const DType softmax_type = terms.softmax_type == DType::f64 ? DType::f64 : biased.dtype();
  Term weights = cast(softmax(cast(biased, softmax_type), 3), biased.dtype());
  if (bias) {
    const Term none = attends_none(*bias);
    if (!is_always(false, none)) weights = select(none, 0, weights);
  }
  const Term mixed = grouped.apart(matmul(grouped.together(weights), grouped.shared(v)), q);
  return {scores, capped, biased, weights, mixed};
}

Term split_heads(const Term& x, int64_t heads) {
  NodeImport& n = x.node();
  if (x.rank() != 3 || heads < 1 || x.extent(2) % heads != 0)
    n.invalid(fmt::format("{} does not divide into {} heads", to_string(x.operand()->type), heads));
  const int64_t size = x.extent(2) / heads;
  if (const Operand all = extent_of(x, 2)) {
    const Term each = Term(n, all) / static_cast<double>(heads);
    n.builder().note_meeting(each * static_cast<double>(heads), all, n.origin(), {each});
    each.operand()->upper = size;
    const Term split = regrouped(
        x, {{x.extent(0), extent_of(x, 0)}, {x.extent(1), extent_of(x, 1)}, {heads, nullptr}, {size, each}});
    return transpose(split, {0, 2, 1, 3});
  }
  return transpose(reshape(x, {x.extent(0), x.extent(1), heads, size}), {0, 2, 1, 3});
}

Term join_heads(const Term& x) {
  return reshape(transpose(x, {0, 2, 1, 3}), {x.extent(0), x.extent(2), x.extent(1) * x.extent(3)});
}

Term rotate_pairs(const Term& x, const Term& cosine, const Term& sine, bool interleaved) {
  const int64_t last = x.rank() - 1, pairs = cosine.extent(cosine.rank() - 1);
  const int64_t rotated = 2 * pairs, step = interleaved ? 2 : 1;
  if (rotated > x.extent(last) || sine.shape() != cosine.shape())
    x.node().invalid(
        fmt::format("sines and cosines of {} pairs for {}", pairs, to_string(x.operand()->type)));
  const Term a = slice(x, last, 0, pairs, step), b = slice(x, last, interleaved ? 1 : pairs, pairs, step);
  const Term real = a * cosine - b * sine, imaginary = a * sine + b * cosine;
  const Term rest = slice(x, last, rotated, x.extent(last) - rotated);
  Shape shape = x.shape();
  shape[last] = rotated;
  const Term turned =
      interleaved
          ? reshape(concat({insert_axis(real, last + 1), insert_axis(imaginary, last + 1)}, last + 1), shape)
          : concat({real, imaginary}, last);
  return rotated == x.extent(last) ? turned : concat({turned, rest}, last);
}

}  // namespace korch::onnx
