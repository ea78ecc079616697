#include "korch/codegen/cuda/cuda_nest_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/codegen/cpu/rank_printer.h"
#include "korch/codegen/cuda/matrix_product.h"
#include "korch/codegen/cuda/pipeline.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/codegen/passes/vectorize.h"
#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

constexpr int kWarp = 32;
// Loads of several points before the first is used.
constexpr const char* kInFlight = "#pragma unroll 4";
constexpr size_t kMostInFlight = 16;  // loads of four elements: registers hold the results of no more
constexpr int kQuad = 4;              // float32 elements that a thread loads or stores at once

// How points of a map are unrolled that loads four elements at a time.
const char* quads_in_flight(const TileGraph& graph, const Nest& nest) {
  size_t loads = 0;
  for (int id : graph.pool.reachable(nest.roots())) loads += graph.pool[id].kind == ExprKind::load;
  return loads * 4 <= kMostInFlight   ? kInFlight
         : loads * 2 <= kMostInFlight ? "#pragma unroll 2"
                                      : "#pragma unroll 1";
}

int64_t fixed_count(const std::vector<LoopVariable>& loops) {
  int64_t count = 1;
  for (const LoopVariable& loop : loops) count *= loop.extent;
  return count;
}

// Whether points that differ along the innermost loop never meet, whatever the others are.
bool never_meet(const TileGraph& graph, const Nest& nest) {
  if (nest.loops.empty() || !scatters_in_lanes(graph, nest, nest.loops.back().name)) return false;
  const Index& offset = nest.stores[0].offset;
  const int64_t span = nest.loops.back().extent * std::abs(offset.stride(nest.loops.back().name));
  return std::all_of(offset.terms().begin(), offset.terms().end(), [&](const Index::Term& term) {
    return term.atom->name == nest.loops.back().name || term.coefficient % span == 0;
  });
}

// Whether `width` values of the variable are accessed at once, or are as far from each other as whole
// sectors. Others that are near take fewer sectors where neighbouring threads have neighbours.
bool may_be_together(const Index& offset, const std::string& variable, int width) {
  constexpr int64_t kSector = 8;
  if (!offset.affine_in(variable) || !offset.dynamics().empty()) return false;
  const int64_t stride = std::abs(offset.stride(variable));
  return stride == 0 || stride >= kSector || is_aligned(offset, variable, width);
}

}  // namespace

Nest as_printed(const TileGraph& graph, const Phase& phase, const Nest& nest, const NestSchedule& schedule) {
  Nest result = nest;
  if (nest.kind == NestKind::scatter) return result;
  const std::string turned = turned_along(graph, phase, nest);
  const std::string fast = !turned.empty() ? turned
                           : schedule.variable.empty() || schedule.across
                               ? choose_lanes(graph, phase, nest, kWarp).variable
                               : schedule.variable;
  for (size_t i = 0; i + 1 < result.loops.size(); ++i)
    if (result.loops[i].name == fast) std::swap(result.loops[i], result.loops.back());
  return result;
}

namespace {

bool reads_along_reduced(const TileGraph& graph, const Nest& nest) {
  const std::string& along = nest.reduced.back().name;
  const std::string fast = nest.loops.empty() ? "" : nest.loops.back().name;
  int votes = fixed_count(nest.loops) < kWarp ? 1 : 0;
  for (int id : graph.pool.reachable(nest.roots())) {
    const Expr& e = graph.pool[id];
    if (e.kind != ExprKind::load) continue;
    const Index& offset = e.coords[0];
    votes += offset.affine_in(along) && offset.stride(along) == 1 ? 1 : 0;
    votes -= offset.affine_in(fast) && offset.stride(fast) == 1 ? 1 : 0;
  }
  return votes > 0;
}

}  // namespace

ReduceBy reduce_by(const TileGraph& graph, const Nest& printed) {
  const DType type = graph.pool[printed.stores[0].value].type;
  const int64_t results = fixed_count(printed.loops), terms = fixed_count(printed.reduced);
  const bool can_shuffle =
      type == DType::f32 || type == DType::f64 || type == DType::i32 || type == DType::i64;
  if (can_shuffle && terms >= kWarp && results >= kCudaThreads / kWarp && reads_along_reduced(graph, printed))
    return ReduceBy::warp;
  return results >= kWarp ? ReduceBy::thread : ReduceBy::block;
}

