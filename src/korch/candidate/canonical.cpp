#include <algorithm>
#include <bit>
#include <map>
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
  void add(const HostTensor& value) {  // a constant: by its value only where code may hold it as literals
    add(value.type());
    if (value.elements() == 1 || is_integer(value.dtype()))
      add(hash_bytes(value.raw(), static_cast<size_t>(value.bytes())));
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
  const auto add = [&](const std::string& name, const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const bool&>)
      if (name == "wide_result" && !field) return;  // younger than most costs that people have
    words.add(field);
  };
  std::visit([&](auto& fields) { visit_fields(fields, add); }, attrs);
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
  std::vector<bool> is_open(nodes.size(), false);
  std::vector<std::pair<size_t, size_t>> path;  // place, operand to look at next
  const auto open = [&](size_t i) {
    if (is_open[i]) return;
    is_open[i] = true;
    path.emplace_back(i, 0);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    open(i);
    while (!path.empty()) {
      const size_t at = path.back().first;
      const std::vector<ValueId>& inputs = graph.node(nodes[at]).inputs;
      if (path.back().second == inputs.size()) {
        order.push_back(nodes[at]);
        path.pop_back();
        continue;
      }
      const auto inside = places.find(inputs[path.back().second++]);
      if (inside != places.end()) open(inside->second);
    }
  }
  return order;
}

// Color refinement: nodes (and the Values read from outside) get equal hashes when they look alike from
// everywhere in the set. Two rounds tell apart what differs by which reads share an input.
class Colors {
 public:
  Colors(const Graph& graph, const std::vector<NodeId>& order, const Places& places)
      : graph_(graph), order_(order), places_(places) {
    for (NodeId id : order_) node_colors_.push_back(own_hash(graph_, graph_.node(id)));
    for (int round = 0; round < 2; ++round) {
      refine_by_uses();
      refine_by_operands();
    }
  }
  const Hash& operator[](size_t place) const { return node_colors_[place]; }

 private:
  Hash value_color(ValueId value) const {
    Words words;
    const auto inside = places_.find(value);
    const auto outside = outside_colors_.find(value);
    if (inside != places_.end())
      words.add(node_colors_[inside->second]);
    else if (outside != outside_colors_.end())
      words.add(outside->second);
    words.add(graph_.value(value).type);
    const HostTensor* constant = graph_.constant(value);
    if (inside == places_.end() && constant != nullptr) words.add(*constant);
    return words.hash();
  }

  // From the last node to the first.
  void refine_by_uses() {
    std::unordered_map<ValueId, std::vector<Hash>> uses;
    const auto color_of = [&](ValueId value, const Hash& before) {
      std::vector<Hash>& seen = uses[value];
      std::sort(seen.begin(), seen.end());
      Words words;
      words.add(before);
      for (const Hash& use : seen) words.add(use);
      return words.hash();
    };
    for (size_t i = order_.size(); i-- > 0;) {
      const Node& node = graph_.node(order_[i]);
      for (ValueId output : node.outputs) node_colors_[i] = color_of(output, node_colors_[i]);
      for (size_t operand = 0; operand < node.inputs.size(); ++operand) {
        Words use;
        use.add(node_colors_[i]);
        use.add(static_cast<uint64_t>(operand));
        uses[node.inputs[operand]].push_back(use.hash());
      }
    }
    for (const auto& [value, seen] : uses) {
      if (!places_.contains(value) && graph_.constant(value) == nullptr) outside_colors_[value] = Hash{};
    }
    for (auto& [value, color] : outside_colors_) color = color_of(value, Hash{});
  }

  void refine_by_operands() {
    for (size_t i = 0; i < order_.size(); ++i) {
      Words words;
      words.add(node_colors_[i]);
      for (ValueId input : graph_.node(order_[i]).inputs) words.add(value_color(input));
      node_colors_[i] = words.hash();
    }
  }

  const Graph& graph_;
  const std::vector<NodeId>& order_;
  const Places& places_;
  std::vector<Hash> node_colors_;
  std::unordered_map<ValueId, Hash> outside_colors_;
};

}  // namespace

std::vector<NodeId> canonical_order(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::vector<NodeId> order = plain_order(graph, nodes);
  if (order.size() == 1) return order;
  const Places places = places_of(graph, order);
  const Colors colors(graph, order, places);
  // Among the nodes whose operands are there: by color, then by the numbers their operands have got so far,
  // so that choices between symmetric parts agree with each other.
  std::unordered_map<ValueId, uint64_t> number;
  const auto operand_numbers = [&](size_t i) {
    std::vector<uint64_t> operands;
    for (ValueId input : graph.node(order[i]).inputs) {
      const auto found = number.find(input);
      operands.push_back(found == number.end() ? UINT64_MAX : found->second);
    }
    return operands;
  };
  std::vector<size_t> missing(order.size(), 0);
  std::vector<std::vector<size_t>> readers(order.size());
  std::map<Hash, std::vector<size_t>> ready;  // by color, in the plain order
  for (size_t i = 0; i < order.size(); ++i) {
    for (ValueId input : graph.node(order[i]).inputs) {
      const auto inside = places.find(input);
      if (inside == places.end()) continue;
      ++missing[i];
      readers[inside->second].push_back(i);
    }
    if (missing[i] == 0) ready[colors[i]].push_back(i);
  }
  std::vector<NodeId> result;
  while (!ready.empty()) {
    std::vector<size_t>& alike = ready.begin()->second;
    auto best = alike.begin();
    if (alike.size() > 1)
      best = std::min_element(alike.begin(), alike.end(), [&](size_t a, size_t b) {
        return std::pair(operand_numbers(a), a) < std::pair(operand_numbers(b), b);
      });
    const size_t place = *best;
    alike.erase(best);
    if (alike.empty()) ready.erase(ready.begin());
    const Node& node = graph.node(order[place]);
    result.push_back(order[place]);
    for (ValueId input : node.inputs) number.emplace(input, number.size());
    for (ValueId output : node.outputs) number.emplace(output, number.size());
    for (size_t reader : readers[place])
      if (--missing[reader] == 0) ready[colors[reader]].push_back(reader);
  }
  KORCH_ASSERT(result.size() == order.size(), "a candidate must be acyclic");
  return result;
}

std::string operators_text(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  for (NodeId id : nodes) text += (text.empty() ? "" : "+") + std::string(name(graph.node(id).op));
  return text;
}

Candidate make_candidate(const Graph& graph, const std::vector<NodeId>& nodes,
                         const std::vector<ValueId>& outputs) {
  Candidate candidate;
  candidate.nodes = canonical_order(graph, nodes);
  const Places places = places_of(graph, candidate.nodes);
  const std::unordered_set<ValueId> available(outputs.begin(), outputs.end());
  std::unordered_set<ValueId> seen;
  for (NodeId id : candidate.nodes) {
    for (ValueId input : graph.node(id).inputs) {
      if (places.contains(input) || !seen.insert(input).second) continue;
      (graph.constant(input) != nullptr ? candidate.constants : candidate.inputs).push_back(input);
    }
    for (ValueId output : graph.node(id).outputs) {
      if (available.contains(output)) candidate.outputs.push_back(output);
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
  for (const auto& structure : candidate.structures)
    for (char c : block::print(structure->graph)) words.add(static_cast<uint64_t>(c));
  return words.hash();
}

}  // namespace korch
