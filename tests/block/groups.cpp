#include "groups.h"

#include <limits>
#include <sstream>

#include "korch/block/prove.h"

namespace korch::block {

GroupBuilder::GroupBuilder(const std::string& axes) {
  std::istringstream words(axes);
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    terms.axes.push_back({word.substr(0, colon), std::stoll(word.substr(colon + 1))});
  }
}

AxisSet GroupBuilder::axes(const std::string& names) const {
  AxisSet set = 0;
  std::istringstream words(names);
  for (std::string word; words >> word;)
    for (size_t i = 0; i < terms.axes.size(); ++i)
      if (terms.axes[i].name == word) set |= axis_set(static_cast<int>(i));
  return set;
}

int GroupBuilder::leaf(const std::string& axes) {
  terms.leaves.push_back({.type = DType::f32, .axes = this->axes(axes)});
  return terms.leaf(static_cast<int>(terms.leaves.size()) - 1);
}

int GroupBuilder::softmax(const std::string& over, int scores) {
  const int exps = call(Op::Exp, {sub(scores, max(over, scores))});
  return div(exps, sum(over, exps));
}

int GroupBuilder::rms_norm(const std::string& over, int x) {
  double count = 1;
  for (size_t i = 0; i < terms.axes.size(); ++i)
    if ((axes(over) & axis_set(static_cast<int>(i))) != 0) count *= static_cast<double>(terms.axes[i].extent);
  const int mean = mul(sum(over, mul(x, x)), num(1 / count));
  return div(x, call(Op::Sqrt, {add(mean, num(1e-6))}));
}

