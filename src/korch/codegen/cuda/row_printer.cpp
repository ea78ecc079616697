#include "korch/codegen/cuda/row_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cuda/print_cuda.h"

namespace korch::tile {
namespace {

constexpr int64_t kWarpLanes = 32;
constexpr int64_t kBlockWarps = kCudaThreads / kWarpLanes;
constexpr int64_t kFewPoints = 8;  // of which a thread has all loads under way at once

bool has_columns(const RowGroup& group, const Nest& nest) {
  return nest.kind == NestKind::reduce || nest.loops.back().name == group.column.name;
}

}  // namespace

void RowPrinter::print(const RowGroup& group) {
  kept_.clear();
  reduces_ = 0;
  open_rows(group);
  for (size_t i = group.first; i < group.end; ++i) print_nest(group, i);
  if (reduces_ == 1 && group.row.extent > 1) emitter_.line("__syncthreads();");
  emitter_.close();
}

void RowPrinter::open_rows(const RowGroup& group) {
  const LoopVariable& row = group.row;
  const std::string& type = emitter_.index_type();
  if (row.extent == 1 && group.team == kCudaThreads) return emitter_.open("");
  const std::string first = group.team == kCudaThreads ? "0"
                            : group.team == 1          ? "threadIdx.x"
                                                       : fmt::format("threadIdx.x / {}", group.team);
  emitter_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", type, row.name, first, row.extent,
                            kCudaThreads / group.team));
}

// Which of the thread's points it is, as an index of what is kept.
std::string RowPrinter::open_columns(const RowGroup& group, bool unrolled) {
  const int64_t points = group.points(), step = group.team * group.lanes;
  const auto product = [](const std::string& text, int64_t factor) {
    return factor == 1 ? text : fmt::format("{} * {}", text, factor);
  };
  const std::string point = points == 1 ? "" : emitter_.fresh("p");
  std::string column = points == 1 ? "" : product(point, step);
  if (group.team > 1)
    column +=
        (column.empty() ? "" : " + ") +
        product(group.team == kCudaThreads ? "threadIdx.x" : fmt::format("threadIdx.x % {}", group.team),
                group.lanes);
  if (column.empty()) column = "0";
  if (points > 1) {
    emitter_.line(unrolled || points <= kFewPoints ? "#pragma unroll" : "#pragma unroll 4");
    emitter_.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", emitter_.index_type(), point, points));
  } else {
    emitter_.open("");
  }
  emitter_.line(fmt::format("const {} {} = {};", emitter_.index_type(), group.column.name, column));
  emitter_.open(points * step == group.column.extent
                    ? ""
                    : fmt::format("if ({} < {})", group.column.name, group.column.extent));
  emitter_.set_lanes(group.column.name, group.lanes, "", true);
  const std::string at = points == 1 ? "" : "[" + point + "]";
  for (const auto& [node, name] : kept_) emitter_.preset(node, name + at, group.lanes > 1);
  return at;
}

// What is the same for all columns.
void RowPrinter::hoist(const RowGroup& group, size_t number) {
  const Nest& nest = phase_.nests[number];
  const std::set<int> needed = group.needed(graph_.pool, nest, number - group.first);
  for (int id : graph_.pool.unconditional(always_stored(nest.stores)))
    if (needed.count(id) != 0 && graph_.pool[id].kind != ExprKind::constant &&
        graph_.pool.variables(id).count(group.column.name) == 0)
      emitter_.emit(id);
}

// One nest; what later ones need of it stays in arrays, which the compiler keeps in registers.
void RowPrinter::print_nest(const RowGroup& group, size_t number) {
  const Nest& nest = phase_.nests[number];
  std::map<int, std::string> keeps;
  // With a first value, though nobody reads it: else the last slice's would have to live on.
  for (int node : group.kept[number - group.first]) {
    keeps[node] = emitter_.fresh("kept");
    emitter_.line(fmt::format("{} {}{} = {{}};", type_name(graph_.pool[node].type, group.lanes), keeps[node],
                              group.points() == 1 ? "" : fmt::format("[{}]", group.points())));
  }
  if (nest.kind == NestKind::reduce) {
    print_reduce(group, number, keeps);
  } else if (has_columns(group, nest)) {
    emitter_.open("");
    print_columns(group, number, keeps, "");
    emitter_.close();
  } else {
    open_first_of_team(group);
    store(nest, 0, false);
    emitter_.close();
  }
  kept_.merge(keeps);
}

void RowPrinter::open_first_of_team(const RowGroup& group) {
  emitter_.open(group.team == 1 ? "" : fmt::format("if (threadIdx.x % {} == 0)", group.team));
}

