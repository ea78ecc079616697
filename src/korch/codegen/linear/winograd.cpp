// Winograd convolution, and with one tap Strassen's product: conv_winograd. Blocks of tiles go through data
// transform, one small matrix product per transformed element, result transform and epilogue. With enough
// tiles a worker takes a block through all of it in its own scratch; with few tiles, or too many channels for
// scratch in L2, a first phase transforms the data for all.
#include "korch/ir/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/linear/winograd_text.h"
#include "korch/codegen/loop/emitter.h"

namespace korch {

using namespace linear;

namespace {

constexpr int64_t kMostTilesPerBlock = 56;
constexpr int64_t kFewestTilesPerBlock = 12;  // fewer do not pay for streaming the weights from L3
constexpr int64_t kSlicesPerWorker = 8;
constexpr double kHeavyWeights =
    0.125;  // share of L3 above which weights are streamed once for as many tiles as possible

Result<Problem> winograd_problem(const Graph& graph, const Candidate& candidate) {
  Result<Problem> problem = analyze(graph, candidate);
  if (!problem.ok()) return problem;
  const Problem& p = problem.value();
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  if (p.winograd_tile == 0) return refuse("not a convolution by Winograd's primitives");
  if (!p.weight_constant) return refuse("convolution weights are not constant");
  if (!is_float32(p))
    return Refusal{RefusalReason::unsupported_type, "convolution of a type other than float32"};
  return problem;
}

WinogradAttrs attrs_of(const Problem& p) {
  WinogradAttrs attrs;
  attrs.tile = p.winograd_tile;
  attrs.taps = p.conv->kernel_h;
  return attrs;
}

// What both listing and generation derive from the schedule.
struct WinogradPlan {
  int m, alpha, elements;     // as in WinogradText; all of a tile
  int64_t channels, columns;  // of a product
  int64_t tiles_h, tiles_w, tiles;
  int vectors;  // of a column block
  ColumnBlocks blocks;
  int64_t tiles_per_block, tile_blocks;
  bool two_phases;
  bool streams_weights;  // from beyond L2
  RowTiling tiling;
  int64_t channel_pitch, data_plane,
      result_plane;  // elements between tiles, and between transformed elements
  int64_t blocks_per_group;
};

WinogradPlan make_plan(const Problem& p, const Implementation& implementation, const Target& target) {
  const ConvShape& s = *p.conv;
  WinogradPlan w;
  const WinogradAttrs attrs = attrs_of(p);
  w.m = static_cast<int>(attrs.tile);
  w.alpha = elements_per_row(attrs);
  w.elements = static_cast<int>(tile_elements(attrs));
  w.channels = s.in_channels / channel_parts(attrs);
  w.columns = s.out_channels / channel_parts(attrs);
  const WinogradTiles tiles(attrs, {s.images, 0, s.out_height, s.out_width});
  w.tiles_h = tiles.down;
  w.tiles_w = tiles.across;
  w.tiles = tiles.count();
  const TileShape tile = *std::get<WinogradSchedule>(implementation.schedule).product;
  w.vectors = tile.vectors;
  w.blocks = split_columns(w.columns, tile.vectors, target.vector_lanes());
  const int64_t lanes = target.vector_lanes();
  w.channel_pitch = ceil_div(w.channels, lanes) * lanes;
  if (rows_conflict(w.channel_pitch * 4)) w.channel_pitch += lanes;
  const int64_t fitting = target.l2_bytes / 2 / (w.elements * w.channel_pitch * 4);
  const double weight_bytes = 4.0 * w.elements * w.channels * w.columns;
  w.streams_weights = weight_bytes > target.l3_bytes * kHeavyWeights;
  w.two_phases = fitting < kFewestTilesPerBlock || w.tiles < target.threads * 2 * kFewestTilesPerBlock ||
                 w.streams_weights;
  const int64_t most = w.two_phases ? kMostTilesPerBlock : std::min(fitting, kMostTilesPerBlock);
  w.tile_blocks = ceil_div(w.tiles, most);
  if (!w.two_phases) w.tile_blocks = ceil_div(w.tile_blocks, target.threads) * target.threads;
  w.tiles_per_block = ceil_div(w.tiles, w.tile_blocks);
  w.tile_blocks = ceil_div(w.tiles, w.tiles_per_block);
  w.tiling = split_rows(w.tiles_per_block, tile.rows);
  // One line more than a whole number of pages would be: the planes of one tile then lie in different sets.
  w.data_plane = w.tiles_per_block * w.channel_pitch + 16;
  w.result_plane = w.tiles_per_block * std::max(w.blocks.block_lanes(), w.blocks.tail_lanes()) + 16;
  const int64_t groups = w.two_phases ? ceil_div(target.threads * kSlicesPerWorker, w.tile_blocks) : 1;
  w.blocks_per_group = ceil_div(w.blocks.total(), std::min(groups, w.blocks.total()));
  return w;
}

class Writer {
 public:
  Writer(const Problem& problem, const Implementation& implementation, const Target& target)
      : p_(problem),
        s_(*problem.conv),
        implementation_(implementation),
        target_(target),
        w_(make_plan(problem, implementation, target)),
        emitter_(*problem.graph, *problem.candidate, implementation, target) {}
  Result<Kernel> write();

