// An input that grows in place (ir/append.h), while a model is read.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/bounded.h"

namespace korch::onnx {

// Whether the builder lets `past` grow along this axis by `added`, and its rows lie where they are in the
// result, however many there are: only the outermost axis may be open beside that along which it grows.
bool can_grow(GraphBuilder& builder, const Operand& past, const Operand& added, int64_t axis);

// `added` from row `place` on (i64[], from 0 to `length`) of `past`, which has `length` rows. The result has
// these extents and this bound, up to which it is read; what is a state is as long in every plan of an
// executable (OperandState::appended).
Operand grown(GraphBuilder& builder, const Operand& past, const Operand& added, int64_t axis,
              const Operand& length, const Operand& place, std::vector<Operand> extents, int64_t bound,
              const std::string& origin);

}  // namespace korch::onnx
