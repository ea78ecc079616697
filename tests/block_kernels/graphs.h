// Groups as networks write them, in primitives. Extents are names: $m or ${m} (graph_with in found.h).
#pragma once

#include <string>

namespace korch::testing {

struct NamedGraph {
  const char* name;
  std::string text;
};

// Scores %t of b heads, m queries and n keys; d features, e columns of values.
inline std::string attention_of(const std::string& inputs, const std::string& scores,
                                const std::string& rest) {
  return "graph {\n" + inputs + scores + R"(
  %m = ReduceMax(%t) {axes=[2]}
  %d = Sub(%t, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %p = Div(%e, %l)
)" + rest +
         "}\n";
}

inline const std::string kHeads = R"(
  input %q : f32[$bx$mx$d] "q"
  input %k : f32[$bx$nx$d] "k"
  input %v : f32[$bx$nx$e] "v"
)";
inline const std::string kQuery = "  input %q : f32[$bx$mx$d] \"q\"\n";
inline const std::string kScores = "  %s = MatMul(%q, %k) {transpose_b=true}\n";
inline const std::string kToHeads = "  %y = MatMul(%p, %v)\n  output %y \"y\"\n";
inline const std::string kToColumns = R"(
  %y = MatMul(%p, %v)
  %yt = Transpose(%y) {perm=[1,0,2]}
  %z = Reshape(%yt) {shape=[1,$m,${b*e}]}
  output %z "z"
)";
inline const std::string kToResidual = R"(
  input %r : f32[1x$mx${b*e}] "r"
  %y = MatMul(%p, %v)
  %yt = Transpose(%y) {perm=[1,0,2]}
  %z = Reshape(%yt) {shape=[1,$m,${b*e}]}
  %zr = Add(%r, %z)
  output %zr "z"
)";

inline const NamedGraph kAttentionGraphs[] = {
    {"scaled", attention_of(kHeads, R"(
  %scale = Constant() {value=[0.25]} : f32[]
  %s = MatMul(%q, %k) {transpose_b=true}
  %t = Mul(%s, %scale)
)",
                            kToHeads)},
    {"scaled_queries_to_columns", attention_of(kHeads, R"(
  %scale = Constant() {value=[0.25]} : f32[]
  %qs = Mul(%q, %scale)
  %kt = Transpose(%k) {perm=[0,2,1]}
  %t = MatMul(%qs, %kt)
)",
                                               kToColumns)},
    {"mask_to_residual", attention_of(kHeads + "  input %mask : f32[1x$mx$n] \"mask\"\n",
                                      kScores + "  %t = Add(%s, %mask)\n", kToResidual)},
    {"bias_of_keys", attention_of(kHeads + "  input %mask : f32[$bx1x$n] \"mask\"\n",
                                  kScores + "  %t = Add(%s, %mask)\n", kToHeads)},
    // Rows of which the mask leaves nothing are NaN.
    {"where", attention_of(kHeads + "  input %mask : bool[1x$mx$n] \"mask\"\n", kScores + R"(
  %low = Constant() {value=[-inf]} : f32[]
  %t = Where(%mask, %s, %low)
)",
                           kToHeads)},
    {"where_of_keys", attention_of(kHeads + "  input %mask : bool[$n] \"mask\"\n", kScores + R"(
  %low = Constant() {value=[-10000]} : f32[]
  %t = Where(%mask, %s, %low)
)",
                                   kToColumns)},
    {"soft_cap", attention_of(kHeads, kScores + R"(
  %cap = Constant() {value=[4]} : f32[]
  %h = Tanh(%s)
  %t = Mul(%h, %cap)
)",
                              kToHeads)},
    {"two_score_terms", attention_of(kHeads + R"(
  input %q2 : f32[$bx$mx3] "q2"
  input %k2 : f32[$nx3] "k2"
)",
                                     kScores + R"(
  %s2 = MatMul(%q2, %k2) {transpose_b=true}
  %t = Add(%s, %s2)
)",
                                     kToHeads)},
    {"shared_keys", attention_of(kQuery + R"(
  input %k : f32[1x$nx$d] "k"
  input %v : f32[$nx$e] "v"
)",
                                 kScores + "  %t = Neg(%s)\n", kToColumns)},
    {"normalized_queries_and_keys", attention_of(kHeads, R"(
  %eps = Constant() {value=[0.001]} : f32[]
  %qq = Mul(%q, %q)
  %ql = ReduceSum(%qq) {axes=[2]}
  %qe = Add(%ql, %eps)
  %qr = Sqrt(%qe)
  %qn = Div(%q, %qr)
  %kk = Mul(%k, %k)
  %kl = ReduceSum(%kk) {axes=[2]}
  %ke = Add(%kl, %eps)
  %kr = Sqrt(%ke)
  %kn = Div(%k, %kr)
  %t = MatMul(%qn, %kn) {transpose_b=true}
)",
                                                 kToHeads)},
    {"constant_keys_and_values", attention_of(kQuery + R"(
  %k = Constant() {random} : f32[$nx$d]
  %v = Constant() {random} : f32[$nx$e]
)",
                                              kScores + "  %t = Neg(%s)\n", kToHeads)},
    // The keys are the values, as in many networks whose heads are memories.
    {"keys_are_values",
     attention_of(kQuery + "  input %k : f32[$bx$nx$d] \"k\"\n", kScores + "  %t = Neg(%s)\n",
                  "  %y = MatMul(%p, %k)\n  output %y \"y\"\n")},
    {"linear", "graph {\n" + kHeads + R"(
  %fq = Sigmoid(%q)
  %fk = Sigmoid(%k)
  %s = MatMul(%fq, %fk) {transpose_b=true}
  %l = ReduceSum(%s) {axes=[2]}
  %y = MatMul(%s, %v)
  %z = Div(%y, %l)
  output %z "z"
}
)"},
    {"log_sum_exp", "graph {\n" + kQuery + "  input %k : f32[$bx$nx$d] \"k\"\n" + kScores + R"(
  %m = ReduceMax(%s) {axes=[2]}
  %d = Sub(%s, %m)
  %e = Exp(%d)
  %l = ReduceSum(%e) {axes=[2]}
  %g = Log(%l)
  %y = Add(%m, %g)
  output %y "y"
}
)"},
};

