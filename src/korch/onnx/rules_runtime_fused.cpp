// Operators of ONNX Runtime that stand for several of ONNX's: what its optimizer makes of convolutions, of
// attention and of embeddings.
#include <fmt/format.h>

#include <cmath>

#include "korch/onnx/attention.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

// What follows the fused operator, by the words of ONNX, and how many numbers parameterize it.
struct FusedActivation {
  const char* name;
  Op op;
  size_t numbers;
};
constexpr FusedActivation kFusedActivations[] = {
    {"Relu", Op::Relu, 0},
    {"Sigmoid", Op::Sigmoid, 0},
    {"Tanh", Op::Tanh, 0},
    {"Softplus", Op::Softplus, 0},
    {"Softsign", Op::Softsign, 0},
    {"HardSwish", Op::HardSwish, 0},
    {"LeakyRelu", Op::LeakyRelu, 1},
    {"Elu", Op::Elu, 1},
    {"ThresholdedRelu", Op::ThresholdedRelu, 1},
    {"HardSigmoid", Op::HardSigmoid, 2},
    {"Selu", Op::Selu, 2},
};

Term activated(const Term& x, const std::string& name, const std::vector<double>& numbers) {
  NodeImport& n = x.node();
  const auto require_numbers = [&](size_t count) {
    if (numbers.size() < count)
      n.invalid(fmt::format("activation {} needs {} parameters, {} are given", name, count, numbers.size()));
  };
  if (name.empty()) return x;
  if (name == "Clip") {
    require_numbers(2);
    return clamp(x, numbers[0], numbers[1]);
  }
  for (const FusedActivation& row : kFusedActivations) {
    if (name != row.name) continue;
    require_numbers(row.numbers);
    if (row.numbers == 0) return apply(row.op, {x});
    return apply(row.op, {x}, ScalarAttrs{numbers[0], row.numbers > 1 ? numbers[1] : 0});
  }
  n.unsupported("activation " + quoted_name(name));
}

Results by_onnx(NodeImport& n, const char* op_type, std::vector<Operand> inputs) {
  return n.by(find_rule("", op_type)->rule, kLatestOpset, std::move(inputs));
}

std::vector<Operand> first_inputs(NodeImport& n, size_t count) {
  std::vector<Operand> result;
  for (size_t i = 0; i < count; ++i) result.push_back(i < 2 || n.has_input(i) ? n.input(i) : nullptr);
  return result;
}

// A convolution, what is added to it, and an activation.
Results fused_conv(NodeImport& n) {
  const std::string activation = n.string_attr("activation", "");
  const std::vector<double> numbers = n.floats_attr("activation_params");
  Term y(n, by_onnx(n, "Conv", first_inputs(n, 3))[0]);
  if (n.has_input(3)) {
    const Term added(n, n.input(3));
    const bool open = is_bounded(added) || is_bounded(y);
    if (open ? added.rank() != y.rank() : added.shape() != y.shape())
      n.invalid(fmt::format("what is added, {}, has another shape than the convolution, {}",
                            to_string(added.operand()->type), to_string(y.operand()->type)));
    y = y + added;
  }
  return {activated(y, activation, numbers)};
}

Results fused_gemm(NodeImport& n) {
  const std::string activation = n.string_attr("activation", "");
  std::vector<double> numbers;
  if (n.has("activation_alpha")) numbers.push_back(n.float_attr("activation_alpha", 0));
  for (const char* second : {"activation_beta", "activation_gamma"})
    if (n.has(second)) numbers.push_back(n.float_attr(second, 0));
  return {activated({n, by_onnx(n, "Gemm", first_inputs(n, 3))[0]}, activation, numbers)};
}

// What is added to the scores where the mask forbids a key, [batch, 1, 1 or queries, keys]; what is forbidden
// is made unlikely. A mask counts keys from the front, or from both sides, or holds a 1 for each allowed one.
Term mask_bias(NodeImport& n, const Term& mask, const Term& q, const Term& k) {
  const double filter = n.float_attr("mask_filter_value", -10000);
  const int64_t batch = q.extent(0), keys = k.extent(2), queries = q.extent(2);
  const auto added = [&](const Term& allowed) {
    return select(allowed, Term(n, widened(q).dtype(), 0), filter);
  };
  if (mask.rank() == 1) {
    const Term key = cast(positions_along(k, 2, 3, 4), mask.dtype());
    // Whether it counts from both sides is seen by its extent; as a range it is one of its own, or the
    // batch's.
    if (is_bounded(mask) != is_bounded(q))
      n.unsupported(
          "a mask of rank 1, or the number of sequences, is a range, and the other is not: fix it with "
          "--shape");
    if (mask.extent(0) == batch || is_bounded(mask))
      return added(key < reshape(mask, {mask.extent(0), 1, 1, 1}));
    if (mask.extent(0) != 2 * batch)
      n.unsupported(fmt::format("a mask {} for {} sequences", to_string(mask.operand()->type), batch));
    const Term end = reshape(slice(mask, 0, 0, batch), {batch, 1, 1, 1});
    const Term start = reshape(slice(mask, 0, batch, batch), {batch, 1, 1, 1});
    return added(start <= key && key < end);
  }
  const bool rows = mask.rank() == 3;
  if ((!rows && mask.rank() != 2) ||
      (!is_bounded(mask) && mask.shape() != (rows ? Shape{batch, queries, keys} : Shape{batch, keys})))
    n.unsupported(fmt::format("a mask {} for {} queries and {} keys of {} sequences",
                              to_string(mask.operand()->type), queries, keys, batch));
  const Shape shape = {mask.extent(0), 1, rows ? mask.extent(1) : 1, mask.shape().back()};
  return added(reshape(number_like(mask, 0) < mask, shape));
}

