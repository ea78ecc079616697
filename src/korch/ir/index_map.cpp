#include "korch/ir/index_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/base/ceil_div.h"
#include "korch/ir/infer.h"

namespace korch {
namespace {

std::vector<Coordinate> axes_from(size_t first, size_t count) {
  std::vector<Coordinate> result(count);
  for (size_t i = 0; i < count; ++i) result[i].axis = static_cast<int>(first + i);
  return result;
}

std::vector<Coordinate> broadcast_axes(const Shape& operand, size_t rank) {
  std::vector<Coordinate> result = axes_from(rank - operand.size(), operand.size());
  for (size_t i = 0; i < operand.size(); ++i)
    if (operand[i] == 1) result[i].axis = -1;
  return result;
}

void transpose(const InferArgs& args, IndexMaps& maps) {
  const std::vector<int64_t>& perm = args.get<PermAttrs>().perm;
  const Shape& in = args.shape(0);
  infer_require(args, perm.size() == in.size(), "perm needs one entry per axis");
  std::vector<Coordinate>& read = maps.operands[0].coordinates;
  read.resize(in.size());
  for (int64_t axis : perm) {
    require_axis(args, axis, args.rank(0));
    infer_require(args, read[axis].axis < 0, "perm repeats an axis");
    read[axis].axis = static_cast<int>(maps.result.size());
    maps.result.push_back(in[axis]);
  }
}

void reshape(const InferArgs& args, IndexMaps& maps) {
  maps.result = args.get<ShapeAttrs>().shape;
  if (element_count(maps.result) != element_count(args.shape(0)))
    infer_fail(args,
               fmt::format("cannot reshape to [{}]: the element counts differ", to_string(maps.result)));
  maps.operands[0].view = args.shape(0);
  maps.operands[0].coordinates = axes_from(0, args.shape(0).size());
}

void expand(const InferArgs& args, IndexMaps& maps) {
  maps.result = args.get<ShapeAttrs>().shape;
  if (broadcast_shapes(args, args.shape(0), maps.result) != maps.result)
    infer_fail(args, fmt::format("cannot expand to [{}]", to_string(maps.result)));
  maps.operands[0].coordinates = broadcast_axes(args.shape(0), maps.result.size());
}

void slice(const InferArgs& args, IndexMaps& maps) {
  const auto& [starts, sizes, steps] = args.get<SliceAttrs>();
  const Shape& in = args.shape(0);
  infer_require(args, starts.size() == in.size() && sizes.size() == in.size() && steps.size() == in.size(),
                "starts, sizes and steps need one entry per axis");
  std::vector<Coordinate>& read = maps.operands[0].coordinates = axes_from(0, in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    infer_require(args, steps[i] != 0 && sizes[i] >= 0, "steps must not be zero, sizes not negative");
    read[i].scale = steps[i], read[i].offset = starts[i];
    if (sizes[i] == 0) continue;
    const int64_t last = checked_add(args, starts[i], checked_multiply(args, sizes[i] - 1, steps[i]));
    if (starts[i] < 0 || starts[i] >= in[i] || last < 0 || last >= in[i])
      infer_fail(args, fmt::format("slice from {} to {} leaves axis {}", starts[i], last, i));
  }
  maps.result = sizes;
}

void pad(const InferArgs& args, IndexMaps& maps) {
  static constexpr Outside kOutside[] = {Outside::fill, Outside::reflect, Outside::edge};  // by PadMode
  const PadAttrs& pad = args.get<PadAttrs>();
  Shape& out = maps.result = args.shape(0);
  infer_require(args, pad.before.size() == out.size() && pad.after.size() == out.size(),
                "before and after need one entry per axis");
  std::vector<Coordinate>& read = maps.operands[0].coordinates = axes_from(0, out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    infer_require(args, pad.before[i] >= 0 && pad.after[i] >= 0, "pads must not be negative");
    const int64_t most = std::max(pad.before[i], pad.after[i]);
    infer_require(args, pad.mode != PadMode::reflect || most == 0 || most < out[i],
                  "reflection needs pads smaller than the axis");
    infer_require(args, pad.mode != PadMode::edge || most == 0 || out[i] > 0,
                  "edge padding of an empty axis");
    out[i] = checked_add(args, out[i], checked_add(args, pad.before[i], pad.after[i]));
    read[i].offset = -pad.before[i], read[i].outside = kOutside[static_cast<int>(pad.mode)];
  }
}

void concat(const InferArgs& args, IndexMaps& maps) {
  const int64_t axis = args.get<AxisAttrs>().axis;
  require_axis(args, axis, args.rank(0));
  require_same_dtype(args);
  Shape& out = maps.result = args.shape(0);
  out[axis] = 0;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    Shape other = args.shape(i);
    infer_require(args, other.size() == out.size(), "operands of different rank");
    maps.operands[i].coordinates = axes_from(0, out.size());
    Coordinate& read = maps.operands[i].coordinates[axis];
    read.offset = -out[axis], read.outside = Outside::other;
    out[axis] = checked_add(args, out[axis], other[axis]);
    other[axis] = out[axis];
    infer_require(args, other == out, "operands differ on another axis than the concatenated one");
  }
}

void gather(const InferArgs& args, IndexMaps& maps) {
  const int64_t axis = args.get<AxisAttrs>().axis;
  require_axis(args, axis, args.rank(0));
  infer_require(args, is_integer(args.inputs[1].dtype), "indices must be integers");
  const Shape &data = args.shape(0), &indices = args.shape(1);
  if (const HostTensor* known = args.constants[1])
    for (int64_t index : as_int_vector(*known))
      if (index < -data[axis] || index >= data[axis])
        infer_fail(args, fmt::format("index {} is outside of axis {}", index, axis));
  maps.result = data;
  maps.result.erase(maps.result.begin() + axis);
  maps.result.insert(maps.result.begin() + axis, indices.begin(), indices.end());
  std::vector<Coordinate>& read = maps.operands[0].coordinates = axes_from(0, data.size());
  read[axis].looked_up = true;
  if (indices.empty()) read[axis].axis = -1;  // the result has no axis there
  for (size_t i = axis + 1; i < data.size(); ++i) read[i].axis += static_cast<int>(indices.size()) - 1;
  maps.operands[1].coordinates = axes_from(axis, indices.size());
}

void gather_elements(const InferArgs& args, IndexMaps& maps) {
  require_element_indices(args);
  maps.result = args.shape(1);
  for (IndexMap& map : maps.operands) map.coordinates = axes_from(0, maps.result.size());
  maps.operands[0].coordinates[args.get<AxisAttrs>().axis].looked_up = true;
}

// The result has an axis of repetitions before each one.
void repeat(const InferArgs& args, IndexMaps& maps) {
  const Shape& repeats = args.get<ShapeAttrs>().shape;
  const Shape& in = args.shape(0);
  infer_require(args, repeats.size() == in.size(), "repeats need one entry per axis");
  IndexMap& map = maps.operands[0];
  map.coordinates.resize(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    infer_require(args, repeats[i] >= 0, "repeats must not be negative");
    maps.result.push_back(checked_multiply(args, in[i], repeats[i]));
    map.coordinates[i].axis = static_cast<int>(2 * i + 1);
    map.view.insert(map.view.end(), {repeats[i], in[i]});
  }
}

// The operand with axes for blocks, transposed; then blocks and what they are of are one axis again.
void blocks(const InferArgs& args, IndexMaps& maps) {
  const int64_t b = args.get<AxisAttrs>().axis;
  infer_require(args, args.rank(0) == 4 && b > 0, "needs rank 4 and a positive block size");
  const Shape& in = args.shape(0);
  const int64_t square = checked_multiply(args, b, b);
  IndexMap& map = maps.operands[0];
  std::vector<int64_t> perm;
  if (args.op == Op::SpaceToDepth) {
    infer_require(args, in[2] % b == 0 && in[3] % b == 0, "the block does not divide the spatial axes");
    maps.result = {in[0], checked_multiply(args, in[1], square), in[2] / b, in[3] / b};
    map.operand = {in[0], in[1], in[2] / b, b, in[3] / b, b};
    perm = {0, 3, 5, 1, 2, 4};
  } else {
    infer_require(args, in[1] % square == 0, "the squared block does not divide the channels");
    const int64_t channels = in[1] / square;
    maps.result = {in[0], channels, checked_multiply(args, in[2], b), checked_multiply(args, in[3], b)};
    const bool blocks_first = args.op == Op::DepthToSpace;
    map.operand = blocks_first ? Shape{in[0], b, b, channels, in[2], in[3]}
                               : Shape{in[0], channels, b, b, in[2], in[3]};
    perm = blocks_first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
  }
  map.coordinates.resize(perm.size());
  for (int64_t axis : perm) {
    map.coordinates[axis].axis = static_cast<int>(map.view.size());
    map.view.push_back(map.operand[axis]);
  }
}

void window(const InferArgs& args, const PoolAttrs& pool, IndexMaps& maps) {
  const size_t spatial = pool.kernel.size();
  infer_require(args, spatial > 0 && args.shape(0).size() == spatial + 2,
                "rank must be the kernel's rank + 2, and 3 or more");
  infer_require(args,
                pool.strides.size() == spatial && pool.dilations.size() == spatial &&
                    pool.pads_before.size() == spatial && pool.pads_after.size() == spatial,
                "strides, dilations and pads need one entry per spatial axis");
  maps.taps = pool.kernel;
  maps.result = {args.shape(0)[0], args.shape(0)[1]};
  std::vector<Coordinate> weights;  // [k..., C]
  std::vector<Coordinate>& read = maps.operands[0].coordinates = axes_from(0, spatial + 2);
  for (size_t s = 0; s < spatial; ++s) {
    Coordinate& place = read[s + 2];
    place.scale = pool.strides[s], place.tap = static_cast<int>(s), place.step = pool.dilations[s];
    place.offset = -pool.pads_before[s], place.outside = Outside::fill;
    weights.push_back({.tap = place.tap});
    maps.result.push_back(window_extent(args, args.shape(0)[s + 2], pool.kernel[s], pool.strides[s],
                                        pool.dilations[s], pool.pads_before[s], pool.pads_after[s]));
  }
  weights.push_back({.axis = 1});
  if (maps.operands.size() > 1) maps.operands[1].coordinates = std::move(weights);
}

void reduce(const InferArgs& args, const std::vector<int64_t>& axes, bool keepdims, IndexMaps& maps) {
  const Shape& in = args.shape(0);
  std::vector<bool> gone(in.size(), false);
  for (int64_t axis : axes) {
    require_axis(args, axis, args.rank(0));
    if (gone[axis]) infer_fail(args, fmt::format("axis {} is reduced twice", axis));
    gone[axis] = true;
  }
  for (size_t i = 0; i < in.size(); ++i) {
    maps.operands[0].coordinates.push_back(gone[i]
                                               ? Coordinate{.tap = static_cast<int>(maps.taps.size())}
                                               : Coordinate{.axis = static_cast<int>(maps.result.size())});
    if (gone[i]) maps.taps.push_back(in[i]);
    if (!gone[i] || keepdims) maps.result.push_back(gone[i] ? 1 : in[i]);
  }
}

// The first tap is the channel of a group. A tap of a transposed convolution meets a result where the step
// back from it is a whole number of strides.
void convolution(const ConvAttrs& conv, bool transposed, IndexMaps& maps) {
  const Shape &x = maps.operands[0].operand, &w = maps.operands[1].operand;
  const int64_t results = std::max<int64_t>(1, maps.result[1] / conv.group), channels = x[1] / conv.group;
  const Coordinate channel{.axis = 1, .per = results, .scale = channels, .tap = 0};
  std::vector<Coordinate> data = {{.axis = 0}, channel}, weights = {{.axis = 1}, {.tap = 0}};
  if (transposed) weights = {channel, {.axis = 1, .modulo = results}};
  maps.taps = w;
  maps.taps.erase(maps.taps.begin());
  maps.taps[0] = channels;
  for (int s = 0; s + 2 < static_cast<int>(x.size()); ++s) {
    Coordinate place{.axis = s + 2, .scale = conv.strides[s], .tap = s + 1, .step = conv.dilations[s]};
    place.offset = -conv.pads_before[s], place.outside = Outside::fill;
    if (transposed) {
      std::swap(place.scale, place.divisor);
      place.step *= -1, place.offset *= -1;
    }
    data.push_back(place);
    weights.push_back({.tap = s + 1});
  }
  maps.operands[0].coordinates = std::move(data);
  maps.operands[1].coordinates = std::move(weights);
  if (maps.operands.size() > 2) maps.operands[2].coordinates = {{.axis = 1}};
}

void matrix_product(const MatMulAttrs& attrs, IndexMaps& maps) {
  const int rank = static_cast<int>(maps.result.size());
  for (size_t i = 0; i < 2; ++i) {
    const Shape& operand = maps.operands[i].operand;
    std::vector<Coordinate>& read = maps.operands[i].coordinates = broadcast_axes(operand, rank);
    Coordinate &row = read[read.size() - 2], &column = read.back();
    row = i == 0 ? Coordinate{.axis = rank - 2} : Coordinate{.tap = 0};
    column = i == 0 ? Coordinate{.tap = 0} : Coordinate{.axis = rank - 1};
    if (i == 0 ? attrs.transpose_a : attrs.transpose_b) std::swap(row, column);
    if (i == 0) maps.taps = {operand[operand.size() - (attrs.transpose_a ? 2 : 1)]};
  }
}

IndexMaps maps_of(const std::vector<TensorType>& inputs, const Shape& result) {
  IndexMaps maps{result, {}, {}};
  for (const TensorType& type : inputs) maps.operands.push_back({type.shape, {}, {}});
  return maps;
}

void set_views(IndexMaps& maps) {
  for (IndexMap& map : maps.operands)
    if (map.view.empty()) map.view = maps.result;
}

const auto& layout_rules() {
  static const std::map<Op, void (*)(const InferArgs&, IndexMaps&)> rules = {
      {Op::Transpose, transpose}, {Op::Reshape, reshape},
      {Op::Slice, slice},         {Op::Pad, pad},
      {Op::Concat, concat},       {Op::Expand, expand},
      {Op::Gather, gather},       {Op::Tile, repeat},
      {Op::DepthToSpace, blocks}, {Op::DepthToSpaceCRD, blocks},
      {Op::SpaceToDepth, blocks}, {Op::GatherElements, gather_elements},
  };
  return rules;
}

}  // namespace