namespace {

using G = GroupBuilder;

const std::string kAttentionAxes = "b:12 m:1024 n:1024 d:64 e:64";

// Attention with whatever makes the scores.
template <typename Scores>
Terms attention(Scores scores) {
  G g(kAttentionAxes);
  const int q = g.leaf("b m d"), k = g.leaf("b n d"), v = g.leaf("b n e");
  const int s = scores(g, g.dot("d", q, k));
  g.terms.results = {g.dot("n", g.softmax("n", s), v)};
  return g.terms;
}

Terms two_score_terms() {
  G g(kAttentionAxes);
  const int q = g.leaf("b m d"), k = g.leaf("b n d"), v = g.leaf("b n e"), p = g.leaf("b m n d");
  const int s = g.mul(g.add(g.dot("d", q, k), g.dot("d", q, p)), g.num(0.125));
  g.terms.results = {g.dot("n", g.softmax("n", s), v)};
  return g.terms;
}

Terms linear_attention() {
  G g(kAttentionAxes);
  const int q = g.leaf("b m d"), k = g.leaf("b n d"), v = g.leaf("b n e");
  const auto phi = [&](int x) { return g.add(g.terms.call(Op::Elu, {x}, {.alpha = 1}), g.num(1)); };
  const int scores = g.dot("d", phi(q), phi(k));
  g.terms.results = {g.div(g.dot("n", scores, v), g.sum("n", scores))};
  return g.terms;
}

// h heads of queries share the keys of a group g.
Terms qk_norm_gqa() {
  G g("g:2 h:8 m:64 n:1024 d:64 e:64");
  const int q = g.leaf("g h m d"), k = g.leaf("g n d"), v = g.leaf("g n e");
  const int s = g.mul(g.dot("d", g.rms_norm("d", q), g.rms_norm("d", k)), g.num(0.125));
  g.terms.results = {g.dot("n", g.softmax("n", s), v)};
  return g.terms;
}

Terms rms_norm_matmul() {
  G g("m:16 f:4096 d:1024");
  const int x = g.leaf("m d"), scale = g.leaf("d"), w = g.leaf("d f");
  g.terms.results = {g.dot("d", g.mul(g.rms_norm("d", x), scale), w)};
  return g.terms;
}

Terms layer_norm_matmul() {
  G g("m:16 f:4096 d:1024");
  const int x = g.leaf("m d"), scale = g.leaf("d"), w = g.leaf("d f");
  const double part = 1.0 / 1024;
  const int centred = g.sub(x, g.mul(g.sum("d", x), g.num(part)));
  const int variance = g.mul(g.sum("d", g.mul(centred, centred)), g.num(part));
  const int y = g.div(centred, g.call(Op::Sqrt, {g.add(variance, g.num(1e-5))}));
  g.terms.results = {g.dot("d", g.mul(y, scale), w)};
  return g.terms;
}

// Of what three tensors are together, as embeddings are.
Terms embedding_norm_matmul() {
  G g("m:16 f:4096 d:1024");
  const int word = g.leaf("m d"), type = g.leaf("d"), place = g.leaf("m d"), w = g.leaf("d f");
  const int x = g.add(g.add(word, type), place);
  const double part = 1.0 / 1024;
  const int centred = g.sub(x, g.mul(g.sum("d", x), g.num(part)));
  const int variance = g.mul(g.sum("d", g.mul(centred, centred)), g.num(part));
  const int scale = g.call(Op::Reciprocal, {g.call(Op::Sqrt, {g.add(variance, g.num(1e-12))})});
  g.terms.results = {g.dot("d", g.mul(centred, scale), w)};
  return g.terms;
}

Terms lora() {
  G g("m:16 f:4096 d:4096 r:16");
  const int x = g.leaf("m d"), w = g.leaf("d f"), a = g.leaf("d r"), b = g.leaf("r f");
  g.terms.results = {g.add(g.dot("d", x, w), g.dot("r", g.dot("d", x, a), b))};
  return g.terms;
}

// Of MobileNet: more channels, a convolution of each, fewer channels again.
Terms inverted_residual() {
  G g("b:2 o:24 h:56 w:56 y:112 x:112 k:16 c:96 i:3 j:3");
  const int image = g.leaf("b k y x"), u = g.leaf("k c"), kernel = g.leaf("c i j"), v = g.leaf("c o");
  for (int weights : {1, 2, 3}) g.terms.leaves[static_cast<size_t>(weights)].constant = true;
  const int wide = g.call(Op::Relu, {g.dot("k", image, u)});
  const int rows = g.terms.at({.of = 4, .parts = {{2, 2}, {8, 1}}, .offset = -1}, wide);
  const int pixels = g.terms.at({.of = 5, .parts = {{3, 2}, {9, 1}}, .offset = -1}, rows);
  const int each = g.call(Op::Relu, {g.dot("i j", pixels, kernel)});
  g.terms.results = {g.dot("c", each, v)};
  return g.terms;
}

Terms gated_mlp() {
  G g("m:16 f:4096 d:1024");
  const int x = g.leaf("m d"), gate = g.leaf("d f"), up = g.leaf("d f");
  g.terms.results = {g.mul(g.silu(g.dot("d", x, gate)), g.dot("d", x, up))};
  return g.terms;
}

Terms rms_swiglu() {
  G g("m:16 f:4096 d:1024");
  const int x = g.leaf("m d"), gate = g.leaf("d f"), up = g.leaf("d f");
  const int y = g.rms_norm("d", x);
  g.terms.results = {g.mul(g.silu(g.dot("d", y, gate)), g.dot("d", y, up))};
  return g.terms;
}

// normalize(x + alpha (normalize(h) - x))
Terms ntrans() {
  G g("m:16 d:4096");
  const int x = g.leaf("m d"), h = g.leaf("m d"), alpha = g.leaf("d");
  const auto normalize = [&](int y) { return g.div(y, g.call(Op::Sqrt, {g.sum("d", g.mul(y, y))})); };
  g.terms.results = {normalize(g.add(x, g.mul(alpha, g.sub(normalize(h), x))))};
  return g.terms;
}

Terms log_sum_exp() {
  G g("m:256 n:4096");
  const int x = g.leaf("m n");
  const int m = g.max("n", x);
  g.terms.results = {g.add(m, g.call(Op::Log, {g.sum("n", g.call(Op::Exp, {g.sub(x, m)}))}))};
  return g.terms;
}

// RMS norm, both products, the gate, and the product back.
Terms rms_mlp() {
  G g("m:16 f:4096 d:1024 o:1024");
  const int x = g.leaf("m d"), gate = g.leaf("d f"), up = g.leaf("d f"), down = g.leaf("f o");
  const int y = g.rms_norm("d", x);
  g.terms.results = {g.dot("f", g.mul(g.silu(g.dot("d", y, gate)), g.dot("d", y, up)), down)};
  return g.terms;
}

// The log-sum-exp of the scores, too, as training keeps it.
Terms attention_with_statistics() {
  G g(kAttentionAxes);
  const int q = g.leaf("b m d"), k = g.leaf("b n d"), v = g.leaf("b n e");
  const int s = g.dot("d", q, k), m = g.max("n", s);
  const int exps = g.call(Op::Exp, {g.sub(s, m)}), sum = g.sum("n", exps);
  g.terms.results = {g.dot("n", g.div(exps, sum), v), g.add(m, g.call(Op::Log, {sum}))};
  return g.terms;
}

// x by its largest magnitude, as dynamic quantization has it, times a matrix.
Terms absmax_matmul() {
  G g("m:16 f:4096 d:1024");
  const int x = g.leaf("m d"), w = g.leaf("d f");
  g.terms.results = {g.dot("d", g.div(x, g.max("d", g.call(Op::Abs, {x}))), w)};
  return g.terms;
}

// A product, and mean and variance of its rows.
Terms matmul_statistics() {
  G g("m:1024 f:64 d:256");
  const int x = g.leaf("m d"), w = g.leaf("d f");
  const int y = g.dot("d", x, w), mean = g.mul(g.sum("m", y), g.num(1.0 / 1024));
  const int centred = g.sub(y, mean);
  g.terms.results = {y, mean, g.mul(g.sum("m", g.mul(centred, centred)), g.num(1.0 / 1024))};
  return g.terms;
}

// In the order in which results lead to terms: compilers evaluate the operands of a call in orders of their
// own.
Terms in_order(const Terms& group) {
  Terms ordered{group.axes, group.leaves, {}, {}};
  for (int result : group.results) ordered.results.push_back(copy_term(group, result, ordered));
  return ordered;
}

}  // namespace

