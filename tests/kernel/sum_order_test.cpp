#include "korch/kernel/sum_order.h"

#include <gtest/gtest.h>

namespace korch::tile {
namespace {

using Orders = std::set<std::string>;

Orders orders_of(const std::string& nests) {
  return sum_orders(
      parse_tile_graph("kernel {\n  in0: f32[512]\n  in1: f32[1024]\n  out0: f32[128]\n"
                       "  s0: f32[128] at 0\n  scratch 512\n  phase {\n" +
                       nests + "  }\n}\n"));
}

// A product of 8 x 64 and 64 x 16, its terms in `parts` equal parts.
std::string product(int parts, int rows) {
  const std::string p = std::to_string(parts), each = std::to_string(64 / parts);
  const std::string around = parts > 1 ? "    for part in " + p + " {\n" : "";
  const std::string anew = parts > 1 ? " anew if 0 <= part <= 0" : "";
  const std::string a = parts > 1 ? " + part * " + each : "",
                    b = parts > 1 ? " + part * " + std::to_string(1024 / parts) : "";
  return around + "      reduce add r in " + std::to_string(rows) + ", c in 16 over k in " + each + anew +
         " registers {\n        %0 = in0[k" + a + " + r * 64]\n        %1 = in1[c + k * 16" + b +
         "]\n        %2 = f32 mul(%0, %1)\n        s0[c + r * 16] <- %2\n      }\n" +
         (parts > 1 ? "    }\n" : "");
}

TEST(SumOrder, OfAProductIsThatOfItsTerms) {
  const Orders whole = orders_of(product(1, 8));
  EXPECT_EQ(whole.size(), 1u);
  EXPECT_EQ(orders_of(product(1, 4)), whole);  // another tile
  EXPECT_EQ(orders_of(product(4, 8)), whole);  // which the parts go through one after the other
  EXPECT_EQ(orders_of(product(16, 2)), whole);
}

TEST(SumOrder, TellsPartsThatAreInterleaved) {
  std::string text = product(4, 8);
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("in0[k + part * 16 +", "in0[k * 4 + part +");
  replace("in1[c + k * 16 + part * 256]", "in1[c + k * 64 + part * 16]");
  EXPECT_NE(orders_of(text), orders_of(product(1, 8)));
}

TEST(SumOrder, TellsLanesAndOperations) {
  const auto sum = [](const std::string& combine, const std::string& schedule) {
    return "    reduce " + combine + " r in 8 over k in 64" + schedule +
           " {\n      %0 = in0[k + r * 64]\n      out0[r] <- %0\n    }\n";
  };
  const Orders serial = orders_of(sum("add", ""));
  EXPECT_NE(orders_of(sum("max", "")), serial);
  EXPECT_NE(orders_of(sum("add", " lanes 16 across k")), serial);
  EXPECT_NE(orders_of(sum("add", " lanes 16 across k")), orders_of(sum("add", " lanes 8 across k")));
  // Each lane has a sum of its own.
  EXPECT_EQ(orders_of(sum("add", " lanes 8 along r")), serial);
  // A map adds nothing up.
  EXPECT_TRUE(orders_of("    map r in 8 {\n      %0 = in0[r]\n      out0[r] <- %0\n    }\n").empty());
}

}  // namespace
}  // namespace korch::tile
