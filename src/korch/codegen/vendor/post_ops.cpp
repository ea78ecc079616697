#include "korch/codegen/vendor/post_ops.h"

#include <algorithm>
#include <set>

namespace korch::vendor {

namespace {

using rt::OnednnPostOpKind;

class Matcher {
 public:
  Matcher(const linear::LinearWorkload& workload, int channel_axis)
      : p_(workload), graph_(*workload.graph), channel_axis_(channel_axis), current_(workload.value) {}

  std::optional<PostOpChain> match() {
    if (p_.candidate->outputs.size() != 1) return std::nullopt;
    while (current_ != p_.candidate->outputs[0])
      if (!step()) return std::nullopt;
    if (used_.size() + 1 != p_.candidate->nodes.size()) return std::nullopt;
    return chain_;
  }

 private:
  std::vector<NodeId> users(ValueId value) const {
    std::vector<NodeId> found;
    for (NodeId id : p_.candidate->nodes) {
      const auto& inputs = graph_.node(id).inputs;
      if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) found.push_back(id);
    }
    return found;
  }

  void append(OnednnPostOpKind kind, double alpha, double beta, int64_t arg = -1) {
    chain_.ops.push_back({static_cast<int64_t>(kind), arg});
    chain_.floats.push_back(static_cast<float>(alpha));
    chain_.floats.push_back(static_cast<float>(beta));
  }

  void advance(NodeId node) {
    used_.insert(node);
    current_ = graph_.node(node).outputs[0];
  }

  bool step() {
    const std::vector<NodeId> next = users(current_);
    if (next.size() == 2) return gate(next);
    if (next.size() != 1) return false;
    const Node& node = graph_.node(next[0]);
    if (!(node.inputs.size() == 1 ? unary(node) : node.inputs.size() == 2 && binary(node))) return false;
    advance(next[0]);
    return true;
  }

  bool unary(const Node& node) {
    const auto* attrs = std::get_if<ScalarAttrs>(&node.attrs);
    if (node.op == Op::LeakyRelu && attrs->alpha != 0)  // with 0 the library's maximum would lose a NaN
      append(OnednnPostOpKind::relu, attrs->alpha, 0);
    else if (node.op == Op::Elu)
      append(OnednnPostOpKind::elu, attrs->alpha, 0);
    else if (node.op == Op::Sigmoid)
      append(OnednnPostOpKind::sigmoid, 0, 0);
    else if (node.op == Op::Tanh)
      append(OnednnPostOpKind::tanh, 0, 0);
    else if (node.op == Op::HardSwish)
      append(OnednnPostOpKind::hardswish, 1.0 / 6, 0.5);
    else
      return false;
    return true;
  }

  bool binary(const Node& node) {
    if (node.inputs[0] == node.inputs[1]) return false;
    const ValueId other = node.inputs[0] == current_ ? node.inputs[1] : node.inputs[0];
    const TensorType& type = graph_.value(other).type;
    const HostTensor* constant = graph_.constant(other);
    if (node.op == Op::Add && constant != nullptr && chain_.ops.empty() && chain_.bias == kNoId &&
        is_bias(type)) {
      chain_.bias = other;
      return true;
    }
    if (node.op == Op::Add && constant == nullptr && type == graph_.value(current_).type && reads(other)) {
      append(OnednnPostOpKind::add, 0, 0, other);
      return true;
    }
    return false;
  }

  bool reads(ValueId value) const {
    const auto& inputs = p_.candidate->inputs;
    return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  }

  // One element per channel, everything else broadcast.
  bool is_bias(const TensorType& type) const {
    const Shape& result = graph_.value(p_.value).type.shape;
    const int shift = static_cast<int>(result.size()) - static_cast<int>(type.shape.size());
    if (shift > channel_axis_) return false;
    for (size_t i = 0; i < type.shape.size(); ++i) {
      const bool channel = static_cast<int>(i) + shift == channel_axis_;
      if (type.shape[i] != (channel ? result[channel_axis_] : 1)) return false;
    }
    return true;
  }

  // x * sigmoid(x), x * tanh(softplus(x)).
  bool gate(const std::vector<NodeId>& next) {
    const auto is = [&](NodeId id, Op op) { return graph_.node(id).op == op; };
    const NodeId product = is(next[0], Op::Mul) ? next[0] : next[1];
    const NodeId inner = product == next[0] ? next[1] : next[0];
    if (!is(product, Op::Mul)) return false;
    ValueId factor = graph_.node(inner).outputs[0];
    OnednnPostOpKind kind = OnednnPostOpKind::swish;
    if (is(inner, Op::Softplus)) {
      const std::vector<NodeId> outer = users(factor);
      if (outer.size() != 1 || !is(outer[0], Op::Tanh)) return false;
      used_.insert(outer[0]);
      factor = graph_.node(outer[0]).outputs[0];
      kind = OnednnPostOpKind::mish;
    } else if (!is(inner, Op::Sigmoid)) {
      return false;
    }
    const auto& inputs = graph_.node(product).inputs;
    if (std::find(inputs.begin(), inputs.end(), factor) == inputs.end() || users(factor).size() != 1)
      return false;
    used_.insert(inner);
    append(kind, 1, 0);
    advance(product);
    return true;
  }

  const linear::LinearWorkload& p_;
  const Graph& graph_;
  const int channel_axis_;
  ValueId current_;
  PostOpChain chain_;
  std::set<NodeId> used_;
};

}  // namespace

std::optional<PostOpChain> match_post_ops(const linear::LinearWorkload& workload, int channel_axis) {
  return Matcher(workload, channel_axis).match();
}

}  // namespace korch::vendor
