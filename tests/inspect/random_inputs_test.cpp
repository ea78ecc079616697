// Random inputs that mean what the network takes them for.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "korch/inspect/input_ranges.h"
#include "korch/inspect/verify.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

std::set<int64_t> drawn(const std::string& body, const std::string& type = "i64") {
  const Graph graph = parse_graph("graph {\ninput %i : " + type + "[200] \"i\"\n" + body + "\n}\n");
  const std::vector<int64_t> numbers = as_int_vector(random_inputs(graph, 1)[0]);
  return {numbers.begin(), numbers.end()};
}

// What may be drawn, least and most.
std::pair<int64_t, int64_t> range(const std::string& body, const std::string& type = "i64") {
  const Graph graph = parse_graph("graph {\ninput %i : " + type + "[200] \"i\"\n" + body + "\n}\n");
  const InputRange found = input_ranges(graph)[0];
  return {found.least, found.most};
}
using Pair = std::pair<int64_t, int64_t>;

TEST(RandomInputs, IntegersAreNumbersIndicesOrFlags) {
  const std::set<int64_t> numbers = drawn("%y = Mul(%i, %i) : i64[200]\noutput %y \"y\"");
  EXPECT_EQ(numbers.size(), 10u);
  EXPECT_EQ(*numbers.rbegin(), 9);
  EXPECT_EQ(drawn("input %t : f32[3] \"t\"\n%v = Reshape(%i) {shape=[20,10]} : i64[20x10]\n"
                  "%y = Gather(%t, %v) {axis=0} : f32[20x10]\noutput %y \"y\""),
            (std::set<int64_t>{0, 1, 2}));
  const std::set<int64_t> flags = {0, 1};
  EXPECT_EQ(drawn("%y = Cast(%i) {to=f32} : f32[200]\noutput %y \"y\""), flags);
  EXPECT_EQ(drawn("%y = Equal(%i, %i) : bool[200]\noutput %y \"y\""), flags);
  EXPECT_EQ(drawn("input %t : f32[3] \"t\"\n%v = Mul(%i, %i) : i64[200]\n"
                  "%y = Gather(%t, %v) {axis=0} : f32[200]\noutput %y \"y\""),
            flags)
      << "an index is computed from it";
  EXPECT_EQ(drawn("output %i \"y\""), flags) << "nobody says what it is";
}

