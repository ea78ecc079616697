#include "korch/codegen/linear/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {

namespace {

constexpr int64_t kSpread = 16;  // elements added to a stride whose rows conflict

// Elements of a value, and where they go relative to a copy's target.
struct CopiedRow {
  std::function<Coords(const Index& element)> coords;
  int64_t offset = 0;
};

// `count` elements from `first` of each row, in vectors of `widest` and a partial one: text that stores to
// `target`. Rows that read the same elements share them.
std::string emit_copy(tile::ValueEmitter& emitter, ValueId value, const std::vector<CopiedRow>& rows,
                      int64_t first, int64_t count, int widest, const std::string& target) {
  std::string text;
  int64_t done = 0;
  for (int width : split_lanes(count, widest)) {
    const int64_t valid = std::min<int64_t>(width, count - done);
    const int64_t run = valid == width ? (count - done) / width : 1;
    if (done + valid > count || valid <= 0) break;
    tile::Block block = tile::vector_block("l", width, valid);
    const Index at = Index::variable("j", run) * width + Index::variable("l", width) + first + done;
    text += fmt::format("for(int64_t j=0;j<{};++j){{const int64_t l=0;(void)l;\n", run);
    std::vector<std::string> vectors;  // all before the first store
    for (const CopiedRow& row : rows) vectors.push_back(emitter.emit(value, row.coords(at), block));
    text += block.code;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string to = fmt::format("{}+{}", target, done + rows[i].offset);
      if (valid == width)
        text += fmt::format("*(v{0}u*)({1}+j*{0})={2};\n", width, to, vectors[i]);
      else
        text += fmt::format("for(int64_t i=0;i<{};++i)({})[i]={}[i];\n", valid, to, vectors[i]);
    }
    text += "}\n";
    done += run * valid;
    if (done >= count) break;
  }
  return text;
}

std::string zero_text(const std::string& from, const std::string& count) {
  return fmt::format("for(int64_t i=0;i<{1};++i)({0})[i]=0.f;\n", from, count);
}

// Where no tap of the prologue's depthwise window meets padding: rows and pixels from `begin` to `end`.
struct Inside {
  int64_t y_begin = 0, y_end = 0, x_begin = 0, x_end = 0;
};
std::optional<Inside> inside_of_window(const RowKernel& k) {
  const Problem& p = *k.problem;
  if (p.window == kNoId) return std::nullopt;
  const Node& node = p.graph->node(p.window);
  const auto& pool = std::get<PoolAttrs>(node.attrs);
  if (pool.kernel.size() != 2 || type_of(p, node.outputs[0]).shape != type_of(p, p.data).shape)
    return std::nullopt;
  const Shape& in = type_of(p, node.inputs[0]).shape;
  const auto along = [&](size_t axis) {
    const int64_t stride = pool.strides[axis], pad = pool.pads_before[axis];
    const int64_t room = in[axis + 2] - 1 - (pool.kernel[axis] - 1) * pool.dilations[axis] + pad;
    return std::pair{ceil_div(pad, stride), room < 0 ? 0 : room / stride + 1};
  };
  const auto [y_begin, y_end] = along(0);
  const auto [x_begin, x_end] = along(1);
  return Inside{y_begin, y_end, x_begin, x_end};
}

// Of a depthwise window: neighbours share what they load, and most of it comes from L2.
constexpr int64_t kPixelsAtOnce = 4, kRowsAtOnce = 2;

