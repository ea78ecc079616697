#include "shrink.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "korch/base/error.h"
#include "korch/ir/winograd.h"

namespace korch::testing {
namespace {

int64_t mapped(const Extents& extents, int64_t extent) {
  const auto found = extents.find(extent);
  return found == extents.end() ? extent : found->second;
}

Shape mapped(const Extents& extents, Shape shape) {
  for (int64_t& extent : shape) extent = mapped(extents, extent);
  return shape;
}

HostTensor constant_of(const HostTensor& value, const Extents& extents, uint64_t seed) {
  const Shape shape = mapped(extents, value.shape());
  if (value.elements() == 1) return value;
  if (is_integer(value.dtype()) || value.dtype() == DType::bool_) {
    if (shape != value.shape()) throw Error(ErrorKind::invalid, "indices are for one extent");
    return value;
  }
  // Of one sign, so that variances and divisors may be among them; small where sums are long.
  HostTensor wide(TensorType{DType::f64, shape});
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(0.125, 2);
  for (int64_t i = 0; i < wide.elements(); ++i) wide.mutable_data<double>()[i] = distribution(random);
  return converted(wide, value.dtype());
}

// The attributes at the smaller extents, for a first operand of shape `in`.
Attrs attributes(const Node& node, const Extents& extents, const Shape& in) {
  Attrs attrs = node.attrs;
  if (auto* shaped = std::get_if<ShapeAttrs>(&attrs)) shaped->shape = mapped(extents, shaped->shape);
  if (auto* winograd = std::get_if<WinogradAttrs>(&attrs)) winograd->shape = mapped(extents, winograd->shape);
  if (auto* conv = std::get_if<ConvAttrs>(&attrs); conv != nullptr && conv->group > 1)
    conv->group = mapped(extents, conv->group);
  if (auto* slice = std::get_if<SliceAttrs>(&attrs))
    for (size_t i = 0; i < in.size(); ++i) {
      slice->sizes[i] = mapped(extents, slice->sizes[i]);
      const int64_t span = (slice->sizes[i] - 1) * std::abs(slice->steps[i]);
      const int64_t above = slice->steps[i] > 0 ? span : 0, below = span - above;
      slice->starts[i] = std::max(below, std::min(slice->starts[i], in[i] - 1 - above));
    }
  return attrs;
}

// How extents follow from others.
class Relations {
 public:
  Relations(const Graph& graph, const Candidate& candidate) {
    for (NodeId id : candidate.nodes) {
      const Node& node = graph.node(id);
      std::vector<Shape> in;
      for (ValueId input : node.inputs) in.push_back(graph.value(input).type.shape);
      add(node, in, graph.value(node.outputs[0]).type.shape);
    }
  }

  bool derives(int64_t extent) const { return rules_.count(extent) != 0; }

  // Those that follow, added to the chosen ones.
  Extents complete(Extents extents) const {
    for (size_t round = 0; round <= rules_.size(); ++round)
      for (const auto& [extent, rule] : rules_) {
        const int64_t to = rule(extents);
        if (to == extent)
          extents.erase(extent);
        else
          extents[extent] = to;
      }
    return extents;
  }

 private:
  using Rule = std::function<int64_t(const Extents&)>;

  void add(const Node& node, const std::vector<Shape>& in, const Shape& out) {
    if (node.op == Op::Reshape) return reshape(in[0], out);
    if (node.op == Op::Concat) {
      const size_t axis = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
      std::vector<int64_t> parts;
      for (const Shape& shape : in) parts.push_back(shape[axis]);
      put(out[axis], parts, [parts](const Extents& extents) {
        int64_t sum = 0;
        for (int64_t part : parts) sum += mapped(extents, part);
        return sum;
      });
    }
    if (node.op == Op::Pad)
      for (size_t i = 0; i < out.size(); ++i) shifted(out[i], in[0][i], 1);
    if (const auto* conv = std::get_if<ConvAttrs>(&node.attrs))
      for (size_t i = 0; i < conv->strides.size(); ++i) {
        if (node.op == Op::Conv) shifted(in[0][i + 2], out[i + 2], conv->strides[i]);
        if (node.op == Op::ConvTranspose) shifted(out[i + 2], in[0][i + 2], conv->strides[i]);
      }
    if (const auto* pool = std::get_if<PoolAttrs>(&node.attrs))
      for (size_t i = 0; i < pool->strides.size(); ++i) shifted(in[0][i + 2], out[i + 2], pool->strides[i]);
    if (node.op == Op::WinogradOutput) {
      const WinogradAttrs attrs = std::get<WinogradAttrs>(node.attrs);
      put(in[0][1], {}, [attrs](const Extents& extents) {
        return WinogradTiles(attrs, mapped(extents, attrs.shape)).count();
      });
    }
  }

