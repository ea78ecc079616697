// Constant operands in the form that a kernel wants them (Packing, plan/kernel.h). Kinds are rows of one
// table in packing.cpp.
//
//   row_major                              as the model has it
//   columns    source, group, block, tail  float32 matrix of K terms by N columns, the columns in blocks of
//                                          `block` lanes and a last block of `tail` lanes (0: none), zero
//                                          padded: [group][block][K][lanes]. source 0: convolution weights
//                                          [N, C, k...], K runs over k..., C; source 1: [..., K, N], source
//                                          2: [..., N, K], one matrix per batch index
//   column_groups  as columns               of int16 or int8, as many rows beside each other as four bytes
//   hold, s:
//                                          [block][K / s][lanes][s], a K that s does not divide padded with 0
//                                          `columns` also takes int8 and uint8 as they are
//   nibbles  as columns                     of int8 or uint8 that 4 bits hold, eight rows beside each other
//   in
//                                          as many: [block][K / 8][lanes][8], two in a byte, the first one
//                                          below; a K that 8 does not divide padded with 0
//   depthwise  lanes                       [C, 1, k...] as [k...][lanes], zero padded
//   winograd   m, block, tail              weights [N, C, r, r] transformed for F(m,r):
//                                          [block][(m+r-1)^2][C][lanes]
#pragma once

#include <string>

#include "korch/plan/kernel.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

// The packed bytes. Throws Error{internal} on a packing that does not fit the constant.
std::string pack(const HostTensor& constant, const Packing& packing);

}  // namespace korch
