// Random inputs that mean what the network takes them for.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "korch/inspect/verify.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

std::set<int64_t> drawn(const std::string& body) {
  const Graph graph = parse_graph("graph {\ninput %i : i64[200] \"i\"\n" + body + "\n}\n");
  const HostTensor tensor = random_inputs(graph, 1)[0];
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.elements()};
}

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

}  // namespace
}  // namespace korch
