// One of Winograd's three primitives alone, between which tensors of all transformed tiles lie in memory:
// what several convolutions of one input can share. Rows of channels, as in conv_winograd.
#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/slice_axis.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/linear/winograd_nests.h"
#include "korch/ir/winograd.h"

namespace korch {

using namespace linear;

namespace {

constexpr int64_t kTilesPerSlice = 8;     // of a transform
constexpr int64_t kRowTilesPerSlice = 6;  // of the product: they share the weights of an element

Result<LinearWorkload> part_workload(const Graph& graph, const Candidate& candidate) {
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  const Node& node = graph.node(candidate.nodes.front());
  if (candidate.nodes.size() != 1 || !std::holds_alternative<WinogradAttrs>(node.attrs))
    return refuse("not one of Winograd's primitives");
  const auto& attrs = std::get<WinogradAttrs>(node.attrs);
  LinearWorkload p;
  p.graph = &graph;
  p.candidate = &candidate;
  p.node = candidate.nodes.front();
  p.value = node.outputs[0];
  p.data = node.inputs[0];
  p.weight = node.inputs.back();
  p.winograd_tile = attrs.tile;
  if (!is_float32(p))
    return Refusal{RefusalReason::unsupported_type, "Winograd of a type other than float32"};
  const Shape &in = type_of(p, p.data).shape, &out = type_of(p, p.value).shape;
  if (element_count(in) == 0 || element_count(out) == 0) return refuse("empty tensor");
  ConvShape s;
  if (node.op == Op::WinogradInput) {
    const Shape result = winograd_result(attrs, in);
    s.images = in[0], s.in_channels = in[1], s.in_height = in[2], s.in_width = in[3];
    s.out_height = result[2], s.out_width = result[3];
    s.pad_top = attrs.pads_before[0], s.pad_left = attrs.pads_before[1];
  } else if (node.op == Op::WinogradOutput) {
    s.images = out[0], s.out_channels = out[1], s.out_height = out[2], s.out_width = out[3];
  } else {
    if (graph.constant(p.weight) == nullptr) return refuse("convolution weights are not constant");
    s.in_channels = in[2] * channel_parts(attrs), s.out_channels = out[2] * channel_parts(attrs);
    p.flops = p.inner_flops = 2.0 * static_cast<double>(element_count(out)) * static_cast<double>(in[2]);
  }
  s.kernel_h = s.kernel_w = attrs.taps;
  p.conv = s;
  return p;
}

class PartBuilder {
 public:
  PartBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target)
      : p_(workload),
        attrs_(std::get<WinogradAttrs>(workload.graph->node(workload.node).attrs)),
        implementation_(implementation),
        channels_(workload.conv->in_channels / channel_parts(attrs_)),
        columns_(workload.conv->out_channels / channel_parts(attrs_)),
        lanes_(target.lanes()),
        builder_(workload, implementation, target) {}

  tile::ScheduledGraph build() {
    if (p_.graph->node(p_.node).op == Op::WinogradProduct)
      product();
    else
      transform();
    return builder_.finish();
  }

 private:
  bool is_input() const { return p_.graph->node(p_.node).op == Op::WinogradInput; }
  void transform();
  void product();
  void row_tiles(const SliceAxis& tiles, const RowZone& rows, const SliceAxis& block,
                 const ColumnBlocks& blocks, const ColumnZone& columns,
                 std::vector<tile::ScheduledNest>& nests);

