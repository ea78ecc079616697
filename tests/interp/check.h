// Evaluating one operator on literal tensors and comparing with literal results.
#pragma once

#include <gtest/gtest.h>

#include "korch/interp/interpreter.h"

namespace korch {

// A tensor of `dtype` from doubles.
HostTensor tensor(DType dtype, Shape shape, const std::vector<double>& values);
HostTensor f32(Shape shape, const std::vector<double>& values);
HostTensor i64(Shape shape, const std::vector<double>& values);
// 0, 1, 2, ... of f32.
HostTensor counting(Shape shape);
// Reproducible values in [-1, 1).
HostTensor random(Shape shape, uint32_t seed);

std::vector<HostTensor> evaluate(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs,
                                 Precision precision = Precision::native);

// The first output has this shape and, within the tolerance (relative and absolute), these elements, in both
// precisions. NaN equals NaN.
void expect_result(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs, const Shape& shape,
                   const std::vector<double>& values, double tolerance = 1e-6);
void expect_values(const HostTensor& actual, const std::vector<double>& values, double tolerance = 0);

// The text of the Error that evaluating throws; "no error" if none.
std::string error_of(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs);

}  // namespace korch
