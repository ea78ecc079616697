// What decoders are made of: attention, rotary embeddings, caches, recurrent forms of attention.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "korch/onnx/attention.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

Term input(NodeImport& n, size_t i) {
  return {n, n.input(i)};
}

// A mask of fewer keys than there are forbids the others.
Term complete_mask(const Term& mask, int64_t keys) {
  if (mask.rank() < 1 || mask.rank() > 4) mask.node().invalid("the mask must have rank 1 to 4");
  const int64_t last = mask.rank() - 1, given = mask.extent(last);
  if (given == 1 || given >= keys) return mask;
  const double forbidden = mask.dtype() == DType::bool_ ? 0 : -std::numeric_limits<double>::infinity();
  return pad(mask, last, 0, keys - given, forbidden);
}

void both(std::optional<Term>& condition, const Term& also) {
  condition = condition ? *condition && also : also;
}

// Reads mask, causality, windows and lengths; `past` keys stand before the queries' own.
void restrict_keys(NodeImport& n, AttentionTerms& terms, int64_t past) {
  const int64_t queries = terms.q.extent(2), keys = terms.k.extent(2);
  if (n.has_input(3)) {
    const Term mask = complete_mask(input(n, 3), keys);
    if (mask.dtype() == DType::bool_)
      both(terms.allowed, mask);
    else
      terms.bias = cast(mask, terms.q.dtype());
  }
  const Term key = positions(n, DType::i64, keys, 3, 4);
  Term query = positions(n, DType::i64, queries, 2, 4) + static_cast<double>(past);
  const bool has_lengths = n.opset() >= 24 && n.has_input(6);
  if (has_lengths) {
    const Term lengths = reshape(cast(input(n, 6), DType::i64), {n.input(6)->type.elements(), 1, 1, 1});
    both(terms.allowed, key < lengths);
    if (past == 0) query = query + (lengths - static_cast<double>(queries));
  }
  if (n.flag("is_causal", false)) both(terms.allowed, key <= query);
  if (n.opset() < 25) return;
  const int64_t left = n.int_attr("left_window_size", -1), right = n.int_attr("right_window_size", -1);
  n.bounded("window size", {left, right}, -1, kMaxOffset);
  if (left >= 0) both(terms.allowed, query - static_cast<double>(left) <= key);
  if (right >= 0) both(terms.allowed, key <= query + static_cast<double>(right));
}

Results attention(NodeImport& n) {
  const bool packed = n.input(0)->rank() == 3;
  const int64_t q_heads = n.int_attr("q_num_heads", 0), kv_heads = n.int_attr("kv_num_heads", 0);
  const auto heads = [&](size_t i) {
    return packed ? split_heads(input(n, i), i == 0 ? q_heads : kv_heads) : input(n, i);
  };
  AttentionTerms terms{heads(0), heads(1), heads(2)};
  const bool has_past = n.has_input(4) && n.has_input(5);
  int64_t past = 0;
  if (has_past) {
    past = n.input(4)->rank() == 4 ? n.input(4)->shape()[2] : 0;
    terms.k = concat({input(n, 4), terms.k}, 2);
    terms.v = concat({input(n, 5), terms.v}, 2);
  }
  if (terms.q.rank() != 4 || terms.k.rank() != 4) n.invalid("queries, keys and values need rank 3 or 4");
  restrict_keys(n, terms, past);
  terms.scale = n.float_attr("scale", 1 / std::sqrt(static_cast<double>(terms.q.extent(3))));
  terms.softcap = n.float_attr("softcap", 0);
  terms.softmax_type = n.dtype_attr("softmax_precision", DType::f32);
  const int64_t mode = n.int_attr("qk_matmul_output_mode", 0);
  n.bounded("qk_matmul_output_mode", {mode}, 0, 3);
  const AttentionResult result = attend(terms);
  const Term y = cast(result.y, terms.q.dtype());
  const Term shown[] = {result.scores, result.capped, result.biased, result.weights};
  return {packed ? join_heads(y) : y, terms.k, terms.v, cast(shown[mode], terms.q.dtype())};
}

