#include "korch/ir/needed_part.h"

#include <algorithm>
#include <numeric>

#include "korch/ir/winograd.h"

namespace korch {
namespace {

// Alternatives may close a circle of producers: no more of them are followed.
constexpr int kMostProducers = 64;

// Mul and Div by constants that an extent was computed with.
NeededExtent resolved(const Graph& graph, NeededExtent extent) {
  for (int i = 0; i < kMostProducers; ++i) {
    const std::vector<NodeId>& producers = graph.value(extent.extent).producers;
    if (producers.empty()) return extent;
    const Node& node = graph.node(producers[0]);
    if (node.op == Op::Reshape) {
      extent.extent = node.inputs[0];
      continue;
    }
    if (node.op != Op::Mul && node.op != Op::Div) return extent;
    const HostTensor* factor = graph.constant(node.inputs[1]);
    if (factor == nullptr || factor->elements() != 1 || !is_integer(factor->dtype())) return extent;
    const int64_t number = element_as_int(*factor, 0);
    if (number <= 0 || graph.value(node.inputs[0]).type.elements() != 1) return extent;
    // What Div drops can only be less.
    NeededExtent before{node.inputs[0], extent.times, extent.by};
    int64_t& changed = node.op == Op::Mul ? before.times : before.by;
    if (__builtin_mul_overflow(changed, number, &changed)) return extent;
    extent = before;
  }
  return extent;
}

class Backwards {
 public:
  explicit Backwards(const Graph& graph) : graph_(graph) {
    const size_t tensors = graph.outputs().size() - graph.extents().size();
    std::vector<NeededPart> parts;
    for (size_t i = 0; i < tensors; ++i)
      parts.emplace_back(graph.value(graph.outputs()[i]).type.shape.size());
    for (size_t i = 0; i < graph.extents().size(); ++i)
      parts[static_cast<size_t>(graph.extents()[i].output)][static_cast<size_t>(graph.extents()[i].axis)] =
          resolved(graph, {graph.outputs()[tensors + i]});
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      need(graph.outputs()[i], i < tensors ? parts[i] : all(graph.outputs()[i]));
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool one = node.outputs.size() == 1 && found_.contains(node.outputs[0]);
      need(node.inputs[i], one ? of_input(node, i, found_.at(node.outputs[0])) : all(node.inputs[i]));
    }
  }

  std::map<ValueId, NeededPart> found_;

 private:
  NeededPart all(ValueId value) const { return NeededPart(graph_.value(value).type.shape.size()); }
  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }

  void need(ValueId value, const NeededPart& part) {
    const auto [known, is_new] = found_.emplace(value, part);
    if (is_new) return;
    for (size_t axis = 0; axis < part.size(); ++axis)
      known->second[axis] = larger(known->second[axis], part[axis]);
  }

  // All, where it is not known which is.
  std::optional<NeededExtent> larger(const std::optional<NeededExtent>& a,
                                     const std::optional<NeededExtent>& b) const {
    if (a == b) return a;
    if (!a || !b) return std::nullopt;
    if (a->extent == kNoId && a->times <= least_of(*b)) return b;
    if (b->extent == kNoId && b->times <= least_of(*a)) return a;
    return std::nullopt;
  }

  // What it is in every run.
  int64_t least_of(const NeededExtent& part) const {
    if (part.extent == kNoId) return part.times / part.by;
    const auto& inputs = graph_.inputs();
    const std::vector<OpenDimension>& open = graph_.open_dimensions();
    for (size_t d = 0; d < open.size(); ++d)
      if (inputs[inputs.size() - open.size() + d] == part.extent) return open[d].least * part.times / part.by;
    return 0;
  }

