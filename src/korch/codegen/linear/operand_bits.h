// Whether numbers of fewer bits than float32 has hold a product's operands.
#pragma once

#include "korch/codegen/linear/workload.h"
#include "korch/tensor/product_type.h"

namespace korch::linear {

// The narrowest type that holds every element of both operands, by where these come from: a conversion from
// f16 or bf16, constants by their elements. f32 where that is not known.
ProductType exact_operands(const LinearWorkload& workload);

}  // namespace korch::linear
