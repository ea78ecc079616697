#include "korch/profile/footprint.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace korch {
namespace {

int64_t peak_live_bytes(const Graph& graph) {
  const std::vector<NodeId> order = graph.topological_order();
  constexpr int kForever = std::numeric_limits<int>::max();
  std::vector<int> last_use(graph.value_count(), -1);
  for (size_t at = 0; at < order.size(); ++at)
    for (ValueId input : graph.node(order[at]).inputs) last_use[input] = static_cast<int>(at);
  for (ValueId output : graph.outputs()) last_use[output] = kForever;
  std::vector<std::vector<ValueId>> ends(order.size());
  int64_t live = 0;
  for (ValueId input : graph.inputs()) live += graph.value(input).type.bytes();
  for (ValueId value = 0; value < graph.value_count(); ++value)
    if (last_use[value] >= 0 && last_use[value] != kForever && graph.constant(value) == nullptr)
      ends[last_use[value]].push_back(value);
  int64_t peak = live;
  for (size_t at = 0; at < order.size(); ++at) {
    for (ValueId output : graph.node(order[at]).outputs)
      if (last_use[output] >= 0 && graph.constant(output) == nullptr)
        live += graph.value(output).type.bytes();
    peak = std::max(peak, live);
    for (ValueId value : ends[at]) live -= graph.value(value).type.bytes();
  }
  return peak;
}

}  // namespace

int64_t footprint_bytes(const Graph& graph) {
  int64_t bytes = peak_live_bytes(graph);
  for (ValueId value = 0; value < graph.value_count(); ++value)
    if (const HostTensor* constant = graph.constant(value)) bytes += constant->bytes();
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
}

}  // namespace korch