std::string emit_channels(const RowKernel& k, const PanelShape& shape, tile::ValueEmitter& emitter,
                          int widest) {
  const Index image = Index::variable("image", k.images), group = Index::variable("group", k.groups);
  // Pixels px to `end` of so many rows, so many pixels at once, with the coordinates y and x of the first.
  const auto pixels = [&](const Index& y, const Index& x, const std::string& names, int64_t rows,
                          int64_t at_once, const std::string& end) {
    std::vector<CopiedRow> copied;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < at_once; ++i)
        copied.push_back({[&k, image, group, at_y = y + r, at_x = x + i](const Index& channel) {
                            return k.data_coords(image, at_y, at_x, group * k.depth + channel);
                          },
                          r * shape.row_step + i * shape.pixel_step});
    return fmt::format("for(;px+{0}<={1};px+={0}){{{2}float*to=row+px*{3};\n{4}}}\n", at_once, end, names,
                       shape.pixel_step,
                       emit_copy(emitter, k.problem->data, copied, 0, k.depth, widest, "to"));
  };
  const auto anywhere = [&](const std::string& end) {
    return pixels(Index::variable("iy", k.in_height), Index::variable("ix", k.in_width),
                  "const int64_t ix=ix0+px;(void)ix;", 1, 1, end);
  };
  const std::string padding = zero_text("row", fmt::format("lo*{}", shape.pixel_step)) +
                              zero_text(fmt::format("row+hi*{}", shape.pixel_step),
                                        fmt::format("({}-hi)*{}", shape.pixels, shape.pixel_step));
  const std::string next_row =
      fmt::format("float*row=panel+pr*{};const int64_t iy=iy0+pr;\nif(iy<0||iy>={}){{{}continue;}}\n",
                  shape.row_step, k.in_height, zero_text("row", std::to_string(shape.row_step)));
  const std::optional<Inside> inside = inside_of_window(k);
  if (!inside || inside->y_begin + kRowsAtOnce > inside->y_end ||
      inside->x_begin + kPixelsAtOnce > inside->x_end)
    return fmt::format("for(int64_t pr=0;pr<{};++pr){{{}{}int64_t px=lo;\n{}}}\n", shape.rows, next_row,
                       padding, anywhere("hi"));
  // Padding of the window is met only in its first and last rows and pixels: the rest never asks for it.
  const auto within = [&](int64_t rows, int64_t at_once) {
    const Index y = Index::variable("u", inside->y_end - inside->y_begin - rows + 1) + inside->y_begin;
    const Index x = Index::variable("v", inside->x_end - inside->x_begin - at_once + 1) + inside->x_begin;
    return pixels(y, x, fmt::format("const int64_t v=ix0+px-{};(void)v;", inside->x_begin), rows, at_once,
                  "last");
  };
  std::string text = fmt::format(
      "const auto anywhere=[&](int64_t pr,int64_t px,int64_t end)->int32_t{{float*row=panel+pr*{};const "
      "int64_t iy=iy0+pr;(void)iy;\n{}return 0;}};\n",
      shape.row_step, anywhere("end"));
  text += fmt::format("const int64_t first={0}-ix0<lo?lo:{0}-ix0<hi?{0}-ix0:hi,last={1}-ix0<hi?{1}-ix0:hi;\n",
                      inside->x_begin, inside->x_end);
  text += fmt::format("for(int64_t pr=0,rows=1;pr<{};pr+=rows){{rows=1;{}", shape.rows, next_row);
  text += fmt::format(
      "int64_t px=first;\nif(iy<{0}||iy>={1})px=lo;\nelse{{const int64_t u=iy-{0};(void)u;\n"
      "if(pr+{2}<={3}&&iy+{2}<={1}){{rows={2};\n{4}{5}}}else{{\n{6}}}}}\n",
      inside->y_begin, inside->y_end, kRowsAtOnce, shape.rows, within(kRowsAtOnce, kPixelsAtOnce),
      within(kRowsAtOnce, 1), within(1, 1));
  text += fmt::format(
      "for(int64_t r=pr;r<pr+rows;++r){{float*row=panel+r*{};(void)row;\n{}"
      "if((px>lo&&anywhere(r,lo,first))||anywhere(r,px,hi))return 1;}}\n",
      shape.row_step, padding);
  return text + "}\n";
}

