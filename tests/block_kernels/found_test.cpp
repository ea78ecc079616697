// Structures that the search finds, at many shapes: machine code against the primitives in float64. A case
// takes one of the settings below, in turns; KORCH_ALL_SETTINGS=1 takes each.
#include "found.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "graphs.h"

namespace korch::testing {
namespace {

// Small caches make short blocks of keys, and a last one that is shorter.
struct Settings {
  int threads;
  int64_t l2_bytes;
};
constexpr Settings kSettings[] = {{1, 8 << 10}, {2, 32 << 10}, {2, 4 << 10}, {1, 1 << 20}};

using Extents = std::map<std::string, int64_t>;

// How many kernels ran. The number of the case chooses its settings.
int check_at(const std::string& text, const Extents& extents, size_t number) {
  const Graph graph = graph_with(text, extents);
  CheckOptions options{.structures = structures_of(graph)};
  const std::vector<Isa> isas = vector_isas();
  const size_t all = isas.size() * std::size(kSettings);
  const bool exhaustive = std::getenv("KORCH_ALL_SETTINGS") != nullptr;
  if (!exhaustive && options.structures.size() > 2) {
    const size_t other = 1 + number % (options.structures.size() - 1);
    options.structures = {options.structures[0], options.structures[other]};
  }
  int ran = 0;
  for (size_t i = 0; i < (exhaustive ? all : 1); ++i) {
    const size_t choice = (number + i) % all;
    const Settings& settings = kSettings[choice % std::size(kSettings)];
    options.isa = isas[choice % isas.size()];
    options.threads = settings.threads;
    options.l2_bytes = settings.l2_bytes;
    for (const bool rescheduled : {false, true}) {
      options.rescheduled = rescheduled;
      if (!rescheduled || exhaustive) ran += check_family(graph, "blocks", options);
    }
  }
  return ran;
}

struct Sizes {
  const char* name;
  Extents extents;
};
struct Case {
  std::string name, text;
  Extents extents;
  size_t number;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

template <size_t kGroups, size_t kCount>
std::vector<Case> cases_of(const NamedGraph (&graphs)[kGroups], const Sizes (&all)[kCount]) {
  std::vector<Case> cases;
  for (const NamedGraph& graph : graphs)
    for (const Sizes& sizes : all)
      cases.push_back({std::string(graph.name) + "_" + sizes.name, graph.text, sizes.extents, cases.size()});
  return cases;
}

class Found : public ::testing::TestWithParam<Case> {};

// One key, or one feature, leaves groups without sums, for which nothing need be found.
TEST_P(Found, ComputesWhatPrimitivesDo) {
  const Case& c = GetParam();
  const bool small = c.name.find("one_") != std::string::npos || c.name.find("ones") != std::string::npos;
  const int ran = check_at(c.text, c.extents, c.number);
  EXPECT_TRUE(small || ran > 0) << c.text;
}

const auto kName = [](const auto& info) { return info.param.name; };

const Sizes kOfAttention[] = {
    {"even", {{"b", 2}, {"m", 24}, {"n", 96}, {"d", 16}, {"e", 16}}},
    {"odd", {{"b", 3}, {"m", 29}, {"n", 37}, {"d", 13}, {"e", 19}}},
    {"one_row", {{"b", 3}, {"m", 1}, {"n", 150}, {"d", 8}, {"e", 24}}},
    {"one_key", {{"b", 2}, {"m", 5}, {"n", 1}, {"d", 8}, {"e", 8}}},
    {"one_feature", {{"b", 2}, {"m", 30}, {"n", 77}, {"d", 1}, {"e", 5}}},
    {"one_column", {{"b", 2}, {"m", 9}, {"n", 77}, {"d", 7}, {"e", 1}}},
    {"one_head", {{"b", 1}, {"m", 33}, {"n", 70}, {"d", 16}, {"e", 16}}},
    {"all_ones", {{"b", 1}, {"m", 1}, {"n", 1}, {"d", 1}, {"e", 1}}},
    {"many_keys", {{"b", 2}, {"m", 30}, {"n", 501}, {"d", 8}, {"e", 40}}},
    {"few", {{"b", 2}, {"m", 3}, {"n", 5}, {"d", 2}, {"e", 3}}},
};
INSTANTIATE_TEST_SUITE_P(Attention, Found, ::testing::ValuesIn(cases_of(kAttentionGraphs, kOfAttention)),
                         kName);

const Sizes kOfProducts[] = {
    {"even", {{"m", 32}, {"d", 64}, {"f", 48}, {"o", 32}}},
    {"odd", {{"m", 29}, {"d", 37}, {"f", 53}, {"o", 19}}},
    {"tall", {{"m", 75}, {"d", 37}, {"f", 53}, {"o", 33}}},
    {"one_row", {{"m", 1}, {"d", 100}, {"f", 70}, {"o", 33}}},
    {"one_term", {{"m", 14}, {"d", 1}, {"f", 17}, {"o", 3}}},
    {"one_column", {{"m", 14}, {"d", 33}, {"f", 1}, {"o", 1}}},
    {"long", {{"m", 30}, {"d", 131}, {"f", 150}, {"o", 70}}},
};
INSTANTIATE_TEST_SUITE_P(Products, Found, ::testing::ValuesIn(cases_of(kProductGraphs, kOfProducts)), kName);

}  // namespace
}  // namespace korch::testing
