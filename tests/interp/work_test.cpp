// What evaluating a primitive takes, which also shares out a kernel's time among its primitives in reports.
#include "korch/interp/work.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

TensorType f32(const Shape& shape) {
  return {DType::f32, shape};
}

TEST(EvaluationWork, CountsWhatEachResultReads) {
  EXPECT_EQ(evaluation_work(Op::Relu, NoAttrs{}, {f32({4, 5})}, {f32({4, 5})}), 20 + 20);
  EXPECT_EQ(evaluation_work(Op::MatMul, MatMulAttrs{}, {f32({4, 7}), f32({7, 5})}, {f32({4, 5})}),
            28 + 35 + 20 * 7);
  EXPECT_EQ(evaluation_work(Op::WinogradProduct, WinogradAttrs{}, {f32({16, 9, 7}), f32({5, 7, 3, 3})},
                            {f32({16, 9, 5})}),
            16 * 9 * 7 + 5 * 7 * 9 + 16 * 9 * 5 * 7);
}

}  // namespace
}  // namespace korch
