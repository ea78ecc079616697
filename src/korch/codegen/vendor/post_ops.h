// Operations that oneDNN applies to a convolution's or product's result before writing it. Its ReLU and clip
// lose a NaN, since their maximum takes the number; generated kernels do these.
#pragma once

#include <optional>
#include <vector>

#include "korch/codegen/linear/workload.h"
#include "korch/runtime/cpu/onednn.h"

namespace korch::vendor {

struct PostOpChain {
  ValueId bias = kNoId;               // a constant, one element per result channel
  std::vector<rt::OnednnPostOp> ops;  // `arg` holds a ValueId until arguments are numbered
  std::vector<float> floats;          // alpha and beta of each
};

// The candidate's epilogue as such a chain, or nothing when it is not exactly one. `channel_axis` is the
// result's.
std::optional<PostOpChain> match_post_ops(const linear::LinearWorkload& workload, int channel_axis);

}  // namespace korch::vendor
