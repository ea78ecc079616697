// What decoders are made of: attention, rotary embeddings, caches, recurrent forms of attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/onnx/attention.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/grown.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

Term input(NodeImport& n, size_t i) {
  return {n, n.input(i)};
}

// A mask of fewer keys than there are forbids the others; one of one key is for all of them.
Term complete_mask(const Term& mask, const Term& keys) {
  NodeImport& n = mask.node();
  if (mask.rank() < 1 || mask.rank() > 4) n.invalid("the mask must have rank 1 to 4");
  const int64_t last = mask.rank() - 1, given = mask.extent(last), bound = keys.extent(2);
  const double forbidden = mask.dtype() == DType::bool_ ? 0 : -std::numeric_limits<double>::infinity();
  const Operand counted = extent_of(mask, last);
  Term complete = at_bounds(mask);
  if (counted != nullptr) {
    const Term extent(n, counted), place = positions(n, DType::i64, bound, 0, 1);
    const bool may_be_one = n.least(mask, last) <= 1;
    const Term is_one = extent == 1;
    const Term near = min(place, integer(n, std::max<int64_t>(given - 1, 0)));
    complete = apply(Op::Gather, {complete, may_be_one ? select(is_one, 0, near) : near}, AxisAttrs{last});
    const Term inside = may_be_one ? is_one || place < extent : place < extent;
    complete = select(inside, complete, forbidden);
  } else if (given == 1 || given >= bound) {
    return mask;
  } else {
    complete = pad(complete, last, 0, bound - given, forbidden);
  }
  Results extents = extents_of(mask);
  extents.back() = extent_of(keys, 2);
  return {n, n.bounded(complete, extents)};
}

void both(std::optional<Term>& condition, const Term& also) {
  condition = condition ? *condition && also : also;
}

// Of a cache of keys [batch, heads, positions, size]; nothing where it is empty.
std::optional<Term> past_length(NodeImport& n, size_t i) {
  if (n.input(i)->rank() != 4 || n.input(i)->shape()[2] == 0) return std::nullopt;
  return length(input(n, i), 2);
}

