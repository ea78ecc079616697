// One of Winograd's three primitives alone, between which tensors of all transformed tiles lie in memory:
// what several convolutions of one input can share. Rows of channels, as in conv_winograd.
#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/linear/winograd_text.h"
#include "korch/ir/winograd.h"

namespace korch {

using namespace linear;

namespace {

constexpr int64_t kTilesPerSlice = 8;     // of a transform
constexpr int64_t kRowTilesPerSlice = 6;  // of the product: they share the weights of an element

Result<Problem> part_problem(const Graph& graph, const Candidate& candidate) {
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  const Node& node = graph.node(candidate.nodes.front());
  if (candidate.nodes.size() != 1 || !std::holds_alternative<WinogradAttrs>(node.attrs))
    return refuse("not one of Winograd's primitives");
  const auto& attrs = std::get<WinogradAttrs>(node.attrs);
  Problem p;
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

class Writer {
 public:
  Writer(const Problem& problem, const Implementation& implementation, const Target& target)
      : p_(problem),
        s_(*problem.conv),
        attrs_(std::get<WinogradAttrs>(problem.graph->node(problem.node).attrs)),
        implementation_(implementation),
        target_(target),
        alpha_(elements_per_row(attrs_)),
        channels_(s_.in_channels / channel_parts(attrs_)),
        columns_(s_.out_channels / channel_parts(attrs_)),
        lanes_(target.vector_lanes()),
        emitter_(*problem.graph, *problem.candidate, implementation, target) {}

  Kernel write() {
    Kernel kernel;
    kernel.constant_packing = emitter_.constant_packing();
    const Op op = p_.graph->node(p_.node).op;
    const std::string body = op == Op::WinogradProduct ? product(kernel) : transform(op, kernel);
    kernel.source = emitter_.preamble({4, lanes_}) + source_prelude() + body;
    kernel.flops = implementation_.flops;
    kernel.bytes = implementation_.bytes;
    return kernel;
  }

 private:
  // A vector of channels: `code` is repeated for full ones, then comes what is left.
  template <typename PerVector>
  std::string for_channels(int64_t channels, PerVector code) const {
    const int64_t vectors = channels / lanes_, rest = channels % lanes_;
    std::string text;
    if (vectors > 0)
      text += fmt::format(
          "for(int64_t cv=0;cv<{};++cv){{\n{}}}\n", vectors,
          code(lanes_, lanes_, Index::variable("cv", vectors) * lanes_ + Index::variable("l", lanes_)));
    if (rest > 0) {
      const int width = split_lanes(rest, lanes_).back();
      text += fmt::format("{{\n{}}}\n", code(width, rest, Index::variable("l", width) + vectors * lanes_));
    }
    return text;
  }

  // Where row i, column j of a tile lies among all transformed ones.
  Coords place(int i, const Index& channel) const {
    return {Index::variable("j", alpha_) + int64_t{i} * alpha_, Index::variable("tile", tiles().count()),
            channel};
  }
  WinogradTiles tiles() const { return {attrs_, Shape{s_.images, 0, s_.out_height, s_.out_width}}; }

  std::string transform(Op op, Kernel& kernel) {
    const WinogradTiles all = tiles();
    const WinogradText text{p_, emitter_, static_cast<int>(attrs_.tile), alpha_, all.down, all.across};
    const auto input = [&](int width, int64_t valid, const Index& channel) {
      return text.data_vectors(width, valid, channel, "", [&](int i) {
        tile::Block block = tile::vector_block("l", width, valid);
        emitter_.emit_store(p_.value, place(i, channel), fmt::format("e{}", i), block);
        return block.code;
      });
    };
    const auto output = [&](int width, int64_t valid, const Index& channel) {
      return text.result_vectors(implementation_, target_, width, valid, channel, "", [&](int i) {
        tile::Block block = tile::vector_block("l", width, valid);
        const std::string loaded = emitter_.emit(p_.data, place(i, channel), block);
        return block.code + fmt::format("const v{} r{}={};", width, i, loaded);
      });
    };
    const std::string body =
        op == Op::WinogradInput ? for_channels(channels_, input) : for_channels(columns_, output);
    kernel.phases.push_back({"korch_winograd_transform", ceil_div(all.count(), kTilesPerSlice), 1});
    return fmt::format(
        "extern \"C\" int32_t korch_winograd_transform(const korch_kernel_context*context,int64_t "
        "begin,int64_t "
        "end){{\n{}for(int64_t t=begin*{};t<end*{}&&t<{};++t){{\n{}{}}}\n{}return 0;}}\n",
        emitter_.argument_declarations(), kTilesPerSlice, kTilesPerSlice, all.count(), text.decode_tile("t"),
        body, op == Op::WinogradOutput ? fence_text(p_, target_) : "");
  }

  std::string product(Kernel& kernel) {
    const int64_t elements = tile_elements(attrs_), count = type_of(p_, p_.data).shape[1];
    const TileShape tile = *std::get<WinogradSchedule>(implementation_.schedule).product;
    const ColumnBlocks blocks = split_columns(columns_, tile.vectors, lanes_);
    const RowTiling tiling = split_rows(count, tile.rows);
    const int64_t pitch = std::max(blocks.block_lanes(), blocks.tail_lanes());
    std::string functions, calls;
    for (const bool tail : {false, true}) {
      if (tail ? blocks.tail.empty() : blocks.blocks == 0) continue;
      const std::vector<int>& lanes = tail ? blocks.tail : blocks.lanes;
      const int64_t columns = tail ? blocks.tail_columns : blocks.block_lanes();
      std::string rows_text;
      for (const auto& [rows, number, first] :
           {std::tuple{tiling.rows, tiling.long_tiles, int64_t{0}},
            std::tuple{tiling.rows - 1, tiling.short_tiles, tiling.long_tiles}}) {
        if (number == 0) continue;
        MicroKernel m;
        m.rows = rows;
        m.lanes = lanes;
        m.tile_pitch = pitch;
        m.row_stride = channels_;
        m.loops = {{channels_, 1, total_lanes(lanes)}};
        const std::string name = fmt::format("multiply{}{}", rows, tail ? "t" : "");
        functions += emit_micro_kernel(name, m);
        rows_text += fmt::format(
            "if(t>={0}&&t<{0}+{1}){{const int64_t first=e*{2}+{3}+(t-{0})*{4};\n"
            "{5}({6}+first*{7},u,tile,u);\n"
            "for(int64_t r=0;r<{4};++r)__builtin_memcpy(out0+(first+r)*{8}+column,tile+r*{9},{10});}}\n",
            first, number, count, first * tiling.rows, rows, name, argument_name(p_, p_.data), channels_,
            columns_, pitch, columns * 4);
      }
      const int64_t full = blocks.block_lanes();  // columns of a block; 0 where there is none but the tail
      calls += fmt::format(
          "for(int64_t block={0};block<{1};++block){{const int64_t column=block*{2};\n"
          "const float*u=weights+column*{3}+e*{4};\nfor(int64_t t=t0;t<t1;++t){{\n{5}}}}}\n",
          tail ? blocks.blocks : 0, tail ? blocks.blocks + 1 : blocks.blocks, full, elements * channels_,
          channels_ * total_lanes(lanes), rows_text);
    }
    const int64_t groups = ceil_div(tiling.tiles(), kRowTilesPerSlice);
    kernel.phases.push_back({"korch_winograd_product", elements * groups, 1});
    kernel.scratch_bytes = tiling.rows * pitch * 4;
    kernel.constant_packing[0] = {"winograd",
                                  {attrs_.tile, int64_t{tile.vectors} * lanes_, blocks.tail_lanes()}};
    return functions +
           fmt::format(
               "extern \"C\" int32_t korch_winograd_product(const korch_kernel_context*context,int64_t "
               "begin,int64_t end){{\n{}const float*weights={};float*tile=(float*)context->scratch;\n"
               "for(int64_t s=begin;s<end;++s){{const int64_t e=s%{},t0=s/{}*{},t1=t0+{}<{}?t0+{}:{};\n{}}}\n"
               "return 0;}}\n",
               emitter_.argument_declarations(), argument_name(p_, p_.weight), elements, elements,
               kRowTilesPerSlice, kRowTilesPerSlice, tiling.tiles(), kRowTilesPerSlice, tiling.tiles(),
               calls);
  }

  const Problem& p_;
  const ConvShape& s_;
  const WinogradAttrs attrs_;
  const Implementation& implementation_;
  const Target& target_;
  const int alpha_;
  const int64_t channels_, columns_;  // of a product
  const int lanes_;
  tile::ValueEmitter emitter_;
};

}  // namespace

void list_winograd_part(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy,
                        std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Problem> problem = part_problem(graph, candidate);
  if (!problem.ok()) {
    refused.push_back(problem.refusal());
    return;
  }
  const Problem& p = problem.value();
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
        rank_tiles(data[1], weights[0] / parts, data[2], rows_conflict(data[2] * 4), target)[0];
    schedule.product = shape;
    // The transformed weights are what is read.
    implementation.bytes +=
        4.0 * static_cast<double>(data[0] * data[2] * (weights[0] / parts) - element_count(weights));
  }
  implementation.schedule = schedule;
  found.push_back(implementation);
}

Result<Kernel> generate_winograd_part(const Graph& graph, const Candidate& candidate,
                                      const Implementation& implementation, const Target& target) {
  const Result<Problem> problem = part_problem(graph, candidate);
  if (!problem.ok()) return problem.refusal();
  return Writer(problem.value(), implementation, target).write();
}

}  // namespace korch