  // What an input is needed for, to make that part of the one output.
  NeededPart of_input(const Node& node, size_t i, const NeededPart& out) const {
    const ValueId input = node.inputs[i];
    if (info(node.op).category == Category::elementwise) return masked(node, i, broadcast(input, node, out));
    switch (node.op) {
      case Op::Transpose:
        return transposed(node, out);
      case Op::Reshape:
        return reshaped(shape(input), shape(node.outputs[0]), out);
      case Op::Expand:
        return broadcast(input, node, out);
      case Op::Slice:
        return sliced(node, out);
      case Op::Concat:
        return joined(node, i, out);
      case Op::Pad:
        return padded(node, out);
      case Op::ReduceSum:
      case Op::ReduceMax:
      case Op::ReduceMin:
      case Op::ReduceProd:
        return reduced(node, out);
      case Op::MatMul:
        return product(node, i, out);
      case Op::Attention:
        return attention(node, i, out);
      case Op::Conv:
        return first_axes(input, out, i == 0 ? 1 : 0);
      case Op::WindowSum:
      case Op::WindowMax:
        return first_axes(input, out, 2);
      case Op::WindowDot:
        return first_axes(input, out, i == 0 ? 1 : 0);
      case Op::Gather:
        return gathered(node, i, out);
      case Op::ScatterElements:
        return scattered(node, i, out);
      case Op::WinogradInput:
      case Op::WinogradProduct:
      case Op::WinogradOutput:
        return winograd(node, i, out);
      default:
        return all(input);
    }
  }

  NeededPart first_axes(ValueId input, const NeededPart& out, size_t axes) const {
    NeededPart part = all(input);
    for (size_t axis = 0; axis < std::min(axes, part.size()); ++axis) part[axis] = out[axis];
    return part;
  }

  // Of an operand whose last axes are the result's, by numpy's rules.
  NeededPart broadcast(ValueId input, const Node& node, const NeededPart& out) const {
    NeededPart part = all(input);
    const Shape &from = shape(input), &to = shape(node.outputs[0]);
    for (size_t axis = 0; axis < part.size(); ++axis) {
      const size_t place = axis + to.size() - from.size();
      if (from[axis] == to[place]) part[axis] = out[place];
    }
    return part;
  }

  // The extent that a condition 0, 1, 2, ... < extent compares with; kNoId where it is another condition.
  ValueId counted(ValueId condition, int depth = 0) const {
    const std::vector<NodeId>& producers = graph_.value(condition).producers;
    if (producers.empty() || depth == kMostProducers) return kNoId;
    const Node& less = graph_.node(producers[0]);
    if (less.op == Op::Reshape) return counted(less.inputs[0], depth + 1);
    if (less.op != Op::Less) return kNoId;
    const HostTensor* positions = graph_.constant(less.inputs[0]);
    if (positions == nullptr || !is_integer(positions->dtype())) return kNoId;
    if (graph_.value(less.inputs[1]).type.elements() != 1 || graph_.constant(less.inputs[1]) != nullptr)
      return kNoId;
    for (int64_t p = 0; p < positions->elements(); ++p)
      if (element_as_int(*positions, p) != p) return kNoId;
    return less.inputs[1];
  }

  // Where(position < extent, x, ...): beyond the extent nothing of x is looked at.
  NeededPart masked(const Node& node, size_t i, NeededPart part) const {
    if (node.op == Op::Where && i == 1) cut_by(node.inputs[0], shape(node.inputs[1]), part);
    return part;
  }

  // Beyond the extent that a condition compares positions with, where it varies along one axis alone. `of`
  // has that axis, counted from the last one.
  void cut_by(ValueId condition, const Shape& of, NeededPart& part) const {
    const ValueId extent = counted(condition);
    if (extent == kNoId) return;
    const Shape& varies = shape(condition);
    const auto axis = std::find_if(varies.begin(), varies.end(), [](int64_t count) { return count != 1; });
    if (axis == varies.end() || *axis != element_count(varies)) return;
    const auto from_end = static_cast<size_t>(varies.end() - axis);
    if (from_end > part.size() || of[part.size() - from_end] != *axis) return;
    std::optional<NeededExtent>& here = part[part.size() - from_end];
    if (!here) here = resolved(graph_, {extent});
  }

