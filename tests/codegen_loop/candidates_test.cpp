// Hand-written candidates: each through every layout and instruction set, against the interpreter.
#include <gtest/gtest.h>

#include "kernel_runner.h"

namespace korch::testing {
namespace {

TEST(Elementwise, ChainCollapsesToOneLoop) {
  EXPECT_GT(check_text(R"(graph {
    input %x : f32[3x5x7] "x"
    input %b : f32[7] "b"
    %h = Constant() {value=[0.5]} : f32[1]
    %y = Add(%x, %b)
    %e = Erf(%y)
    %z = Mul(%e, %h)
    output %z "z"
  })"), 0);
}

TEST(Elementwise, ChannelBias) {
  EXPECT_GT(check_text(R"(graph {
    input %x : f32[2x19x6x5] "x"
    input %b : f32[1x19x1x1] "b"
    %y = Add(%x, %b)
    %z = Relu(%y)
    output %z "z"
  })"), 0);
}

TEST(Reduce, Softmax) {
  EXPECT_GT(check_text(R"(graph {
    input %x : f32[4x6x37] "x"
    %m = ReduceMax(%x) {axes=[2], keepdims=true}
    %d = Sub(%x, %m)
    %e = Exp(%d)
    %s = ReduceSum(%e) {axes=[2], keepdims=true}
    %y = Div(%e, %s)
    output %y "y"
  })"), 0);
}

}  // namespace
}  // namespace korch::testing