// The keys, and the values, of earlier positions: one of two in the tensor.
Term past_part(const Term& past, int64_t which) {
  const Shape& shape = past.shape();
  return reshape(slice(past, 0, which, 1), Shape(shape.begin() + 1, shape.end()));
}

void require_plain_attention(NodeImport& n) {
  for (const char* name : {"do_rotary", "past_present_share_buffer"})
    if (n.flag(name, false)) n.unsupported(name);
  n.ignore("rotary_embedding_dim");
}

Results packed_attention(NodeImport& n) {
  const Term x(n, n.input(0)), w(n, n.input(1));
  if (x.rank() != 3 || w.rank() != 2) n.invalid("data need rank 3, and weights rank 2");
  n.require_known(x, 2, "the width of the data");
  n.require_known(w, "an extent of the weights");
  const int64_t all = w.extent(1);
  const std::vector<int64_t> widths = n.ints_attr("qkv_hidden_sizes", std::vector<int64_t>(3, all / 3));
  if (widths.size() != 3) n.invalid("qkv_hidden_sizes needs three numbers");
  n.bounded("qkv_hidden_sizes", widths, 1, all);
  if (widths[0] != widths[1] || widths[0] + widths[1] + widths[2] != all)
    n.invalid(fmt::format("weights {} are not those of queries, keys and values of widths {}",
                          to_string(w.operand()->type), to_string(widths)));
  if (n.has_input(6)) n.unsupported("past_sequence_length");
  Term projected = matmul(x, w);
  if (n.has_input(2)) {
    n.require_shape(n.input(2), "bias", {all});
    projected = projected + Term(n, n.input(2));
  }
  return attention_of_runtime(n,
                              {slice(projected, 2, 0, widths[0]), slice(projected, 2, widths[0], widths[1]),
                               slice(projected, 2, 2 * widths[0], widths[2]), 3, 4, 5});
}

Results embed_layer_normalization_of_floats(NodeImport& n) {
  const auto table = [&](size_t i) {
    return n.has_input(i) ? std::optional(Term(n, n.input(i))) : std::nullopt;
  };
  return embed_layer_normalization(n, {table(2), table(3), table(4), table(5), table(6)}, 7, 8);
}

// A table's rows by tokens' numbers.
Term table_rows(const Term& table, const Term& ids) {
  if (table.rank() != 2) table.node().invalid("tables need rank 2");
  return apply(Op::Gather, {table, ids}, AxisAttrs{0});
}

// The row of [..., rows, columns] that `chosen` [..., rows, 1] marks, [..., 1, columns].
Term marked_row(const Term& chosen, const Term& x) {
  return reduce(Op::ReduceSum, select(chosen, x, 0), {x.rank() - 2});
}

Results inverse(NodeImport& n) {
  const Term x(n, n.input(0));
  const int64_t rank = x.rank();
  if (rank < 2 || x.extent(rank - 1) != x.extent(rank - 2)) n.invalid("needs square matrices");
  n.require_known(x, rank - 1, "the number of columns");
  n.require_known(x, rank - 2, "the number of rows");
  const int64_t size = x.extent(rank - 1);
  if (size < 1 || size > kMaxInverted)
    n.unsupported(fmt::format("inverses of {} rows, other than 1 to {}", size, kMaxInverted));
  return {cast(inverted(cast(x, DType::f64)), x.dtype())};
}

// How far each row of one matrix is from each of another, by |a|^2 + |b|^2 - 2 a b.
Results distances(NodeImport& n) {
  const Term a(n, n.input(0)), b(n, n.input(1));
  if (a.rank() != 2 || b.rank() != 2) n.invalid("needs two matrices");
  const std::string metric = n.word_attr("metric", {"sqeuclidean", "euclidean"});
  const auto squares = [](const Term& x) { return reduce(Op::ReduceSum, x * x, {1}); };
  const Term product = apply(Op::MatMul, {a, b}, MatMulAttrs{false, true});
  const Term square = squares(a) + transpose(squares(b), {1, 0}) - product * 2.0;
  const Term result = max(square, number_like(square, 0));
  return {metric == "euclidean" ? sqrt(result) : result};
}

}  // namespace

