// The interpreter over a finite field: float tensors hold field elements, all others what they always hold.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"
#include "korch/ir/field.h"

namespace korch::field {

// Outputs of a primitive graph, each Value by its first producer. Tensors, given and returned, are of the
// graph's type or, for floats, int64 whose bits are field elements. Throws Undecidable.
template <typename Field>
std::vector<HostTensor> evaluate(const Graph& graph, const std::vector<HostTensor>& inputs,
                                 const Field& field);

extern template std::vector<HostTensor> evaluate(const Graph&, const std::vector<HostTensor>&, const Plain&);
extern template std::vector<HostTensor> evaluate(const Graph&, const std::vector<HostTensor>&,
                                                 const WithExp&);

}  // namespace korch::field