void CudaNestPrinter::print(const Nest& nest, const NestSchedule& schedule) {
  const auto tile = nest.kind == NestKind::reduce ? held_.find(nest.stores[0].buffer) : held_.end();
  const HeldReader reader = held_reader(graph_, nest, held_);
  emitter_.open(nest.first_slice_only ? "if (slice == 0)" : "");
  if (tile != held_.end() && tile->second.matrix_units)
    print_matrix_product(graph_, nest, tile->second, emitter_, source_);
  else if (tile != held_.end())
    print_held_product(nest, tile->second);
  else if (reader.buffer >= 0)
    print_held_map(nest, reader);
  else
    print_ordered(as_printed(graph_, phase_, nest, schedule));
  emitter_.close();
}

void CudaNestPrinter::print_ordered(const Nest& nest) {
  switch (nest.kind) {
    case NestKind::map:
      if (const auto turned =
              nest.loops.empty() ? std::nullopt : turned_load(graph_, phase_, nest, nest.loops.back().name))
        return print_turned_map(nest, *turned);
      return print_map(nest);
    case NestKind::scatter:
      return print_scatter(nest);
    case NestKind::reduce:
      return print_reduce(nest);
    case NestKind::arg_reduce:
    case NestKind::scan:
      return print_reduce_by_thread(nest);
    case NestKind::top_k:
    case NestKind::suppress:
      return print_ranked(nest);
  }
}

// How many values the loops take together, over `divisor`, as text: a chunked variable's count is known at
// run time.
std::string CudaNestPrinter::count_of(const std::vector<LoopVariable>& loops, int64_t divisor) const {
  int64_t fixed = 1;
  std::string text;
  for (const LoopVariable& loop : loops) {
    if (phase_.chunked(loop.name) != nullptr)
      text += fmt::format("({0}_end - {0}_begin) * ", loop.name);
    else
      fixed *= loop.extent;
  }
  if (fixed % divisor == 0) return text + std::to_string(fixed / divisor);
  return fmt::format("{}{} / {}", text, fixed, divisor);
}

// Points first, first + step, ... of the loops, the last variable changing fastest, by `quad` values of it.
void CudaNestPrinter::open_points(const std::vector<LoopVariable>& loops, const std::string& first,
                                  const std::string& step, int64_t quad) {
  const std::string point = emitter_.fresh("p"), count = count_of(loops, quad);
  const bool chunked = std::any_of(loops.begin(), loops.end(), [&](const LoopVariable& loop) {
    return phase_.chunked(loop.name) != nullptr;
  });
  const std::string type = !chunked && fixed_count(loops) <= INT32_MAX ? "uint32_t" : emitter_.index_type();
  emitter_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", type, point, first, count, step));
  if (loops.size() > 1) emitter_.line(fmt::format("{} {}_rest = {};", type, point, point));
  for (size_t i = loops.size(); i-- > 0;) {
    const std::string& name = loops[i].name;
    const int64_t width = i + 1 == loops.size() ? quad : 1;
    const bool own = phase_.chunked(name) != nullptr;
    std::string extent = own ? fmt::format("({0}_end - {0}_begin)", name) : std::to_string(loops[i].extent);
    if (width > 1)
      extent = own ? fmt::format("({} / {})", extent, width) : std::to_string(loops[i].extent / width);
    std::string value = loops.size() > 1 ? point + "_rest" : point;
    if (i > 0) value = fmt::format("{} % {}", value, extent);
    if (width > 1) value = fmt::format("({}) * {}", value, width);
    emitter_.line(fmt::format("const {} {} = {}{};", emitter_.index_type(), name,
                              own ? name + "_begin + " : "", value));
    if (i > 0) emitter_.line(fmt::format("{}_rest /= {};", point, extent));
  }
}