std::map<std::string, Terms> groups() {
  std::map<std::string, Terms> all;
  all["attention"] = attention([](G&, int s) { return s; });
  all["attention_scaled"] = attention([](G& g, int s) { return g.mul(s, g.num(0.125)); });
  all["attention_soft_cap"] = attention([](G& g, int s) {
    return g.mul(g.call(Op::Tanh, {g.div(g.mul(s, g.num(0.125)), g.num(50))}), g.num(50));
  });
  all["attention_bias"] =
      attention([](G& g, int s) { return g.add(g.mul(s, g.num(0.125)), g.leaf("b m n")); });
  all["attention_where"] = attention([](G& g, int s) {
    g.terms.leaves.push_back({.type = DType::bool_, .axes = g.axes("m n")});
    const int mask = g.terms.leaf(static_cast<int>(g.terms.leaves.size()) - 1);
    return g.call(Op::Where, {mask, s, g.num(-std::numeric_limits<double>::infinity())});
  });
  all["attention_two_terms"] = two_score_terms();
  all["linear_attention"] = linear_attention();
  all["qk_norm_gqa"] = qk_norm_gqa();
  all["rms_norm_matmul"] = rms_norm_matmul();
  all["layer_norm_matmul"] = layer_norm_matmul();
  all["embedding_norm_matmul"] = embedding_norm_matmul();
  all["inverted_residual"] = inverted_residual();
  all["lora"] = lora();
  all["gated_mlp"] = gated_mlp();
  all["rms_swiglu"] = rms_swiglu();
  all["ntrans"] = ntrans();
  all["rms_mlp"] = rms_mlp();
  all["attention_with_statistics"] = attention_with_statistics();
  all["absmax_matmul"] = absmax_matmul();
  all["matmul_statistics"] = matmul_statistics();
  all["log_sum_exp"] = log_sum_exp();
  for (auto& [name, group] : all) group = in_order(group);
  return all;
}

}  // namespace korch::block
