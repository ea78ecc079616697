// float16 and bfloat16 become float32 around every computation, with the same results.
#include "korch/fission/widen.h"

#include <gtest/gtest.h>

#include "check.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

std::string with_type(std::string text, const std::string& type) {
  for (size_t at = text.find("TYPE"); at != std::string::npos; at = text.find("TYPE"))
    text.replace(at, 4, type);
  return text;
}

// The fission is legal (the verifier allows no arithmetic on these types) and computes what the graph
// computes.
void expect_widened(const std::string& text, const std::string& type, double tolerance) {
  const Graph graph = parse_graph(with_type("graph {\n" + text + "}\n", type));
  const Graph wide = fission(graph);
  const std::vector<HostTensor> inputs = random_inputs(graph, 3);
  const InterpretOptions native{Precision::native, {}};
  expect_close(interpret(graph, inputs, native), interpret(wide, inputs, native), tolerance);
}

TEST(Widen, EveryCategory) {
  const char* text = R"(
    input %x : TYPE[2x3x8] "x"
    input %w : TYPE[8x5] "w"
    input %i : i32[4] "i"
    %p = MatMul(%x, %w) : TYPE[2x3x5]
    %s = Softmax(%p) {axis=2} : TYPE[2x3x5]
    %t, %at = TopK(%s) {axis=2, k=2} : TYPE[2x3x2], i64[2x3x2]
    %m = ReduceMax(%x) {axes=[0], keepdims=false} : TYPE[3x8]
    %l = Less(%x, %m) : bool[2x3x8]
    %n = Cast(%x) {to=i32} : i32[2x3x8]
    %f = Cast(%i) {to=TYPE} : TYPE[4]
    output %t "t"
    output %at "at"
    output %l "l"
    output %n "n"
    output %f "f"
  )";
  expect_widened(text, "f16", 2e-3);
  expect_widened(text, "bf16", 2e-2);
}

TEST(Widen, BetweenTheTwoTypes) {
  expect_widened("input %x : f16[7] \"x\"\n%y = Cast(%x) {to=bf16} : bf16[7]\noutput %y \"y\"\n", "", 0);
}

TEST(Widen, LeavesOtherGraphsAlone) {
  Graph graph = parse_graph(R"(graph {
    input %x : f32[3] "x"
    input %h : f16[3x1] "h"
    %y = Exp(%x) : f32[3]
    %z = Reshape(%h) {shape=[3]} : f16[3]
    %c = Cast(%z) {to=f32} : f32[3]
    output %y "y"
    output %c "c"
  })");
  EXPECT_EQ(widen_small_floats(graph), 0);
}

}  // namespace
}  // namespace korch::test
