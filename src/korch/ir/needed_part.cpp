#include "korch/ir/needed_part.h"

#include <algorithm>
#include <numeric>

#include "korch/ir/index_map.h"
#include "korch/ir/linear_extent.h"
#include "korch/ir/winograd.h"

namespace korch {
namespace {

// Alternatives may close a circle of producers: no more of them are followed.
constexpr int kMostProducers = 64;

// Of a sum of several dimensions the one that must be it: parts of one extent can be compared.
NeededExtent as_dimension(const Graph& graph, const NeededExtent& extent) {
  const std::optional<ExtentBeside> whole = dimension_of_sum(graph, extent.extent);
  if (!whole || whole->extent == extent.extent) return extent;
  NeededExtent result{whole->extent, extent.times, extent.plus, extent.by};
  int64_t product = 0;
  const bool fits = !__builtin_mul_overflow(whole->plus, extent.times, &product) &&
                    !__builtin_add_overflow(extent.plus, product, &result.plus);
  return fits ? result : extent;
}

// What an extent was computed with: sums, products and quotients with constants, and no more than another
// number.
NeededExtent resolved(const Graph& graph, NeededExtent extent) {
  for (int i = 0; i < kMostProducers; ++i) {
    const std::vector<NodeId>& producers = graph.value(extent.extent).producers;
    if (producers.empty()) return as_dimension(graph, extent);
    const Node& node = graph.node(producers[0]);
    if (node.op == Op::Reshape) {
      extent.extent = node.inputs[0];
      continue;
    }
    const bool known = node.op == Op::Add || node.op == Op::Sub || node.op == Op::Mul || node.op == Op::Div ||
                       node.op == Op::Min;
    if (!known || graph.value(node.inputs[0]).type.elements() != 1) return as_dimension(graph, extent);
    const HostTensor* operand = graph.constant(node.inputs[1]);
    if (operand == nullptr || operand->elements() != 1 || !is_integer(operand->dtype()))
      return as_dimension(graph, extent);
    const int64_t number = element_as_int(*operand, 0);
    NeededExtent before{node.inputs[0], extent.times, extent.plus, extent.by};
    int64_t product = 0;
    bool fits = true;
    if (node.op == Op::Add || node.op == Op::Sub) {
      fits = !__builtin_mul_overflow(node.op == Op::Sub ? -number : number, extent.times, &product) &&
             !__builtin_add_overflow(extent.plus, product, &before.plus);
    } else if (node.op == Op::Mul) {
      fits = number >= 0 && !__builtin_mul_overflow(extent.times, number, &before.times);
    } else if (node.op == Op::Div) {  // what it drops can only be less
      fits = number > 0 && !__builtin_mul_overflow(extent.by, number, &before.by) &&
             !__builtin_mul_overflow(extent.plus, number, &before.plus);
    }
    if (!fits) return extent;
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
    const bool one = node.outputs.size() == 1 && found_.contains(node.outputs[0]);
    const NeededPart out = one ? found_.at(node.outputs[0]) : NeededPart();
    const IndexMaps maps = one ? index_maps(graph_, node) : IndexMaps();
    for (size_t i = 0; i < node.inputs.size(); ++i)
      need(node.inputs[i], one ? of_input(node, maps, i, out) : all(node.inputs[i]));
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
    if (!a || !b || (a->extent != b->extent && a->extent != kNoId && b->extent != kNoId)) return std::nullopt;
    const ValueId extent = a->extent == kNoId ? b->extent : a->extent;
    const auto [least, most] = range_of(extent);
    // Both over one divisor.
    NeededExtent x = *a, y = *b, result{extent, 0, 0, 0};
    if (__builtin_mul_overflow(a->by, b->by, &result.by) || !extended(x, b->by, most) ||
        !extended(y, a->by, most))
      return std::nullopt;
    const auto at = [](const NeededExtent& part, int64_t e) { return e * part.times + part.plus; };
    if (at(x, least) <= at(y, least) && at(x, most) <= at(y, most)) return b;
    if (at(y, least) <= at(x, least) && at(y, most) <= at(x, most)) return a;
    // A line above both.
    result.times = std::max(x.times, y.times);
    for (const int64_t e : {least, most}) {
      const int64_t plus = std::max(at(x, e), at(y, e)) - e * result.times;
      result.plus = e == least ? plus : std::max(result.plus, plus);
    }
    return affine(result, 1, 0, 1);
  }

  static bool extended(NeededExtent& part, int64_t factor, int64_t most) {
    int64_t end = 0;
    return !__builtin_mul_overflow(part.times, factor, &part.times) &&
           !__builtin_mul_overflow(part.plus, factor, &part.plus) &&
           !__builtin_mul_overflow(part.times, most, &end) && !__builtin_add_overflow(end, part.plus, &end);
  }

  // What it can be.
  std::pair<int64_t, int64_t> range_of(ValueId extent) const {
    constexpr int64_t kMostExtent = int64_t{1} << 31;
    const auto& inputs = graph_.inputs();
    const std::vector<OpenDimension>& open = graph_.open_dimensions();
    for (size_t d = 0; d < open.size(); ++d)
      if (inputs[inputs.size() - open.size() + d] == extent) return {open[d].least, open[d].most};
    return {0, kMostExtent};
  }

  // What an input is needed for, to make that part of the one output.
  NeededPart of_input(const Node& node, const IndexMaps& maps, size_t i, const NeededPart& out) const {
    if (node.op == Op::ScatterElements) return scattered(node, i, out);
    if (node.op == Op::Append) return appended(node, i, out);
    if (std::holds_alternative<WinogradAttrs>(node.attrs)) return winograd(node, i, out);
    // Kernels check all indices that a slice reads.
    if (info(node.op).category == Category::opaque || (looks_up(node.op) && i == 1))
      return all(node.inputs[i]);
    NeededPart part = read(maps, i, out);
    if (node.op == Op::Gather) {
      const auto along = static_cast<size_t>(std::get<AxisAttrs>(node.attrs).axis);
      const bool vector = shape(node.inputs[1]).size() == 1;
      const std::optional<NeededExtent>& first = vector ? out[along] : std::nullopt;
      part[along] = taken(node.inputs[1], shape(node.inputs[0])[along], first);
      if (!part[along] && first) part[along] = joined(node.inputs[1], *first);
    }
    // Where(position < extent, x, ...): beyond the extent nothing of x is looked at.
    if (node.op == Op::Where && i == 1) cut_by(node.inputs[0], shape(node.inputs[1]), part);
    return part;
  }

  // What elements read, along the axes of the operand that follow one of the result upwards.
  NeededPart read(const IndexMaps& maps, size_t i, const NeededPart& out) const {
    const IndexMap& map = maps.operands[i];
    const NeededPart along = map.view == maps.result ? out : reshaped(map.view, maps.result, out);
    NeededPart part(map.operand.size());
    for (size_t axis = 0; axis < map.coordinates.size(); ++axis) {
      const Coordinate& c = map.coordinates[axis];
      const bool moves = (c.outside == Outside::reflect || c.outside == Outside::edge) &&
                         map.operand[axis] != map.view[c.axis];
      if (c.axis < 0 || c.per != 1 || c.modulo != 0 || c.scale <= 0 || c.looked_up || moves) continue;
      const int64_t tap = c.tap < 0 ? 0 : std::max<int64_t>(0, c.step * (maps.taps[c.tap] - 1));
      const int64_t plus = tap + c.offset + c.divisor - c.scale;
      const int64_t all = (c.scale * map.view[c.axis] + plus) / c.divisor;
      if (along[c.axis])
        part[axis] = c.scale == 1 && c.divisor == 1 && plus == 0
                         ? along[c.axis]
                         : affine(*along[c.axis], c.scale, plus, c.divisor);
      else if (c.tap < 0 && all < map.operand[axis])
        part[axis] = constant(all);
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
    if (graph_.value(less.inputs[1]).type.elements() != 1 || graph_.constant(less.inputs[1]) != nullptr ||
        !counts(less.inputs[0], graph_.value(condition).type.elements()))
      return kNoId;
    return less.inputs[1];
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
    const std::optional<NeededExtent> within = resolved(graph_, {extent});
    if (larger(here, within) != within) here = within;
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
    if (element_as_int(*nowhere, 0) * rows->by >= rows->plus)
      cut_by(where.inputs[0], shape(node.inputs[2]), part);
    return part;
  }

  // As many rows of each as the result has.
  NeededPart appended(const Node& node, size_t i, const NeededPart& out) const {
    if (i > 1) return all(node.inputs[i]);
    NeededPart part = out;
    const ValueId rows = node.inputs[i + 2];
    const HostTensor* known = graph_.constant(rows);
    part[static_cast<size_t>(std::get<AppendAttrs>(node.attrs).axis)] =
        known != nullptr ? constant(element_as_int(*known, 0)) : resolved(graph_, {rows});
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
      part[lead_in] = affine(*out[lead_out], rows_out, rows_in - 1, rows_in);
    }
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

  // Of an axis of so many elements: what is at these places, the first `out` of them.
  std::optional<NeededExtent> taken(ValueId places, int64_t extent,
                                    const std::optional<NeededExtent>& out) const {
    if (const HostTensor* known = graph_.constant(places); known != nullptr) {
      std::vector<int64_t> values = {0};
      for (int64_t i = 0; i < known->elements(); ++i) {
        const int64_t place = element_as_int(*known, i);
        values.push_back(std::max(values.back(), (place < 0 ? place + extent : place) + 1));
      }
      return out ? following(*out, values) : constant(values.back());
    }
    // Up to the last one that there is: Min(places, e - 1).
    for (int depth = 0; depth < kMostProducers; ++depth) {
      const std::vector<NodeId>& producers = graph_.value(places).producers;
      if (producers.empty()) return std::nullopt;
      const Node& node = graph_.node(producers[0]);
      if (node.op == Op::Min && graph_.value(node.inputs[1]).type.elements() == 1 &&
          graph_.constant(node.inputs[1]) == nullptr && is_integer(graph_.value(places).type.dtype))
        return resolved(graph_, {node.inputs[1], 1, 1, 1});
      if (node.op != Op::Reshape && node.op != Op::Expand) return std::nullopt;
      places = node.inputs[0];
    }
    return std::nullopt;
  }

  // Of two tensors that were joined at their bounds, and are moved together by a Gather: place i if it is
  // below the first one's extent p, else i - p + bound. The first n places take bound + (n - p) elements, if
  // n is p and another extent.
  std::optional<NeededExtent> joined(ValueId places, const NeededExtent& n) const {
    const int64_t count = graph_.value(places).type.elements();
    const Node* where = producer(places);
    while (where != nullptr && (where->op == Op::Reshape || where->op == Op::Min))
      where = producer(where->inputs[0]);  // no place is above what the minimum is taken of
    if (where == nullptr || where->op != Op::Where || n.times != 1 || n.by != 1) return std::nullopt;
    const Node *behind = producer(where->inputs[0]), *moved = producer(where->inputs[1]);
    if (behind == nullptr || behind->op != Op::GreaterOrEqual || !counts(behind->inputs[0], count) ||
        !counts(where->inputs[2], count) || moved == nullptr || moved->op != Op::Add)
      return std::nullopt;
    const Node* within = producer(moved->inputs[0]);
    const HostTensor* bound = graph_.constant(moved->inputs[1]);
    if (within == nullptr || within->op != Op::Sub || !counts(within->inputs[0], count) || bound == nullptr ||
        bound->elements() != 1 || within->inputs[1] != behind->inputs[1])
      return std::nullopt;
    const NeededExtent first = resolved(graph_, {within->inputs[1]});
    const int64_t from = element_as_int(*bound, 0);
    if (graph_.value(within->inputs[1]).type.elements() != 1 || first.times != 1 || first.by != 1 ||
        range_of(first.extent).second + first.plus > from)
      return std::nullopt;
    std::optional<NeededExtent> rest = without(n, first);
    if (!rest || __builtin_add_overflow(rest->plus, from, &rest->plus)) return std::nullopt;
    return rest;
  }

  // n - part, where n is a sum of part and another extent.
  std::optional<NeededExtent> without(const NeededExtent& n, const NeededExtent& part) const {
    const auto rest_of = [&](ValueId other, int64_t plus) -> std::optional<NeededExtent> {
      return affine(resolved(graph_, {other}), 1, n.plus + plus - part.plus, 1);
    };
    if (const Node* sum = producer(n.extent); sum != nullptr) {
      if (sum->op != Op::Add) return std::nullopt;
      for (const size_t i : {0, 1})
        if (resolved(graph_, {sum->inputs[i]}) == NeededExtent{part.extent, 1, 0, 1})
          return rest_of(sum->inputs[1 - i], 0);
      return std::nullopt;
    }
    const std::vector<OpenDimension>& open = graph_.open_dimensions();
    const auto input = [&](size_t d) { return graph_.inputs()[graph_.inputs().size() - open.size() + d]; };
    for (size_t d = 0; d < open.size(); ++d) {
      if (input(d) != n.extent || !open[d].sum || open[d].sum->terms.size() != 2) continue;
      const auto& terms = open[d].sum->terms;
      for (const size_t i : {0, 1})
        if (terms[0].factor == 1 && terms[1].factor == 1 &&
            input(static_cast<size_t>(terms[i].dimension)) == part.extent)
          return rest_of(input(static_cast<size_t>(terms[1 - i].dimension)), open[d].sum->plus);
    }
    return std::nullopt;
  }

  // The first one; null: there is none.
  const Node* producer(ValueId value) const {
    const std::vector<NodeId>& producers = graph_.value(value).producers;
    return producers.empty() ? nullptr : &graph_.node(producers[0]);
  }

  // Whether it is 0, 1, 2, ..., so many.
  bool counts(ValueId value, int64_t elements) const {
    const HostTensor* positions = graph_.constant(value);
    if (positions == nullptr || !is_integer(positions->dtype()) || positions->elements() != elements)
      return false;
    for (int64_t p = 0; p < positions->elements(); ++p)
      if (element_as_int(*positions, p) != p) return false;
    return true;
  }

  static NeededExtent constant(int64_t count) { return {kNoId, 0, count, 1}; }

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
    if (to_tiles && out[1]) part[0] = affine(*out[1], 1, each - 1, each);
    if (!to_tiles && out[0]) part[1] = affine(*out[0], each, 0, 1);
    if (images[0] != 1) return part;
    // Rows of tiles of the one image.
    std::optional<NeededExtent> rows;
    if (to_tiles && out[1]) rows = affine(*out[1], 1, tiles.across - 1, tiles.across);
    if (!to_tiles && out[2]) rows = affine(*out[2], 1, attrs.tile - 1, attrs.tile);
    if (!rows) return part;
    const int64_t halo = attrs.taps - 1 - (to_tiles ? attrs.pads_before[0] : 0);
    part[to_tiles ? 2 : 1] =
        to_tiles ? affine(*rows, attrs.tile, halo, 1) : affine(*rows, tiles.across, 0, 1);
    return part;
  }

  const Graph& graph_;
};

}  // namespace

std::optional<NeededExtent> affine(const NeededExtent& n, int64_t times, int64_t plus, int64_t by) {
  NeededExtent result{n.extent, 0, 0, 0};
  int64_t more = 0;
  if (__builtin_mul_overflow(n.times, times, &result.times) ||
      __builtin_mul_overflow(n.plus, times, &result.plus) || __builtin_mul_overflow(plus, n.by, &more) ||
      __builtin_add_overflow(result.plus, more, &result.plus) || __builtin_mul_overflow(n.by, by, &result.by))
    return std::nullopt;
  const int64_t common = std::gcd(result.times, result.by);
  result.times /= common;
  result.by /= common;
  result.plus = result.plus / common - (result.plus % common < 0 ? 1 : 0);
  return result;
}

std::optional<NeededExtent> following(const NeededExtent& n, const std::vector<int64_t>& values) {
  const auto most = static_cast<int64_t>(values.size()) - 1;
  if (most < 1) return std::nullopt;
  const int64_t times = values.back();
  int64_t plus = 0;
  for (int64_t i = 0; i <= most; ++i)
    plus = std::max(plus, values[static_cast<size_t>(i)] * most - i * times);
  return affine(n, times, plus, most);
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
