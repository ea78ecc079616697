// NaN and infinities through rewrite rules: each does with them what it says (RewriteRule::non_finite).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "korch/interp/interpreter.h"
#include "random_floats.h"
#include "rule_instances.h"
#include "variants.h"

namespace korch {
namespace {

constexpr int kSpecialInstances = 12;  // random ones per rule
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

struct Changes {
  int lost = 0;     // NaN that became something else
  int made = 0;     // NaN where there was none
  int changed = 0;  // infinities that became finite or the other one, and numbers that became infinite
};

Changes changes(const Graph& graph, const Graph& other, const std::vector<HostTensor>& inputs) {
  Changes found;
  const std::vector<HostTensor> wanted = interpret(graph, inputs), got = interpret(other, inputs);
  for (size_t o = 0; o < wanted.size(); ++o)
    for (int64_t i = 0; i < wanted[o].elements(); ++i) {
      const double a = element_as_double(wanted[o], i), b = element_as_double(got[o], i);
      found.lost += std::isnan(a) && !std::isnan(b);
      found.made += !std::isnan(a) && std::isnan(b);
      found.changed += (std::isinf(a) || std::isinf(b)) && !std::isnan(a) && !std::isnan(b) && a != b;
    }
  return found;
}

class SpecialValues : public testing::TestWithParam<RewriteRule> {};

TEST_P(SpecialValues, BecomeWhatTheRuleSays) {
  const RewriteRule& rule = GetParam();
  const MakeInstance make = instances().at(rule.name);
  Changes nan, infinity;
  for (uint64_t seed = 1; seed <= kSpecialInstances; ++seed) {
    Instance instance(seed);
    const Graph graph = make(instance);
    std::vector<HostTensor> inputs = random_floats(graph, seed);
    if (inputs.empty()) continue;
    HostTensor& x = inputs[seed % inputs.size()];
    if (!is_float(x.dtype())) continue;
    const int64_t at = static_cast<int64_t>(seed * 7919) % x.elements();
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      HostTensor wide = converted(x, DType::f64);
      wide.mutable_data<double>()[at] = special;
      std::vector<HostTensor> given = inputs;
      given[seed % inputs.size()] = converted(wide, x.dtype());
      for (const Graph& other : variants(graph, rewrite_rules(), rule.name)) {
        const Changes found = changes(graph, other, given);
        Changes& sum = std::isnan(special) ? nan : infinity;
        sum.lost += found.lost, sum.made += found.made, sum.changed += found.changed;
      }
    }
  }
  const bool kept = infinity.lost + nan.made + infinity.made + nan.changed + infinity.changed == 0;
  EXPECT_EQ(nan.lost > 0, rule.non_finite == NonFinite::lost) << nan.lost << " NaN became something else";
  EXPECT_EQ(kept, rule.non_finite != NonFinite::spread)
      << "NaN made of numbers: " << nan.made << " beside a NaN, " << infinity.made << " beside an infinity; "
      << infinity.lost << " NaN and " << nan.changed + infinity.changed
      << " infinities became something else";
  EXPECT_FALSE(rule.strict && rule.non_finite == NonFinite::spread);
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValues, testing::ValuesIn(rewrite_rules()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace korch