// Angles of positions [batch, length], as they broadcast to the heads: their axis is 1 of 4, or 2.
Term angles(const Term& cache, const std::optional<Term>& ids, int64_t heads_axis) {
  const Term chosen = ids ? apply(Op::Gather, {cache, *ids}, AxisAttrs{0}) : cache;
  if (chosen.rank() != 3) cache.node().invalid("sines and cosines need rank 2 with positions, else 3");
  return widened(insert_axis(chosen, heads_axis));
}

Term rotated(const Term& x, const Term& cosine, const Term& sine, const std::optional<Term>& ids,
             int64_t heads, bool interleaved) {
  const int64_t heads_axis = x.rank() == 3 ? 2 : 1;
  if (x.rank() == 3 && (heads < 1 || x.extent(2) % heads != 0))
    x.node().invalid(fmt::format("{} does not divide into {} heads", to_string(x.operand()->type), heads));
  const Term split = x.rank() == 3 ? reshape(x, {x.extent(0), x.extent(1), heads, x.extent(2) / heads}) : x;
  if (split.rank() != 4) x.node().invalid("the data need rank 3 or 4");
  const Term turned = rotate_pairs(widened(split), angles(cosine, ids, heads_axis),
                                   angles(sine, ids, heads_axis), interleaved);
  return reshape(cast(turned, x.dtype()), x.shape());
}

// The rotated part, in elements; the tables must have as many pairs.
void check_rotated(NodeImport& n, const Term& table) {
  const int64_t wanted = n.int_attr("rotary_embedding_dim", 0), pairs = table.extent(table.rank() - 1);
  if (wanted != 0 && wanted != 2 * pairs)
    n.invalid(fmt::format("rotary_embedding_dim is {}, but the tables have {} pairs", wanted, pairs));
}

Results rotary_embedding(NodeImport& n) {
  const Term x = input(n, 0);
  std::optional<Term> ids;
  if (n.has_input(3)) ids = input(n, 3);
  if (n.input(1)->rank() < 1) n.invalid("tables of rank 0");
  check_rotated(n, input(n, 1));
  return {
      rotated(x, input(n, 1), input(n, 2), ids, n.int_attr("num_heads", 0), n.flag("interleaved", false))};
}

// Positions come before the tables, and may be one number: that of the first.
Results rotary_embedding_of_runtime(NodeImport& n) {
  if (n.flag("is_packed_batching", false)) n.unsupported("is_packed_batching");
  n.ignore("scale");  // of tables that are made for longer sequences, which they are already
  const Term x = input(n, 0), ids = input(n, 1), cosine = input(n, 2);
  if (x.rank() != 3 && x.rank() != 4) n.invalid("the data need rank 3 or 4");
  if (cosine.rank() != 2) n.invalid("the tables need rank 2");
  check_rotated(n, cosine);
  const int64_t batch = x.extent(0), length = x.extent(x.rank() == 3 ? 1 : 2);
  int64_t heads = n.int_attr("num_heads", 0);
  if (heads == 0 && x.rank() == 3) heads = x.extent(2) / (2 * cosine.extent(1));
  const Term all = ids.operand()->type.elements() == 1
                       ? reshape(ids, {1, 1}) + positions(n, ids.dtype(), length, 1, 2)
                       : ids;
  return {rotated(x, cosine, input(n, 3), expand(all, {batch, length}), heads, n.flag("interleaved", false))};
}

// The update from `start` [batch] on: every element of the result looks where in the update it comes from, if
// anywhere.
Term written(const Term& past, const Term& update, const Term& start, int64_t axis, bool circular) {
  const int64_t length = past.extent(axis), count = update.extent(axis);
  Shape per_batch(past.shape().size(), 1);
  per_batch[0] = past.extent(0);
  Term from = positions(past.node(), DType::i64, length, axis, past.rank()) -
              reshape(cast(start, DType::i64), per_batch);
  if (circular) from = apply(Op::Mod, {from, number_like(from, static_cast<double>(length))});
  const Term inside = 0.0 <= from && from < static_cast<double>(count);
  const Term source = expand(clamp(from, 0, static_cast<double>(count - 1)), past.shape());
  return select(inside, gather_elements(update, source, axis), past);
}

