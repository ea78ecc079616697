#include "korch/estimate/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "korch/base/json.h"
#include "korch/estimate/shipped_model.h"
#include "korch/estimate/tree_model.h"

namespace korch {
namespace {

// A product, its bias and a Relu.
struct Network {
  Network(int64_t rows, int64_t columns) {
    const ValueId x = graph.add_input({DType::f32, {rows, 64}}, "x");
    const ValueId product =
        graph.add(Op::MatMul, MatMulAttrs{},
                  {x, graph.add_constant(HostTensor(TensorType{DType::f32, {64, columns}}))});
    const ValueId y = graph.add(Op::Relu, NoAttrs{}, {product});
    graph.set_outputs({y}, {"y"});
    std::vector<NodeId> nodes;
    for (NodeId id = 0; id < graph.node_count(); ++id)
      if (info(graph.node(id).op).category != Category::constant) nodes.push_back(id);
    candidate = make_candidate(graph, nodes, {y});
  }
  std::vector<Implementation> ways(const Device& device) const {
    return implementations(graph, candidate, device, Accuracy::standard);
  }
  Features features(const Device& device, double bound_us = 10) const {
    return kernel_features(graph, candidate, ways(device).at(0), {device, 1 << 20, bound_us});
  }
  Graph graph;
  Candidate candidate;
};

Device made_up_device() {
  return with_nominal_speeds(cpu_device(Isa::x86_64_v3, 2));
}

size_t place(const std::string& name) {
  const auto& names = feature_names();
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<size_t>(found - names.begin());
}

TEST(Features, HaveNamesOfTheirOwn) {
  const std::set<std::string> names(feature_names().begin(), feature_names().end());
  EXPECT_EQ(names.size(), feature_names().size());
  EXPECT_EQ(Network(8, 32).features(made_up_device()).size(), draft_features());
  EXPECT_EQ(
      reorder_features({DType::f32, {1, 8, 4, 4}}, {}, Layout::channels_last(4), {made_up_device()}).size(),
      draft_features());
}

TEST(Features, TellTheProduct) {
  const Features features = Network(32, 128).features(made_up_device());
  for (const float feature : features) EXPECT_TRUE(std::isfinite(feature));
  EXPECT_EQ(features[place("rows")], 5);
  EXPECT_EQ(features[place("columns")], 7);
  EXPECT_EQ(features[place("terms")], 6);
  EXPECT_EQ(features[place("weight_constant")], 1);
  EXPECT_EQ(features[place("after")], 1);
  EXPECT_EQ(features[place("before")], 0);
  EXPECT_EQ(features[place("idle_lanes")], 0);
  EXPECT_EQ(Network(32, 12).features(made_up_device())[place("idle_lanes")], 0.25);
}

// A device's name is no feature; of a device twice as fast in all, times halve, and nothing else changes.
TEST(Features, AreRelativeToTheDevice) {
  Device device = made_up_device(), renamed = device, fast = device;
  renamed.name = "another name";
  fast.flops_per_us *= 2;
  fast.launch_us /= 2;
  for (MemoryLevel& level : fast.memory) level.bytes_per_us *= 2;
  const Network network(32, 128);
  const Features here = network.features(device), there = network.features(fast, 5);
  EXPECT_EQ(network.features(renamed), here);
  for (size_t i = 0; i < here.size(); ++i) {
    const std::string& name = feature_names()[i];
    const bool is_time = name == "bound_us" || name == "us_arithmetic" || name.starts_with("us_level");
    EXPECT_NEAR(there[i], here[i] - (is_time ? 1 : 0), 0.005) << name;
  }
}

// Reads every feature there is, and says something sensible.
TEST(ShippedModel, EstimatesNoLessThanATenthAndNoMoreThanAThousandBounds) {
  const std::string text(shipped_model_text());
  const TreeModel model =
      tree_model_from_text(text, "shipped", nlohmann::json::parse(text).at("protocol").get<int>());
  EXPECT_GE(model.networks, 60);
  EXPECT_LE(text.size(), 500'000U);
  for (const int64_t rows : {1, 17, 512})
    for (const int64_t columns : {1, 33, 1024}) {
      const double factor = model.log_factor(Network(rows, columns).features(made_up_device(), 20));
      EXPECT_GT(factor, std::log(0.1));
      EXPECT_LT(factor, std::log(1000));
    }
}

}  // namespace
}  // namespace korch
