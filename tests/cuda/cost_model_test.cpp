// What the model of a GPU's costs says of kernels that differ in one thing.
#include "korch/codegen/cuda/cost_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace korch::tile {
namespace {

double us(const std::string& text) {
  return cuda_model_us(parse_tile_graph(text), {}, cuda_device());
}

// `rows` slices, each the sum of `terms` terms that lie `stride` apart.
std::string sums(int rows, int terms, int stride) {
  const int elements = rows * terms * stride;
  return fmt::format(
      "kernel {{\n  in0: f32[{0}]\n  out0: f32[{1}]\n  phase i in {1} {{\n    reduce add over k in {2} {{\n"
      "      %0 = in0[i * {3} + k * {4}]\n      out0[i] <- %0\n    }}\n  }}\n}}\n",
      elements, rows, terms, terms * stride, stride);
}

std::string product(const std::string& schedule) {
  return "kernel {\n  in0: f32[1048576]\n  in1: f32[1048576]\n  out0: f32[4096]\n  s0: f32[4096] at 0\n"
         "  scratch 16384\n  phase {\n    reduce add r in 64, c in 64 over k in 16384 registers" +
         schedule +
         " {\n      %0 = in0[k * 64 + r]\n      %1 = in1[c + k * 64]\n      %2 = f32 mul(%0, %1)\n"
         "      s0[c + r * 64] <- %2\n    }\n    map r in 64, c in 64 {\n      %0 = s0[c + r * 64]\n"
         "      out0[c + r * 64] <- %0\n    }\n  }\n}\n";
}

TEST(CudaCostModel, NoKernelIsFasterThanItsLaunch) {
  EXPECT_GT(us(sums(1, 2, 1)), cuda_device().launch_us);
}

TEST(CudaCostModel, MoreBytesTakeLonger) {
  EXPECT_GT(us(sums(40000, 4096, 1)), 1.9 * us(sums(20000, 4096, 1)));
}

TEST(CudaCostModel, TermsFarFromEachOtherMoveWholeSectors) {
  EXPECT_GT(us(sums(20000, 4096, 8)), 4 * us(sums(20000, 4096, 1)));
}

// Of 40000 rows with 1024 columns each, less their maximum, and as they are.
TEST(CudaCostModel, RowsAreReadOnce) {
  const auto rows = [](const char* nests, const char* less) {
    return us(
        fmt::format("kernel {{\n  in0: f32[40960000]\n  out0: f32[40960000]\n  s0: f32[1] at 0\n"
                    "  scratch 64\n  phase i in 40000 {{\n{}    map k in 1024 {{\n"
                    "      %0 = in0[i * 1024 + k]\n{}    }}\n  }}\n}}\n",
                    nests, less));
  };
  const double with_maximum =
      rows("    reduce max over k in 1024 {\n      %0 = in0[i * 1024 + k]\n      s0[0] <- %0\n    }\n",
           "      %1 = s0[0]\n      %2 = f32 sub(%0, %1)\n      out0[i * 1024 + k] <- %2\n");
  EXPECT_LT(with_maximum, 1.2 * rows("", "      out0[i * 1024 + k] <- %0\n"));
}

TEST(CudaCostModel, SpillsAndManyRegistersTakeLonger) {
  const ScheduledGraph graph = parse_tile_graph(sums(20000, 64, 1));
  const auto with = [&](int registers, int64_t local) {
    FunctionResources code;
    code.threads = 256;
    code.registers = registers;
    code.instructions = 100;
    code.local_instructions = local;
    return cuda_model_us(graph, {code}, cuda_device());
  };
  EXPECT_GT(with(255, 0), with(32, 0));
  EXPECT_GT(with(32, 50), with(32, 0));
}

TEST(CudaCostModel, MatrixUnitsAreFaster) {
  EXPECT_LT(us(product(" matrix f32")), us(product("")));
}

}  // namespace
}  // namespace korch::tile