Results tensor_scatter(NodeImport& n) {
  const Term past = input(n, 0), update = input(n, 1);
  const int64_t axis = n.axis(n.int_attr("axis", -2), past.rank());
  const std::string mode = n.word_attr("mode", {"linear", "circular"});
  if (axis == 0 || update.rank() != past.rank()) n.invalid("axis 0, or an update of another rank");
  const int64_t length = past.extent(axis), count = update.extent(axis);
  if (count == 0) return {past};
  if (!n.has_input(2)) return {concat({update, slice(past, axis, count, length - count)}, axis)};
  return {written(past, update, input(n, 2), axis, mode == "circular")};
}

Results causal_conv_with_state(NodeImport& n) {
  const Term x = widened(input(n, 0)), w = widened(input(n, 1));
  if (x.rank() != 3 || w.rank() != 3) n.invalid("data and weights need rank 3");
  const int64_t before = w.extent(2) - 1, channels = x.extent(1);
  const Term longer = n.has_input(3) ? concat({widened(input(n, 3)), x}, 2) : pad(x, 2, before, 0, 0);
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1};
  attrs.pads_before = attrs.pads_after = {0};
  attrs.group = channels;
  Term y = apply(Op::Conv, {longer, w}, attrs);
  if (n.has_input(2)) y = y + reshape(widened(input(n, 2)), {channels, 1});
  const std::string activation = n.string_attr("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = y * sigmoid(y);
  else if (activation != "none")
    n.invalid("activation " + quoted_name(activation));
  const Term state = slice(longer, 2, longer.extent(2) - before, before);
  return {cast(y, n.input(0)->dtype()), cast(state, n.input(0)->dtype())};
}

// What one position adds to the state of linear attention, and the state that it leaves.
struct LinearStep {
  Term k, v;                        // [batch, heads, size, 1], [batch, heads, 1, size]
  std::optional<Term> decay, beta;  // factors of the state's rows, and of what is added
};

Term next_state(const Term& state, const LinearStep& step, bool corrects) {
  const Term kept = step.decay ? state * exp(*step.decay) : state;
  Term added = step.v;
  if (corrects) added = (step.v - reduce(Op::ReduceSum, kept * step.k, {2})) * *step.beta;
  return kept + step.k * added;
}

// Position after position: each is a few products of small matrices.
constexpr int64_t kMaxPositions = 64;