IndexMaps checked_maps(const InferArgs& args) {
  IndexMaps maps = maps_of(args.inputs, {});
  if (const auto rule = layout_rules().find(args.op); rule != layout_rules().end())
    rule->second(args, maps);
  else if (const auto* pool = std::get_if<PoolAttrs>(&args.attrs))
    window(args, *pool, maps);
  else if (const auto* arg = std::get_if<ArgReduceAttrs>(&args.attrs))
    reduce(args, {arg->axis}, arg->keepdims, maps);
  else
    reduce(args, args.get<ReduceAttrs>().axes, args.get<ReduceAttrs>().keepdims, maps);
  set_views(maps);
  return maps;
}

IndexMaps index_maps(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs, const Shape& result) {
  const Category category = info(op).category;
  if (layout_rules().contains(op) || category == Category::reduce || std::holds_alternative<PoolAttrs>(attrs))
    return checked_maps({op, attrs, inputs, std::vector<const HostTensor*>(inputs.size())});
  IndexMaps maps = maps_of(inputs, result);
  if (category == Category::elementwise)
    for (IndexMap& map : maps.operands) map.coordinates = broadcast_axes(map.operand, result.size());
  else if (const auto* conv = std::get_if<ConvAttrs>(&attrs))
    convolution(*conv, op == Op::ConvTranspose, maps);
  else if (const auto* matrices = std::get_if<MatMulAttrs>(&attrs))
    matrix_product(*matrices, maps);
  else if (op == Op::NarrowMatMul)
    matrix_product({}, maps);
  set_views(maps);
  return maps;
}