// Pixels contiguous: rows of pixels, one channel after the other.
std::string emit_pixels(const RowKernel& k, const PanelShape& shape, tile::ValueEmitter& emitter,
                        int widest) {
  const Index image = Index::variable("image", k.images), group = Index::variable("group", k.groups);
  const Index iy = Index::variable("iy", k.in_height), ix = Index::variable("ix", k.in_width);
  const Index channel = Index::variable("channel", k.depth);
  auto part = [&](int width) {
    tile::Block block{
        .vector_variable = width > 1 ? "ix" : "", .lanes = width, .count = "", .code = "", .indent = "  "};
    const std::string vector =
        emitter.emit(k.problem->data, k.data_coords(image, iy, ix, group * k.depth + channel), block);
    return std::pair<std::string, std::string>{block.code, vector};
  };
  const auto [full, vector] = part(widest);
  const auto [single, element] = part(1);
  return fmt::format(
      "for(int64_t channel=0;channel<{0};++channel){{int64_t ix=ix0+lo;const int64_t "
      "end=ix0+hi;float*to=row+channel*{1}+lo;\n"
      "for(;ix+{2}<=end;ix+={2},to+={2}){{\n{3}*(v{2}u*)to={4};}}\nfor(;ix<end;++ix,++to){{\n{5}*to={6};}}\n}"
      "}\n",
      k.depth, shape.channel_step, widest, full, vector, single, element);
}

// Channels contiguous in the input, pixels in the panel: 4 x 4 blocks turned in registers, the rest one by
// one.
std::string emit_turned_pixels(const RowKernel& k, const PanelShape& shape, tile::ValueEmitter& emitter) {
  const Index image = Index::variable("image", k.images), group = Index::variable("group", k.groups);
  const Index iy = Index::variable("iy", k.in_height), ix = Index::variable("ix", k.in_width);
  const int64_t quads = k.in_width < 4 ? 0 : k.depth / 4;
  std::string text;
  if (quads > 0) {
    const Index first = Index::variable("ix", k.in_width - 3);
    const Index channel = group * k.depth + Index::variable("q", quads) * 4 + Index::variable("l", 4);
    tile::Block block{.vector_variable = "l", .lanes = 4, .count = "", .code = "", .indent = "  "};
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i)
      names.push_back(emitter.emit(k.problem->data, k.data_coords(image, iy, first + i, channel), block));
    auto plane = [&](int i) { return fmt::format("to+{}", i * shape.channel_step); };
    text += fmt::format(
        "for(int64_t px=lo;px+4<=hi;px+=4)for(int64_t q=0;q<{};++q){{const int64_t "
        "l=0,ix=ix0+px;(void)l;(void)ix;"
        "float*to=row+q*{}+px;\n{}{}}}\n",
        quads, 4 * shape.channel_step, block.code,
        emit_turn({names[0], names[1], names[2], names[3]}, {plane(0), plane(1), plane(2), plane(3)}));
  }
  tile::Block block{.vector_variable = "", .lanes = 1, .count = "", .code = "", .indent = "  "};
  const std::string element = emitter.emit(
      k.problem->data, k.data_coords(image, iy, ix, group * k.depth + Index::variable("channel", k.depth)),
      block);
  return text +
         fmt::format(
             "for(int64_t px=lo;px<hi;++px)for(int64_t channel=px<lo+(hi-lo)/4*4?{}:0;channel<{};++channel){{"
             "const int64_t ix=ix0+px;(void)ix;\n{}row[channel*{}+px]={};}}\n",
             quads * 4, k.depth, block.code, shape.channel_step, element);
}

