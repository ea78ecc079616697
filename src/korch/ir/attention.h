// Attention(q, k, v [, mask]): softmax(q k^T + mask) v as one primitive, which a kernel can compute without
// ever holding all scores (online softmax: Milakov and Gimelshein 2018; FlashAttention: Dao et al. 2022).
//
// q[B_q.., m, d], k[B_k.., n, d], v[B_v.., n, e] -> [B.., m, e]. The batch axes broadcast as MatMul's do;
// mask broadcasts to the scores [B.., m, n], to which it is added. No factor: it belongs to q.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// What the primitive computes, as a graph of others: its inputs, in order, and its output.
Graph attention_definition(const std::vector<TensorType>& inputs);

}  // namespace korch
