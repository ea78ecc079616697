#include "korch/codegen/opaque/primitive_kernel.h"

#include <map>

namespace korch::tile {

PrimitiveKernel primitive_kernel(const Graph& graph, const Candidate& candidate) {
  PrimitiveKernel j{graph.node(candidate.nodes[0]), {}, {}, {}, {}, {}};
  std::map<ValueId, int> places;
  const auto add = [&](BufferRole role, ValueId value) {
    places[value] = j.add_buffer(role, graph.value(value).type);
  };
  for (ValueId value : candidate.inputs) add(BufferRole::input, value);
  for (ValueId value : candidate.constants) add(BufferRole::constant, value);
  for (ValueId value : candidate.outputs) add(BufferRole::output, value);
  for (ValueId value : j.node.inputs) {
    j.inputs.push_back(graph.value(value).type);
    j.in.push_back(places.at(value));
  }
  for (ValueId value : j.node.outputs) {
    j.outputs.push_back(graph.value(value).type);
    j.out.push_back(places.count(value) != 0 ? places.at(value) : -1);
  }
  return j;
}

}  // namespace korch::tile