// x, m rows of d.
inline const std::string kRows = "  input %x : f32[$mx$d] \"x\"\n";
inline const std::string kNorm = R"(
  %eps = Constant() {value=[0.001]} : f32[]
  %xx = Mul(%x, %x)
  %l = ReduceSum(%xx) {axes=[1]}
  %le = Add(%l, %eps)
  %r = Sqrt(%le)
  %xn = Div(%x, %r)
)";
inline const std::string kGateAndUp = R"(
  %w1 = Constant() {random} : f32[$dx$f]
  %w2 = Constant() {random} : f32[$dx$f]
)";
inline const std::string kGated = R"(
  %gs = Sigmoid(%g)
  %gg = Mul(%g, %gs)
  %h = Mul(%gg, %u)
)";

inline const NamedGraph kProductGraphs[] = {
    {"norm_before_product", "graph {\n" + kRows + kNorm + R"(
  %gain = Constant() {random} : f32[$d]
  %w = Constant() {random} : f32[$dx$f]
  %xg = Mul(%xn, %gain)
  %y = MatMul(%xg, %w)
  output %y "y"
}
)"},
    {"norm_before_computed_product", "graph {\n" + kRows + kNorm + R"(
  input %w : f32[$fx$d] "w"
  %y = MatMul(%xn, %w) {transpose_b=true}
  output %y "y"
}
)"},
    {"gated", "graph {\n" + kRows + kGateAndUp + R"(
  %g = MatMul(%x, %w1)
  %u = MatMul(%x, %w2)
)" + kGated + "  output %h \"h\"\n}\n"},
    {"norm_before_gated_mlp", "graph {\n" + kRows + kNorm + kGateAndUp + R"(
  %w3 = Constant() {random} : f32[$fx$o]
  %g = MatMul(%xn, %w1)
  %u = MatMul(%xn, %w2)
)" + kGated + R"(
  %y = MatMul(%h, %w3)
  output %y "y"
}
)"},
    // One matrix there and back.
    {"tied", "graph {\n" + kRows + R"(
  %w = Constant() {random} : f32[$dx$f]
  %h = MatMul(%x, %w)
  %a = Relu(%h)
  %y = MatMul(%a, %w) {transpose_b=true}
  %z = Add(%x, %y)
  output %z "z"
}
)"},
    // One matrix for two operands.
    {"twice", "graph {\n" + kRows + R"(
  input %x2 : f32[$mx$d] "x2"
  %w = Constant() {random} : f32[$dx$f]
  %g = MatMul(%x, %w)
  %u = MatMul(%x2, %w)
)" + kGated + R"(
  %w3 = Constant() {random} : f32[$fx$o]
  %y = MatMul(%h, %w3)
  output %y "y"
}
)"},
    // A matrix and its sums.
    {"with_column_norms", "graph {\n" + kRows + R"(
  %w = Constant() {random} : f32[$dx$f]
  %ww = Mul(%w, %w)
  %l = ReduceSum(%ww) {axes=[0]}
  %h = MatMul(%x, %w)
  %n = Mul(%h, %l)
  %w3 = Constant() {random} : f32[$fx$o]
  %y = MatMul(%n, %w3)
  output %y "y"
}
)"},
    {"low_rank_beside_product", "graph {\n" + kRows + R"(
  %w = Constant() {random} : f32[$dx$f]
  %a = Constant() {random} : f32[$dx4]
  %b = Constant() {random} : f32[4x$f]
  %y1 = MatMul(%x, %w)
  %xa = MatMul(%x, %a)
  %y2 = MatMul(%xa, %b)
  %y = Add(%y1, %y2)
  output %y "y"
}
)"},
    {"largest_before_product", "graph {\n" + kRows + R"(
  %w = Constant() {random} : f32[$dx$f]
  %xa = Abs(%x)
  %l = ReduceMax(%xa) {axes=[1]}
  %xn = Div(%x, %l)
  %y = MatMul(%xn, %w)
  output %y "y"
}
)"},
    {"normalized_sums", "graph {\n" + kRows + kNorm + R"(
  input %h : f32[$mx$d] "h"
  %alpha = Constant() {random} : f32[$d]
  %b = Sub(%h, %xn)
  %c = Mul(%alpha, %b)
  %s = Add(%xn, %c)
  %ss = Mul(%s, %s)
  %sl = ReduceSum(%ss) {axes=[1]}
  %sr = Sqrt(%sl)
  %y = Div(%s, %sr)
  output %y "y"
}
)"},
};

}  // namespace korch::testing