  // Where indices are Where(position < extent, ..., nowhere), what is scattered by those beyond the extent
  // lands behind all that is needed.
  NeededPart scattered(const Node& node, size_t i, const NeededPart& out) const {
    if (i == 0) return out;
    NeededPart part = all(node.inputs[i]);
    const std::vector<NodeId>& producers = graph_.value(node.inputs[1]).producers;
    if (i != 2 || producers.empty()) return part;
    const Node& where = graph_.node(producers[0]);
    if (where.op != Op::Where) return part;
    const HostTensor* nowhere = graph_.constant(where.inputs[2]);
    const std::optional<NeededExtent>& rows = out[static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis)];
    if (nowhere == nullptr || nowhere->elements() != 1 || !rows || rows->extent != kNoId) return part;
    if (element_as_int(*nowhere, 0) * rows->by >= rows->times)
      cut_by(where.inputs[0], shape(node.inputs[2]), part);
    return part;
  }

  NeededPart transposed(const Node& node, const NeededPart& out) const {
    NeededPart part(out.size());
    const std::vector<int64_t>& perm = std::get<PermAttrs>(node.attrs).perm;
    for (size_t axis = 0; axis < perm.size(); ++axis) part[static_cast<size_t>(perm[axis])] = out[axis];
    return part;
  }

  // Axes that become axes of as many elements together: where the first of them but for extents of 1 is
  // needed in part, so is the first of what they are made of.
  static NeededPart reshaped(const Shape& from, const Shape& to, const NeededPart& out) {
    NeededPart part(from.size());
    size_t i = 0, o = 0;
    while (i < from.size() || o < to.size()) {
      const size_t first_in = i, first_out = o;
      int64_t in = i < from.size() ? from[i++] : 1, of_out = o < to.size() ? to[o++] : 1;
      while (in != of_out && (in < of_out ? i < from.size() : o < to.size()))
        (in < of_out ? in *= from[i++] : of_out *= to[o++]);
      if (in != of_out || in == 0) return NeededPart(from.size());
      size_t lead_in = first_in, lead_out = first_out;
      while (lead_in + 1 < i && from[lead_in] == 1) ++lead_in;
      while (lead_out + 1 < o && to[lead_out] == 1) ++lead_out;
      if (lead_in >= i || lead_out >= o || !out[lead_out]) continue;
      const int64_t rows_in = element_count(Shape(from.begin() + static_cast<std::ptrdiff_t>(lead_in) + 1,
                                                  from.begin() + static_cast<std::ptrdiff_t>(i))),
                    rows_out = element_count(Shape(to.begin() + static_cast<std::ptrdiff_t>(lead_out) + 1,
                                                   to.begin() + static_cast<std::ptrdiff_t>(o)));
      part[lead_in] = scaled(*out[lead_out], rows_out, rows_in);
    }
    return part;
  }

  NeededPart sliced(const Node& node, const NeededPart& out) const {
    const auto& cut = std::get<SliceAttrs>(node.attrs);
    NeededPart part = all(node.inputs[0]);
    for (size_t axis = 0; axis < part.size(); ++axis) {
      if (cut.starts[axis] == 0 && cut.steps[axis] == 1) part[axis] = out[axis];
      const int64_t end = cut.starts[axis] + (cut.sizes[axis] - 1) * cut.steps[axis] + 1;
      if (!part[axis] && cut.steps[axis] > 0 && cut.sizes[axis] > 0) part[axis] = NeededExtent{kNoId, end, 1};
    }
    return part;
  }

  NeededPart joined(const Node& node, size_t i, const NeededPart& out) const {
    const auto along = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
    NeededPart part = out;
    if (i > 0) part[along].reset();
    return part;
  }

  NeededPart padded(const Node& node, const NeededPart& out) const {
    const auto& pad = std::get<PadAttrs>(node.attrs);
    NeededPart part = all(node.inputs[0]);
    for (size_t axis = 0; axis < part.size(); ++axis)
      if (pad.before[axis] == 0 && (pad.mode == PadMode::constant || pad.after[axis] == 0))
        part[axis] = out[axis];
    return part;
  }

  NeededPart reduced(const Node& node, const NeededPart& out) const {
    const auto& reduce = std::get<ReduceAttrs>(node.attrs);
    NeededPart part = all(node.inputs[0]);
    for (size_t axis = 0, place = 0; axis < part.size(); ++axis) {
      const bool gone = std::count(reduce.axes.begin(), reduce.axes.end(), static_cast<int64_t>(axis)) != 0;
      if (!gone) part[axis] = out[place];
      if (!gone || reduce.keepdims) ++place;
    }
    return part;
  }

  // Rows of the first operand, columns of the second, matrices of both.
  NeededPart product(const Node& node, size_t i, const NeededPart& out) const {
    const auto& attrs = std::get<MatMulAttrs>(node.attrs);
    NeededPart part = matrices(node.inputs[i], node, out);
    const size_t rank = part.size();
    if (i == 0) part[attrs.transpose_a ? rank - 1 : rank - 2] = out[out.size() - 2];
    if (i == 1) part[attrs.transpose_b ? rank - 2 : rank - 1] = out[out.size() - 1];
    return part;
  }

  // All axes but the last two are broadcast.
  NeededPart matrices(ValueId input, const Node& node, const NeededPart& out) const {
    NeededPart part = all(input);
    const Shape &from = shape(input), &to = shape(node.outputs[0]);
    for (size_t axis = 0; axis + 2 < from.size(); ++axis) {
      const size_t place = axis + to.size() - from.size();
      if (from[axis] == to[place]) part[axis] = out[place];
    }
    return part;
  }

  NeededPart attention(const Node& node, size_t i, const NeededPart& out) const {
    NeededPart part = matrices(node.inputs[i], node, out);
    if (i == 0) part[part.size() - 2] = out[out.size() - 2];
    return part;
  }

  NeededPart gathered(const Node& node, size_t i, const NeededPart& out) const {
    const auto along = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
    const size_t indices = shape(node.inputs[1]).size();
    NeededPart part = all(node.inputs[i]);
    if (i == 1) {
      for (size_t axis = 0; axis < indices; ++axis) part[axis] = out[along + axis];
      return part;
    }
    for (size_t axis = 0; axis < part.size(); ++axis)
      if (axis != along) part[axis] = out[axis < along ? axis : axis + indices - 1];
    if (const HostTensor* places = graph_.constant(node.inputs[1]); places != nullptr) {
      int64_t last = 0;
      for (int64_t i = 0; i < places->elements(); ++i) {
        const int64_t place = element_as_int(*places, i);
        last = std::max(last, place < 0 ? place + shape(node.inputs[0])[along] : place);
      }
      part[along] = NeededExtent{kNoId, last + 1, 1};
    }
    return part;
  }

  // Images, and tiles of images one after the other; Strassen's tiles have parts of two.
  NeededPart winograd(const Node& node, size_t i, const NeededPart& out) const {
    NeededPart part = all(node.inputs[i]);
    const auto& attrs = std::get<WinogradAttrs>(node.attrs);
    if (i > 0 || is_strassen(attrs)) return part;
    if (node.op == Op::WinogradProduct) {
      part[1] = out[1];
      return part;
    }
    const bool to_tiles = node.op == Op::WinogradInput;
    const Shape images = to_tiles ? winograd_result(attrs, shape(node.inputs[0])) : attrs.shape;
    const WinogradTiles tiles(attrs, images);
    const int64_t each = tiles.down * tiles.across;
    if (to_tiles && out[1]) part[0] = scaled(*out[1], 1, each);
    if (!to_tiles && out[0]) part[1] = scaled(*out[0], each, 1);
    return part;
  }

  const Graph& graph_;
};

}  // namespace

std::optional<NeededExtent> scaled(const NeededExtent& extent, int64_t times, int64_t by) {
  NeededExtent result = extent;
  if (extent.by != 1 && times != by) return std::nullopt;  // rounded up twice
  if (times <= 0 || by <= 0 || __builtin_mul_overflow(extent.times, times, &result.times) ||
      __builtin_mul_overflow(extent.by, by, &result.by))
    return std::nullopt;
  const int64_t common = std::gcd(result.times, result.by);
  result.times /= common;
  result.by /= common;
  return result;
}

std::map<ValueId, NeededPart> needed_parts(const Graph& graph, const std::vector<NodeId>& nodes) {
  Backwards backwards(graph);
  for (size_t n = nodes.size(); n-- > 0;) backwards.visit(nodes[n]);
  std::erase_if(backwards.found_, [](const auto& entry) {
    return std::none_of(entry.second.begin(), entry.second.end(),
                        [](const auto& e) { return e.has_value(); });
  });
  return std::move(backwards.found_);
}

}  // namespace korch
