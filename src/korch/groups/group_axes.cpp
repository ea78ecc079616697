#include "korch/groups/group_axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace korch::groups {
namespace {

std::string named(const Graph& graph, const Node& node) {
  return fmt::format("{} that makes %{}", name(node.op), graph.value(node.outputs[0]).name);
}

bool reduces(Op op) {
  return op == Op::ReduceSum || op == Op::ReduceMax || op == Op::ReduceMin || op == Op::ReduceProd;
}

// Why terms do not have the primitive; empty if they do.
std::optional<Refusal> obstacle(const Graph& graph, const Node& node, bool combined) {
  const DType type = graph.value(node.outputs[0]).type.dtype;
  const Category category = info(node.op).category;
  const auto refused = [&](RefusalReason reason, const char* why) {
    return Refusal{reason, fmt::format("{}: {}", named(graph, node), why)};
  };
  for (ValueId value : node.outputs)
    if (graph.value(value).type.elements() == 0)
      return refused(RefusalReason::no_kernel_family, "without elements");
  if (category == Category::elementwise && node.op == Op::Cast && combined)
    return refused(RefusalReason::unsupported_type, "of a sum or reduction");
  if (category == Category::elementwise && (!combined || type == DType::f32 || type == DType::bool_))
    return std::nullopt;
  if (category == Category::layout) return std::nullopt;
  if (node.op == Op::Conv && !is_term_convolution(graph, node))
    return refused(RefusalReason::no_kernel_family, "a window over several channels");
  if (!reduces(node.op) && node.op != Op::MatMul && node.op != Op::Conv)
    return refused(RefusalReason::no_kernel_family, "no elementwise or layout primitive, sum or product");
  if (type != DType::f32 || graph.value(node.inputs[0]).type.dtype != DType::f32)
    return refused(RefusalReason::unsupported_type, "not of float32");
  return std::nullopt;
}

// Without what has one value: the batch of one group, the tap of a kernel of one element.
Coordinate without_constants(Coordinate c, const Shape& view, const Shape& taps) {
  if (c.axis >= 0 && c.modulo == 0 && ceil_div(view[static_cast<size_t>(c.axis)], c.per) == 1)
    c.axis = -1, c.per = 1;
  if (c.tap >= 0 && taps[static_cast<size_t>(c.tap)] == 1) c.tap = -1, c.step = 1;
  return c;
}

// The axes that a dimension of an operand has, by its coordinate; nothing if it reads elsewhere than at the
// coordinate of an axis or a tap.
std::optional<AxisList> axes_along(const Coordinate& c, int64_t extent, const Shape& view_shape,
                                   const Coordinates& view, const Coordinates& taps) {
  if (c.looked_up || c.divisor != 1 || c.modulo != 0 || c.per != 1 || c.offset != 0) return std::nullopt;
  if (c.axis >= 0 && c.tap >= 0) return std::nullopt;
  if (c.tap >= 0) return c.step == 1 ? std::optional(taps[static_cast<size_t>(c.tap)]) : std::nullopt;
  if (c.axis < 0) return extent == 1 ? std::optional(AxisList{}) : std::nullopt;
  const auto axis = static_cast<size_t>(c.axis);
  if (extent != view_shape[axis] || (c.scale != 1 && extent != 1)) return std::nullopt;
  return view[axis];
}

std::optional<Coordinates> operand_axes(const IndexMap& map, const Shape& operand, const Coordinates& view,
                                        const Coordinates& taps) {
  if (map.operand != operand || map.coordinates.size() != operand.size()) return std::nullopt;
  Coordinates at;
  for (size_t i = 0; i < operand.size(); ++i) {
    std::optional<AxisList> axes = axes_along(map.coordinates[i], operand[i], map.view, view, taps);
    if (!axes) return std::nullopt;
    at.push_back(std::move(*axes));
  }
  return at;
}

// The axes dealt out to dimensions of these extents, none of them split.
std::optional<Coordinates> dealt_out(const AxisForest& forest, const AxisList& axes, const Shape& extents) {
  Coordinates dimensions;
  size_t next = 0;
  for (int64_t extent : extents) {
    AxisList& dimension = dimensions.emplace_back();
    int64_t held = 1;
    while (held < extent && next < axes.size()) {
      held *= forest.extent(axes[next]);
      dimension.push_back(axes[next++]);
    }
    if (held != extent) return std::nullopt;
  }
  return next == axes.size() ? std::optional(dimensions) : std::nullopt;
}

}  // namespace

