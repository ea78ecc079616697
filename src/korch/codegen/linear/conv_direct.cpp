// Convolution as register tiles over pixels: conv_direct, and conv_pixels where there are few output
// channels.

#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/pixel_kernel.h"
#include "korch/codegen/linear/row_kernel.h"

namespace korch {

using namespace linear;

namespace {

constexpr const char* kPixels = "conv_pixels";

// The axes that rows are counted over: pixels of all images (span 1), of one image (2), or of one image row
// (3).
std::vector<int> row_axes(const LinearWorkload& workload, int span) {
  const int rank = static_cast<int>(type_of(workload, workload.value).shape.size());
  std::vector<int> axes;
  if (span == 1) axes.push_back(0);
  for (int axis = span == 3 ? rank - 1 : 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Coords conv_coords(const LinearWorkload& workload, int span, const Index& image, const Index& channel,
                   const Index& y, const Index& x) {
  const Shape& shape = type_of(workload, workload.value).shape;
  Coords coords(shape.size(), Index(0));
  coords[1] = channel;
  if (span > 1) coords[0] = image;
  if (span > 2 && shape.size() == 4) coords[2] = y;
  coords[merged_axis(shape, row_axes(workload, span))] = x;
  return coords;
}

Result<LinearWorkload> conv_workload(const Graph& graph, const Candidate& candidate, const Device& target) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  const LinearWorkload& p = workload.value();
  if (!p.conv || graph.node(p.node).op != Op::Conv)
    return Refusal{RefusalReason::no_kernel_family, "not a convolution of one or two axes"};
  if (!p.weight_constant)
    return Refusal{RefusalReason::no_kernel_family, "convolution weights are not constant"};
  if (!linear::has_register_tiles(p, target))
    return Refusal{RefusalReason::unsupported_type,
                   "convolution of types that this target has no register tiles for"};
  return workload;
}

// Rows of a pointwise convolution span as much as can be walked as one.
int row_span(const LinearWorkload& p, const Implementation& implementation) {
  const ConvShape& s = *p.conv;
  if (implementation.family == kPixels) return 3;
  if (!s.pointwise() || s.stride_h != 1 || s.stride_w != 1) return 3;
  for (int span : {1, 2}) {
    const std::vector<int> axes = row_axes(p, span);
    if (epilogue_merges(p, implementation, axes) && operand_merges(p, implementation, p.data, axes))
      return span;
  }
  return 3;
}

DataPath data_path(const LinearWorkload& p, const Implementation& implementation, int64_t step_multiple) {
  const ConvShape& s = *p.conv;
  const bool along_channels = contiguous_axis(p, implementation, p.data) == 1,
             fused = p.data_fused || s.padded();
  const int64_t together = terms_together(p) * step_multiple;
  if (together > 1)
    return fused || !along_channels || (s.in_channels / s.group) % together != 0 ? DataPath::panel_channels
                                                                                 : DataPath::direct;
  if (fused) return along_channels ? DataPath::panel_channels : DataPath::panel_pixels;
  return DataPath::direct;
}

}  // namespace

RowKernel linear::conv_rows(const LinearWorkload& p, const Implementation& implementation,
                            const Device& target) {
  const ConvShape& s = *p.conv;
  RowKernel k;
  k.workload = &p;
  k.implementation = &implementation;
  k.target = &target;
  k.groups = s.group;
  k.columns = s.out_channels / s.group;
  k.depth = s.in_channels / s.group;
  k.taps_h = s.kernel_h;
  k.taps_w = s.kernel_w;
  const int span = row_span(p, implementation);
  k.images = span == 1 ? 1 : s.images;
  k.height = span == 3 ? s.out_height : 1;
  k.width = span == 3 ? s.out_width : s.out_height * s.out_width * (span == 1 ? s.images : 1);
  k.in_height = span == 3 ? s.in_height : 1;
  k.in_width = span == 3 ? s.in_width : k.width;
  if (span == 3) {
    k.stride_h = s.stride_h;
    k.stride_w = s.stride_w;
    k.dilation_h = s.dilation_h;
    k.dilation_w = s.dilation_w;
    k.pad_top = s.pad_top;
    k.pad_left = s.pad_left;
  }
  k.result_coords = [&p, span](const Index& image, const Index& y, const Index& x, const Index& column) {
    return conv_coords(p, span, image, column, y, x);
  };
  k.data_coords = k.result_coords;
  k.weight_packing = {terms_together(p) > 1 ? "column_groups" : "columns", {0, s.group}};
  k.weight_coords = [&p, k](const Index& group, const Index& term, const Index& column) {
    Coords coords = {group * k.columns + column, tile::floor_mod(term, k.depth)};
    const Index tap = tile::floor_div(term, k.depth);
    if (type_of(p, p.weight).shape.size() == 4) coords.push_back(tile::floor_div(tap, k.taps_w));
    coords.push_back(tile::floor_mod(tap, k.taps_w));
    return coords;
  };
  return k;
}

namespace {

// Whose channels lie one after the other: in a row of the window, in the input or a panel.
int64_t taps_together(const ConvShape& s) {
  return s.group == 1 && s.dilation_w == 1 ? s.kernel_w : 1;
}

SlicingRequest slicing_request(const RowKernel& k, const RowSchedule& schedule) {
  const LinearWorkload& p = *k.workload;
  SlicingRequest request;
  request.images = k.images * k.groups;
  request.height = k.height;
  request.tiles = k.tiling.tiles();
  request.column_blocks = k.blocks.total();
  request.flops = p.flops;
  request.panel_row_bytes = operand_bytes(p, k.stride_h * k.width * k.stride_w * k.depth);
  request.panel_halo_rows = static_cast<double>((k.taps_h - 1) * k.dilation_h + 1 - k.stride_h) / k.stride_h;
  request.weight_bytes = operand_bytes(p, k.taps_h * k.taps_w * k.depth * k.columns);
  request.bytes = k.implementation->bytes;
  request.row_blocks = schedule.row_blocks;
  return request;
}

RowKernel describe(const LinearWorkload& p, const Implementation& implementation, const Device& target) {
  RowKernel k = conv_rows(p, implementation, target);
  const auto& schedule = std::get<RowSchedule>(implementation.schedule);
  const TileShape tile = schedule.tile;
  k.step_multiple = step_multiple(p, tile, target, k.depth, taps_together(*p.conv));
  k.matrix_tiles = in_matrix_tiles(p, target, k.depth, taps_together(*p.conv));
  k.path = data_path(p, implementation, k.step_multiple);
  k.transposed_store = stores_rows(p, implementation);
  k.blocks = split_columns(k.columns, tile.vectors, target.lanes());
  k.weight_packing.params.insert(k.weight_packing.params.end(),
                                 {tile.vectors * target.lanes(), k.blocks.tail_lanes()});
  if (k.step_multiple > 1) k.weight_packing.params.push_back(k.step_multiple * k.step_channels());
  k.tiling = split_rows(k.width, tile.rows);
  k.slicing = choose_slicing(slicing_request(k, schedule), target);
  return k;
}

// Best first.
std::vector<TileShape> tiles(const LinearWorkload& p, const Implementation& implementation,
                             const Device& target) {
  const ConvShape& s = *p.conv;
  const int span = row_span(p, implementation);
  const int64_t width = span == 3 ? s.out_width : s.out_width * s.out_height * (span == 1 ? s.images : 1);
  const int64_t steps = s.kernel_h * s.kernel_w * ceil_div(s.in_channels / s.group, terms_together(p)),
                columns = s.out_channels / s.group;
  if (in_matrix_tiles(p, target, s.in_channels / s.group, taps_together(s)))
    return rank_matrix_tiles(width, columns);
  return rank_tiles(width, columns, steps, rows_conflict(operand_bytes(p, s.stride_w * s.in_channels)),
                    target);
}

void add_variant(const LinearWorkload& p, const Device& target, Order data, Order result,
                 std::vector<Implementation>& found) {
  Implementation implementation = with_layouts(p, "conv_direct", data, result);
  implementation.schedule = RowSchedule{tiles(p, implementation, target).front()};
  implementation.flops_at_once =
      flops_at_once(p, target, p.conv->in_channels / p.conv->group, taps_together(*p.conv));
  add_once(implementation, found);
}

}  // namespace

void list_conv_direct(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                      std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = conv_workload(graph, candidate, target);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const LinearWorkload& p = workload.value();
  if (p.conv->in_channels / p.conv->group < 2 && p.conv->group > 1) {
    refused.push_back({RefusalReason::no_kernel_family, "depthwise convolution in conv_direct"});
    return;
  }
  // A depthwise window in the prologue is computed in vectors along channels; along pixels, with padding
  // asked for in every lane, it takes ten times as long. Terms that go together are of channels.
  std::vector<Order> data_orders = {Order::channels_last};
  if (p.window == kNoId && terms_together(p) == 1) data_orders.push_back(Order::row_major);
  for (Order data : data_orders)
    for (Order result : {Order::channels_last, Order::row_major}) add_variant(p, target, data, result, found);
  if (p.window != kNoId || terms_together(p) > 1 || p.conv->group != 1 || p.conv->stride_w != 1 ||
      p.conv->out_channels > most_pixel_columns(target.vector_registers))
    return;
  for (Order data : {Order::channels_last, Order::row_major}) {
    Implementation implementation = with_layouts(p, kPixels, data, Order::row_major);
    implementation.schedule = RowSchedule{};
    add_once(implementation, found);
  }
}

void reschedule_conv_direct(const Graph& graph, const Candidate& candidate,
                            const Implementation& implementation, const Device& target,
                            std::vector<Schedule>& found) {
  const Result<LinearWorkload> workload = conv_workload(graph, candidate, target);
  if (!workload.ok() || implementation.family == kPixels) return;
  const auto request_of = [&](const RowSchedule& schedule) {
    Implementation other = implementation;
    other.schedule = schedule;
    return slicing_request(describe(workload.value(), other, target), schedule);
  };
  other_row_schedules(std::get<RowSchedule>(implementation.schedule),
                      tiles(workload.value(), implementation, target), request_of, target, found);
}

Result<tile::ScheduledGraph> build_conv_direct(const Graph& graph, const Candidate& candidate,
                                               const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = conv_workload(graph, candidate, target);
  if (!workload.ok()) return workload.refusal();
  const RowKernel kernel = describe(workload.value(), implementation, target);
  return implementation.family == kPixels ? build_pixel_kernel(kernel) : build_row_kernel(kernel);
}

}  // namespace korch