// One-hot by comparison, as networks of bytes have it.
TEST(RandomInputs, WhatIsComparedWithATableIsOfTheTable) {
  const std::string body =
      "%t = Constant() {value=[0,1,2,3,4,5,6]} : i32[1x7]\n%r = Reshape(%i) {shape=[200,1]} : i32[200x1]\n"
      "%e = Expand(%r) {shape=[200,7]} : i32[200x7]\n%q = Equal(%e, %t) : bool[200x7]\n"
      "%y = Cast(%q) {to=f32} : f32[200x7]\noutput %y \"y\"";
  EXPECT_EQ(drawn(body, "i32"), (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(RandomInputs, ALimitIsMetFromBothSides) {
  const std::string five = "%c = Constant() {value=[5]} : i64[]\n";
  EXPECT_EQ(range(five + "%y = Less(%i, %c) : bool[200]\noutput %y \"y\""), Pair(0, 6));
  EXPECT_EQ(range(five + "%y = Min(%i, %c) : i64[200]\noutput %y \"y\""), Pair(0, 6));
  EXPECT_EQ(range(five + "%s = Sub(%i, %c) : i64[200]\n%y = Max(%s, %c) : i64[200]\noutput %y \"y\""),
            Pair(0, 11));
  const std::string zero = "%c = Constant() {value=[0]} : i64[]\n";
  EXPECT_EQ(range(zero + "%y = Equal(%i, %c) : bool[200]\noutput %y \"y\""), Pair(0, 1)) << "a mask";
  const std::string none = "%c = Constant() {value=[4000000000]} : i64[]\n";
  EXPECT_EQ(range(none + "%y = Less(%i, %c) : bool[200]\noutput %y \"y\""), Pair(0, 1)) << "no limit";
}

TEST(RandomInputs, ComputedIndicesStayInTheirAxes) {
  const std::string table = "input %t : f32[40] \"t\"\n%c = Constant() {value=[3]} : i64[]\n";
  const std::string gather = "%y = Gather(%t, %v) {axis=0} : f32[200]\noutput %y \"y\"";
  EXPECT_EQ(range(table + "%v = Add(%i, %c) : i64[200]\n" + gather), Pair(0, 36));
  EXPECT_EQ(range(table + "%v = Mul(%i, %c) : i64[200]\n" + gather), Pair(0, 13));
  EXPECT_EQ(range(table + "%v = Mul(%i, %i) : i64[200]\n" + gather), Pair(0, 6));
  EXPECT_EQ(range(table + "%v = Mod(%i, %c) : i64[200]\n" + gather), Pair(0, 39));
  // A negative index that counts from the end, as exporters write it.
  EXPECT_EQ(range(table +
                  "%z = Constant() {value=[0]} : i64[]\n%n = Constant() {value=[40]} : i64[]\n"
                  "%l = Less(%i, %z) : bool[200]\n%a = Add(%i, %n) : i64[200]\n"
                  "%v = Where(%l, %a, %i) : i64[200]\n" +
                  gather),
            Pair(0, 39));
  // Of what nothing is known of.
  EXPECT_EQ(range(table + "%v = Pow(%i, %i) : i64[200]\n" + gather), Pair(0, 1));
}

// Two tables, one of them indexed by a sum of both inputs.
TEST(RandomInputs, RangesOfInputsFitTogether) {
  const Graph graph = parse_graph(
      "graph {\ninput %i : i64[20] \"i\"\ninput %j : i64[20] \"j\"\ninput %t : f32[9] \"t\"\n"
      "%s = Add(%i, %j) : i64[20]\n%y = Gather(%t, %s) {axis=0} : f32[20]\noutput %y \"y\"\n}\n");
  EXPECT_EQ(input_ranges(graph)[0].most, 7);
  EXPECT_EQ(input_ranges(graph)[1].most, 1);
}

TEST(RandomInputs, BytesAreBytes) {
  const std::string to_float = "%y = Cast(%i) {to=f32} : f32[200]\noutput %y \"y\"";
  EXPECT_EQ(range(to_float, "u8"), Pair(0, 255));
  EXPECT_EQ(range(to_float, "i8"), Pair(-128, 127));
  EXPECT_EQ(range("%y = Cast(%i) {to=bool} : bool[200]\noutput %y \"y\"", "u8"), Pair(0, 1));
  EXPECT_EQ(
      range("%c = Constant() {value=[0]} : u8[]\n%y = Equal(%i, %c) : bool[200]\noutput %y \"y\"", "u8"),
      Pair(0, 1));
  EXPECT_EQ(range("output %i \"y\"", "u8"), Pair(0, 1)) << "nobody says what it is";
}

TEST(RandomInputs, AScaleTellsWhatIsScaled) {
  const std::string scaled =
      "%f = Cast(%i) {to=f32} : f32[200]\n%c = Constant() {value=[255]} : f32[]\n"
      "%d = Div(%f, %c) : f32[200]\n%y = Tanh(%d) : f32[200]\noutput %y \"y\"";
  EXPECT_EQ(range(scaled, "i32"), Pair(0, 255));
  const std::string mask =
      "%f = Cast(%i) {to=f32} : f32[200]\n%o = Constant() {value=[1]} : f32[]\n%s = Sub(%o, %f) : f32[200]\n"
      "%c = Constant() {value=[-10000]} : f32[]\n%d = Mul(%s, %c) : f32[200]\n%y = Exp(%d) : f32[200]\n"
      "output %y \"y\"";
  EXPECT_EQ(range(mask), Pair(0, 1));
}

}  // namespace
}  // namespace korch
