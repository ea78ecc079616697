#include "korch/codegen/linear/epilogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/linear/micro_kernel.h"

namespace korch::linear {

namespace {

struct Variables {
  Index image, group, y, x, block;
};

Variables variables(const EpilogueTile& tile, const EpilogueRows& rows) {
  return {Index::variable("image", rows.images), Index::variable("group", rows.groups), Index::variable("y", rows.height),
          Index::variable("x", rows.width), Index::variable("block", tile.block_count)};
}

// Computes and stores every output for the accumulators that `provider` names.
void emit_outputs(const Problem& problem, loop::ValueEmitter& emitter, const Coords& result, const std::string& acc,
                  loop::Block& block) {
  emitter.provide(problem.value, [&](const std::vector<Index>&) { return acc; });
  for (const auto& [output, coords] : output_coords(problem, result)) {
    const std::string vector = emitter.emit(output, coords, block);
    emitter.emit_store(output, coords, vector, block);
  }
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
void emit_by_columns(std::string& text, const Problem& problem, loop::ValueEmitter& emitter, const EpilogueTile& tile,
                     const EpilogueRows& rows) {
  const Variables v = variables(tile, rows);
  text += fmt::format("for(int64_t r=0;r<{};++r){{const int64_t x=x0+r;(void)x;\n", tile.rows);
  int64_t offset = 0;
  for (size_t i = 0; i < tile.lanes.size();) {
    const int width = tile.lanes[i];
    const int64_t run = equal_full_vectors(tile, i, offset);
    const int64_t valid = std::min<int64_t>(width, tile.valid_columns - offset);
    if (valid <= 0) break;
    loop::Block block{.vector_variable = "l", .lanes = width, .count = valid < width ? std::to_string(valid) : "", .code = "",
                      .indent = "  "};
    const Index lane = Index::variable("l", width);
    const Index step = Index::variable("j", run);
    const Index column = v.group * rows.columns + tile.column_base + v.block * tile.block_columns + offset + step * width + lane;
    text += fmt::format("for(int64_t j=0;j<{};++j){{const int64_t l=0;(void)l;\n", run);
    text += fmt::format("const v{0} acc=*(const v{0}u*)(tile+r*{1}+{2}+j*{0});\n", width, tile.tile_pitch, offset);
    emit_outputs(problem, emitter, rows.result_coords(v.image, v.y, v.x, column), "acc", block);
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
  text += fmt::format("for(int64_t r=0;r<{};r+=4)for(int64_t c=0;c<{};c+=4)\n{}", (tile.rows + 3) / 4 * 4, lanes,
                      emit_turn({tile_row(0), tile_row(1), tile_row(2), tile_row(3)},
                                {turned_row(0), turned_row(1), turned_row(2), turned_row(3)}));
}

// Vectors along rows, from turned[column][row].
void emit_by_rows(std::string& text, const Problem& problem, loop::ValueEmitter& emitter, const EpilogueTile& tile,
                  const EpilogueRows& rows, int64_t pitch, int widest) {
  const Variables v = variables(tile, rows);
  text += fmt::format("for(int64_t c=0;c<{};++c){{\n", tile.valid_columns);
  const Index c = Index::variable("c", tile.valid_columns);
  const Index column = v.group * rows.columns + tile.column_base + v.block * tile.block_columns + c;
  for (int64_t r = 0; r < tile.rows; r += widest) {
    const int64_t valid = std::min<int64_t>(widest, tile.rows - r);
    int width = widest;
    while (width > 4 && width / 2 >= valid) width /= 2;
    loop::Block block{.vector_variable = "x", .lanes = width, .count = valid < width ? std::to_string(valid) : "", .code = "",
                      .indent = "  "};
    text += fmt::format("{{const int64_t x=x0+{};(void)x;const v{} acc=*(const v{}u*)(turned+c*{}+{});\n", r, width, width, pitch, r);
    emit_outputs(problem, emitter, rows.result_coords(v.image, v.y, v.x, column), "acc", block);
    text += block.code + "}\n";
  }
  text += "}\n";
}

}  // namespace

std::string emit_epilogue(const std::string& name, const Problem& problem, loop::ValueEmitter& emitter,
                          const EpilogueTile& tile, const EpilogueRows& rows, int widest) {
  std::string text = fmt::format(
      "static __attribute__((noinline)) int32_t {}(const korch_kernel_context*context,const float*tile,int64_t image,"
      "int64_t group,int64_t y,int64_t x0,int64_t block){{\n(void)image;(void)group;(void)y;(void)block;\n",
      name);
  text += emitter.argument_declarations();
  switch (rows.store) {
    case TileStore::columns:
      emit_by_columns(text, problem, emitter, tile, rows);
      break;
    case TileStore::rows: {
      const int64_t pitch = (tile.rows + 15) / 16 * 16;
      emit_turned_tile(text, tile, pitch);
      emit_by_rows(text, problem, emitter, tile, rows, pitch, widest);
      break;
    }
    case TileStore::turned_rows:
      text += "const float*turned=tile;\n";
      emit_by_rows(text, problem, emitter, tile, rows, tile.tile_pitch, widest);
      break;
  }
  return text + "return 0;}\n";
}

}  // namespace korch::linear
