#include "korch/codegen/loop/loop_family.h"

#include <algorithm>

#include "korch/codegen/loop/cost.h"
#include "korch/codegen/loop/lower.h"

namespace korch {
namespace {

// Which tensors of an implementation have their channels (axis 1) innermost.
struct ChannelsLast {
  bool inputs, outputs;              // images, rank 4 and above
  bool token_inputs, token_outputs;  // rank 3: images with their pixels in one axis
};

constexpr size_t kTokenRank = 3;

Layout layout_for(const Shape& shape, bool images, bool tokens) {
  const bool last = shape.size() > kTokenRank ? images : shape.size() == kTokenRank && tokens;
  return last ? canonical(Layout::channels_last(static_cast<int>(shape.size())), shape) : Layout{};
}

Implementation with_layouts(const Graph& graph, const Candidate& candidate, const ChannelsLast& last) {
  Implementation implementation;
  implementation.family = "loop";
  for (ValueId value : candidate.inputs)
    implementation.input_layouts.push_back(
        layout_for(graph.value(value).type.shape, last.inputs, last.token_inputs));
  for (ValueId value : candidate.outputs)
    implementation.output_layouts.push_back(
        layout_for(graph.value(value).type.shape, last.outputs, last.token_outputs));
  return implementation;
}

// Tensors of both ranks meet where pixels become tokens and back; only there do tokens come channels-last (a
// transposed view), elsewhere rank 3 is sequences and row-major.
bool mixes_images_and_tokens(const Graph& graph, const Candidate& candidate) {
  bool images = false, tokens = false;
  for (const std::vector<ValueId>* list : {&candidate.inputs, &candidate.outputs})
    for (ValueId value : *list) {
      const size_t rank = graph.value(value).type.shape.size();
      images = images || rank > kTokenRank;
      tokens = tokens || rank == kTokenRank;
    }
  return images && tokens;
}

bool same_layouts(const Implementation& a, const Implementation& b) {
  return a.input_layouts == b.input_layouts && a.output_layouts == b.output_layouts;
}

}  // namespace

void list_loop(const Graph& graph, const Candidate& candidate, const Device&, Accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  if (const std::optional<Refusal> refusal = tile::unsupported(graph, candidate, tile::Linear::refused)) {
    refused.push_back(*refusal);
    return;
  }
  std::vector<ChannelsLast> choices = {{false, false, false, false},
                                       {true, true, false, false},
                                       {true, false, false, false},
                                       {false, true, false, false}};
  if (mixes_images_and_tokens(graph, candidate))
    choices.insert(choices.end(),
                   {{true, true, true, true}, {true, true, true, false}, {true, true, false, true}});
  std::vector<Implementation> implementations;
  for (const ChannelsLast& choice : choices) {
    Implementation implementation = with_layouts(graph, candidate, choice);
    implementation.flops = tile::least_flops(graph, candidate);
    implementation.bytes = tile::least_bytes(graph, candidate);
    if (std::none_of(implementations.begin(), implementations.end(),
                     [&](const Implementation& w) { return same_layouts(w, implementation); }))
      implementations.push_back(std::move(implementation));
  }
  found.insert(found.end(), implementations.begin(), implementations.end());
}

Result<tile::ScheduledGraph> build_loop(const Graph& graph, const Candidate& candidate,
                                        const Implementation& implementation, const Device& target) {
  return tile::lower(graph, candidate, implementation, target);
}

tile::ScheduledGraph reorder_tile_graph(const TensorType& type, const Layout& from, const Layout& to,
                                        const Device& target) {
  // A reshape to the same shape is the identity; its operand and result lie in the two layouts.
  Graph graph;
  const ValueId input = graph.add_input(type, "x");
  const NodeId copy = graph.add_node(Op::Reshape, ShapeAttrs{type.shape}, {input});
  Candidate candidate;
  candidate.nodes = {copy};
  candidate.inputs = {input};
  candidate.outputs = graph.node(copy).outputs;
  Implementation implementation;
  implementation.family = "loop";
  implementation.input_layouts = {from};
  implementation.output_layouts = {to};
  return std::move(tile::lower(graph, candidate, implementation, target).value());
}

}  // namespace korch
