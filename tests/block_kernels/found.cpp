#include "found.h"

#include <random>

#include "korch/groups/group_terms.h"
#include "korch/ir/text.h"
#include "korch/structures/structured_candidates.h"

namespace korch::testing {
namespace {

// "{random} : f32[2x3]" with values.
void draw_constants(std::string& text) {
  const std::string random = "{random}";
  std::mt19937_64 draw(11);
  for (size_t at = text.find(random); at != std::string::npos; at = text.find(random)) {
    const size_t open = text.find('[', at);
    int64_t elements = 1;
    for (size_t i = open; text[i] != ']'; i = text.find_first_of("x]", i + 1))
      elements *= std::stoll(text.substr(i + 1));
    std::string values;
    for (int64_t i = 0; i < elements; ++i)
      values += (i > 0 ? "," : "") + std::to_string(static_cast<double>(draw() % 129) / 128 - 0.5);
    text.replace(at, random.size(), "{value=[" + values + "]}");
  }
}

groups::GroupTerms group_of(const Graph& graph) {
  Result<groups::GroupTerms> group = groups::terms_of(graph, whole_graph(graph));
  KORCH_ASSERT(group.ok(), "no terms: " + group.refusal().detail);
  return std::move(group).value();
}

std::shared_ptr<const block::PlacedGraph> placed(const groups::GroupTerms& group, block::BlockGraph graph,
                                                 bool two_phases) {
  KORCH_ASSERT(graph.leaves == group.terms.leaves, "the block graph has leaves of another group");
  for (size_t i = 0; i < graph.axes.size(); ++i) graph.axes[i].extent = group.terms.axes.at(i).extent;
  return std::make_shared<const block::PlacedGraph>(
      block::PlacedGraph{std::move(graph), group.leaves, group.results, "a test", two_phases});
}

}  // namespace

Graph graph_with(std::string text, std::map<std::string, int64_t> extents) {
  if (extents.contains("b")) extents["b*e"] = extents.at("b") * extents.at("e");
  for (const auto& [name, extent] : extents)
    for (const std::string& place : {"${" + name + "}", "$" + name})
      for (size_t at = text.find(place); at != std::string::npos; at = text.find(place))
        text.replace(at, place.size(), std::to_string(extent));
  draw_constants(text);
  return parse_graph(text);
}

std::vector<std::shared_ptr<const block::PlacedGraph>> structures_of(const Graph& graph) {
  static structures::StructureBook book;
  const groups::GroupTerms group = group_of(graph);
  std::vector<std::shared_ptr<const block::PlacedGraph>> found;
  for (const structures::Structure& structure : book.find(group.terms, {}).accepted)
    found.push_back(placed(group, structure.graph, structure.checked.two_phases));
  return found;
}

std::shared_ptr<const block::PlacedGraph> placed_by_hand(const Graph& graph, const std::string& block) {
  return placed(group_of(graph), block::parse_block_graph(block), false);
}

}  // namespace korch::testing