  const LinearWorkload& p_;
  const WinogradAttrs attrs_;
  const Implementation& implementation_;
  const int64_t channels_, columns_;  // of a product
  const int lanes_;
  KernelBuilder builder_;
  int tile_ = -1;  // scratch of a product
};

void PartBuilder::transform() {
  const ConvShape& s = *p_.conv;
  const int64_t count = WinogradTiles(attrs_, Shape{s.images, 0, s.out_height, s.out_width}).count();
  const int64_t channels = is_input() ? channels_ : columns_;
  const SliceAxis tile("tile", count, kTilesPerSlice),
      vectors("cv", ceil_div(channels, lanes_), ceil_div(channels, lanes_));
  WinogradNests transforms(builder_, p_, attrs_, lanes_);
  const TransformedTile transformed{builder_.buffer_of(is_input() ? p_.value : p_.data),
                                    [&](const Index& element, const Index& channel) {
                                      return (element * count + tile.at()) * channels + channel;
                                    }};
  tile::ScheduledPhase phase;
  tile.deal_out(phase);
  for_channel_vectors(channels, lanes_, [&](int64_t low, int64_t high, int64_t valid, int width) {
    std::vector<tile::OuterLoop> around;
    tile.loop(around);
    vectors.loop(around, low, high);
    const ChannelVector vector{vectors.at(low, high) * lanes_, valid, width};
    if (is_input())
      transforms.transform_data(tile.at(), vector, transformed, around, phase.nests);
    else
      transforms.transform_result(tile.at(), vector, transformed, around, phase.nests);
  });
  builder_.add_phase(std::move(phase));
}

// Of one element of the tiles.
void PartBuilder::row_tiles(const SliceAxis& tiles, const RowZone& rows, const SliceAxis& block,
                            const ColumnBlocks& blocks, const ColumnZone& columns,
                            std::vector<tile::ScheduledNest>& nests) {
  const int64_t elements = tile_elements(attrs_), count = type_of(p_, p_.data).shape[1];
  const int64_t lanes = total_lanes(columns.lanes),
                pitch = std::max(blocks.block_lanes(), blocks.tail_lanes());
  const Index e = Index::variable("e", elements), r = Index::variable("r", rows.rows),
              c = Index::variable("c", lanes), k = Index::variable("k", channels_),
              column = block.at(columns.low, columns.high) * blocks.block_lanes(),
              row = rows.first_row(tiles.at(rows.low, rows.high)) + r;
  std::vector<tile::OuterLoop> around;
  block.loop(around, columns.low, columns.high);
  tiles.loop(around, rows.low, rows.high);
  nests.push_back(
      builder_.product_nest(around, {{"r", rows.rows}, {"c", lanes}}, {{"k", channels_}},
                            builder_.load(builder_.buffer_of(p_.data), (e * count + row) * channels_ + k),
                            builder_.load(builder_.buffer_of(p_.weight),
                                          column * (elements * channels_) + (e * channels_ + k) * lanes + c),
                            tile_, r * pitch + c));
  tile::ScheduledNest copy;
  copy.around = std::move(around);
  const Index valid = Index::variable("c", columns.valid);
  copy.loops = {{"r", rows.rows}, {"c", columns.valid}};
  copy.stores = {{builder_.buffer_of(p_.value), (e * count + row) * columns_ + column + valid,
                  builder_.load(tile_, r * pitch + valid)}};
  nests.push_back(std::move(copy));
}

void PartBuilder::product() {
  const int64_t elements = tile_elements(attrs_);
  const TileShape shape = *std::get<WinogradSchedule>(implementation_.schedule).product;
  const ColumnBlocks blocks = split_columns(columns_, shape.vectors, lanes_);
  const RowTiling tiling = split_rows(type_of(p_, p_.data).shape[1], shape.rows);
  builder_.pack(p_.weight, {"winograd", {attrs_.tile, int64_t{shape.vectors} * lanes_, blocks.tail_lanes()}},
                elements * channels_ * blocks.lanes_in_all());
  tile_ = builder_.add_scratch(tiling.rows * std::max(blocks.block_lanes(), blocks.tail_lanes()));
  const SliceAxis tiles("t", tiling.tiles(), kRowTilesPerSlice),
      block("block", blocks.total(), blocks.total());
  tile::ScheduledPhase phase;
  tiles.deal_out(phase);
  if (elements > 1) phase.grid.push_back({{"e", elements}, 1});
  for (const ColumnZone& columns : column_zones(blocks))
    for (const RowZone& rows : row_zones(tiling)) row_tiles(tiles, rows, block, blocks, columns, phase.nests);
  builder_.add_phase(std::move(phase));
}

}  // namespace

void list_winograd_part(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                        std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = part_workload(graph, candidate);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const LinearWorkload& p = workload.value();
  Implementation implementation =
      with_layouts(p, "winograd_part", Order::channels_last, Order::channels_last);
  // Transformed tiles have no other order.
  const Op op = graph.node(p.node).op;
  if (op != Op::WinogradInput) implementation.input_layouts = {Layout::row_major()};
  if (op != Op::WinogradOutput) implementation.output_layouts = {Layout::row_major()};
  WinogradSchedule schedule{p.winograd_tile, {}};
  if (op == Op::WinogradProduct) {
    const Shape &data = type_of(p, p.data).shape, &weights = type_of(p, p.weight).shape;
    const int64_t parts = channel_parts(std::get<WinogradAttrs>(graph.node(p.node).attrs));
    const auto shape =
        rank_tiles(data[1], weights[0] / parts, data[2], rows_conflict(bytes_of(p, data[2])), target)[0];
    schedule.product = shape;
    // The transformed weights are what is read.
    implementation.bytes += bytes_of(p, data[0] * data[2] * (weights[0] / parts) - element_count(weights));
  }
  implementation.schedule = schedule;
  found.push_back(implementation);
}

Result<tile::ScheduledGraph> build_winograd_part(const Graph& graph, const Candidate& candidate,
                                                 const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = part_workload(graph, candidate);
  if (!workload.ok()) return workload.refusal();
  return PartBuilder(workload.value(), implementation, target).build();
}

}  // namespace korch
