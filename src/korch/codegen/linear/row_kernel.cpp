#include "korch/codegen/linear/row_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/micro_kernel.h"
#include "korch/codegen/linear/panel.h"

namespace korch::linear {

namespace {

constexpr const char* kMainSymbol = "korch_linear";
constexpr const char* kPackSymbol = "korch_pack";
constexpr double kCachedColumns = 0.125;  // share of L2 that the columns may take and still count as cached

constexpr double kTilesInL2 = 0.25;  // share of L2 for the unfinished tiles

// Element strides of the data operand per image row, pixel and channel where it is read in place.
struct DirectStrides {
  Index base;  // of an image's first pixel and channel, over variables image and group
  int64_t row = 0, pixel = 0, channel = 0;
};

DirectStrides direct_strides(const RowKernel& k) {
  const Problem& p = *k.problem;
  const Shape steps = strides(type_of(p, p.data).shape, layout_of(p, *k.implementation, p.data));
  auto offset = [&](const Index& image, const Index& y, const Index& x, const Index& channel) {
    const Coords coords = k.data_coords(image, y, x, channel);
    Index total = 0;
    for (size_t i = 0; i < coords.size(); ++i) total = total + coords[i] * steps[i];
    return total;
  };
  const Index image = Index::variable("image", k.images), group = Index::variable("group", k.groups);
  DirectStrides s;
  s.base = offset(image, 0, 0, group * k.depth);
  auto difference = [&](int64_t y, int64_t x, int64_t c) {
    return (offset(0, y, x, c) - offset(0, 0, 0, 0)).constant();
  };
  s.row = difference(1, 0, 0);
  s.pixel = difference(0, 1, 0);
  s.channel = difference(0, 0, 1);
  return s;
}

class Writer {
 public:
  explicit Writer(const RowKernel& kernel)
      : k_(kernel),
        emitter_(*k_.problem->graph, *k_.problem->candidate, *k_.implementation, *k_.target),
        parts_(reduction_parts(k_.taps_h, k_.taps_w, k_.depth)) {
    if (4.0 * slice_tiles() * tile_elements() > k_.target->l2_bytes * kTilesInL2) parts_ = {};
  }

  Result<Kernel> write();

 private:
  struct Instance {
    int rows;
    bool tail;
  };

  bool dynamic_weights() const { return !k_.problem->weight_constant; }
  // Rows before columns where the columns are few: data is read, and results are written, in the order in
  // which they lie. Else columns first: a block of them is used by all rows while it is in L2, and the next
  // one arrives.
  bool rows_first() const {
    return !in_parts() && 4.0 * matrix_size() <= k_.target->l2_bytes * kCachedColumns;
  }
  bool in_parts() const { return parts_.outer_taps > 0 || parts_.depth_parts > 1; }
  int64_t part_depth() const { return k_.depth / parts_.depth_parts; }
  int64_t slice_tiles() const { return k_.slicing.heights_per_block * k_.slicing.tiles_per_block; }
  bool paneled() const { return k_.path != DataPath::direct; }
  int64_t terms() const { return k_.taps_h * k_.taps_w * k_.depth; }
  // Elements between image rows, pixels and channels of the data, where the tiles read it.
  std::array<int64_t, 3> data_steps() const {
    if (paneled()) return {panel_.row_step, panel_.pixel_step, panel_.channel_step};
    return {direct_.row, direct_.pixel, direct_.channel};
  }
  int64_t lanes(bool tail) const { return tail ? k_.blocks.tail_lanes() : k_.blocks.block_lanes(); }
  int64_t block_size() const { return terms() * k_.blocks.block_lanes(); }
  int64_t matrix_size() const { return k_.blocks.blocks * block_size() + terms() * k_.blocks.tail_lanes(); }
  int64_t tile_pitch() const { return std::max(k_.blocks.block_lanes(), k_.blocks.tail_lanes()); }
  int64_t tile_elements() const { return (k_.tiling.rows + 15) / 16 * 16 * tile_pitch(); }
  int64_t tiles_elements() const { return tile_elements() * (in_parts() ? slice_tiles() : 1); }
  std::vector<Instance> instances() const;
  MicroKernel micro_kernel(const Instance& instance) const;
  std::string epilogue(const Instance& instance);
  std::string slice_loop() const;
  std::string tile_loops(const std::function<std::string(int rows)>& body) const;
  std::string tile_text(int rows, bool tail) const;
  std::string block_in_parts(bool tail) const;
  std::string slice_body() const;
  std::string data_pointer() const;
  std::string weight_pointer() const;
  int64_t grid() const;
  static std::string suffix(int rows, bool tail) { return fmt::format("{}{}", rows, tail ? "t" : ""); }