// Reads mask, causality, windows and lengths; `past` keys stand before the queries' own.
void restrict_keys(NodeImport& n, AttentionTerms& terms, const std::optional<Term>& past) {
  if (n.has_input(3)) {
    const Term mask = complete_mask(input(n, 3), terms.k);
    if (mask.dtype() == DType::bool_)
      both(terms.allowed, mask);
    else
      terms.bias = cast(mask, terms.q.dtype());
  }
  const Term key = positions_along(terms.k, 2, 3, 4);
  Term query = positions_along(terms.q, 2, 2, 4);
  if (past) query = query + *past;
  const bool has_lengths = n.opset() >= 24 && n.has_input(6);
  if (has_lengths) {
    const Term lengths = reshape(cast(input(n, 6), DType::i64), {n.input(6)->type.elements(), 1, 1, 1});
    both(terms.allowed, key < lengths);
    if (!past) query = query + (lengths - length(terms.q, 2));
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
  std::optional<Term> past;
  if (n.has_input(4) && n.has_input(5)) {
    past = past_length(n, 4);
    terms.k = concat({input(n, 4), terms.k}, 2);
    terms.v = concat({input(n, 5), terms.v}, 2);
  }
  if (terms.q.rank() != 4 || terms.k.rank() != 4) n.invalid("queries, keys and values need rank 3 or 4");
  restrict_keys(n, terms, past);
  n.require_known(terms.q, 3, "the size of a head");
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
  if (x.rank() == 3) x.node().require_known(x, 2, "the size of the heads together");
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
  const int64_t along = x.rank() == 3 ? 1 : 2;
  int64_t heads = n.int_attr("num_heads", 0);
  if (heads == 0 && x.rank() == 3) heads = x.extent(2) / (2 * cosine.extent(1));
  const Term all = ids.operand()->type.elements() == 1 && !is_bounded(ids)
                       ? reshape(ids, {1, 1}) + cast(positions_along(x, along, 1, 2), ids.dtype())
                       : ids;
  const Term each(n, n.bounded(expand(at_bounds(all), {x.extent(0), x.extent(along)}),
                               {extent_of(x, 0), extent_of(x, along)}));
  return {rotated(x, cosine, input(n, 3), each, heads, n.flag("interleaved", false))};
}

// The update from `start` [batch] on: every element of the result looks where in the update it comes from, if
// anywhere.
Term written(const Term& past, const Term& update, const Term& start, int64_t axis, bool circular) {
  const int64_t count = update.extent(axis);
  Shape per_batch(past.shape().size(), 1);
  per_batch[0] = past.extent(0);
  Term from = positions_along(past, axis, axis, past.rank()) - reshape(cast(start, DType::i64), per_batch);
  if (circular) from = apply(Op::Mod, {from, length(past, axis)});
  const Term inside = 0.0 <= from && from < length(update, axis);
  const Term source = expand_like(clamp(from, 0, static_cast<double>(count - 1)), past);
  const Term values = gather_elements(at_bounds(update), at_bounds(source), axis);
  return select(inside, Term(past.node(), past.node().bounded(values, extents_of(past))), past);
}

Results tensor_scatter(NodeImport& n) {
  const Term past = input(n, 0), update = input(n, 1);
  const int64_t axis = n.axis(n.int_attr("axis", -2), past.rank());
  const std::string mode = n.word_attr("mode", {"linear", "circular"});
  if (axis == 0 || update.rank() != past.rank()) n.invalid("axis 0, or an update of another rank");
  const int64_t length = past.extent(axis), count = update.extent(axis);
  if (count == 0) return {past};
  if (!n.has_input(2)) {
    n.require_known(past, axis, "the cache's length, without indices,");
    n.require_known(update, axis, "the update's length, without indices,");
  }
  if (!n.has_input(2)) return {concat({update, slice(past, axis, count, length - count)}, axis)};
  return {written(past, update, input(n, 2), axis, mode == "circular")};
}

Results causal_conv_with_state(NodeImport& n) {
  const Term x = widened(input(n, 0)), w = widened(input(n, 1));
  if (x.rank() != 3 || w.rank() != 3) n.invalid("data and weights need rank 3");
  n.require_known(w, "an extent of the weights");
  n.require_known(x, 1, "the number of channels");
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
  const Term state = last_of(longer, 2, before);
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
  // Batches are by themselves, and positions beyond the extent change nothing.
  Operand of_batch, of_positions;
  for (size_t i = 0; i < n.input_count(); ++i) {
    if (!n.has_input(i)) continue;
    const bool is_state = n.input(i)->rank() == 4;
    for (int64_t axis = is_state ? 1 : 2; axis < n.input(i)->rank(); ++axis)
      n.require_known(n.input(i), axis, "an axis other than those of batch and positions");
    if (n.input(i)->rank() > 0 && of_batch == nullptr) of_batch = extent_of(n.input(i), 0);
    if (n.input(i)->rank() == 3 && of_positions == nullptr) of_positions = extent_of(n.input(i), 1);
  }
  const auto input = [](NodeImport& node, size_t i) { return at_bounds({node, node.input(i)}); };
  const Term q = split_heads(widened(input(n, 0)), heads), k = split_heads(widened(input(n, 1)), kv_heads),
             v = split_heads(widened(input(n, 2)), kv_heads);
  const int64_t batch = q.extent(0), length = q.extent(2), size = q.extent(3);
  if (length > kMaxPositions || length == 0)
    n.unsupported(
        fmt::format("{} positions; 1 to {} are written one after the other", length, kMaxPositions));
  if (heads % kv_heads != 0) n.invalid("q_num_heads is no multiple of kv_num_heads");
  for (size_t i : {0, 1, 2, 4, 5}) {
    if (!n.has_input(i)) continue;
    if (n.input(i)->rank() != 3 || n.input(i)->shape()[1] != length)
      n.invalid(fmt::format("input {} has not the {} positions of the queries", i, length));
    if (of_positions != nullptr && extent_of(n.input(i), 1) == nullptr)
      n.unsupported("positions that are a range beside others that are not");
  }
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
    const Term next = next_state(state, step, delta);
    state = of_positions == nullptr
                ? next
                : select(static_cast<double>(t + 1) <= Term(n, of_positions), next, state);
    const Term rows = reshape(at(q, t, false) * scale, {batch, kv_heads, heads / kv_heads, size});
    results.push_back(reshape(matmul(rows, state), {batch, heads, 1, v.extent(3)}));
  }
  const DType state_type = n.has_input(3) ? n.input(3)->dtype() : n.input(0)->dtype();
  return {
      n.bounded(cast(join_heads(concat(results, 2)), n.input(0)->dtype()), {of_batch, of_positions, nullptr}),
      n.bounded(cast(state, state_type), {of_batch, nullptr, nullptr, nullptr})};
}

// One of the parts that lie beside each other in each head, [batch, positions, heads, parts, size], as
// [batch, positions, heads * size].
Term head_part(const Term& x, int64_t which, int64_t parts) {
  if (x.rank() != 5 || x.extent(3) != parts)
    x.node().invalid(
        fmt::format("{} is not [batch, positions, heads, {}, size]", to_string(x.operand()->type), parts));
  return reshape(slice(x, 3, which, 1), {x.extent(0), x.extent(1), x.extent(2) * x.extent(4)});
}