// All channels of one panel row of which only pixels lo .. hi - 1 are inside the input.
std::string emit_planes(const RowKernel& k, const PanelShape& shape, tile::ValueEmitter& emitter,
                        int widest) {
  const int channel_axis = k.problem->matmul ? -2 : 1;
  const bool turned = contiguous_axis(*k.problem, *k.implementation, k.problem->data) == channel_axis;
  std::string text =
      fmt::format("for(int64_t pr=0;pr<{};++pr){{float*row=panel+pr*{};const int64_t iy=iy0+pr;\n",
                  shape.rows, shape.row_step);
  const std::string channels =
      fmt::format("for(int64_t c=0;c<{};++c){{float*plane=row+c*{};", k.depth, shape.channel_step);
  text += fmt::format("if(iy<0||iy>={}){{{}{}}}continue;}}\n", k.in_height, channels,
                      zero_text("plane", std::to_string(shape.pixels)));
  text +=
      channels + zero_text("plane", "lo") + zero_text("plane+hi", fmt::format("{}-hi", shape.pixels)) + "}\n";
  return text + (turned ? emit_turned_pixels(k, shape, emitter) : emit_pixels(k, shape, emitter, widest)) +
         "}\n";
}

// Columns contiguous: vectors of columns, one term after the other.
std::string emit_pack_vectors(const ColumnOperand& k, tile::ValueEmitter& emitter, const Index& column0,
                              int64_t columns, int64_t lanes, int widest) {
  const Index matrix = Index::variable("matrix", k.matrices), term = Index::variable("k", k.depth);
  std::string text = fmt::format("for(int64_t k=0;k<{};++k){{float*to=out+k*{};\n", k.depth, lanes);
  const CopiedRow row{[&](const Index& column) { return k.coords(matrix, term, column0 + column); }, 0};
  text += emit_copy(emitter, k.value, {row}, 0, columns, widest, "to");
  if (columns < lanes) text += zero_text(fmt::format("to+{}", columns), std::to_string(lanes - columns));
  return text + "}\n";
}

// Terms contiguous: 4 x 4 blocks turned in registers, the rest element by element.
std::string emit_pack_terms(const ColumnOperand& k, tile::ValueEmitter& emitter, const Index& column0,
                            int64_t columns, int64_t lanes) {
  const Index matrix = Index::variable("matrix", k.matrices);
  std::string text;
  const int64_t quads = k.depth / 4, column_quads = columns / 4;
  if (quads > 0 && column_quads > 0) {
    const Index term = Index::variable("q", quads) * 4 + Index::variable("l", 4);
    tile::Block block{.vector_variable = "l", .lanes = 4, .count = "", .code = "", .indent = "  "};
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i)
      names.push_back(emitter.emit(
          k.value, k.coords(matrix, term, column0 + Index::variable("c", column_quads) * 4 + i), block));
    auto row = [&](int i) { return fmt::format("to+{}", i * lanes); };
    text += fmt::format(
        "for(int64_t c=0;c<{};++c)for(int64_t q=0;q<{};++q){{const int64_t "
        "l=0;(void)l;\n{}float*to=out+q*{}+c*4;\n{}}}\n",
        column_quads, quads, block.code, 4 * lanes,
        emit_turn({names[0], names[1], names[2], names[3]}, {row(0), row(1), row(2), row(3)}));
  }
  auto singles = [&](int64_t c_begin, int64_t c_count, int64_t k_begin, int64_t k_count) {
    if (c_count <= 0 || k_count <= 0) return;
    tile::Block block{.vector_variable = "", .lanes = 1, .count = "", .code = "", .indent = "  "};
    const std::string element = emitter.emit(k.value,
                                             k.coords(matrix, Index::variable("k", k_count) + k_begin,
                                                      column0 + Index::variable("c", c_count) + c_begin),
                                             block);
    text += fmt::format("for(int64_t c=0;c<{};++c)for(int64_t k=0;k<{};++k){{\n{}out[(k+{})*{}+c+{}]={};}}\n",
                        c_count, k_count, block.code, k_begin, lanes, c_begin, element);
  };
  singles(column_quads * 4, columns - column_quads * 4, 0, k.depth);
  singles(0, column_quads * 4, quads * 4, k.depth - quads * 4);
  if (columns < lanes)
    text += fmt::format("for(int64_t k=0;k<{};++k)for(int64_t c={};c<{};++c)out[k*{}+c]=0.f;\n", k.depth,
                        columns, lanes, lanes);
  return text;
}

}  // namespace