bool is_depthwise(const Graph& graph, const Node& node) {
  if (node.op != Op::Conv) return false;
  const Shape &x = graph.value(node.inputs[0]).type.shape, &y = graph.value(node.outputs[0]).type.shape;
  return std::get<ConvAttrs>(node.attrs).group == x[1] && x[1] == y[1] && x[1] > 1;
}

bool is_term_convolution(const Graph& graph, const Node& node) {
  if (node.op != Op::Conv || node.inputs.size() != 2) return false;
  if (is_depthwise(graph, node)) return true;
  const Shape& kernel = graph.value(node.inputs[1]).type.shape;
  const auto& conv = std::get<ConvAttrs>(node.attrs);
  const auto none = [](const std::vector<int64_t>& pads) {
    return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
  };
  return conv.group == 1 && element_count(kernel) == kernel[0] * kernel[1] && none(conv.pads_before) &&
         none(conv.pads_after);
}

GroupAxes::GroupAxes(const Graph& graph, const Candidate& candidate) : graph_(graph), candidate_(candidate) {
  for (NodeId id : candidate.nodes)
    for (ValueId output : graph.node(id).outputs) makers_.emplace(output, id);
}

Result<GroupAxes> GroupAxes::of(const Graph& graph, const Candidate& candidate) {
  GroupAxes axes(graph, candidate);
  if (std::optional<Refusal> refusal = axes.classify()) return *refusal;
  if (std::optional<Refusal> refusal = axes.link()) return *refusal;
  for (const Place& read : axes.plain_reads()) axes.split_for_broadcasts(read);
  axes.join_reads();
  if (std::optional<Refusal> refusal = axes.split_window()) return *refusal;
  return axes;
}

const Node* GroupAxes::maker(ValueId value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? nullptr : &graph_.node(found->second);
}

std::optional<Refusal> GroupAxes::classify() {
  for (NodeId id : candidate_.nodes) {
    const Node& node = graph_.node(id);
    const Category category = info(node.op).category;
    const bool combined =
        category == Category::reduce || category == Category::linear ||
        std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return is_combined(v); });
    if (std::optional<Refusal> refusal = obstacle(graph_, node, combined)) return refusal;
    if (combined) combined_.insert(node.outputs.begin(), node.outputs.end());
  }
  return std::nullopt;
}

Coordinates GroupAxes::fresh(const Shape& shape) {
  Coordinates axes;
  for (int64_t extent : shape) axes.push_back(forest_.fresh(extent));
  return axes;
}

std::optional<Refusal> GroupAxes::link() {
  for (ValueId output : candidate_.outputs)
    dimensions_.emplace(output, fresh(graph_.value(output).type.shape));
  for (NodeId id : candidate_.nodes)
    if (is_combined(graph_.node(id).outputs[0]))
      if (std::optional<Refusal> refusal = link(id)) return refusal;
  if (const std::string repeated = repeated_axis(); !repeated.empty())
    return Refusal{RefusalReason::unsupported_layout, repeated + ": two of its axes are one"};
  return std::nullopt;
}

std::optional<Refusal> GroupAxes::link(NodeId id) {
  const Node& node = graph_.node(id);
  const IndexMaps maps = index_maps(graph_, node);
  const auto mixes = [&](size_t operand) {
    return Refusal{RefusalReason::unsupported_layout,
                   fmt::format("{}: it mixes the axes of %{}", named(graph_, node),
                               graph_.value(node.inputs[operand]).name)};
  };
  const Coordinates result = dimensions_.try_emplace(node.outputs[0], fresh(maps.result)).first->second;
  const Coordinates taps = taps_.emplace(id, fresh(maps.taps)).first->second;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    const IndexMap& map = maps.operands[i];
    const Shape& shape = graph_.value(value).type.shape;
    Coordinates view = result;
    if (map.view != maps.result) {
      view = fresh(map.view);
      if (!forest_.unify(flattened(result), flattened(view))) return mixes(i);
    }
    std::optional<Coordinates> at;
    if (node.op == Op::Conv) {
      at.emplace();
      for (size_t d = 0; d < shape.size(); ++d) {
        const Coordinate c = without_constants(map.coordinates[d], map.view, maps.taps);
        std::optional<AxisList> axes = axes_along(id, i, c, shape[d], view, taps);
        if (!axes) return mixes(i);
        at->push_back(std::move(*axes));
      }
    } else {
      at = operand_axes(map, shape, view, taps);
    }
    if (!at) return mixes(i);
    if (!is_combined(value)) {
      reads_[{id, i}] = *at;
      continue;
    }
    const Coordinates& axes = dimensions_.try_emplace(value, fresh(shape)).first->second;
    for (size_t d = 0; d < shape.size(); ++d)
      if (!forest_.unify(axes[d], (*at)[d])) return mixes(i);
  }
  return std::nullopt;
}