// Queries, keys and values [batch, positions, heads * size] of inputs 0 to 2: apart, keys and values packed,
// or all packed. Keys and values apart may be heads already.
struct Projections {
  Term q, k, v;
};
Projections projections(NodeImport& n) {
  const Term q = input(n, 0);
  if (!n.has_input(1)) return {head_part(q, 0, 3), head_part(q, 1, 3), head_part(q, 2, 3)};
  const Term k = input(n, 1);
  if (!n.has_input(2)) return {q, head_part(k, 0, 2), head_part(k, 1, 2)};
  const auto joined = [](const Term& x) { return x.rank() == 4 ? join_heads(x) : x; };
  const Projections result{q, joined(k), joined(input(n, 2))};
  if (q.rank() != 3 || result.k.rank() != 3 || result.v.rank() != 3)
    n.invalid("queries need rank 3, keys and values rank 3 or 4");
  return result;
}

// ONNX Runtime's: packed heads, a bias of all three projections, and masks of its own.
Results multi_head_attention(NodeImport& n) {
  const int64_t heads = n.int_attr("num_heads");
  const double filter = n.float_attr("mask_filter_value", -10000);
  for (size_t i = 8; i < n.input_count(); ++i)
    if (n.has_input(i)) n.unsupported(fmt::format("input {}", i));
  auto [q, k, v] = projections(n);
  if (n.has_input(3)) {
    const Term bias = input(n, 3);
    for (const Term& each : {q, k, v}) n.require_known(each, 2, "the size of the heads together");
    const int64_t first = q.extent(2), second = k.extent(2);
    q = q + slice(bias, 0, 0, first);
    // Keys and values that are heads have theirs.
    if (!n.has_input(1) || n.input(1)->rank() != 4) k = k + slice(bias, 0, first, second);
    if (!n.has_input(2) || n.input(2)->rank() != 4) v = v + slice(bias, 0, first + second, v.extent(2));
  }
  AttentionTerms terms{split_heads(q, heads), split_heads(k, heads), split_heads(v, heads)};
  std::optional<Term> past;
  if (n.has_input(6) && n.has_input(7)) {
    past = past_length(n, 6);
    terms.k = concat({input(n, 6), terms.k}, 2);
    terms.v = concat({input(n, 7), terms.v}, 2);
  }
  const int64_t batch = q.extent(0), keys = terms.k.extent(2);
  if (n.has_input(5)) terms.bias = widened(input(n, 5));
  if (n.has_input(4)) {  // what is masked is not forbidden, but made unlikely
    const Term mask = cast(input(n, 4), DType::i64);
    if (mask.rank() != 2 || (mask.shape() != Shape{batch, keys} && !is_bounded(mask)))
      n.unsupported("a key_padding_mask that is not [batch, keys]");
    const Term zero(n, widened(q).dtype(), 0);
    const Term added = select(reshape(mask, {mask.extent(0), 1, 1, mask.extent(1)}) == 0, filter, zero);
    terms.bias = terms.bias ? *terms.bias + added : added;
  }
  if (n.flag("unidirectional", false)) {
    const Term query = positions_along(q, 1, 2, 4);
    terms.allowed = positions_along(terms.k, 2, 3, 4) <= (past ? query + *past : query);
  }
  terms.scale = n.float_attr("scale", 0);
  if (terms.scale == 0) terms.scale = 1 / std::sqrt(static_cast<double>(terms.q.extent(3)));
  return {join_heads(cast(attend(terms).y, q.dtype())), terms.k, terms.v};
}

bool has_positions(NodeImport& n, size_t past) {
  return n.has_input(past) && n.input(past)->type.elements() > 0;
}

// x, of which only runs with this extent along the axis are right.
Term of_extent(const Term& x, int64_t axis, int64_t extent) {
  const Operand counted = extent_of(x, axis);
  if (counted == nullptr) return x;
  NodeImport& n = x.node();
  Results extents = extents_of(x);
  extents[static_cast<size_t>(axis)] = nullptr;
  const Term bound = at_bounds(x);
  const Term fitted = bound.extent(axis) > extent ? slice(bound, axis, 0, extent)
                                                  : pad(bound, axis, 0, extent - bound.extent(axis), 0);
  n.builder().note_meeting(counted, n.integer(extent), n.origin(), {fitted.operand()});
  return {n, n.bounded(fitted, extents)};
}