// Whether every thread may have `width` values of the variable: of float32 alone, found and put by address.
bool CudaNestPrinter::runs_together(const Nest& nest, const std::string& variable, int width) const {
  for (const LoopVariable& loop : nest.loops)
    if (loop.name == variable && loop.extent % width != 0) return false;
  if (const GridVariable* chunked = phase_.chunked(variable))
    if (chunked->chunk % width != 0) return false;
  for (const Store& store : nest.stores)
    if (!may_be_together(store.offset, variable, width) || store.offset.stride(variable) == 0 ||
        graph_.buffers[store.buffer].type != DType::f32 || !same_for_lanes(store.condition, variable, width))
      return false;
  for (int id : graph_.pool.reachable(nest.roots())) {
    const Expr& e = graph_.pool[id];
    if (e.type != DType::f32 || e.kind == ExprKind::fold || e.kind == ExprKind::checked) return false;
    if (e.kind == ExprKind::guard && !same_for_lanes(e.condition, variable, width)) return false;
    if (e.kind == ExprKind::load && !may_be_together(e.coords[0], variable, width)) return false;
  }
  return true;
}

void CudaNestPrinter::store(const Store& store, const std::string& value, bool quad) {
  emitter_.store(graph_.name(store.buffer), store.offset, graph_.buffers[store.buffer].type, value, quad);
}

void CudaNestPrinter::store_all(const std::vector<Store>& stores, bool quad) {
  for (const Store& place : stores) {
    const bool always = place.condition.always_true();
    if (!always) emitter_.open(fmt::format("if ({})", tile::print(place.condition)));
    store(place, quad ? emitter_.emit_full(place.value) : emitter_.emit(place.value).text, quad);
    if (!always) emitter_.close();
  }
}

// What is computed at every point and the same for all values of the loops; nothing if the nest reads what it
// writes.
void CudaNestPrinter::hoist(const Nest& nest, const std::vector<LoopVariable>& loops) {
  const std::vector<int> roots = always_stored(nest.stores);
  std::set<std::string> others;
  for (int id : graph_.pool.reachable(roots))
    for (const Store& store : nest.stores)
      if (graph_.pool[id].kind == ExprKind::load && graph_.pool[id].buffer == store.buffer) return;
  for (int id : graph_.pool.unconditional(roots))
    others.insert(graph_.pool.variables(id).begin(), graph_.pool.variables(id).end());
  for (const LoopVariable& loop : loops) others.erase(loop.name);
  emitter_.hoist(roots, others);
}

// The thread's first point. Eight threads write 16 bytes each to shared memory at once: of lines of 16 floats
// two, whose banks may overlap, as those of neighbouring lines of a panel do (`panel_of`). Then the second
// line is another one, with the other banks: which thread has which point does not matter otherwise.
std::string CudaNestPrinter::first_point(const Nest& nest, bool quad) const {
  constexpr int64_t kBanks = 32, kHalf = kBanks / 2;
  constexpr int kLineBit = 2;  // of the point: line beside line
  const Index& to = nest.stores[0].offset;
  if (!quad || nest.loops.back().extent != kHalf ||
      graph_.buffers[nest.stores[0].buffer].role != BufferRole::scratch)
    return "threadIdx.x";
  int bit = kLineBit;
  for (size_t i = nest.loops.size() - 1; i-- > 0 && to.affine_in(nest.loops[i].name);) {
    int64_t extent = nest.loops[i].extent, distance = to.stride(nest.loops[i].name);
    for (; extent % 2 == 0 && 2 << bit <= kCudaThreads; extent /= 2, distance *= 2, ++bit) {
      if (distance % kBanks != kHalf) continue;
      if (bit == kLineBit) return "threadIdx.x";
      return fmt::format("(threadIdx.x & ~{} | (threadIdx.x & {}) << {} | (threadIdx.x & {}) >> {})",
                         1 << kLineBit | 1 << bit, 1 << kLineBit, bit - kLineBit, 1 << bit, bit - kLineBit);
    }
    if (extent != 1) break;
  }
  return "threadIdx.x";
}

void CudaNestPrinter::print_map(const Nest& nest) {
  hoist(nest, nest.loops);
  const bool quad = !nest.loops.empty() && fixed_count(nest.loops) >= kQuad * kCudaThreads &&
                    runs_together(nest, nest.loops.back().name, kQuad);
  emitter_.line(quad ? quads_in_flight(graph_, nest) : kInFlight);
  open_points(nest.loops, first_point(nest, quad), std::to_string(kCudaThreads), quad ? kQuad : 1);
  if (quad) emitter_.set_lanes(nest.loops.back().name, kQuad, "");
  store_all(nest.stores, quad);
  emitter_.set_lanes("", 1, "");
  emitter_.close();
}

