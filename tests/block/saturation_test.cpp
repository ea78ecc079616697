// The groups saturate, within few nodes.
#include <gtest/gtest.h>

#include "groups.h"
#include "korch/block/laws.h"

namespace korch::block {
namespace {

TEST(BlockSaturation, Groups) {
  for (const auto& [name, terms] : groups()) {
    EGraph graph(terms.leaves);
    graph.add(terms, terms.results);
    const Saturation result = saturate(graph);
    EXPECT_TRUE(result.saturated) << name;
    EXPECT_FALSE(result.contradiction) << name;
    EXPECT_LT(result.nodes, 500) << name;
  }
}

}  // namespace
}  // namespace korch::block