std::optional<AxisList> GroupAxes::axes_along(NodeId node, size_t operand, const Coordinate& c,
                                              int64_t extent, const Coordinates& view,
                                              const Coordinates& taps) {
  if (c.looked_up || c.divisor != 1 || c.modulo != 0 || c.per != 1) return std::nullopt;
  if (c.outside != Outside::never && c.outside != Outside::fill) return std::nullopt;
  WindowRead window{{}, {}, {}, c.scale, c.step, c.offset};
  if (c.axis >= 0) window.rows = view[static_cast<size_t>(c.axis)];
  if (c.tap >= 0) window.taps = taps[static_cast<size_t>(c.tap)];
  const auto values = [&](const AxisList& axes) {
    int64_t count = 1;
    for (int64_t one : extents_of(axes)) count *= one;
    return count;
  };
  if (c.offset == 0 && (c.axis < 0 || c.tap < 0)) {
    const AxisList& axes = c.axis >= 0 ? window.rows : window.taps;
    const int64_t times = c.axis >= 0 ? c.scale : c.tap >= 0 ? c.step : 1;
    if (values(axes) == extent && (times == 1 || extent == 1)) return axes;
  }
  window.of = forest_.fresh(extent);
  windows_[{node, operand}].push_back(window);
  return window.of;
}

std::vector<WindowRead> GroupAxes::windows(NodeId node, size_t operand) const {
  const auto found = windows_.find({node, operand});
  if (found == windows_.end()) return {};
  std::vector<WindowRead> windows = found->second;
  for (WindowRead& window : windows)
    for (AxisList* axes : {&window.of, &window.rows, &window.taps}) *axes = forest_.expanded(*axes);
  return windows;
}

std::optional<Refusal> GroupAxes::split_window() const {
  const auto refused = [&](NodeId node, const char* why) {
    return Refusal{RefusalReason::unsupported_layout, named(graph_, graph_.node(node)) + ": " + why};
  };
  for (const auto& [place, reads] : windows_)
    for (const WindowRead& window : windows(place.first, place.second)) {
      if (window.of.empty()) return refused(place.first, "a window of one row or column");
      if (window.of.size() > 1 || window.rows.size() > 1 || window.taps.size() > 1 ||
          window.rows.size() + window.taps.size() == 0)
        return refused(place.first, "a window over a part of an axis");
    }
  return std::nullopt;
}

std::string GroupAxes::repeated_axis() const {
  for (NodeId id : candidate_.nodes) {
    const Node& node = graph_.node(id);
    const auto known = dimensions_.find(node.outputs[0]);
    if (known == dimensions_.end()) continue;
    AxisList all = flattened(dimensions(node.outputs[0]));
    if (taps_.contains(id)) {
      const AxisList over = combined_over(id);
      all.insert(all.end(), over.begin(), over.end());
    }
    if (has_repeated(all)) return named(graph_, node);
  }
  for (const auto& [place, reads] : windows_)
    for (const WindowRead& window : windows(place.first, place.second))
      if (has_repeated(flattened({window.of, window.rows, window.taps})))
        return named(graph_, graph_.node(place.first));
  return {};
}

std::optional<Coordinates> GroupAxes::read_through(const Node& node, size_t operand,
                                                   const Coordinates& at) const {
  const IndexMaps maps = index_maps(graph_, node);
  const IndexMap& map = maps.operands[operand];
  std::optional<Coordinates> view = at;
  if (map.view != maps.result) view = dealt_out(forest_, flattened(at), map.view);
  if (!view) return std::nullopt;
  return operand_axes(map, graph_.value(node.inputs[operand]).type.shape, *view, {});
}