PanelShape panel_shape(const RowKernel& k) {
  PanelShape s;
  const int64_t span =
      k.panel_span > 0 ? k.panel_span : std::min<int64_t>(k.width, k.slicing.tiles_per_block * k.tiling.rows);
  s.rows = (k.slicing.heights_per_block - 1) * k.stride_h + (k.taps_h - 1) * k.dilation_h + 1;
  s.pixels = (span - 1) * k.stride_w + (k.taps_w - 1) * k.dilation_w + 1;
  if (k.path == DataPath::panel_channels) {
    s.channel_step = 1;
    s.pixel_step = k.depth;
    if (rows_conflict(s.pixel_step * k.stride_w * 4)) s.pixel_step += kSpread;
    s.row_step = s.pixels * s.pixel_step;
    s.elements = s.rows * s.row_step;
  } else {
    s.pixel_step = 1;
    s.row_step = s.pixels;
    s.channel_step = s.rows * s.row_step;
    s.elements = k.depth * s.channel_step;
  }
  return s;
}

std::string emit_load_panel(const RowKernel& k, const PanelShape& shape, tile::ValueEmitter& emitter) {
  std::string text =
      "static __attribute__((noinline)) int32_t load_panel(const "
      "korch_kernel_context*context,float*panel,int64_t image,"
      "int64_t group,int64_t y0,int64_t x0){\n(void)image;(void)group;\n" +
      emitter.argument_declarations();
  text += fmt::format("const int64_t iy0=y0*{}-{},ix0=x0*{}-{};\n", k.stride_h, k.pad_top, k.stride_w,
                      k.pad_left);
  text += fmt::format(
      "int64_t lo=-ix0>0?-ix0:0;if(lo>{0})lo={0};int64_t hi={1}-ix0<{0}?{1}-ix0:{0};if(hi<lo)hi=lo;\n",
      shape.pixels, k.in_width);
  const int widest = k.target->vector_lanes();
  text += k.path == DataPath::panel_channels ? emit_channels(k, shape, emitter, widest)
                                             : emit_planes(k, shape, emitter, widest);
  return text + "return 0;}\n";
}

std::string emit_pack_columns(const ColumnOperand& k, const std::string& symbol, int temporary,
                              const Target& target, tile::ValueEmitter& emitter) {
  const int64_t lanes = k.blocks.block_lanes();
  std::string text = fmt::format(
      "extern \"C\" int32_t {0}(const korch_kernel_context*context,int64_t begin,int64_t end){{\n{1}"
      "for(int64_t s=begin;s<end;++s){{const int64_t matrix=s/{2},block=s%{2};(void)matrix;\n"
      "float*out=temp{3}+matrix*{4}+block*{5};\n",
      symbol, emitter.argument_declarations(temporary + 1), k.blocks.total(), temporary, k.matrix_elements(),
      k.depth * lanes);
  auto part = [&](const Index& column0, int64_t columns, int64_t width) {
    return k.contiguous == 1 ? emit_pack_vectors(k, emitter, column0, columns, width, target.vector_lanes())
                             : emit_pack_terms(k, emitter, column0, columns, width);
  };
  if (k.blocks.blocks > 0)
    text += fmt::format("if(block<{}){{\n{}}}", k.blocks.blocks,
                        part(Index::variable("block", k.blocks.blocks) * lanes, lanes, lanes));
  if (!k.blocks.tail.empty())
    text += fmt::format("if(block=={}){{\n{}}}", k.blocks.blocks,
                        part(Index(k.blocks.blocks * lanes), k.blocks.tail_columns, k.blocks.tail_lanes()));
  return text + "}\nreturn 0;}\n";
}

}  // namespace korch::linear