 private:
  int64_t block_pitch() const { return std::max(w_.blocks.block_lanes(), w_.blocks.tail_lanes()); }
  int64_t data_elements() const { return w_.elements * w_.data_plane; }
  int64_t channel_vectors() const { return ceil_div(w_.channels, target_.vector_lanes()); }
  int64_t data_vectors_per_group() const {
    return ceil_div(channel_vectors(), std::min(kSlicesPerWorker, channel_vectors()));
  }
  int64_t data_groups() const { return ceil_div(channel_vectors(), data_vectors_per_group()); }
  WinogradText transforms();
  std::string data_vectors(int width, int64_t valid, const std::string& channel_text, const Index& channel);
  std::string data_function();
  MicroKernel micro_kernel(int rows, bool tail) const;
  std::string result_vectors(const Index& column, int width, int64_t valid, const std::string& at);
  std::string result_function(bool tail);
  std::string products(bool tail) const;
  std::string data_phase() const;
  std::string main_phase() const;

  const Problem& p_;
  const ConvShape& s_;
  const Implementation& implementation_;
  const Target& target_;
  const WinogradPlan w_;
  tile::ValueEmitter emitter_;
};

WinogradText Writer::transforms() {
  return {p_, emitter_, w_.m, w_.alpha, w_.tiles_h, w_.tiles_w};
}

// Transforms `width` channels of one tile to the block's scratch.
std::string Writer::data_vectors(int width, int64_t valid, const std::string& channel_text,
                                 const Index& channel) {
  const std::string to =
      fmt::format("float*to=data+j*{}+t*{}+{};\n", w_.data_plane, w_.channel_pitch, channel_text);
  return transforms().data_vectors(width, valid, channel, to, [&](int i) {
    return fmt::format("*(v{}u*)(to+{})=e{};", width, i * w_.alpha * w_.data_plane, i);
  });
}

std::string Writer::data_function() {
  std::string text =
      "static __attribute__((noinline)) int32_t transform_data(const "
      "korch_kernel_context*context,float*data,int64_t first,"
      "int64_t count,int64_t cv0,int64_t cv1){\n" +
      emitter_.argument_declarations() + "for(int64_t t=0;t<count;++t){\n" +
      transforms().decode_tile("first+t");
  const int lanes = target_.vector_lanes();
  const int64_t vectors = w_.channels / lanes, rest = w_.channels % lanes;
  if (vectors > 0)
    text += fmt::format("for(int64_t cv=cv0;cv<(cv1<{0}?cv1:{0});++cv){{\n{1}}}\n", vectors,
                        data_vectors(lanes, lanes, fmt::format("cv*{}", lanes),
                                     Index::variable("cv", vectors) * lanes + Index::variable("l", lanes)));
  if (rest > 0)
    text +=
        fmt::format("if(cv1>{}){{\n{}}}\n", vectors,
                    data_vectors(split_lanes(rest, lanes).back(), rest, std::to_string(vectors * lanes),
                                 Index::variable("l", split_lanes(rest, lanes).back()) + vectors * lanes));
  return text + "}\nreturn 0;}\n";
}

MicroKernel Writer::micro_kernel(int rows, bool tail) const {
  MicroKernel m;
  m.rows = rows;
  m.lanes = tail ? w_.blocks.tail : w_.blocks.lanes;
  m.tile_pitch = block_pitch();
  m.row_stride = w_.channel_pitch;
  m.loops = {{w_.channels, 1, total_lanes(m.lanes)}};
  m.tiles_per_next_columns = w_.tiling.tiles();
  return m;
}

// Transforms, finishes and stores `width` output channels of one tile of the block's scratch.
std::string Writer::result_vectors(const Index& column, int width, int64_t valid, const std::string& at) {
  const std::string from =
      fmt::format("const float*from=result+t*{}+{}+j*{};\n", block_pitch(), at, w_.result_plane);
  return transforms().result_vectors(implementation_, target_, width, valid, column, from, [&](int i) {
    return fmt::format("const v{0} r{1}=*(const v{0}u*)(from+{2});", width, i,
                       i * w_.alpha * w_.result_plane);
  });
}

std::string Writer::result_function(bool tail) {
  std::string text = fmt::format(
      "static __attribute__((noinline)) int32_t transform_result{}(const korch_kernel_context*context,const "
      "float*result,"
      "int64_t first,int64_t count,int64_t block){{\n(void)block;{}for(int64_t t=0;t<count;++t){{\n{}",
      tail ? "t" : "", emitter_.argument_declarations(), transforms().decode_tile("first+t"));
  const int lanes = target_.vector_lanes();
  const int64_t base = w_.blocks.blocks * w_.blocks.block_lanes();
  if (!tail) {
    const int64_t vectors = static_cast<int64_t>(w_.blocks.lanes.size());
    const Index column = Index::variable("block", w_.blocks.blocks) * w_.blocks.block_lanes() +
                         Index::variable("v", vectors) * lanes + Index::variable("l", lanes);
    text += fmt::format("for(int64_t v=0;v<{};++v){{\n{}}}\n", vectors,
                        result_vectors(column, lanes, lanes, fmt::format("v*{}", lanes)));
    return text + "}\nreturn 0;}\n";
  }
  int64_t done = 0;
  for (int width : w_.blocks.tail) {
    const int64_t valid = std::min<int64_t>(width, w_.blocks.tail_columns - done);
    text += fmt::format("{{\n{}}}\n", result_vectors(Index::variable("l", width) + base + done, width, valid,
                                                     std::to_string(done)));
    done += width;
  }
  return text + "}\nreturn 0;}\n";
}

// All products of one column block and its result transform.
std::string Writer::products(bool tail) const {
  const std::string mark = tail ? "t" : "";
  const int64_t lanes = tail ? w_.blocks.tail_lanes() : w_.blocks.block_lanes();
  std::string text = fmt::format(
      "for(int64_t e=0;e<{};++e){{const float*from=data+e*{};const "
      "float*u=weights+{}*{}+e*{};float*to=result+e*{};\n",
      w_.elements, w_.data_plane, tail ? std::to_string(w_.blocks.blocks) : "block",
      w_.elements * w_.channels * w_.blocks.block_lanes(), w_.channels * lanes, w_.result_plane);
  auto rows = [&](int height, int64_t tiles, int64_t first) {
    if (tiles > 0)
      text += fmt::format(
          "for(int64_t "
          "r=0;r<{0};++r)multiply{1}{2}(from+({3}+r*{1})*{4},u,to+({3}+r*{1})*{5},u+{6}+({7}+r)*{8});\n",
          tiles, height, mark, first, w_.channel_pitch, block_pitch(), w_.channels * lanes,
          first == 0 ? 0 : w_.tiling.long_tiles, micro_kernel(height, tail).next_elements());
  };
  rows(w_.tiling.rows, w_.tiling.long_tiles, 0);
  rows(w_.tiling.rows - 1, w_.tiling.short_tiles, w_.tiling.long_tiles * w_.tiling.rows);
  return text + fmt::format(
                    "}}\n{{const int32_t "
                    "status=transform_result{}(context,result,first,count,{});if(status)return status;}}\n",
                    mark, tail ? "0" : "block");
}

// Slices over tile blocks and groups of channel vectors.
std::string Writer::data_phase() const {
  return fmt::format(
      "extern \"C\" int32_t korch_transform(const korch_kernel_context*context,int64_t begin,int64_t "
      "end){{\n{0}"
      "for(int64_t s=begin;s<end;++s){{const int64_t "
      "tb=s/{4},cg=s%{4},first=tb*{1},count=first+{1}<{2}?{1}:{2}-first;\n"
      "const int32_t "
      "status=transform_data(context,temp0+tb*{3},first,count,cg*{5},cg*{5}+{5});if(status)return "
      "status;}}\nreturn 0;}}\n",
      emitter_.argument_declarations(1), w_.tiles_per_block, w_.tiles, data_elements(), data_groups(),
      data_vectors_per_group());
}

std::string Writer::main_phase() const {
  std::string text = fmt::format(
      "extern \"C\" int32_t korch_winograd(const korch_kernel_context*context,int64_t begin,int64_t "
      "end){{\n{}"
      "const float*weights={};float*result=(float*)context->scratch;\n"
      "for(int64_t s=begin;s<end;++s){{const int64_t tb=s%{},cg=s/{};\n"
      "const int64_t first=tb*{},count=first+{}<{}?{}:{}-first;\n",
      emitter_.argument_declarations(w_.two_phases ? 1 : 0), argument_name(p_, p_.weight), w_.tile_blocks,
      w_.tile_blocks, w_.tiles_per_block, w_.tiles_per_block, w_.tiles, w_.tiles_per_block, w_.tiles);
  if (w_.two_phases)
    text += fmt::format("const float*data=temp0+tb*{};\n", data_elements());
  else
    text += fmt::format(
        "float*data=result+{};{{const int32_t "
        "status=transform_data(context,data,first,count,0,{});if(status)return status;}}\n",
        w_.elements * w_.result_plane, channel_vectors());
  text += fmt::format("const int64_t b0=cg*{0},b1=b0+{0};\n", w_.blocks_per_group);
  if (w_.blocks.blocks > 0)
    text += fmt::format("for(int64_t block=b0;block<(b1<{0}?b1:{0});++block){{\n{1}}}\n", w_.blocks.blocks,
                        products(false));
  if (!w_.blocks.tail.empty())
    text += fmt::format("if(b0<={0}&&{0}<b1){{\n{1}}}\n", w_.blocks.blocks, products(true));
  return text + fmt::format("}}\n{}return 0;}}\n", fence_text(p_, target_));
}

Result<Kernel> Writer::write() {
  emitter_.provide(p_.value, [](const std::vector<Index>&) { return std::string("acc"); });
  for (ValueId output : p_.candidate->outputs)
    if (const std::string obstacle = emitter_.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  std::string body = data_function();
  for (bool tail : {false, true}) {
    if (tail ? w_.blocks.tail.empty() : w_.blocks.blocks == 0) continue;
    for (const auto& [rows, tiles] : {std::pair{w_.tiling.rows, w_.tiling.long_tiles},
                                      std::pair{w_.tiling.rows - 1, w_.tiling.short_tiles}})
      if (tiles > 0)
        body +=
            emit_micro_kernel(fmt::format("multiply{}{}", rows, tail ? "t" : ""), micro_kernel(rows, tail));
    body += result_function(tail);
  }
  if (w_.two_phases) body += data_phase();
  body += main_phase();

  Kernel kernel;
  kernel.source = emitter_.preamble({4, target_.vector_lanes()}) + source_prelude() + body;
  if (w_.two_phases) {
    kernel.phases.push_back({"korch_transform", w_.tile_blocks * data_groups(), 1});
    kernel.temporary_bytes.push_back(w_.tile_blocks * data_elements() * 4);
  }
  kernel.phases.push_back(
      {"korch_winograd", w_.tile_blocks * ceil_div(w_.blocks.total(), w_.blocks_per_group), 1});
  kernel.constant_packing = emitter_.constant_packing();
  for (size_t i = 0; i < p_.candidate->constants.size(); ++i)
    if (p_.candidate->constants[i] == p_.weight)
      kernel.constant_packing[i] = {
          "winograd", {w_.m, int64_t{w_.vectors} * target_.vector_lanes(), w_.blocks.tail_lanes()}};
  kernel.scratch_bytes = (w_.elements * w_.result_plane + (w_.two_phases ? 0 : data_elements())) * 4;
  kernel.flops = implementation_.flops;
  kernel.bytes = implementation_.bytes;
  return kernel;
}

}  // namespace

void list_conv_winograd(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy,
                        std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Problem> problem = winograd_problem(graph, candidate);
  if (!problem.ok()) {
    refused.push_back(problem.refusal());
    return;
  }
  const Problem& p = problem.value();
  const ConvShape& s = *p.conv;
  const WinogradAttrs attrs = attrs_of(p);
  const int64_t parts = channel_parts(attrs), channels = s.in_channels / parts,
                columns = s.out_channels / parts;
  Implementation implementation =
      with_layouts(p, "conv_winograd", Order::channels_last, Order::channels_last);
  // The transformed weights are what is read.
  implementation.bytes += 4.0 * (static_cast<double>(tile_elements(attrs) * channels * columns) -
                                 static_cast<double>(element_count(type_of(p, p.weight).shape)));
  const int64_t tiles = WinogradTiles(attrs, {s.images, 0, s.out_height, s.out_width}).count();
  // One block of tiles: its column blocks are what workers share.
  const int workers = tiles <= kMostTilesPerBlock ? target.threads : 1;
  const auto shapes = rank_tiles(std::min<int64_t>(tiles, 28), columns, channels, false, target, workers);
  implementation.schedule = WinogradSchedule{attrs.tile, shapes[0]};
  found.push_back(implementation);
}

Result<Kernel> generate_conv_winograd(const Graph& graph, const Candidate& candidate,
                                      const Implementation& implementation, const Target& target) {
  const Result<Problem> problem = winograd_problem(graph, candidate);
  if (!problem.ok()) return problem.refusal();
  return Writer(problem.value(), implementation, target).write();
}

}  // namespace korch
