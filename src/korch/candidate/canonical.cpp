#include <algorithm>
#include <bit>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "korch/candidate/candidate.h"
#include "korch/ir/attr_fields.h"

namespace korch {
namespace {

// What is hashed, byte by byte.
class Words {
 public:
  void add(uint64_t word) { words_.push_back(word); }
  void add(int64_t number) { add(static_cast<uint64_t>(number)); }
  void add(bool flag) { add(static_cast<uint64_t>(flag)); }
  void add(double real) { add(std::bit_cast<uint64_t>(real)); }
  void add(DType dtype) { add(static_cast<uint64_t>(dtype)); }
  void add(PadMode mode) { add(static_cast<uint64_t>(mode)); }
  template <typename T>
  void add(const std::vector<T>& numbers) {
    add(static_cast<uint64_t>(numbers.size()));
    for (T number : numbers) add(number);
  }
  void add(const Hash& hash) {
    add(hash.high);
    add(hash.low);
  }
  void add(const std::string& text) { add(hash_text(text)); }
  void add(const TensorType& type) {
    add(type.dtype);
    add(type.shape);
  }
  void add(const HostTensor& value) {  // a constant: by its value only where code holds it as a literal
    add(value.type());
    if (value.elements() == 1) add(hash_bytes(value.raw(), static_cast<size_t>(value.bytes())));
  }
  Hash hash() const { return hash_bytes(words_.data(), words_.size() * sizeof(uint64_t)); }

 private:
  std::vector<uint64_t> words_;
};

// Operator, attributes and types.
Hash own_hash(const Graph& graph, const Node& node) {
  Words words;
  words.add(static_cast<uint64_t>(node.op));
  Attrs attrs = node.attrs;
  std::visit(
      [&](auto& fields) { visit_fields(fields, [&](const char*, const auto& field) { words.add(field); }); },
      attrs);
  for (ValueId output : node.outputs) words.add(graph.value(output).type);
  return words.hash();
}

using Places = std::unordered_map<ValueId, size_t>;  // of the node, in the list at hand, that makes the Value

Places places_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  Places places;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId output : graph.node(nodes[i]).outputs) places.emplace(output, i);
  }
  return places;
}

// Any topological order of the set.
std::vector<NodeId> plain_order(const Graph& graph, std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  const Places places = places_of(graph, nodes);
  std::vector<NodeId> order;
  std::vector<int> state(nodes.size(), 0);
  const auto visit = [&](const auto& self, size_t i) -> void {
    if (state[i] != 0) return;
    state[i] = 1;
    for (ValueId input : graph.node(nodes[i]).inputs) {
      const auto inside = places.find(input);
      if (inside != places.end()) self(self, inside->second);
    }
    order.push_back(nodes[i]);
  };
  for (size_t i = 0; i < nodes.size(); ++i) visit(visit, i);
  return order;
}

// Per node: what it computes from the inputs of the set, and how its result is used inside the set.
std::vector<Hash> structural_colors(const Graph& graph, const std::vector<NodeId>& order,
                                    const Places& places) {
  std::vector<Hash> up(order.size()), color(order.size());
  std::vector<std::vector<Hash>> uses(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.node(order[i]);
    Words words;
    words.add(own_hash(graph, node));
    for (ValueId input : node.inputs) {
      const auto inside = places.find(input);
      const HostTensor* constant = graph.constant(input);
      words.add(int64_t{inside != places.end() ? 1 : constant != nullptr ? 2 : 3});
      if (inside != places.end())
        words.add(up[inside->second]);
      else if (constant != nullptr)
        words.add(*constant);
      else
        words.add(graph.value(input).type);
    }
    up[i] = words.hash();
  }
  for (size_t i = order.size(); i-- > 0;) {
    std::sort(uses[i].begin(), uses[i].end());
    Words words;
    words.add(up[i]);
    for (const Hash& use : uses[i]) words.add(use);
    color[i] = words.hash();
    const Node& node = graph.node(order[i]);
    for (size_t operand = 0; operand < node.inputs.size(); ++operand) {
      const auto inside = places.find(node.inputs[operand]);
      if (inside == places.end()) continue;
      Words use;
      use.add(color[i]);
      use.add(operand);
      uses[inside->second].push_back(use.hash());
    }
  }
  return color;
}

}  // namespace

std::vector<NodeId> canonical_order(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::vector<NodeId> order = plain_order(graph, nodes);
  const Places places = places_of(graph, order);
  const std::vector<Hash> color = structural_colors(graph, order, places);
  std::vector<int> missing(order.size(), 0);
  std::vector<std::vector<size_t>> users(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    for (ValueId input : graph.node(order[i]).inputs) {
      const auto inside = places.find(input);
      if (inside == places.end()) continue;
      ++missing[i];
      users[inside->second].push_back(i);
    }
  }
  using Entry = std::pair<Hash, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (size_t i = 0; i < order.size(); ++i) {
    if (missing[i] == 0) ready.emplace(color[i], i);
  }
  std::vector<NodeId> result;
  while (!ready.empty()) {
    const size_t i = ready.top().second;
    ready.pop();
    result.push_back(order[i]);
    for (size_t user : users[i]) {
      if (--missing[user] == 0) ready.emplace(color[user], user);
    }
  }
  KORCH_ASSERT(result.size() == nodes.size(), "a candidate must be acyclic");
  return result;
}

Candidate make_candidate(const Graph& graph, const std::vector<NodeId>& nodes,
                         const std::vector<ValueId>& outputs) {
  Candidate candidate;
  candidate.nodes = canonical_order(graph, nodes);
  const Places places = places_of(graph, candidate.nodes);
  std::unordered_set<ValueId> seen;
  for (NodeId id : candidate.nodes) {
    for (ValueId input : graph.node(id).inputs) {
      if (places.contains(input) || !seen.insert(input).second) continue;
      (graph.constant(input) != nullptr ? candidate.constants : candidate.inputs).push_back(input);
    }
    for (ValueId output : graph.node(id).outputs) {
      if (std::find(outputs.begin(), outputs.end(), output) != outputs.end())
        candidate.outputs.push_back(output);
    }
  }
  return candidate;
}

Hash canonical_hash(const Graph& graph, const Candidate& candidate) {
  Words words;
  std::unordered_map<ValueId, uint64_t> number;  // of every Value the candidate knows, in order of appearance
  for (ValueId input : candidate.inputs) {
    number.emplace(input, number.size());
    words.add(graph.value(input).type);
  }
  words.add(candidate.inputs.size());
  for (ValueId constant : candidate.constants) {
    number.emplace(constant, number.size());
    words.add(*graph.constant(constant));
  }
  words.add(candidate.constants.size());
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    words.add(own_hash(graph, node));
    words.add(node.inputs.size());
    for (ValueId input : node.inputs) words.add(number.at(input));
    for (ValueId output : node.outputs) number.emplace(output, number.size());
  }
  for (ValueId output : candidate.outputs) words.add(number.at(output));
  return words.hash();
}

}  // namespace korch