// Elimination with the greatest element of each column as pivot.
Term inverted(const Term& x) {
  NodeImport& n = x.node();
  const int64_t rank = x.rank(), size = x.extent(rank - 1);
  const Term row = positions(n, DType::i64, size, rank - 2, rank);
  const Term unit = cast(row == positions(n, DType::i64, size, rank - 1, rank), DType::f64);
  Term left = x, right = expand_like(unit, x);
  Term used = expand_like(Term(n, DType::bool_, 0), slice(x, rank - 1, 0, 1));
  std::vector<Term> results;
  for (int64_t column = 0; column < size; ++column) {
    const Term elements = slice(left, rank - 1, column, 1);
    const Term size_of = select(used, -1, abs(elements));
    const Term pivot = row == apply(Op::ArgMax, {size_of}, ArgReduceAttrs{rank - 2, true, false});
    const Term divisor = marked_row(pivot, elements);
    const Term from_left = marked_row(pivot, left) / divisor, from_right = marked_row(pivot, right) / divisor;
    const Term factor = select(pivot, 0, elements);
    left = select(pivot, from_left, left - factor * from_left);
    right = select(pivot, from_right, right - factor * from_right);
    used = used || pivot;
    results.push_back(cast(pivot, DType::f64));
  }
  // Row by row, those of the right side where each column had its pivot.
  const Term order = concat(results, rank - 1);
  return apply(Op::MatMul, {order, right}, MatMulAttrs{true, false});
}

Results attention_of_runtime(NodeImport& n, const ProjectedInputs& in) {
  require_plain_attention(n);
  const int64_t heads = n.int_attr("num_heads");
  AttentionTerms terms{split_heads(in.q, heads), split_heads(in.k, heads), split_heads(in.v, heads)};
  Term before = integer(n, 0);
  if (n.has_input(in.past)) {
    const Term past(n, n.input(in.past));
    if (past.rank() != 5 || past.extent(0) != 2)
      n.invalid("past keys and values need shape [2, batch, heads, positions, size]");
    before = length(past, 3);
    terms.k = concat({past_part(past, 0), terms.k}, 2);
    terms.v = concat({past_part(past, 1), terms.v}, 2);
  }
  if (n.has_input(in.mask)) terms.bias = mask_bias(n, {n, n.input(in.mask)}, terms.q, terms.k);
  n.ignore("mask_filter_value");
  if (n.has_input(in.bias)) {
    const Term bias = widened({n, n.input(in.bias)});
    terms.bias = terms.bias ? *terms.bias + bias : bias;
  }
  if (n.flag("unidirectional", false))
    terms.allowed = positions_along(terms.k, 2, 3, 4) <= positions_along(in.q, 1, 2, 4) + before;
  terms.scale = n.float_attr("scale", 0);
  if (terms.scale == 0) terms.scale = 1 / std::sqrt(static_cast<double>(terms.q.extent(3)));
  Results results = {join_heads(cast(attend(terms).y, in.q.dtype())), nullptr};
  if (n.output_used(1)) results[1] = concat({insert_axis(terms.k, 0), insert_axis(terms.v, 0)}, 0);
  return results;
}

Results embed_layer_normalization(NodeImport& n, const EmbeddingTables& tables, size_t mask,
                                  size_t position_ids) {
  if (!tables.words || !tables.positions || !tables.scale || !tables.shift)
    n.invalid("tables of words and positions, scale and bias must not be missing");
  const Term ids(n, n.input(0));
  if (ids.rank() != 2) n.invalid("tokens need shape [batch, positions]");
  const bool given = n.has_input(position_ids);
  const Term place = given ? Term(n, n.input(position_ids)) : positions_along(ids, 1, 1, 2);
  if (given && !is_bounded(place) && place.shape() != ids.shape() && place.shape() != Shape{1, ids.extent(1)})
    n.invalid(fmt::format("positions {} for tokens {}", to_string(place.operand()->type),
                          to_string(ids.operand()->type)));
  if (!given && ids.extent(1) > tables.positions->extent(0))
    n.invalid(fmt::format("up to {} tokens for a table of {} positions", ids.extent(1),
                          tables.positions->extent(0)));
  Term sum = table_rows(*tables.words, ids) + table_rows(*tables.positions, place);
  if (n.has_input(1) != tables.segments.has_value())
    n.invalid("segments and their table: one of them is missing");
  if (tables.segments) sum = sum + table_rows(*tables.segments, {n, n.input(1)});
  NormAttrs attrs;
  attrs.axis = 2;
  attrs.epsilon = n.float_attr("epsilon", 1e-12f);
  n.ignore("mask_index_type");
  Results results = {apply(Op::LayerNormalization, {sum, *tables.scale, *tables.shift}, attrs), nullptr, sum};
  if (n.output_used(1))  // how many tokens each sequence has
    results[1] = n.has_input(mask)
                     ? reduce(Op::ReduceSum, cast(Term(n, n.input(mask)) == 1, DType::i32), {1}, false)
                     : reduce(Op::ReduceSum, cast(ids * 0.0, DType::i32), {1}, false);
  else
    n.ignore_input(mask);
  return results;
}

std::vector<RuleRow> runtime_fused_rules() {
  return {
      {"FusedConv", fused_conv},
      {"FusedGemm", fused_gemm},
      {"Attention", packed_attention},
      {"EmbedLayerNormalization", embed_layer_normalization_of_floats},
      {"Inverse", inverse},
      {"CDist", distances},
  };
}

}  // namespace korch::onnx
