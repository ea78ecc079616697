#include "korch/codegen/linear/pixel_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/linear/epilogue.h"
#include "korch/codegen/linear/micro_kernel.h"
#include "korch/codegen/linear/panel.h"

namespace korch::linear {

namespace {

// Vectors of pixels beside `columns` rows of accumulators, one register for the broadcast.
int most_vectors(int64_t columns, Isa isa) {
  const int registers = isa == Isa::x86_64_v4 ? 32 : 16;
  return static_cast<int>((registers - 1) / (columns + 1));
}

class Writer {
 public:
  explicit Writer(const RowKernel& kernel)
      : k_(kernel),
        lanes_(kernel.target->vector_lanes()),
        emitter_(*k_.problem->graph, *k_.problem->candidate, *k_.implementation, *k_.target),
        panel_(panel_shape(kernel)) {}
  Result<Kernel> write();

 private:
  int64_t pitch() const { return static_cast<int64_t>(k_.tiling.rows) * lanes_; }
  std::string micro_kernel(int vectors) const;
  std::string epilogue(const std::string& name, int64_t pixels);
  std::string main_function() const;

  const RowKernel& k_;
  const int lanes_;
  tile::ValueEmitter emitter_;
  const PanelShape panel_;
};

// Channels outermost: the taps of one channel read the same few lines of its plane.
std::string Writer::micro_kernel(int vectors) const {
  MicroKernel m;
  m.rows = static_cast<int>(k_.columns);
  m.lanes.assign(vectors, lanes_);
  m.tile_pitch = pitch();
  m.row_stride = 1;
  m.loops = {{k_.depth, k_.columns, panel_.channel_step},
             {k_.taps_h, k_.taps_w * k_.depth * k_.columns, k_.dilation_h * panel_.row_step},
             {k_.taps_w, k_.depth * k_.columns, k_.dilation_w}};
  return emit_micro_kernel(fmt::format("multiply{}", vectors), m);
}

std::string Writer::epilogue(const std::string& name, int64_t pixels) {
  EpilogueTile tile;
  tile.rows = static_cast<int>(pixels);
  tile.valid_columns = k_.columns;
  tile.tile_pitch = pitch();
  const EpilogueRows rows{
      k_.images, 1, k_.height, k_.width, k_.columns, k_.result_coords, TileStore::turned_rows};
  return emit_epilogue(name, *k_.problem, *k_.implementation, *k_.target, emitter_, tile, rows);
}

std::string Writer::main_function() const {
  const int64_t height_blocks = ceil_div(k_.height, k_.slicing.heights_per_block);
  std::string text = fmt::format(
      "extern \"C\" int32_t korch_pixels(const korch_kernel_context*context,int64_t begin,int64_t end){{\n{}"
      "float*tile=(float*)context->scratch;float*panel=tile+{};const float*weights={};\n"
      "for(int64_t s=begin;s<end;++s){{const int64_t image=s/{},hb=s%{};\n",
      emitter_.argument_declarations(), k_.columns * pitch(), argument_name(*k_.problem, k_.problem->weight),
      height_blocks, height_blocks);
  text += fmt::format(
      "const int64_t y0=hb*{0},y1=y0+{0}<{1}?y0+{0}:{1};int32_t "
      "status=load_panel(context,panel,image,0,y0,0);\n",
      k_.slicing.heights_per_block, k_.height);
  text += "for(int64_t y=y0;y<y1&&!status;++y){\n";
  const int64_t tiles = k_.tiling.tiles(), full = k_.tiling.long_tiles;
  auto tile = [&](int64_t from, int64_t to, int vectors, int64_t offset, const std::string& finish) {
    if (from >= to) return;
    text += fmt::format(
        "for(int64_t t={};t<{};++t){{const int64_t "
        "x=(t*{}+{})*{};multiply{}(weights,panel+(y-y0)*{}+x,tile,0);"
        "status|={}(context,tile,image,0,y,x,0);}}\n",
        from, to, vectors, offset, lanes_, vectors, k_.stride_h * panel_.row_step, finish);
  };
  const bool last_is_long = k_.tiling.short_tiles == 0;
  tile(0, last_is_long ? full - 1 : full, k_.tiling.rows, 0, "finish");
  if (!last_is_long) tile(full, tiles - 1, k_.tiling.rows - 1, full, "finish_short");
  tile(tiles - 1, tiles, last_is_long ? k_.tiling.rows : k_.tiling.rows - 1, last_is_long ? 0 : full,
       "finish_last");
  return text +
         fmt::format("}}\nif(status)return status;}}\n{}return 0;}}\n", fence_text(*k_.problem, *k_.target));
}

Result<Kernel> Writer::write() {
  const Problem& p = *k_.problem;
  emitter_.provide(p.value, [](const std::vector<Index>&) { return std::string("acc"); });
  for (ValueId output : p.candidate->outputs)
    if (const std::string obstacle = emitter_.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  const bool last_is_long = k_.tiling.short_tiles == 0;
  const int last_vectors = last_is_long ? k_.tiling.rows : k_.tiling.rows - 1;
  const int64_t last_start =
      (k_.tiling.long_tiles * k_.tiling.rows + k_.tiling.short_tiles * (k_.tiling.rows - 1) - last_vectors) *
      lanes_;
  std::string body = emit_load_panel(k_, panel_, emitter_);
  body += micro_kernel(k_.tiling.rows) + epilogue("finish", pitch());
  if (!last_is_long) body += micro_kernel(k_.tiling.rows - 1) + epilogue("finish_short", pitch() - lanes_);
  body += epilogue("finish_last", k_.width - last_start) + main_function();

  Kernel kernel;
  kernel.source = emitter_.preamble({4, lanes_}) + source_prelude() + body;
  kernel.phases.push_back({"korch_pixels", k_.images * ceil_div(k_.height, k_.slicing.heights_per_block), 1});
  kernel.constant_packing = emitter_.constant_packing();
  for (size_t i = 0; i < p.candidate->constants.size(); ++i)
    if (p.candidate->constants[i] == p.weight)
      kernel.constant_packing[i] = {"columns", {0, 1, k_.columns, 0}};
  kernel.scratch_bytes = (k_.columns * pitch() + panel_.elements) * 4;
  kernel.flops = k_.implementation->flops;
  kernel.bytes = k_.implementation->bytes;
  return kernel;
}

}  // namespace

int most_pixel_columns(Isa isa) {
  int columns = 1;
  while (most_vectors(columns + 1, isa) >= 2) ++columns;
  return columns;
}

Result<Kernel> generate_pixel_kernel(RowKernel kernel) {
  const int lanes = kernel.target->vector_lanes();
  kernel.path = DataPath::panel_pixels;
  kernel.tiling = split_rows(ceil_div(kernel.width, lanes), most_vectors(kernel.columns, kernel.target->isa));
  kernel.slicing.tiles_per_block = kernel.tiling.tiles();
  kernel.panel_span = ceil_div(kernel.width, lanes) * lanes;
  return Writer(kernel).write();
}

}  // namespace korch::linear
