// Tile graphs over finite fields: what is equal passes with a bound, mistakes are found.
#include "korch/kernel/tile_equivalence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "graphs.h"
#include "korch/base/error.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"
#include "korch/kernel/schedule.h"

namespace korch::testing {
namespace {

using Says = FieldResult::Says;

// exp(s - max s) over its sum, times two columns of values, for two rows of four scores.
constexpr const char* kWhole = R"(kernel {
  in0: f32[8]
  in1: f32[8]
  out0: f32[4]
  s0: f32[1] at 0
  s1: f32[4] at 64
  s2: f32[1] at 128
  s3: f32[2] at 192
  scratch 256
  phase i in 2 {
    reduce max over r0 in 4 {
      %0 = in0[i * 4 + r0]
      s0[0] <- %0
    }
    reduce add over r1 in 4 {
      %0 = in0[i * 4 + r1]
      %1 = s0[0]
      %2 = f32 sub(%0, %1)
      %3 = f32 exp(%2)
      s2[0] <- %3
      s1[r1] <- %3
    }
    reduce add c in 2 over r2 in 4 {
      %0 = s1[r2]
      %1 = in1[r2 * 2 + c]
      %2 = f32 mul(%0, %1)
      s3[c] <- %2
    }
    map d in 2 {
      %0 = s3[d]
      %1 = s2[0]
      %2 = f32 div(%0, %1)
      out0[i * 2 + d] <- %2
    }
  }
}
)";

// The same for two scores at a time: what there is is scaled to the maximum so far.
constexpr const char* kOnline = R"(kernel {
  in0: f32[8]
  in1: f32[8]
  out0: f32[4]
  s0: f32[1] at 0
  s1: f32[2] at 64
  s2: f32[1] at 128
  s3: f32[2] at 192
  s4: f32[1] at 256
  s5: f32[1] at 320
  scratch 384
  phase i in 2 {
    for b in 2 {
      reduce max over r0 in 2 {
        %0 = in0[i * 4 + b * 2 + r0]
        s4[0] <- %0
      }
      map {
        %0 = s0[0]
        %1 = f32 -inf
        %2 = %0 if 1 <= b <= 1 else %1
        %3 = s4[0]
        %4 = f32 max(%2, %3)
        %5 = f32 sub(%2, %4)
        %6 = f32 exp(%5)
        %7 = s2[0]
        %8 = f32 0
        %9 = %7 if 1 <= b <= 1 else %8
        %10 = f32 mul(%9, %6)
        s5[0] <- %6
        s2[0] <- %10
        s0[0] <- %4
      }
      reduce add over r1 in 2 anew never {
        %0 = in0[i * 4 + b * 2 + r1]
        %1 = s0[0]
        %2 = f32 sub(%0, %1)
        %3 = f32 exp(%2)
        s2[0] <- %3
        s1[r1] <- %3
      }
      map e in 2 {
        %0 = s3[e]
        %1 = s5[0]
        %2 = f32 mul(%0, %1)
        %3 = f32 0
        %4 = %2 if 1 <= b <= 1 else %3
        s3[e] <- %4
      }
      reduce add c in 2 over r2 in 2 anew never {
        %0 = s1[r2]
        %1 = in1[b * 4 + r2 * 2 + c]
        %2 = f32 mul(%0, %1)
        s3[c] <- %2
      }
    }
    map d in 2 {
      %0 = s3[d]
      %1 = s2[0]
      %2 = f32 div(%0, %1)
      out0[i * 2 + d] <- %2
    }
  }
}
)";

