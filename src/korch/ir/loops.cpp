#include "korch/ir/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace korch {

Loops::Loops(const Graph& graph) {
  bool any = false;
  for (NodeId id = 0; id < graph.node_count() && !any; ++id)
    any = !graph.node(id).dead && is_loop_end(graph.node(id).op);
  if (!any) return;
  of_value_.assign(graph.value_count(), -1);
  of_node_.assign(graph.node_count(), -1);
  for (NodeId id : graph.topological_order()) enter(graph, id);
  for (const Loop& loop : loops_)
    if (loop.end == kNoId && fault_.empty())
      fault_ = fmt::format("the loop of node {} has no end", loop.begin);
  for (ValueId output : graph.outputs())
    if (of_value(output) >= 0 && fault_.empty())
      fault_ = fmt::format("output %{} is within a loop", graph.value(output).name);
}

bool Loops::is_within(int inner, int outer) const {
  while (inner >= 0 && inner != outer) inner = loops_[static_cast<size_t>(inner)].parent;
  return inner == outer;
}

LoopItem Loops::item(NodeId node) const {
  LoopItem item{of_node(node)};
  for (size_t i = 0; i < loops_.size(); ++i) {
    if (loops_[i].begin == node) item.begins = static_cast<int>(i);
    if (loops_[i].end == node) item.ends = static_cast<int>(i);
  }
  return item;
}

int Loops::innermost(const Graph& graph, NodeId id) {
  int found = -1;
  for (ValueId input : graph.node(id).inputs) {
    const int loop = of_value(input);
    if (is_within(loop, found))
      found = loop;
    else if (!is_within(found, loop) && fault_.empty())
      fault_ = fmt::format("node {} ({}) reads from two loops of which neither is within the other", id,
                           name(graph.node(id).op));
  }
  return found;
}

void Loops::enter(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  int loop = innermost(graph, id);
  of_node_[id] = loop;
  if (node.op == Op::LoopBegin) {
    loops_.push_back({id, kNoId, loop});
    loop = static_cast<int>(loops_.size()) - 1;
  } else if (node.op == Op::LoopEnd) {
    const int ended = of_value(node.inputs[0]);
    const bool first = ended >= 0 && loops_[static_cast<size_t>(ended)].end == kNoId;
    const Node* begin = first ? &graph.node(loops_[static_cast<size_t>(ended)].begin) : nullptr;
    const bool matches =
        begin != nullptr && begin->outputs[0] == node.inputs[0] && begin->attrs == node.attrs &&
        begin->outputs.size() == node.outputs.size() && ended == loop &&
        std::equal(begin->outputs.begin(), begin->outputs.end(), node.outputs.begin(),
                   [&](ValueId a, ValueId b) { return graph.value(a).type == graph.value(b).type; });
    if (!matches) {
      if (fault_.empty()) fault_ = fmt::format("node {} (LoopEnd) ends no loop that it could", id);
      return;
    }
    loops_[static_cast<size_t>(ended)].end = id;
    loop = of_node_[id] = loops_[static_cast<size_t>(ended)].parent;
  }
  // Of several producers the first says where a Value is.
  for (ValueId output : node.outputs)
    if (graph.value(output).producers[0] == id) of_value_[output] = loop;
}

namespace {

class Order {
 public:
  Order(const std::vector<LoopItem>& items, const Loops& loops) : items_(items), loops_(loops) {}

  // Items of a loop, those within loops in it among them: an inner loop's wait until it ends.
  void arrange(const std::vector<size_t>& sequence, int loop) {
    std::map<int, std::vector<size_t>> waiting;
    for (size_t item : sequence) {
      const LoopItem& i = items_[item];
      const int own = i.begins >= 0 ? i.begins : i.ends >= 0 ? i.ends : i.loop;
      if (own == loop) {
        result.push_back(item);
        continue;
      }
      const int child = child_around(own, loop);
      waiting[child].push_back(item);
      if (i.ends != child) continue;
      arrange(waiting[child], child);
      waiting.erase(child);
    }
    for (const auto& [child, items] : waiting) arrange(items, child);
  }

  std::vector<size_t> result;

 private:
  // The loop directly within `outer` that `inner` is or is within.
  int child_around(int inner, int outer) const {
    while (loops_.loops()[static_cast<size_t>(inner)].parent != outer)
      inner = loops_.loops()[static_cast<size_t>(inner)].parent;
    return inner;
  }

  const std::vector<LoopItem>& items_;
  const Loops& loops_;
};

}  // namespace

std::vector<size_t> order_by_loops(const std::vector<LoopItem>& items, const Loops& loops) {
  Order order(items, loops);
  std::vector<size_t> all(items.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  order.arrange(all, -1);
  return std::move(order.result);
}

}  // namespace korch