  // One more element of `small` is `factor` more of `large`.
  void shifted(int64_t large, int64_t small, int64_t factor) {
    if (large == small) return;
    put(large, {small},
        [=](const Extents& extents) { return large - factor * (small - mapped(extents, small)); });
  }

  // Groups of neighbouring axes with as many elements.
  void reshape(const Shape& a, const Shape& b) {
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      std::vector<int64_t> left{a[i++]}, right{b[j++]};
      const auto product = [](const std::vector<int64_t>& list) {
        return std::accumulate(list.begin(), list.end(), int64_t{1}, std::multiplies<>());
      };
      while (product(left) != product(right)) {
        if (product(left) < product(right) && i < a.size())
          left.push_back(a[i++]);
        else if (product(left) > product(right) && j < b.size())
          right.push_back(b[j++]);
        else
          return;
      }
      for (std::vector<int64_t>* list : {&left, &right}) std::erase(*list, 1);
      if (left.size() > right.size()) std::swap(left, right);
      if (left.size() == 1 && right.size() > 1)
        put(left[0], right, [right](const Extents& extents) {
          int64_t result = 1;
          for (int64_t extent : right) result *= mapped(extents, extent);
          return result;
        });
    }
  }

  // The first rule for an extent counts; where others contradict, the operators will.
  void put(int64_t extent, const std::vector<int64_t>& from, Rule rule) {
    if (std::find(from.begin(), from.end(), extent) == from.end()) rules_.emplace(extent, std::move(rule));
  }

  std::map<int64_t, Rule> rules_;
};

std::set<int64_t> extents_of(const Graph& graph, const Candidate& candidate) {
  std::set<int64_t> extents;
  const auto add = [&](ValueId value) {
    const Shape& shape = graph.value(value).type.shape;
    extents.insert(shape.begin(), shape.end());
  };
  for (NodeId id : candidate.nodes) {
    for (ValueId input : graph.node(id).inputs) add(input);
    for (ValueId output : graph.node(id).outputs) add(output);
  }
  return extents;
}

}  // namespace

Alone alone(const Graph& graph, const Candidate& candidate, const Extents& extents) {
  Alone made;
  Graph& result = made.graph;
  std::map<ValueId, ValueId> placed;
  for (ValueId input : candidate.inputs) {
    const TensorType& type = graph.value(input).type;
    placed[input] = result.add_input({type.dtype, mapped(extents, type.shape)}, "in");
    made.candidate.inputs.push_back(placed[input]);
  }
  for (ValueId constant : candidate.constants) {
    placed[constant] =
        result.add_constant(constant_of(*graph.constant(constant), extents, 1000 + placed.size()));
    made.candidate.constants.push_back(placed[constant]);
  }
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(placed.at(input));
    const Shape in = inputs.empty() ? Shape{} : result.value(inputs[0]).type.shape;
    const NodeId copy = result.add_node(node.op, attributes(node, extents, in), inputs);
    made.candidate.nodes.push_back(copy);
    for (size_t i = 0; i < node.outputs.size(); ++i) placed[node.outputs[i]] = result.node(copy).outputs[i];
  }
  std::vector<std::string> names;
  for (ValueId output : candidate.outputs) {
    made.candidate.outputs.push_back(placed.at(output));
    names.push_back("out" + std::to_string(names.size()));
  }
  result.set_outputs(made.candidate.outputs, names);
  return made;
}

std::optional<Alone> shrunken(const Graph& graph, const Candidate& candidate, int64_t least) {
  const Relations relations(graph, candidate);
  std::optional<Alone> best;
  const auto allows = [&](const Extents& chosen) {
    const Extents all = relations.complete(chosen);
    if (all.empty()) return false;
    for (const auto& [from, to] : all)
      if (to < 1 || to > from) return false;
    try {
      best = alone(graph, candidate, all);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  Extents wanted;
  for (int64_t extent : extents_of(graph, candidate))
    if (extent > least + extent % kTail && !relations.derives(extent))
      wanted[extent] = least + extent % kTail;
  if (allows(wanted)) return best;
  Extents chosen;
  for (auto at = wanted.rbegin(); at != wanted.rend(); ++at) {
    chosen.insert(*at);
    if (!allows(chosen)) chosen.erase(at->first);
  }
  return best;
}

}  // namespace korch::testing