// Tile by tile, through shared memory: a warp reads a line along one loop, then writes one along the other.
void CudaNestPrinter::print_turned_map(const Nest& nest, const TurnedLoad& turned) {
  uses_turned_ = true;
  const LoopVariable across = nest.loops.back();
  const std::string tile = emitter_.fresh("tile"), shared = emitter_.fresh("turned");
  const auto end = [&](const LoopVariable& loop) {
    return phase_.chunked(loop.name) != nullptr ? loop.name + "_end" : std::to_string(loop.extent);
  };
  const auto begin = [&](const LoopVariable& loop) {
    return phase_.chunked(loop.name) != nullptr ? loop.name + "_begin" : std::string("0");
  };
  std::string count = "1", rest = tile;
  std::vector<std::string> firsts;
  for (size_t i = nest.loops.size(); i-- > 0;) {
    const LoopVariable& loop = nest.loops[i];
    const bool in_tiles = loop.name == across.name || loop.name == turned.along;
    const int64_t side = in_tiles ? kTurnedSide : 1;
    const std::string values = fmt::format("(({} - {} + {}) / {})", end(loop), begin(loop), side - 1, side);
    firsts.push_back(fmt::format("const {} {}{} = {} + {} / ({}) % {} * {};", emitter_.index_type(),
                                 loop.name, in_tiles ? "_first" : "", begin(loop), tile, count, values,
                                 side));
    count += " * " + values;
  }
  const std::string type = type_name(graph_.pool[turned.load].type, 1);
  emitter_.open("");
  emitter_.line(fmt::format("{0}* const {1} = ({0}*)turned;", type, shared));
  emitter_.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", emitter_.index_type(), tile, count));
  for (const std::string& first : firsts) emitter_.line(first);
  const auto lines = [&](const std::string& along_warp, const std::string& along_lines) {
    emitter_.line(kInFlight);
    emitter_.open(fmt::format("for (int line = threadIdx.x / {0}; line < {1}; line += {2})", kWarp,
                              kTurnedSide, kCudaThreads / kWarp));
    for (const auto& [name, within] : {std::pair(along_warp, fmt::format("(int)(threadIdx.x % {})", kWarp)),
                                       std::pair(along_lines, std::string("line"))})
      emitter_.line(fmt::format("const {0} {1} = {1}_first + {2};", emitter_.index_type(), name, within));
    std::string inside;
    for (const LoopVariable& loop : nest.loops)
      if (loop.name == along_warp || loop.name == along_lines)
        inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", loop.name, end(loop));
    emitter_.open("if (" + inside + ")");
  };
  lines(turned.along, across.name);
  emitter_.line(fmt::format("{}[line * {} + threadIdx.x % {}] = {};", shared, kTurnedSide + 1, kWarp,
                            emitter_.emit(turned.load).text));
  emitter_.close();
  emitter_.close();
  emitter_.line("__syncthreads();");
  lines(across.name, turned.along);
  emitter_.preset(turned.load,
                  fmt::format("{}[threadIdx.x % {} * {} + line]", shared, kWarp, kTurnedSide + 1), false);
  store_all(nest.stores);
  emitter_.close();
  emitter_.close();
  emitter_.line("__syncthreads();");
  emitter_.close();
  emitter_.close();
}

void CudaNestPrinter::print_fill(const Nest& nest, const NestSchedule& schedule) {
  const std::optional<int> load = copied_load(graph_, nest);
  source_.use_copies();
  if (!load) return print(nest, schedule);
  emitter_.open("");
  print_copy(as_printed(graph_, phase_, nest, schedule), *load);
  emitter_.close();
}

