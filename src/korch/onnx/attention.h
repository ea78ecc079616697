// Attention as matrix products and a softmax: what the operators of ONNX and of ONNX Runtime have in common.
#pragma once

#include <optional>

#include "korch/onnx/term.h"

namespace korch::onnx {

// Heads are [batch, heads, positions, size]; several query heads may share one of keys and values.
struct AttentionTerms {
  Term q, k, v;
  double scale = 1;
  double softcap = 0;                // 0: none
  std::optional<Term> bias = {};     // added to the scores
  std::optional<Term> allowed = {};  // bool: which keys a query may attend; one that may none gets zeros
  DType softmax_type = DType::f32;   // at least
};

// In the operands' type (float32 for smaller ones).
struct AttentionResult {
  Term scores;  // scaled
  Term capped;
  Term biased;
  Term weights;  // the softmax
  Term y;        // [batch, query heads, positions, size of v]
};
AttentionResult attend(const AttentionTerms& terms);

// [batch, positions, heads * size] to heads and back.
Term split_heads(const Term& x, int64_t heads);
Term join_heads(const Term& x);

// Pairs along the last axis rotated by angles [..., pairs], which broadcast. Elements behind them stay.
Term rotate_pairs(const Term& x, const Term& cosine, const Term& sine, bool interleaved);

}  // namespace korch::onnx