  const RowKernel& k_;
  tile::ValueEmitter emitter_;
  PanelShape panel_;
  DirectStrides direct_;
  ReductionParts parts_;
};

std::vector<Writer::Instance> Writer::instances() const {
  std::vector<Instance> list;
  for (bool tail : {false, true}) {
    if (tail ? k_.blocks.tail.empty() : k_.blocks.blocks == 0) continue;
    if (k_.tiling.long_tiles > 0) list.push_back({k_.tiling.rows, tail});
    if (k_.tiling.short_tiles > 0) list.push_back({k_.tiling.rows - 1, tail});
  }
  return list;
}

MicroKernel Writer::micro_kernel(const Instance& instance) const {
  MicroKernel m;
  m.rows = instance.rows;
  m.lanes = instance.tail ? k_.blocks.tail : k_.blocks.lanes;
  m.tile_pitch = tile_pitch();
  const int64_t lanes = total_lanes(m.lanes);
  const auto [row, pixel, channel] = data_steps();
  m.row_stride = k_.stride_w * pixel;
  if (k_.taps_h > 1 && parts_.outer_taps < 1)
    m.loops.push_back({k_.taps_h, k_.dilation_h * row, k_.taps_w * k_.depth * lanes});
  if (k_.taps_w > 1 && parts_.outer_taps < 2)
    m.loops.push_back({k_.taps_w, k_.dilation_w * pixel, k_.depth * lanes});
  m.loops.push_back({part_depth(), channel, lanes});
  m.prefetch_next_rows = !paneled() && rows_first() && channel == 1 && m.row_stride == k_.depth &&
                         m.loops.size() == 1 &&
                         type_of(*k_.problem, k_.problem->data).bytes() > k_.target->l2_bytes;
  m.tiles_per_next_columns = rows_first() ? 0 : slice_tiles();
  m.part = in_parts();
  return m;
}

std::string Writer::epilogue(const Instance& instance) {
  EpilogueTile tile;
  tile.rows = instance.rows;
  tile.lanes = instance.tail ? k_.blocks.tail : k_.blocks.lanes;
  tile.tile_pitch = tile_pitch();
  tile.valid_columns = instance.tail ? k_.blocks.tail_columns : k_.blocks.block_lanes();
  tile.column_base = instance.tail ? k_.blocks.blocks * k_.blocks.block_lanes() : 0;
  tile.block_columns = instance.tail ? 0 : k_.blocks.block_lanes();
  tile.block_count = instance.tail ? 1 : k_.blocks.blocks;
  const EpilogueRows rows{k_.images,
                          k_.groups,
                          k_.height,
                          k_.width,
                          k_.columns,
                          k_.result_coords,
                          k_.transposed_store ? TileStore::rows : TileStore::columns};
  return emit_epilogue("finish" + suffix(instance.rows, instance.tail), *k_.problem, *k_.implementation,
                       *k_.target, emitter_, tile, rows);
}

std::string Writer::data_pointer() const {
  if (paneled())
    return fmt::format("panel+(y-y0)*{}+(x-x0)*{}", k_.stride_h * panel_.row_step,
                       k_.stride_w * panel_.pixel_step);
  return fmt::format("{}+({})+y*{}+x*{}", argument_name(*k_.problem, k_.problem->data),
                     tile::print(direct_.base), k_.stride_h * direct_.row, k_.stride_w * direct_.pixel);
}

std::string Writer::weight_pointer() const {
  if (dynamic_weights() || k_.weight_matrix) {
    const Index matrix = k_.weight_matrix ? k_.weight_matrix(Index::variable("image", k_.images)) : Index(0);
    const std::string base = dynamic_weights() ? "temp0" : argument_name(*k_.problem, k_.problem->weight);
    return fmt::format("{}+({})*{}", base, tile::print(matrix), matrix_size());
  }
  return fmt::format("{}+group*{}", argument_name(*k_.problem, k_.problem->weight), matrix_size());
}

// The tiles of a row, each through `body`, which gets the number of rows of a tile.
std::string Writer::tile_loops(const std::function<std::string(int rows)>& body) const {
  const int64_t full = k_.tiling.long_tiles, rows = k_.tiling.rows;
  std::string text;
  if (k_.tiling.long_tiles > 0)
    text += fmt::format("for(int64_t t=t0;t<(t1<{0}?t1:{0});++t){{const int64_t x=t*{1};\n{2}}}\n", full,
                        rows, body(k_.tiling.rows));
  if (k_.tiling.short_tiles > 0)
    text += fmt::format("for(int64_t t=(t0>{0}?t0:{0});t<t1;++t){{const int64_t x=t*{1}+{0};\n{2}}}\n", full,
                        rows - 1, body(k_.tiling.rows - 1));
  return text;
}

// One tile against one column block.
std::string Writer::tile_text(int rows, bool tail) const {
  const std::string number = rows_first() ? "0" : "(y-y0)*(t1-t0)+t-t0";
  return fmt::format(
      "{{multiply{0}({1},columns,tile,columns+{2}+({3})*{4});const int32_t "
      "status=finish{0}(context,tile,image,group,y,x,{5});if(status)return status;}}\n",
      suffix(rows, tail), data_pointer(), terms() * lanes(tail), number,
      micro_kernel({rows, tail}).next_elements(), tail ? "0" : "block");
}

// All tiles of a slice against one column block, part by part.
std::string Writer::block_in_parts(bool tail) const {
  const auto [row, pixel, channel] = data_steps();
  const std::string rows = "for(int64_t y=y0;y<y1;++y){\n", number = "((y-y0)*(t1-t0)+t-t0)";
  const int64_t taps_h = parts_.outer_taps >= 1 ? k_.taps_h : 1,
                taps_w = parts_.outer_taps >= 2 ? k_.taps_w : 1;
  const int64_t part_columns = terms() * lanes(tail) / (taps_h * taps_w * parts_.depth_parts);
  std::string text = fmt::format(
      "{{const float*part=columns;\nfor(int64_t kh=0;kh<{};++kh)for(int64_t kw=0;kw<{};++kw)for(int64_t "
      "kd=0;kd<{};++kd,part+={}){{const int64_t data_part=kh*{}+kw*{}+kd*{};\n",
      taps_h, taps_w, parts_.depth_parts, part_columns, k_.dilation_h * row, k_.dilation_w * pixel,
      part_depth() * channel);
  text += rows + tile_loops([&](int height) {
            return fmt::format("multiply{}({}+data_part,part,tile+{}*{},part+{}+{}*{},part==columns);\n",
                               suffix(height, tail), data_pointer(), number, tile_elements(), part_columns,
                               number, micro_kernel({height, tail}).next_elements());
          }) +
          "}}\n";
  text +=
      rows + tile_loops([&](int height) {
        return fmt::format(
            "const int32_t status=finish{}(context,tile+{}*{},image,group,y,x,{});if(status)return status;\n",
            suffix(height, tail), number, tile_elements(), tail ? "0" : "block");
      }) +
      "}}\n";
  return text;
}

std::string Writer::slice_body() const {
  const std::string rows = "for(int64_t y=y0;y<y1;++y){\n";
  auto columns = [&](bool tail, const std::string& body) -> std::string {
    if (tail ? k_.blocks.tail.empty() : k_.blocks.blocks == 0) return "";
    const int64_t full = k_.blocks.blocks;
    const std::string loop = tail ? fmt::format("if(b0<={0}&&{0}<b1)", full)
                                  : fmt::format("for(int64_t block=b0;block<(b1<{0}?b1:{0});++block)", full);
    return fmt::format("{}{{const float*columns=weights+{}*{};\n{}}}\n", loop,
                       tail ? std::to_string(full) : "block", block_size(), body);
  };
  std::string text;
  if (rows_first())
    return rows + tile_loops([&](int height) {
             return columns(false, tile_text(height, false)) + columns(true, tile_text(height, true));
           }) +
           "}\n";
  for (bool tail : {false, true})
    text += columns(tail, in_parts() ? block_in_parts(tail) : rows + tile_loops([&](int height) {
                                                                return tile_text(height, tail);
                                                              }) + "}\n");
  return text;
}

int64_t Writer::grid() const {
  return k_.images * k_.groups * ceil_div(k_.height, k_.slicing.heights_per_block) *
         ceil_div(k_.tiling.tiles(), k_.slicing.tiles_per_block) *
         ceil_div(k_.blocks.total(), k_.slicing.blocks_per_group);
}

std::string Writer::slice_loop() const {
  const Slicing& s = k_.slicing;
  const int64_t height_blocks = ceil_div(k_.height, s.heights_per_block);
  const int64_t tile_blocks = ceil_div(k_.tiling.tiles(), s.tiles_per_block);
  const int64_t column_groups = ceil_div(k_.blocks.total(), s.blocks_per_group);
  const int64_t row_blocks = k_.images * k_.groups * height_blocks * tile_blocks;
  std::string text = fmt::format(
      "extern \"C\" int32_t {}(const korch_kernel_context*context,int64_t begin,int64_t end){{\n{}"
      "float*tile=(float*)context->scratch;\n",
      kMainSymbol, emitter_.argument_declarations(dynamic_weights() ? 1 : 0));
  if (paneled()) text += fmt::format("float*panel=tile+{};int64_t loaded=-1;\n", tiles_elements());
  text += "for(int64_t s=begin;s<end;++s){\n";
  text += s.columns_outer ? fmt::format("const int64_t cg=s/{0},rb=s%{0};\n", row_blocks)
                          : fmt::format("const int64_t cg=s%{0},rb=s/{0};\n", column_groups);
  text += fmt::format(
      "const int64_t tb=rb%{0},hb=rb/{0}%{1},group=rb/{2}%{3},image=rb/{4};(void)group;(void)image;\n",
      tile_blocks, height_blocks, tile_blocks * height_blocks, k_.groups,
      tile_blocks * height_blocks * k_.groups);
  text += fmt::format("const int64_t y0=hb*{0},y1=y0+{0}<{1}?y0+{0}:{1};\n", s.heights_per_block, k_.height);
  text += fmt::format("const int64_t t0=tb*{0},t1=t0+{0}<{1}?t0+{0}:{1};\n", s.tiles_per_block,
                      k_.tiling.tiles());
  if (paneled()) {
    const int64_t full = k_.tiling.long_tiles;
    text +=
        fmt::format("const int64_t x0=t0<{0}?t0*{1}:t0*{2}+{0};\n", full, k_.tiling.rows, k_.tiling.rows - 1);
    text +=
        "if(loaded!=rb){const int32_t status=load_panel(context,panel,image,group,y0,x0);if(status)return "
        "status;loaded=rb;}\n";
  }
  text += fmt::format("const float*weights={};\n", weight_pointer());
  text += fmt::format("const int64_t b0=cg*{0},b1=b0+{0};\n", s.blocks_per_group);
  text += slice_body();
  return text + fmt::format("}}\n{}return 0;}}\n", fence_text(*k_.problem, *k_.target));
}

Result<Kernel> Writer::write() {
  const Problem& p = *k_.problem;
  emitter_.provide(p.value, [](const std::vector<Index>&) { return std::string("acc"); });
  for (ValueId output : p.candidate->outputs)
    if (const std::string obstacle = emitter_.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  if (paneled())
    panel_ = panel_shape(k_);
  else
    direct_ = direct_strides(k_);

  Kernel kernel;
  std::string body;
  if (dynamic_weights()) {
    const ColumnOperand columns{p.weight,  k_.weight_matrices, k_.depth,
                                k_.blocks, k_.weight_coords,   k_.weight_contiguous};
    body += emit_pack_columns(columns, kPackSymbol, 0, *k_.target, emitter_);
    kernel.phases.push_back({kPackSymbol, columns.matrices * columns.blocks.total(), 1});
    kernel.temporary_bytes.push_back(columns.matrices * columns.matrix_elements() * 4);
  }
  if (paneled()) body += emit_load_panel(k_, panel_, emitter_);
  std::set<int> widths = {4, k_.target->vector_lanes()};
  for (const Instance& instance : instances()) {
    body += emit_micro_kernel("multiply" + suffix(instance.rows, instance.tail), micro_kernel(instance));
    body += epilogue(instance);
  }
  body += slice_loop();
  kernel.phases.push_back({kMainSymbol, grid(), 1});
  kernel.source = emitter_.preamble(std::vector<int>(widths.begin(), widths.end())) + source_prelude() + body;
  kernel.constant_packing = emitter_.constant_packing();
  for (size_t i = 0; i < p.candidate->constants.size(); ++i)
    if (p.weight_constant && p.candidate->constants[i] == p.weight)
      kernel.constant_packing[i] = k_.weight_packing;
  kernel.scratch_bytes = (tiles_elements() + (paneled() ? panel_.elements : 0)) * 4;
  kernel.flops = k_.implementation->flops;
  kernel.bytes = k_.implementation->bytes;
  return kernel;
}

int contiguous_of_read(const Problem& problem, const Implementation& implementation, ValueId value) {
  const Shape& shape = type_of(problem, value).shape;
  const Layout layout = layout_of(problem, implementation, value);
  if (layout.block_axis >= 0) return -1;
  const Shape steps = strides(shape, layout);
  for (size_t i = 0; i < shape.size(); ++i)
    if (steps[i] == 1 && shape[i] > 1) return static_cast<int>(i);
  return static_cast<int>(shape.size()) - 1;
}

}  // namespace

int contiguous_axis(const Problem& problem, const Implementation& implementation, ValueId value) {
  const Graph& graph = *problem.graph;
  const Node* producer = nullptr;
  for (NodeId id : problem.candidate->nodes)
    if (graph.node(id).outputs[0] == value) producer = &graph.node(id);
  if (producer == nullptr) return contiguous_of_read(problem, implementation, value);
  const int rank = static_cast<int>(type_of(problem, value).shape.size());
  if (producer->op == Op::Transpose) {
    const int inner = contiguous_axis(problem, implementation, producer->inputs[0]);
    const auto& perm = std::get<PermAttrs>(producer->attrs).perm;
    for (int i = 0; i < rank; ++i)
      if (perm[i] == inner) return i;
    return -1;
  }
  if (producer->op == Op::Reshape) {
    const int inner = contiguous_axis(problem, implementation, producer->inputs[0]);
    return inner < 0 ? -1
                     : reshaped_axis(type_of(problem, producer->inputs[0]).shape,
                                     type_of(problem, value).shape, inner);
  }
  for (ValueId input : producer->inputs)
    if (type_of(problem, input).shape == type_of(problem, value).shape)
      return contiguous_axis(problem, implementation, input);
  return -1;
}

Result<Kernel> generate_row_kernel(const RowKernel& kernel) {
  return Writer(kernel).write();
}

}  // namespace korch::linear