Results linear_attention(NodeImport& n) {
  n.ignore("chunk_size");
  const std::string rule = n.string_attr("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta",
             delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") n.invalid("update_rule " + quoted_name(rule));
  const int64_t heads = n.int_attr("q_num_heads"), kv_heads = n.int_attr("kv_num_heads");
  const Term q = split_heads(widened(input(n, 0)), heads), k = split_heads(widened(input(n, 1)), kv_heads),
             v = split_heads(widened(input(n, 2)), kv_heads);
  const int64_t batch = q.extent(0), length = q.extent(2), size = q.extent(3);
  if (length > kMaxPositions || length == 0)
    n.unsupported(
        fmt::format("{} positions; 1 to {} are written one after the other", length, kMaxPositions));
  if (heads % kv_heads != 0) n.invalid("q_num_heads is no multiple of kv_num_heads");
  double scale = n.float_attr("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size));
  std::optional<Term> decay, beta;
  if (gated) decay = split_heads(widened(input(n, 4)), kv_heads);
  if (delta) {
    const Term rates = widened(input(n, 5));
    if (rates.rank() != 3) n.invalid("beta needs rank 3");
    beta = split_heads(expand(rates, {batch, length, kv_heads}), kv_heads);
  }
  const Shape state_shape = {batch, kv_heads, k.extent(3), v.extent(3)};
  Term state = n.has_input(3) ? widened(input(n, 3)) : expand(number_like(q, 0), state_shape);
  const auto at = [](const Term& x, int64_t position, bool column) {
    const Term row = slice(x, 2, position, 1);
    return column ? transpose(row, {0, 1, 3, 2}) : row;
  };
  std::vector<Term> results;
  for (int64_t t = 0; t < length; ++t) {
    LinearStep step{at(k, t, true), at(v, t, false), {}, {}};
    if (decay) step.decay = at(*decay, t, true);
    if (beta) step.beta = at(*beta, t, false);
    state = next_state(state, step, delta);
    const Term rows = reshape(at(q, t, false) * scale, {batch, kv_heads, heads / kv_heads, size});
    results.push_back(reshape(matmul(rows, state), {batch, heads, 1, v.extent(3)}));
  }
  const DType state_type = n.has_input(3) ? n.input(3)->dtype() : n.input(0)->dtype();
  return {cast(join_heads(concat(results, 2)), n.input(0)->dtype()), cast(state, state_type)};
}

// ONNX Runtime's: packed heads, a bias of all three projections, and masks of its own.
Results multi_head_attention(NodeImport& n) {
  const int64_t heads = n.int_attr("num_heads");
  const double filter = n.float_attr("mask_filter_value", -10000);
  if (!n.has_input(1) || !n.has_input(2) || n.input(0)->rank() != 3 || n.input(1)->rank() != 3 ||
      n.input(2)->rank() != 3)
    n.unsupported("queries, keys and values that are packed into one input, or heads of their own");
  for (size_t i = 8; i < n.input_count(); ++i)
    if (n.has_input(i)) n.unsupported(fmt::format("input {}", i));
  Term q = input(n, 0), k = input(n, 1), v = input(n, 2);
  if (n.has_input(3)) {
    const Term bias = input(n, 3);
    const int64_t first = q.extent(2), second = k.extent(2);
    q = q + slice(bias, 0, 0, first);
    k = k + slice(bias, 0, first, second);
    v = v + slice(bias, 0, first + second, v.extent(2));
  }
  AttentionTerms terms{split_heads(q, heads), split_heads(k, heads), split_heads(v, heads)};
  int64_t past = 0;
  if (n.has_input(6) && n.has_input(7)) {
    past = n.input(6)->rank() == 4 ? n.input(6)->shape()[2] : 0;
    terms.k = concat({input(n, 6), terms.k}, 2);
    terms.v = concat({input(n, 7), terms.v}, 2);
  }
  const int64_t batch = q.extent(0), keys = terms.k.extent(2);
  if (n.has_input(5)) terms.bias = widened(input(n, 5));
  if (n.has_input(4)) {  // what is masked is not forbidden, but made unlikely
    const Term mask = cast(input(n, 4), DType::i64);
    if (mask.shape() != Shape{batch, keys}) n.unsupported("a key_padding_mask that is not [batch, keys]");
    const Term zero(n, widened(q).dtype(), 0);
    const Term added = select(reshape(mask, {batch, 1, 1, keys}) == 0, filter, zero);
    terms.bias = terms.bias ? *terms.bias + added : added;
  }
  if (n.flag("unidirectional", false))
    terms.allowed = positions(n, DType::i64, keys, 3, 4) <=
                    positions(n, DType::i64, q.extent(1), 2, 4) + static_cast<double>(past);
  terms.scale = n.float_attr("scale", 0);
  if (terms.scale == 0) terms.scale = 1 / std::sqrt(static_cast<double>(terms.q.extent(3)));
  return {join_heads(cast(attend(terms).y, q.dtype())), terms.k, terms.v};
}

// The cache with `added` [batch, heads, positions, size] in it from `start` on, of `length` positions at
// least.
Term cached(NodeImport& n, size_t past, const Term& added, const Term& start, int64_t length) {
  if (!n.has_input(past) || n.input(past)->type.elements() == 0)
    return pad(added, 2, 0, std::max<int64_t>(length - added.extent(2), 0), 0);
  const Term before = input(n, past);
  if (before.rank() != 4 || before.extent(1) != added.extent(1) || before.extent(3) != added.extent(3))
    n.invalid("the cache is not [batch, kv_num_heads, positions, size]");
  const int64_t missing = std::max<int64_t>(length - before.extent(2), 0);
  return written(pad(before, 2, 0, missing, 0), added, start, 2, false);
}

// ONNX Runtime's, as decoders have it: rotated queries and keys, a cache, causal. `seqlens_k` are the
// positions in the cache, of each sequence, less one.
Results group_query_attention(NodeImport& n) {
  const int64_t heads = n.int_attr("num_heads"), kv_heads = n.int_attr("kv_num_heads");
  for (const char* name :
       {"smooth_softmax", "qk_output", "k_quant_type", "v_quant_type", "kv_cache_bit_width"})
    if (n.has(name) &&
        (std::string(name).find("type") != std::string::npos ? n.string_attr(name, "NONE") != "NONE"
                                                             : n.int_attr(name, 0) > 0))
      n.unsupported(name);
  for (size_t i = 11; i < n.input_count(); ++i)
    if (n.has_input(i)) n.unsupported(fmt::format("input {}", i));
  Term q = input(n, 0);
  if (q.rank() != 3 || heads < 1 || kv_heads < 1 || heads % kv_heads != 0)
    n.invalid("heads, or the rank of queries");
  const bool packed = !n.has_input(1);
  const int64_t batch = q.extent(0), length = q.extent(1),
                size = q.extent(2) / (packed ? heads + 2 * kv_heads : heads);
  const Term all = q;
  if (packed) q = slice(all, 2, 0, heads * size);
  Term k = packed ? slice(all, 2, heads * size, kv_heads * size) : input(n, 1);
  const Term v = packed ? slice(all, 2, (heads + kv_heads) * size, kv_heads * size) : input(n, 2);
  const int64_t total = n.int_input(6, "total sequence length");
  n.bounded("total sequence length", {total}, length, kMaxOffset);
  const Term lengths = cast(reshape(input(n, 5), {batch}), DType::i64) + 1;
  const Term start = length == total ? lengths - lengths : lengths - static_cast<double>(length);
  const Term query = reshape(start, {batch, 1}) + positions(n, DType::i64, length, 1, 2);
  if (n.flag("do_rotary", false)) {
    const bool interleaved = n.flag("rotary_interleaved", false);
    const Term last = number_like(query, static_cast<double>(input(n, 7).extent(0) - 1));
    const Term ids = n.has_input(9) ? input(n, 9) : min(query, last);  // what pads may lie behind the tables
    q = rotated(q, input(n, 7), input(n, 8), ids, heads, interleaved);
    k = rotated(k, input(n, 7), input(n, 8), ids, kv_heads, interleaved);
  } else {
    for (size_t i = 7; i < 10; ++i) n.ignore_input(i);
    n.ignore("rotary_interleaved");
  }
  AttentionTerms terms{split_heads(q, heads), cached(n, 3, split_heads(k, kv_heads), start, total),
                       cached(n, 4, split_heads(v, kv_heads), start, total)};
  const Term key = positions(n, DType::i64, terms.k.extent(2), 3, 4),
             at = reshape(query, {batch, 1, length, 1});
  terms.allowed = key <= at;
  if (const int64_t window = n.int_attr("local_window_size", -1); window > 0)
    both(terms.allowed, at < key + static_cast<double>(window));
  if (n.has_input(10)) terms.bias = widened(complete_mask(input(n, 10), terms.k.extent(2)));
  terms.scale = n.float_attr("scale", 0);
  if (terms.scale == 0) terms.scale = 1 / std::sqrt(static_cast<double>(size));
  terms.softcap = n.float_attr("softcap", 0);
  return {join_heads(cast(attend(terms).y, q.dtype())), terms.k, terms.v};
}

}  // namespace

std::vector<RuleRow> attention_rules() {
  return {
      {"Attention", attention, 23, 25},
      {"RotaryEmbedding", rotary_embedding, 23, 23},
      {"TensorScatter", tensor_scatter, 24, 24},
      {"CausalConvWithState", causal_conv_with_state, 27, 27},
      {"LinearAttention", linear_attention, 27, 27},
  };
}

std::vector<RuleRow> runtime_attention_rules() {
  return {
      {"RotaryEmbedding", rotary_embedding_of_runtime},
      {"MultiHeadAttention", multi_head_attention},
      {"GroupQueryAttention", group_query_attention},
  };
}

}  // namespace korch::onnx