// Past the registers; zeros where nothing is inside.
void CudaNestPrinter::print_copy(const Nest& nest, int load) {
  const Store& to = nest.stores[0];
  const Expr &from = graph_.pool[load], &value = graph_.pool[to.value];
  const std::string& fast = nest.loops.back().name;
  const bool quad = runs_together(nest, fast, kQuad) && is_aligned(to.offset, fast, kQuad) &&
                    is_aligned(from.coords[0], fast, kQuad);
  emitter_.line(kInFlight);
  open_points(nest.loops, first_point(nest, quad), std::to_string(kCudaThreads), quad ? kQuad : 1);
  const std::string at = emitter_.index(from.coords[0]);
  const std::string inside =
      value.kind == ExprKind::guard ? tile::print(value.condition) : std::string("true");
  emitter_.line(fmt::format("const bool inside = {};", inside));
  emitter_.line(fmt::format("copy_async<{0}>({1} + ({2}), {3} + (inside ? {4} : 0), inside);",
                            (quad ? kQuad : 1) * size_bytes(DType::f32), graph_.name(to.buffer),
                            emitter_.index(to.offset), graph_.name(from.buffer), at));
  emitter_.close();
}

// Threads along the innermost loop where its points never meet, each of them in order; else one alone.
void CudaNestPrinter::print_scatter(const Nest& nest) {
  std::vector<LoopVariable> in_order = nest.loops;
  if (never_meet(graph_, nest)) {
    open_points({in_order.back()}, "threadIdx.x", std::to_string(kCudaThreads));
    in_order.pop_back();
  } else {
    emitter_.open("if (threadIdx.x == 0)");
  }
  open_points(in_order, "0", "1");
  store_all(nest.stores);
  emitter_.close();
  emitter_.close();
}

// One row per thread.
void CudaNestPrinter::print_ranked(const Nest& nest) {
  open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
  print_ranking(graph_, nest, emitter_, source_);
  emitter_.close();
}

// Every thread adds to its own results what it reads of rows and columns, term by term.
void CudaNestPrinter::print_held_product(const Nest& nest, const HeldTile& tile) {
  const Product product = *product_of(graph_, nest);
  const std::string name = graph_.name(nest.stores[0].buffer);
  const int64_t high = tile.thread_rows, wide = tile.thread_columns / kQuad;
  source_.use_lanes(kQuad);
  const auto each_result = [&](const std::string& head, const std::string& value) {
    emitter_.open(head);
    emitter_.line("#pragma unroll");
    emitter_.open(fmt::format("for (int i = 0; i < {}; ++i)", high));
    emitter_.line("#pragma unroll");
    emitter_.line(fmt::format("for (int j = 0; j < {}; ++j) {}[i][j] = {};", wide, name, value));
    emitter_.close();
    emitter_.close();
  };
  if (!nest.anew.always_false())
    each_result(nest.anew.always_true() ? "" : fmt::format("if ({})", tile::print(nest.anew)),
                "splat_f32x4(0.0f)");
  constexpr int64_t kManyTerms = 32;  // more are not spelled out
  for (const LoopVariable& loop : nest.reduced) {
    emitter_.line(loop.extent < kManyTerms ? "#pragma unroll" : "#pragma unroll 8");
    emitter_.open(
        fmt::format("for ({2} {0} = 0; {0} < {1}; ++{0})", loop.name, loop.extent, emitter_.index_type()));
  }
  emitter_.line(fmt::format("f32x4 a[{}], b[{}];", high / kQuad, wide));
  const auto fill = [&](const char* to, int64_t blocks, const std::string& variable, const std::string& first,
                        int64_t step, int buffer, const Index& offset) {
    emitter_.line("#pragma unroll");
    emitter_.open(fmt::format("for (int i = 0; i < {}; ++i)", blocks));
    emitter_.line(
        fmt::format("const {} {} = {}_{} + i * {};", emitter_.index_type(), variable, name, first, step));
    emitter_.set_lanes(variable, kQuad, "");
    emitter_.line(
        fmt::format("{}[i] = {};", to, emitter_.stored(graph_.name(buffer), offset, DType::f32, true)));
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  };
  fill("a", high / kQuad, product.row, "row", tile.row_step(), product.a_buffer, product.a);
  fill("b", wide, product.column, "column", tile.column_step(), product.b_buffer, product.b);
  each_result("", name + "[i][j] + splat_f32x4(a[i / 4][i % 4]) * b[j]");
  for (size_t i = 0; i < nest.reduced.size(); ++i) emitter_.close();
}

