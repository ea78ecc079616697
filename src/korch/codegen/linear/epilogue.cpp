#include "korch/codegen/linear/epilogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {

namespace {

struct Variables {
  Index image, group, y, x, block;
};

Variables variables(const EpilogueTile& tile, const EpilogueRows& rows) {
  return {Index::variable("image", rows.images), Index::variable("group", rows.groups),
          Index::variable("y", rows.height), Index::variable("x", rows.width),
          Index::variable("block", tile.block_count)};
}

// Everything that the functions below hand on.
struct Context {
  const Problem& problem;
  const Implementation& implementation;
  const Target& target;
  tile::ValueEmitter& emitter;
};

bool bypasses_cache(const Problem& problem, const Target& target, ValueId output) {
  const TensorType& type = type_of(problem, output);
  return type.dtype == DType::f32 && type.bytes() > target.l3_bytes / 2;
}

// The element offset when vectors are whole cache lines that lie at multiples of a line; else empty.
std::string line_offset(const Context& c, ValueId output, const Coords& coords, const tile::Block& block) {
  const Layout layout = layout_of(c.problem, c.implementation, output);
  if (!block.count.empty() || block.lanes != kCacheLineFloats || layout.block_axis >= 0) return "";
  const Shape steps = strides(type_of(c.problem, output).shape, layout);
  Index offset = 0;
  for (size_t i = 0; i < coords.size(); ++i) offset = offset + coords[i] * steps[i];
  if (!offset.affine_in(block.vector_variable) || offset.stride(block.vector_variable) != 1) return "";
  int odd = 0;  // the lanes' own term is the only one that may not be whole lines
  for (const Index::Term& term : offset.terms()) odd += term.coefficient % kCacheLineFloats != 0;
  return odd == 1 && offset.constant() % kCacheLineFloats == 0 ? tile::print(offset) : "";
}

// How many vectors from `first` on have its width and only valid columns (at least 1): they become one loop.
int64_t equal_full_vectors(const EpilogueTile& tile, size_t first, int64_t offset) {
  const int width = tile.lanes[first];
  int64_t run = 0;
  while (first + run < tile.lanes.size() && tile.lanes[first + run] == width &&
         offset + (run + 1) * width <= tile.valid_columns)
    ++run;
  return std::max<int64_t>(1, run);
}

// Vectors along columns: one row of the tile after the other.
void emit_by_columns(std::string& text, const Context& c, const EpilogueTile& tile,
                     const EpilogueRows& rows) {
  const Variables v = variables(tile, rows);
  text += fmt::format("for(int64_t r=0;r<{};++r){{const int64_t x=x0+r;(void)x;\n", tile.rows);
  int64_t offset = 0;
  for (size_t i = 0; i < tile.lanes.size();) {
    const int width = tile.lanes[i];
    const int64_t run = equal_full_vectors(tile, i, offset);
    const int64_t valid = std::min<int64_t>(width, tile.valid_columns - offset);
    if (valid <= 0) break;
    tile::Block block = tile::vector_block("l", width, valid);
    const Index lane = Index::variable("l", width);
    const Index step = Index::variable("j", run);
    const Index column = v.group * rows.columns + tile.column_base + v.block * tile.block_columns + offset +
                         step * width + lane;
    text += fmt::format("for(int64_t j=0;j<{};++j){{const int64_t l=0;(void)l;\n", run);
    text += fmt::format("const v{0} acc=*(const v{0}u*)(tile+r*{1}+{2}+j*{0});\n", width, tile.tile_pitch,
                        offset);
    emit_outputs(c.problem, c.implementation, c.target, c.emitter,
                 rows.result_coords(v.image, v.y, v.x, column), "acc", block);
    text += block.code + "}\n";
    offset += run * width;
    i += run;
  }
  text += "}\n";
}

// A transposed copy of the tile: turned[column][row].
void emit_turned_tile(std::string& text, const EpilogueTile& tile, int64_t pitch) {
  const int64_t lanes = total_lanes(tile.lanes);
  text += fmt::format("float turned[{}] __attribute__((aligned(64)));\n", lanes * pitch);
  auto tile_row = [&](int i) { return fmt::format("*(const v4u*)(tile+(r+{})*{}+c)", i, tile.tile_pitch); };
  auto turned_row = [&](int i) { return fmt::format("turned+(c+{})*{}+r", i, pitch); };
  text +=
      fmt::format("for(int64_t r=0;r<{};r+=4)for(int64_t c=0;c<{};c+=4)\n{}", (tile.rows + 3) / 4 * 4, lanes,
                  emit_turn({tile_row(0), tile_row(1), tile_row(2), tile_row(3)},
                            {turned_row(0), turned_row(1), turned_row(2), turned_row(3)}));
}

// Vectors along rows, from turned[column][row].
void emit_by_rows(std::string& text, const Context& c, const EpilogueTile& tile, const EpilogueRows& rows,
                  int64_t pitch) {
  const Variables v = variables(tile, rows);
  const int widest = c.target.vector_lanes();
  text += fmt::format("for(int64_t c=0;c<{};++c){{\n", tile.valid_columns);
  const Index column = v.group * rows.columns + tile.column_base + v.block * tile.block_columns +
                       Index::variable("c", tile.valid_columns);
  for (int64_t r = 0; r < tile.rows; r += widest) {
    const int64_t valid = std::min<int64_t>(widest, tile.rows - r);
    int width = widest;
    while (width > 4 && width / 2 >= valid) width /= 2;
    tile::Block block = tile::vector_block("x", width, valid);
    text += fmt::format("{{const int64_t x=x0+{};(void)x;const v{} acc=*(const v{}u*)(turned+c*{}+{});\n", r,
                        width, width, pitch, r);
    emit_outputs(c.problem, c.implementation, c.target, c.emitter,
                 rows.result_coords(v.image, v.y, v.x, column), "acc", block);
    text += block.code + "}\n";
  }
  text += "}\n";
}

}  // namespace