bool keeps_axes(const Graph& graph, const Node& node) {
  const IndexMap map = index_maps(graph, node).operands[0];
  return node.inputs.size() == 1 &&
         operand_axes(map, graph.value(node.inputs[0]).type.shape, Coordinates(map.view.size()), {});
}

bool GroupAxes::is_term(ValueId value) const {
  const Node* node = maker(value);
  return node != nullptr && info(node->op).category == Category::elementwise && node->op != Op::Cast &&
         graph_.value(value).type.dtype == DType::f32;
}

// Of the Values in memory that are read where the plain Value is.
void GroupAxes::add_places(const Place& read, std::vector<Place>& places) const {
  const Node* node = maker(read.value);
  if (node == nullptr) {
    if (std::find(places.begin(), places.end(), read) == places.end()) places.push_back(read);
    return;
  }
  for (size_t i = 0; i < node->inputs.size(); ++i)
    if (const std::optional<Coordinates> at = read_through(*node, i, read.at))
      add_places({node->inputs[i], *at}, places);
}

std::unordered_set<int> GroupAxes::given_axes() const {
  std::unordered_set<int> given;
  for (ValueId output : candidate_.outputs)
    for (int axis : flattened(dimensions(output))) given.insert(axis);
  return given;
}

std::vector<int64_t> GroupAxes::extents_of(const AxisList& axes) const {
  std::vector<int64_t> extents;
  for (int axis : axes) extents.push_back(forest_.extent(axis));
  return extents;
}

// A row that is read for its statistics and again to be normalized is read once in a kernel that has one axis
// for both. Not where an axis of a result would become one that is summed up: the columns of a product are
// computed block by block, though the data that it begins with are added to them.
bool GroupAxes::join(const Place& a, const Place& b) {
  const std::unordered_set<int> given = given_axes();
  for (size_t d = 0; d < a.at.size(); ++d) {
    if (extents_of(a.at[d]) != extents_of(b.at[d])) return false;
    for (size_t i = 0; i < a.at[d].size(); ++i)
      if (given.contains(a.at[d][i]) != given.contains(b.at[d][i])) return false;
  }
  const AxisForest before = forest_;
  for (size_t d = 0; d < a.at.size(); ++d) forest_.unify(a.at[d], b.at[d]);
  if (repeated_axis().empty()) return true;
  forest_ = before;
  return false;
}

std::vector<Place> GroupAxes::plain_reads() const {
  std::vector<Place> reads;
  for (const auto& [place, at] : reads_)
    reads.push_back({graph_.node(place.first).inputs[place.second], forest_.expanded(at)});
  for (ValueId output : candidate_.outputs)
    if (!is_combined(output)) reads.push_back({output, dimensions(output)});
  return reads;
}

bool GroupAxes::is_broadcast(ValueId value) const {
  for (const Node* node = maker(value);
       node != nullptr && info(node->op).category == Category::layout && node->inputs.size() == 1;
       node = maker(node->inputs[0]))
    if (graph_.value(node->inputs[0]).type.elements() < graph_.value(node->outputs[0]).type.elements() &&
        keeps_axes(graph_, *node))
      return true;
  return false;
}

void GroupAxes::split_for_broadcasts(const Place& read) {
  const Node* node = maker(read.value);
  if (node == nullptr) return;
  const Coordinates at = forest_.expanded(read.at);
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    std::optional<Coordinates> below = read_through(*node, i, at);
    if (!below && keeps_axes(graph_, *node) && is_broadcast(node->inputs[i])) {
      const AxisForest before = forest_;
      const Coordinates view = fresh(index_maps(graph_, *node).operands[i].view);
      if (forest_.unify(flattened(at), flattened(view)))
        below = read_through(*node, i, forest_.expanded(at));
      else
        forest_ = before;
    }
    if (below) split_for_broadcasts({node->inputs[i], *below});
  }
}

void GroupAxes::join_reads() {
  for (bool joined = true; joined;) {
    joined = false;
    std::vector<Place> places;
    for (const Place& read : plain_reads()) add_places(read, places);
    for (size_t i = 0; i < places.size() && !joined; ++i)
      for (size_t j = 0; j < i && !joined; ++j)
        joined = places[i].value == places[j].value && join(places[j], places[i]);
  }
}

}  // namespace korch::groups