// Its result is in a register of every thread of the team.
void RowPrinter::print_reduce(const RowGroup& group, size_t number, const std::map<int, std::string>& keeps) {
  const Nest& nest = phase_.nests[number];
  const DType type = graph_.pool[nest.stores[0].value].type;
  const std::string result = emitter_.accumulator(nest.combine, type, 1, false);
  const auto combined = [&](const std::string& a, const std::string& b) {
    return emitter_.combine(nest.combine, type, a, b, 1);
  };
  emitter_.open("");
  if (group.lanes == 1) {
    print_columns(group, number, keeps, result);
  } else {
    const std::string lanes = emitter_.accumulator(nest.combine, type, group.lanes, false);
    print_columns(group, number, keeps, lanes);
    for (int lane = 0; lane < group.lanes; ++lane)
      emitter_.line(fmt::format("{} = {};", result, combined(result, fmt::format("{}[{}]", lanes, lane))));
  }
  emitter_.close();
  if (group.team > 1) combine_threads(group, nest, result);
  if (group.team > kWarpLanes) combine_warps(nest, result);
  emitter_.preset(group.results[number - group.first], result, false);
  if (group.in_registers.count(nest.stores[0].buffer) != 0) return;
  open_first_of_team(group);
  emitter_.store(graph_.name(nest.stores[0].buffer), nest.stores[0].offset, type, result, false);
  emitter_.close();
}

// What a nest does at each of its thread's points.
void RowPrinter::print_columns(const RowGroup& group, size_t number, const std::map<int, std::string>& keeps,
                               const std::string& accumulator) {
  hoist(group, number);
  const Nest& nest = phase_.nests[number];
  const std::string at = open_columns(group, !keeps.empty() || !kept_.empty());
  for (const auto& [node, name] : keeps)
    emitter_.line(fmt::format("{}{} = {};", name, at, emitter_.emit(node).text));
  const bool reduces = nest.kind == NestKind::reduce;
  store(nest, reduces ? 1 : 0, group.lanes > 1);
  if (reduces) accumulate(group, nest, accumulator);
  emitter_.close();
  emitter_.set_lanes("", 1, "");
  emitter_.close();
}

void RowPrinter::accumulate(const RowGroup& group, const Nest& nest, const std::string& accumulator) {
  const Store& element = nest.stores[0];
  const bool always = element.condition.always_true();
  if (!always) emitter_.open(fmt::format("if ({})", tile::print(element.condition)));
  const std::string value =
      group.lanes > 1 ? emitter_.emit_full(element.value) : emitter_.emit(element.value).text;
  emitter_.line(fmt::format(
      "{} = {};", accumulator,
      emitter_.combine(nest.combine, graph_.pool[element.value].type, accumulator, value, group.lanes)));
  if (!always) emitter_.close();
}

// The nest's stores from number `from` on.
void RowPrinter::store(const Nest& nest, size_t from, bool vector) {
  for (size_t i = from; i < nest.stores.size(); ++i) {
    const Store& place = nest.stores[i];
    const bool always = place.condition.always_true();
    if (!always) emitter_.open(fmt::format("if ({})", tile::print(place.condition)));
    emitter_.store(graph_.name(place.buffer), place.offset, graph_.buffers[place.buffer].type,
                   vector ? emitter_.emit_full(place.value) : emitter_.emit(place.value).text, vector);
    if (!always) emitter_.close();
  }
}

// Every thread of a warp's team, or of a part of it, gets the whole result.
void RowPrinter::combine_threads(const RowGroup& group, const Nest& nest, const std::string& result) {
  const DType type = graph_.pool[nest.stores[0].value].type;
  emitter_.open(
      fmt::format("for (int other = {}; other > 0; other /= 2)", std::min(group.team, kWarpLanes) / 2));
  const std::string theirs = emitter_.fresh("theirs");
  emitter_.line(fmt::format("const {} {} = __shfl_xor_sync(0xffffffffu, {}, other);", type_name(type, 1),
                            theirs, result));
  emitter_.line(fmt::format("{} = {};", result, emitter_.combine(nest.combine, type, result, theirs, 1)));
  emitter_.close();
}

// Each reduce of a group has a place of its own in shared memory, so that one barrier is enough: whoever
// writes there again has passed that of another reduce. With one reduce there is a barrier after each row.
void RowPrinter::combine_warps(const Nest& nest, const std::string& result) {
  const DType type = graph_.pool[nest.stores[0].value].type;
  const std::string parts = emitter_.fresh("parts"), warp = emitter_.fresh("w");
  uses_parts_ = true;
  emitter_.open("");
  emitter_.line(fmt::format("{0}* const {1} = ({0}*)(parts + {2});", type_name(type, 1), parts,
                            reduces_++ * kBlockWarps));
  emitter_.line(
      fmt::format("if (threadIdx.x % {0} == 0) {1}[threadIdx.x / {0}] = {2};", kWarpLanes, parts, result));
  emitter_.line("__syncthreads();");
  emitter_.line(fmt::format("{} = {}[0];", result, parts));
  emitter_.line("#pragma unroll");
  emitter_.line(fmt::format("for (int {0} = 1; {0} < {1}; ++{0}) {2} = {3};", warp, kBlockWarps, result,
                            emitter_.combine(nest.combine, type, result, parts + "[" + warp + "]", 1)));
  emitter_.close();
}

}  // namespace korch::tile