// Every thread on its own results.
void CudaNestPrinter::print_held_map(const Nest& nest, const HeldReader& reader) {
  const HeldTile& tile = held_.at(reader.buffer);
  const std::string name = graph_.name(reader.buffer);
  const int width = tile.neighbours();
  const bool quad = !reader.column.name.empty() && runs_together(nest, reader.column.name, width);
  const std::string column = reader.column.name.empty() ? "column" : reader.column.name;
  emitter_.line("#pragma unroll");
  emitter_.open(fmt::format("for (int i = 0; i < {}; ++i)", tile.thread_rows));
  std::string rest = fmt::format("({}_row + {})", name, tile.row_of("i"));
  std::string inside;
  int64_t below = tile.rows;
  for (const HeldReader::Row& row : reader.rows) {
    emitter_.line(
        fmt::format("const {} {} = {} / {};", emitter_.index_type(), row.loop.name, rest, row.unit));
    if (row.loop.extent * row.unit < below)
      inside += fmt::format("{} < {} && ", row.loop.name, row.loop.extent);
    rest = fmt::format("{} % {}", rest, row.unit);
    below = row.unit;
  }
  if (below > 1) inside += fmt::format("{} == 0 && ", rest);
  emitter_.line("#pragma unroll");
  emitter_.open(
      fmt::format("for (int j = 0; j < {}; ++j)", quad ? tile.thread_columns / width : tile.thread_columns));
  const std::string first = fmt::format("const {} {} = {}_column", emitter_.index_type(), column, name);
  emitter_.line(quad ? fmt::format("{} + j * {};", first, tile.column_step())
                     : fmt::format("{} + {};", first, tile.column_of("j")));
  if (reader.column.extent < tile.columns) inside += fmt::format("{} < {} && ", column, reader.column.extent);
  emitter_.open(inside.empty() ? "" : "if (" + inside.substr(0, inside.size() - 4) + ")");
  if (quad) emitter_.set_lanes(column, width, "");
  for (const auto& [buffer, load] : reader.loads)
    emitter_.preset(
        load,
        quad ? tile.together(graph_.name(buffer), "i", "j") : tile.result(graph_.name(buffer), "i", "j"),
        quad);
  for (const Store& place : nest.stores) {
    if (held_.count(place.buffer) == 0)
      store_all({place}, quad);
    else
      emitter_.line(tile.put(graph_.name(place.buffer), "i", "j",
                             quad ? emitter_.emit_full(place.value) : emitter_.emit(place.value).text, quad));
  }
  emitter_.set_lanes("", 1, "");
  for (int scope = 0; scope < 3; ++scope) emitter_.close();
}

void CudaNestPrinter::accumulate(const Nest& nest, const std::string& accumulator) {
  const DType type = graph_.pool[nest.stores[0].value].type;
  const bool always = nest.stores[0].condition.always_true();
  if (!always) emitter_.open(fmt::format("if ({})", tile::print(nest.stores[0].condition)));
  for (size_t i = 1; i < nest.stores.size(); ++i)
    store(nest.stores[i], emitter_.emit(nest.stores[i].value).text);
  const std::string element = emitter_.emit(nest.stores[0].value).text;
  if (nest.kind == NestKind::arg_reduce)
    emitter_.take_extreme(nest.combine, type, accumulator, accumulator + "_at", element,
                          emitter_.index(nest.position), nest.select_last, nest.nan_wins);
  else
    emitter_.line(
        fmt::format("{} = {};", accumulator, emitter_.combine(nest.combine, type, accumulator, element, 1)));
  if (nest.kind == NestKind::scan) store(nest.stores[0], accumulator);
  if (!always) emitter_.close();
}

// Combined with what is stored, where the nest does not begin anew.
void CudaNestPrinter::store_reduced(const Nest& nest, const std::string& value) {
  const Store& place = nest.stores[0];
  if (nest.anew.always_true()) return store(place, value);
  const DType type = graph_.pool[place.value].type;
  const std::string name = emitter_.fresh("a");
  emitter_.line(fmt::format("{} {} = {};", type_name(type, 1), name, value));
  emitter_.open(fmt::format("if (!({}))", tile::print(nest.anew)));
  const std::string before = emitter_.stored(graph_.name(place.buffer), place.offset, type, false);
  emitter_.line(fmt::format("{} = {};", name, emitter_.combine(nest.combine, type, before, name, 1)));
  emitter_.close();
  store(place, name);
}

