// Einsum equations against the interpreter, and that the usual ones need no transposes.
#include <gtest/gtest.h>

#include "check.h"
#include "korch/fission/fission.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> inputs;
  const char* equation;
  const char* result;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"matmul", {"f64[3x4]", "f64[4x5]"}, "ij,jk->ik", "f64[3x5]"},
      {"matmul_transposed", {"f64[3x4]", "f64[5x4]"}, "ik,jk->ij", "f64[3x5]"},
      {"matmul_result_transposed", {"f64[3x4]", "f64[4x5]"}, "ij,jk->ki", "f64[5x3]"},
      {"attention_scores", {"f64[2x3x4]", "f64[2x5x4]"}, "b i d, b j d -> b i j", "f64[2x3x5]"},
      {"attention_heads", {"f64[2x6x3x4]", "f64[2x6x5x4]"}, "bhid,bhjd->bhij", "f64[2x6x3x5]"},
      {"heads_inside", {"f64[2x3x6x4]", "f64[2x5x6x4]"}, "bihd,bjhd->bhij", "f64[2x6x3x5]"},
      {"batch_last", {"f64[3x4x2]", "f64[4x5x2]"}, "ijb,jkb->ikb", "f64[3x5x2]"},
      {"two_summed", {"f64[3x4x2]", "f64[2x4x5]"}, "ijk,kjl->il", "f64[3x5]"},
      {"outer", {"f64[3]", "f64[4]"}, "i,j->ij", "f64[3x4]"},
      {"outer_swapped", {"f64[3]", "f64[4]"}, "i,j->ji", "f64[4x3]"},
      {"inner", {"f64[3]", "f64[3]"}, "i,i->", "f64[]"},
      {"elementwise", {"f64[3x4]", "f64[4x3]"}, "ij,ji->ij", "f64[3x4]"},
      {"matrix_vector", {"f64[3x4]", "f64[4]"}, "ij,j->i", "f64[3]"},
      {"vector_matrix", {"f64[3]", "f64[3x4]"}, "i,ij", "f64[4]"},
      {"sum_all", {"f64[3x4]"}, "ij->", "f64[]"},
      {"sum_some", {"f64[3x4x2]"}, "ijk->ki", "f64[2x3]"},
      {"transpose_implicit", {"f64[3x4]"}, "ba", "f64[4x3]"},
      {"own_label_summed_first", {"f64[3x4x2]", "f64[4x5]"}, "ijz,jk->ik", "f64[3x5]"},
      {"three", {"f64[3x4]", "f64[4x5]", "f64[5x2]"}, "ij,jk,kl->il", "f64[3x2]"},
      {"three_shared", {"f64[3x4]", "f64[3x4]", "f64[3x4]"}, "ij,ij,ij->i", "f64[3]"},
      {"ellipsis", {"f64[2x6x3x4]", "f64[6x4x5]"}, "...ij,...jk->...ik", "f64[2x6x3x5]"},
      {"ellipsis_implicit", {"f64[2x3x4]", "f64[4x5]"}, "...ij,jk", "f64[2x3x5]"},
      {"diagonal", {"f64[4x4]"}, "ii->i", "f64[4]"},
      {"trace", {"f64[4x4]"}, "ii->", "f64[]"},
      {"batch_diagonal", {"f64[3x5x5]"}, "...ii->...i", "f64[3x5]"},
      {"diagonal_around", {"f64[4x3x4]", "f64[4x2]"}, "iji,ik->jk", "f64[3x2]"},
      {"diagonal_of_three", {"f64[3x3x3]"}, "iii->i", "f64[3]"},
      {"two_diagonals", {"f64[2x3x2x3]"}, "ijij->ji", "f64[3x2]"},
      {"broadcast_batch", {"f64[2x3x4]", "f64[1x4x5]"}, "bij,bjk->bik", "f64[2x3x5]"},
      {"broadcast_summed", {"f64[3x4]", "f64[1x5]"}, "ij,jk->ik", "f64[3x5]"},
  };
  return table;
}

Graph einsum(const Case& c) {
  std::string arguments = "%a";
  for (size_t i = 1; i < c.inputs.size(); ++i) arguments += std::string(", %") + static_cast<char>('a' + i);
  return one_node(c.inputs, "Einsum(" + arguments + ") {equation=\"" + c.equation + "\"}", c.result);
}

class EinsumRule : public testing::TestWithParam<Case> {};

TEST_P(EinsumRule, EqualsTheOperator) {
  const Graph graph = einsum(GetParam());
  for (uint64_t seed : {1, 2}) expect_fission_is_equal(graph, random_inputs(graph, seed));
}

INSTANTIATE_TEST_SUITE_P(Equations, EinsumRule, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Einsum, UsualEquationsAreOneMatMul) {
  for (const Case& c : cases()) {
    const std::string name = c.name;
    if (name != "matmul" && name != "matmul_transposed" && name != "matmul_result_transposed" &&
        name != "attention_scores" && name != "attention_heads") {
      continue;
    }
    const Graph result = fission(einsum(c));
    EXPECT_EQ(result.live_node_count(), 1u) << name << "\n" << print(result);
    EXPECT_EQ(count(result, Op::MatMul), 1) << name;
  }
}

}  // namespace
}  // namespace korch::test