FieldResult compared(const std::string& a, const std::string& b) {
  return tile::compare_over_field(tile::parse_tile_graph(a), tile::parse_tile_graph(b));
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

TEST(TileEquivalence, OnlineSoftmaxIsOneOfTheWhole) {
  const FieldResult result = compared(kWhole, kOnline);
  EXPECT_EQ(result.says, Says::same) << result.why;
  EXPECT_EQ(result.tests, 64);
  EXPECT_LT(result.error_bound, 1e-6);
}

// Whatever the scores are taken relative to: no law of the maximum is needed.
TEST(TileEquivalence, WithoutAMaximum) {
  const FieldResult result = compared(kWhole, with(kWhole, "s0[0] <- %0", "%1 = f32 2\n      s0[0] <- %1"));
  EXPECT_EQ(result.says, Says::same) << result.why;
  EXPECT_LT(result.error_bound, 1e-6);
}

TEST(TileEquivalence, MistakesAreFound) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"%10 = f32 mul(%9, %6)", "%10 = f32 mul(%9, %9)"},  // another factor
      {"%2 = f32 mul(%0, %1)\n        %3 = f32 0", "%2 = f32 mul(%0, %0)\n        %3 = f32 0"},
      {"s2[0] <- %10", "s2[0] <- %9"},                                       // no rescale of the sum
      {"%1 = in1[b * 4 + r2 * 2 + c]", "%1 = in1[r2 * 2 + c]"},              // the first block's values
      {"%0 = in0[i * 4 + b * 2 + r1]", "%0 = in0[b * 2 + r1]"},              // the first row's scores
      {"%9 = %7 if 1 <= b <= 1 else %8", "%9 = %7 if 2 <= b <= 2 else %8"},  // it begins anew
      {"s0[0] <- %4", "s0[0] <- %3"},                                        // the maximum of the block alone
  };
  for (const auto& [right, wrong] : mistakes)
    EXPECT_EQ(compared(kWhole, with(kOnline, right, wrong)).says, Says::different) << wrong;
}

// A sum that was taken out of its axis, as in published kernels of others.
TEST(TileEquivalence, ASumOutOfItsAxis) {
  const char* product = R"(kernel {
  in0: f32[6]
  in1: f32[6]
  out0: f32[2]
  phase i in 2 {
    reduce add over r in 3 {
      %0 = in0[i * 3 + r]
      %1 = in1[i * 3 + r]
      %2 = f32 mul(%0, %1)
      out0[i] <- %2
    }
  }
}
)";
  const char* pulled = R"(kernel {
  in0: f32[6]
  in1: f32[6]
  out0: f32[2]
  s0: f32[1] at 0
  scratch 64
  phase i in 2 {
    reduce add over r in 3 {
      %0 = in0[i * 3 + r]
      s0[0] <- %0
    }
    map {
      %0 = s0[0]
      %1 = in1[i * 3]
      %2 = f32 mul(%0, %1)
      out0[i] <- %2
    }
  }
}
)";
  EXPECT_EQ(compared(product, product).says, Says::same);
  EXPECT_LT(compared(product, product).error_bound, 1e-100);
  EXPECT_EQ(compared(product, pulled).says, Says::different);
}

// max(max(a, b), c) is the maximum of three only by a law: no bound is known.
TEST(TileEquivalence, MaximaInParts) {
  const auto text = [](const std::string& body) {
    return "kernel {\n  in0: f32[3]\n  out0: f32[1]\n  phase {\n    map {\n      %0 = in0[0]\n      %1 = "
           "in0[1]\n" +
           std::string("      %2 = in0[2]\n") + body + "    }\n  }\n}\n";
  };
  const std::string left = "      %3 = f32 max(%0, %1)\n      %4 = f32 max(%3, %2)\n      out0[0] <- %4\n",
                    right = "      %3 = f32 max(%1, %2)\n      %4 = f32 max(%0, %3)\n      out0[0] <- %4\n",
                    two = "      %3 = f32 max(%0, %1)\n      out0[0] <- %3\n";
  const FieldResult result = compared(text(left), text(right));
  EXPECT_EQ(result.says, Says::same);
  EXPECT_EQ(result.error_bound, 1);
  EXPECT_EQ(compared(text(left), text(two)).says, Says::different);
}

TEST(TileEquivalence, WhatFieldsDoNotHave) {
  const auto text = [](const std::string& body) {
    return "kernel {\n  in0: f32[1]\n  out0: f32[1]\n  phase {\n    map {\n      %0 = in0[0]\n" + body +
           "    }\n  }\n}\n";
  };
  const std::string infinite = text("      %1 = f32 inf\n      %2 = f32 mul(%0, %1)\n      out0[0] <- %2\n");
  const FieldResult result = compared(infinite, infinite);
  EXPECT_EQ(result.says, Says::nothing);
  EXPECT_NE(result.why, "");
  EXPECT_THROW(compared(kSoftmax, kWindows), Error);
}