void emit_outputs(const Problem& problem, const Implementation& implementation, const Target& target,
                  tile::ValueEmitter& emitter, const Coords& coords, const std::string& acc,
                  tile::Block& block) {
  // Along an axis of one element the vector's first lane is the only one there is.
  const auto provider = [acc, lane = block.vector_variable, lanes = block.lanes](const Coords& read) {
    const bool varies = lanes == 1 || std::any_of(read.begin(), read.end(),
                                                  [&](const Index& index) { return index.depends_on(lane); });
    return varies ? acc : acc + "[0]";
  };
  emitter.provide(problem.value, provider);
  for (const auto& [output, place] : output_coords(problem, coords)) {
    const std::string vector = emitter.emit(output, place, block);
    const std::string offset =
        bypasses_cache(problem, target, output)
            ? line_offset({problem, implementation, target, emitter}, output, place, block)
            : "";
    if (offset.empty()) {
      emitter.emit_store(output, place, vector, block);
      continue;
    }
    const auto& outputs = problem.candidate->outputs;
    const std::string to =
        fmt::format("out{}+{}", std::find(outputs.begin(), outputs.end(), output) - outputs.begin(), offset);
    // The caller's buffer of a graph output need not be aligned.
    block.code +=
        fmt::format("if(((unsigned long)({0})&{1})==0)__builtin_nontemporal_store({2},(v{3}*)({0}));else{{\n",
                    to, block.lanes * 4 - 1, vector, block.lanes);
    emitter.emit_store(output, place, vector, block);
    block.code += "}\n";
  }
}

std::string fence_text(const Problem& problem, const Target& target) {
  for (ValueId output : problem.candidate->outputs)
    if (bypasses_cache(problem, target, output)) return "__builtin_ia32_sfence();";
  return "";
}

std::string emit_epilogue(const std::string& name, const Problem& problem,
                          const Implementation& implementation, const Target& target,
                          tile::ValueEmitter& emitter, const EpilogueTile& tile, const EpilogueRows& rows) {
  const Context context{problem, implementation, target, emitter};
  std::string text = fmt::format(
      "static __attribute__((noinline)) int32_t {}(const korch_kernel_context*context,const "
      "float*tile,int64_t image,"
      "int64_t group,int64_t y,int64_t x0,int64_t block){{\n(void)image;(void)group;(void)y;(void)block;\n",
      name);
  text += emitter.argument_declarations();
  switch (rows.store) {
    case TileStore::columns:
      emit_by_columns(text, context, tile, rows);
      break;
    case TileStore::rows: {
      const int64_t pitch = (tile.rows + 15) / 16 * 16;
      emit_turned_tile(text, tile, pitch);
      emit_by_rows(text, context, tile, rows, pitch);
      break;
    }
    case TileStore::turned_rows:
      text += "const float*turned=tile;\n";
      emit_by_rows(text, context, tile, rows, tile.tile_pitch);
      break;
  }
  return text + "return 0;}\n";
}

}  // namespace korch::linear