void CudaNestPrinter::print_reduce(const Nest& nest) {
  switch (reduce_by(graph_, nest)) {
    case ReduceBy::thread:
      return print_reduce_by_thread(nest);
    case ReduceBy::warp:
      return print_reduce_by_warp(nest);
    case ReduceBy::block:
      return print_reduce_by_block(nest);
  }
}

// The threads of a warp on one kept element; their parts are combined in registers.
void CudaNestPrinter::print_reduce_by_warp(const Nest& nest) {
  const DType type = graph_.pool[nest.stores[0].value].type;
  open_points(nest.loops, fmt::format("threadIdx.x / {}", kWarp), std::to_string(kCudaThreads / kWarp));
  const std::string accumulator = emitter_.accumulator(nest.combine, type, 1, false);
  hoist(nest, nest.reduced);
  emitter_.line(kInFlight);
  open_points(nest.reduced, fmt::format("threadIdx.x % {}", kWarp), std::to_string(kWarp));
  accumulate(nest, accumulator);
  emitter_.close();
  emitter_.open(fmt::format("for (int other = {}; other > 0; other /= 2)", kWarp / 2));
  const std::string theirs = emitter_.fresh("theirs");
  emitter_.line(fmt::format("const {} {} = __shfl_xor_sync(0xffffffffu, {}, other);", type_name(type, 1),
                            theirs, accumulator));
  emitter_.line(
      fmt::format("{} = {};", accumulator, emitter_.combine(nest.combine, type, accumulator, theirs, 1)));
  emitter_.close();
  emitter_.open(fmt::format("if (threadIdx.x % {} == 0)", kWarp));
  store_reduced(nest, accumulator);
  emitter_.close();
  emitter_.close();
}

// One kept element per thread.
void CudaNestPrinter::print_reduce_by_thread(const Nest& nest) {
  const bool arg = nest.kind == NestKind::arg_reduce;
  open_points(nest.loops, "threadIdx.x", std::to_string(kCudaThreads));
  const std::string accumulator =
      emitter_.accumulator(nest.combine, graph_.pool[nest.stores[0].value].type, 1, arg);
  hoist(nest, nest.reduced);
  emitter_.line(kInFlight);
  open_points(nest.reduced, "0", "1");
  accumulate(nest, accumulator);
  emitter_.close();
  if (nest.kind != NestKind::scan) store_reduced(nest, accumulator + (arg ? "_at" : ""));
  emitter_.close();
}

// All threads on one kept element; their parts are combined through shared memory.
void CudaNestPrinter::print_reduce_by_block(const Nest& nest) {
  const DType type = graph_.pool[nest.stores[0].value].type;
  const std::string parts = emitter_.fresh("parts");
  uses_parts_ = true;
  emitter_.line(fmt::format("{0}* const {1} = ({0}*)parts;", type_name(type, 1), parts));
  open_points(nest.loops, "0", "1");
  const std::string accumulator = emitter_.accumulator(nest.combine, type, 1, false);
  hoist(nest, nest.reduced);
  emitter_.line(kInFlight);
  open_points(nest.reduced, "threadIdx.x", std::to_string(kCudaThreads));
  accumulate(nest, accumulator);
  emitter_.close();
  emitter_.line(fmt::format("{}[threadIdx.x] = {};", parts, accumulator));
  emitter_.line("__syncthreads();");
  emitter_.open(fmt::format("for (int half = {}; half > 0; half /= 2)", kCudaThreads / 2));
  emitter_.line(fmt::format(
      "if (threadIdx.x < half) {0}[threadIdx.x] = {1};", parts,
      emitter_.combine(nest.combine, type, parts + "[threadIdx.x]", parts + "[threadIdx.x + half]", 1)));
  emitter_.line("__syncthreads();");
  emitter_.close();
  emitter_.open("if (threadIdx.x == 0)");
  store_reduced(nest, parts + "[0]");
  emitter_.close();
  emitter_.line("__syncthreads();");
  emitter_.close();
}

}  // namespace korch::tile