// One mistake behind the buffers: another number in an index or a condition, another function, another
// operand, a store less.
std::string with_mistake(const std::string& text, std::mt19937& random) {
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  std::vector<size_t> places;
  const size_t first = text.find("phase");
  switch (pick(4)) {
    case 0: {
      for (size_t i = first; i < text.size(); ++i)
        if (std::isdigit(text[i]) != 0 && std::isalnum(text[i - 1]) == 0 && text[i - 1] != '%')
          places.push_back(i);
      const size_t at = places[pick(places.size())], end = text.find_first_not_of("0123456789", at);
      const int number = std::stoi(text.substr(at, end - at));
      return text.substr(0, at) + std::to_string(number == 0 || pick(2) == 0 ? number + 1 : number - 1) +
             text.substr(end);
    }
    case 1: {
      const char* const names[] = {"add(", "sub(", "mul(", "max(", "div("};
      for (size_t i = first; i < text.size(); ++i)
        for (const char* name : names)
          if (text.compare(i, 4, name) == 0) places.push_back(i);
      const size_t at = places[pick(places.size())];
      return text.substr(0, at) + names[pick(5)] + text.substr(at + 4);
    }
    case 2: {
      for (size_t i = first; i < text.size(); ++i)
        if (text[i] == '%' && text[i - 1] != '\n' && text.compare(i + 2, 2, " =") != 0)
          places.push_back(i + 1);
      std::string other = text;
      other[places[pick(places.size())]] = static_cast<char>('0' + pick(5));
      return other;
    }
    default: {
      for (size_t i = text.find("<-", first); i != std::string::npos; i = text.find("<-", i + 1))
        places.push_back(i);
      const size_t at = places[pick(places.size())], line = text.rfind('\n', at), end = text.find('\n', at);
      return text.substr(0, line) + text.substr(end);
    }
  }
}

// What it computes in float64; nothing if it is no graph, or reads what nothing wrote.
std::optional<std::vector<HostTensor>> computed(const std::string& text) {
  try {
    const tile::ScheduledGraph graph = tile::parse_tile_graph(text);
    if (!tile::coverage_fault(graph).empty()) return std::nullopt;
    std::mt19937 random(5);
    std::vector<HostTensor> arguments;
    for (const tile::Buffer& buffer : graph.buffers) {
      if (buffer.role != tile::BufferRole::input) continue;
      HostTensor tensor(TensorType{DType::f32, {buffer.elements}});
      for (int64_t i = 0; i < buffer.elements; ++i)
        tensor.mutable_data<float>()[i] = static_cast<float>(random() % 4001) / 1000 - 2;
      arguments.push_back(std::move(tensor));
    }
    return tile::interpret(graph, arguments, tile::Arithmetic::float64);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// No mistake passes that shows in float64.
TEST(TileEquivalence, NoMistakeIsTakenForEqual) {
  std::mt19937 random(47);
  int mistakes = 0;
  for (const char* right : {kWhole, kOnline, kSoftmax, kWindows}) {
    const HostTensor wanted = (*computed(right))[0];
    for (int i = 0; i < 250; ++i) {
      const std::string wrong = with_mistake(right, random);
      const auto got = computed(wrong);
      if (!got || (*got)[0].elements() != wanted.elements()) continue;
      double difference = 0;
      for (int64_t e = 0; e < wanted.elements(); ++e)
        difference =
            std::max(difference, std::fabs(element_as_double((*got)[0], e) - element_as_double(wanted, e)));
      if (!(difference > 1e-6)) continue;  // or NaN
      ++mistakes;
      EXPECT_NE(
          tile::compare_over_field(tile::parse_tile_graph(right), tile::parse_tile_graph(wrong), {4, 1}).says,
          Says::same)
          << wrong;
    }
  }
  EXPECT_GT(mistakes, 200);
}

}  // namespace
}  // namespace korch::testing
