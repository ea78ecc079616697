// Whether numbers of fewer bits than float32 has hold a product's operands.
#pragma once

#include "korch/codegen/linear/workload.h"
#include "korch/tensor/product_type.h"

namespace korch::linear {

// The narrowest type that holds every element of both operands, by where these come from: a conversion from
// f16 or bf16, constants by their elements. f32 where that is not known.
ProductType exact_operands(const LinearWorkload& workload);

// How much faster than float32 without them matrix units multiply, at most (NVIDIA's data sheets).
int64_t speed_of(ProductType type);

}  // namespace korch::linear