IndexMaps index_maps(const Graph& graph, const Node& node) {
  return index_maps(node.op, node.attrs, input_types(graph, node), graph.value(node.outputs[0]).type.shape);
}

IndexMap broadcast_map(const Shape& operand, const Shape& result) {
  return {operand, result, broadcast_axes(operand, result.size())};
}

int64_t element_read(const IndexMap& map, int64_t index, const Shape& taps, int64_t looked_up) {
  Shape at(map.view.size());
  for (size_t axis = at.size(); axis-- > 0; index /= std::max<int64_t>(map.view[axis], 1))
    at[axis] = index % std::max<int64_t>(map.view[axis], 1);
  int64_t element = 0;
  for (size_t i = 0; i < map.operand.size(); ++i) {
    const Coordinate& c = map.coordinates[i];
    const int64_t place =
        c.looked_up ? looked_up
                    : c.at(c.axis < 0 ? 0 : at[c.axis], c.tap < 0 ? 0 : taps[c.tap], map.operand[i]);
    if (place < 0) return -1;
    element = element * map.operand[i] + place;
  }
  return element;
}

std::optional<int64_t> start_of_run(const IndexMap& map) {
  const Shape from = row_major_strides(map.operand), to = row_major_strides(map.view);
  std::vector<bool> moves(map.view.size(), false);
  int64_t start = 0;
  for (size_t i = 0; i < map.coordinates.size(); ++i) {
    const Coordinate& c = map.coordinates[i];
    if (c.looked_up || c.tap >= 0) return std::nullopt;
    start += c.offset * from[i];
    if (c.axis < 0 || map.view[c.axis] == 1) continue;
    const int64_t last = c.offset + c.scale * (map.view[c.axis] - 1);
    if (c.scale * from[i] != to[c.axis] || c.offset < 0 || last >= map.operand[i]) return std::nullopt;
    moves[c.axis] = true;
  }
  for (size_t axis = 0; axis < map.view.size(); ++axis)
    if (!moves[axis] && map.view[axis] != 1) return std::nullopt;
  return start;
}

std::optional<SliceAttrs> slice_through(const IndexMap& map, SliceAttrs slice) {
  for (size_t i = 0; i < map.operand.size(); ++i) {
    const Coordinate& c = map.coordinates[i];
    slice.starts[i] = c.scale * slice.starts[i] + c.offset;
    slice.steps[i] *= c.scale;
    const int64_t last = slice.starts[i] + (slice.sizes[i] - 1) * slice.steps[i];
    if (std::min(slice.starts[i], last) < 0 || std::max(slice.starts[i], last) >= map.operand[i])
      return std::nullopt;
  }
  return slice;
}

std::vector<int64_t> taps_inside(const Coordinate& c, int64_t taps, int64_t operand, int64_t result) {
  std::vector<int64_t> counts;
  for (int64_t at = 0; at < result; ++at) {
    const int64_t start = at * c.scale + c.offset;
    const int64_t first = start < 0 ? ceil_div(-start, c.step) : 0;
    const int64_t end = start < operand ? std::min(taps, ceil_div(operand - start, c.step)) : 0;
    counts.push_back(std::max<int64_t>(0, end - first));
  }
  return counts;
}

}  // namespace korch