// A state of one sequence, which grows or has room for all positions: in place.
std::optional<Term> cached_in_place(NodeImport& n, const Term& past, const Term& added, const Term& start,
                                    const Extent& total) {
  GraphBuilder& builder = n.builder();
  const bool has_room = builder.capacity_of(past) && extent_of(past, 2) == nullptr &&
                        std::max(total.bound, added.extent(2)) <= past.extent(2),
             grows = !has_room && can_grow(builder, past, added, 2);
  if (past.extent(0) != 1 || !(grows || has_room)) return std::nullopt;
  for (const int64_t axis : {0, 1, 3})
    if (extent_of(past, axis) != nullptr) return std::nullopt;
  const int64_t bound = std::max(total.bound, past.extent(2));
  const Term before = length(past, 2), more = length(added, 2);
  Term place = min(max(reshape(start, {}), integer(n, 0)), before);
  if (has_room || bound < past.extent(2) + added.extent(2)) place = min(place, integer(n, bound) - more);
  Results extents = extents_of(past);
  if (grows) {
    const Term said(n, total.counted != nullptr ? total.counted : n.integer(total.bound));
    extents[2] = std::make_shared<OperandState>(*min(max(said, before), before + more).operand());
    extents[2]->upper = bound;
  }
  return Term(n, grown(builder, past, added, 2, before.operand(), place.operand(), std::move(extents), bound,
                       n.origin()));
}

// The cache with `added` [batch, heads, positions, size] in it from `start` on, of `total` positions at
// least.
Term cached(NodeImport& n, size_t past, const Term& added, const Term& start, const Extent& total) {
  Term begins = has_positions(n, past) ? input(n, past) : added;
  if (begins.rank() == 4) begins = of_extent(begins, 3, added.extent(3));
  if (begins.rank() != 4 || begins.extent(1) != added.extent(1) || begins.extent(3) != added.extent(3))
    n.invalid("the cache is not [batch, kv_num_heads, positions, size]");
  if (n.has_input(past))
    if (const auto in_place = cached_in_place(n, input(n, past), added, start, total)) return *in_place;
  const int64_t missing = std::max<int64_t>(total.bound - begins.extent(2), 0);
  Term longer = pad(at_bounds(begins), 2, 0, missing, 0);
  Results extents = extents_of(begins);
  if (const Operand counted = extent_of(begins, 2); counted != nullptr || total.counted != nullptr) {
    // Zeros between what there is and what is added, and as many as are said, or more where there are more.
    if (counted != nullptr)
      longer = select(positions(n, DType::i64, longer.extent(2), 2, 4) < Term(n, counted), longer, 0);
    const Term said(n, total.counted != nullptr ? total.counted : n.integer(total.bound));
    extents[2] = std::make_shared<OperandState>(*max(said, length(begins, 2)).operand());
    extents[2]->upper = longer.extent(2);
  }
  longer = Term(n, n.bounded(longer, extents));
  return has_positions(n, past) ? written(longer, added, start, 2, false) : longer;
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
  n.require_known(q, 2, "the size of the heads together");
  const int64_t count = q.extent(1), size = q.extent(2) / (packed ? heads + 2 * kv_heads : heads);
  const Term all = q;
  if (packed) q = slice(all, 2, 0, heads * size);
  Term k = packed ? slice(all, 2, heads * size, kv_heads * size) : input(n, 1);
  const Term v = packed ? slice(all, 2, (heads + kv_heads) * size, kv_heads * size) : input(n, 2);
  const std::vector<Extent> totals = n.extents_input(6, "total sequence length");
  if (totals.size() != 1) n.invalid("its total sequence length must be one integer");
  const Extent& total = totals[0];
  // A cache that grows; one of a fixed size may have any number of positions in it.
  if (total.counted != nullptr && n.has_input(3) && n.input(3)->rank() == 4)
    n.builder().note_usual(total.counted, (length(input(n, 3), 2) + length(q, 1)).operand());
  const bool is_known = total.counted == nullptr && extent_of(q, 1) == nullptr;
  n.bounded("total sequence length", {total.bound}, is_known ? count : 0, kMaxOffset);
  const Term lengths = cast(reshape(input(n, 5), {n.input(5)->type.elements()}), DType::i64) + 1;
  // What begins a sequence begins at 0, also where it is shorter than others.
  Term start = lengths - length(q, 1);
  if (is_known && count == total.bound) start = lengths - lengths;
  if (!is_known) {
    const Term said(n, total.counted != nullptr ? total.counted : n.integer(total.bound));
    start = select(said == length(q, 1), 0, start);
  }
  const Term query = reshape(start, {start.extent(0), 1}) + positions_along(q, 1, 1, 2);
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
  const Term key = positions_along(terms.k, 2, 3, 4), at = reshape(query, {query.extent(0), 1, count, 1});
  terms.allowed = key <= at;
  if (const int64_t window = n.int_attr("local_window_size", -1); window > 0)
    both(terms.allowed, at < key + static_cast<double>(window));
  if (n.has_input(10)) terms.bias = widened(complete_mask(input(n, 10), terms.k));
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
