// Maps: plain loops, loops in parts (kernel/partition.h), and blocks that are transposed in registers.
#include <fmt/format.h>

#include "korch/codegen/cpu/nest_printer.h"
#include "korch/codegen/passes/partition.h"
#include "korch/codegen/passes/vectorize.h"
#include "korch/kernel/partition.h"

namespace korch::tile {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// From which value of the variable on, and up to which one, all bounds hold; C++ expressions. `begin` and
// `end` are the loop's own.
struct Holding {
  std::string begin, end;
};
Holding where_holds(const Condition& condition, const LoopVariable& variable, const std::string& begin,
                    const std::string& end) {
  Holding result{begin, end};
  for (const Bound& bound : condition.bounds()) {
    const int64_t k = bound.index.stride(variable.name);
    const Index rest = bound.index - Index::variable(variable.name, variable.extent) * k;
    const IndexRange range = bound.index.range();
    const auto limit = [&](int64_t beyond) { return print(floor_div(Index(beyond) - rest, k)); };
    if (range.low < bound.low)
      result.begin = fmt::format("index_max({}, {})", result.begin, limit(bound.low + k - 1));
    if (range.high > bound.high)
      result.end = fmt::format("index_min({}, {})", result.end, limit(bound.high + k));
  }
  return result;
}

}  // namespace

// Copies of one body step by step beside each other: what they share is used by all before the next is
// loaded.
void NestPrinter::emit_interleaved(const std::vector<Store>& stores) {
  std::vector<std::vector<int>> steps;
  size_t longest = 0;
  for (int root : always_stored(stores)) {
    steps.push_back(graph_.pool.unconditional({root}));
    longest = std::max(longest, steps.back().size());
  }
  for (size_t i = 0; i < longest; ++i)
    for (const std::vector<int>& copy : steps)
      if (i < copy.size()) emitter_.emit(copy[i]);
}

void NestPrinter::map_body(const std::vector<Store>& stores) {
  if (interleaved_) emit_interleaved(stores);
  for (const Store& place : stores) {
    const bool always = place.condition.always_true();
    if (!always) emitter_.open(fmt::format("if ({})", tile::print(place.condition)));
    const BodyEmitter::Operand value = emitter_.emit(place.value);
    const std::string& v = schedule_.variable;
    const bool wide = !v.empty() && place.offset.depends_on(v) && emitter_.lanes() > 1;
    store(place, wide ? emitter_.as_vector(value, graph_.pool[place.value].type) : value.text, wide);
    if (!always) emitter_.close();
  }
}

void NestPrinter::print_map() {
  emitter_.hoist(always_stored(nest_.stores), bound_);
  if (schedule_.partitioned.empty())
    print_points({nest_.stores, nest_.segments});
  else
    print_partitioned();
}

// In the loops that are not open yet, the vector one innermost.
void NestPrinter::print_points(const Body& body) {
  const OpenLoops outside{bound_, open_};
  const std::vector<int> roots = always_stored(body.stores);
  for (const LoopVariable& variable : nest_.loops) {
    if (variable.name == schedule_.variable || bound_.count(variable.name) != 0) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  if (schedule_.variable.empty())
    map_body(body.stores);
  else
    for (const Segment& segment : body.segments) print_lanes(segment);
  close_loops(outside);
}

void NestPrinter::print_lanes(const Segment& segment) {
  const std::string& v = schedule_.variable;
  const Limits range = limits(loop(v), segment.low, segment.high);
  // What does not change along a part of the loop is accessed only where the part has elements in this slice.
  const bool whole = segment.low == 0 && segment.high == loop(v).extent && v != part_.variable;
  emitter_.open(range.fixed || whole ? "" : fmt::format("if ({} < {})", range.begin, range.end));
  emitter_.hoist(always_stored(segment.stores), bound_);
  const int64_t length = segment.high - segment.low;
  const bool from_multiple = range.fixed && segment.low % lanes_ == 0;
  if (length == 1) {  // the variable is a constant in the expressions
    map_body(segment.stores);
  } else {
    emitter_.line(fmt::format("int64_t {} = {};", v, range.begin));
    if (length >= lanes_) {
      emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v, lanes_, range.end));
      emitter_.set_lanes(v, lanes_, "", from_multiple);
      map_body(segment.stores);
      emitter_.set_lanes("", 1, "");
      emitter_.close();
    }
    const int64_t rest = length % lanes_;
    if (!range.fixed || rest != 0) {
      emitter_.open(range.fixed ? "" : fmt::format("if ({} < {})", v, range.end));
      std::string count = std::to_string(rest);
      if (!range.fixed) {
        count = emitter_.fresh("n");
        emitter_.line(fmt::format("const int {} = (int)({} - {});", count, range.end, v));
      }
      emitter_.set_lanes(v, lanes_, count, from_multiple);
      map_body(segment.stores);
      emitter_.set_lanes("", 1, "");
      emitter_.close();
    }
  }
  emitter_.close();
}

// What the last variable does not decide is known before its loop; where there is none, before all loops.
void NestPrinter::print_partitioned() {
  const Parts parts = parts_of(graph_.pool, phase_, nest_, schedule_);
  const std::vector<int> roots = always_stored(nest_.stores);
  std::set<std::string> undecided(schedule_.partitioned.begin(), schedule_.partitioned.end());
  std::string decided;  // C++ expression
  for (const std::string& variable : nesting_order(phase_, nest_, schedule_.variable)) {
    const bool is_loop = bound_.count(variable) == 0, decides = undecided.erase(variable) != 0;
    if (is_loop && decides && undecided.empty()) return print_parts(loop(variable), decided, parts);
    if (is_loop) {
      open_loop(loop(variable));
      emitter_.hoist(roots, bound_);
    }
    if (!decides) continue;
    const std::string inside = emitter_.fresh("inside");
    emitter_.line(
        fmt::format("const bool {} = {};", inside,
                    tile::print(decided_along(graph_.pool, phase_, nest_, schedule_.variable, variable))));
    decided += (decided.empty() ? "" : " && ") + inside;
    if (undecided.empty()) break;
  }
  emitter_.open(fmt::format("if ({})", decided));
  print_points(parts.inside);
  emitter_.close();
  emitter_.open("else");
  print_points(parts.outside);
  emitter_.close();
}

// Three loops along the variable. Where what is decided already does not hold, the first one does everything.
void NestPrinter::print_parts(const LoopVariable& variable, const std::string& decided, const Parts& parts) {
  const Limits whole = limits(variable, 0, variable.extent);
  const std::string low = variable.name + "_low", high = variable.name + "_high";
  const Holding holding =
      where_holds(decided_along(graph_.pool, phase_, nest_, schedule_.variable, variable.name), variable,
                  whole.begin, whole.end);
  const std::string first =
      decided.empty() ? holding.begin : fmt::format("{} ? {} : {}", decided, holding.begin, whole.end);
  emitter_.line(fmt::format("const int64_t {} = index_min({}, {});", low, first, whole.end));
  emitter_.line(fmt::format("const int64_t {} = index_max({}, {});", high, holding.end, low));
  const auto print = [&](const std::string& begin, const std::string& end, const Body& body) {
    part_ = {variable.name, begin, end};
    print_points(body);
  };
  print(whole.begin, low, parts.outside);
  print(schedule_.jam > 1 ? print_jammed(variable.name, low, high, parts.jammed) : low, high, parts.inside);
  print(high, whole.end, parts.outside);
  part_ = {};
}

// The first value that is left for one by one.
std::string NestPrinter::print_jammed(const std::string& variable, const std::string& low,
                                      const std::string& high, const Body& body) {
  const OpenLoops outside{bound_, open_};
  const std::string end = variable + "_jammed";
  emitter_.line(
      fmt::format("const int64_t {0} = {1} + ({2} - {1}) / {3} * {3};", end, low, high, schedule_.jam));
  emitter_.open(
      fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", variable, low, end, schedule_.jam));
  ++open_;
  bound_.insert(variable);
  interleaved_ = true;
  print_points(body);
  interleaved_ = false;
  close_loops(outside);
  return end;
}

// Blocks of lanes x lanes: loads run along the tile variable and are transposed in registers, stores run
// along the vector variable.
void NestPrinter::print_tiled() {
  const LoopVariable& v = loop(schedule_.variable);
  const LoopVariable& u = loop(schedule_.transposed);
  const std::vector<int> roots = always_stored(nest_.stores);
  emitter_.hoist(roots, bound_);
  for (const LoopVariable& variable : nest_.loops) {
    if (variable.name == v.name || variable.name == u.name) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  const Limits rows = limits(u, 0, u.extent), columns = limits(v, 0, v.extent);
  source_.use_function("load_transposed", lanes_);
  // Several blocks along the tile variable before the next along the vector variable: each stream of loads
  // stays long enough for the prefetcher, and the lines written to stay in the first-level cache.
  constexpr int kBlocksPerRun = 4;
  const std::string u0 = u.name + "_tile", v0 = v.name + "_tile", run = u.name + "_run",
                    run_end = u.name + "_run_end";
  emitter_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", run, rows.begin, rows.end,
                            lanes_ * kBlocksPerRun));
  emitter_.line(fmt::format("const int64_t {} = index_min({} + {}, {});", run_end, run,
                            lanes_ * kBlocksPerRun, rows.end));
  emitter_.open(
      fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", v0, columns.begin, columns.end, lanes_));
  emitter_.line(fmt::format("const int columns = (int)index_min({}, {} - {});", lanes_, columns.end, v0));
  emitter_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", u0, run, run_end, lanes_));
  emitter_.line(fmt::format("const int rows = (int)index_min({}, {} - {});", lanes_, run_end, u0));
  const bool whole = rows.fixed && columns.fixed && u.extent % lanes_ == 0 && v.extent % lanes_ == 0;
  const std::string full = std::to_string(lanes_);
  emitter_.open(whole ? "" : fmt::format("if (rows == {0} && columns == {0})", lanes_));
  print_tile_body(full, full);
  emitter_.close();
  if (!whole) {
    emitter_.open("else");
    print_tile_body("rows", "columns");
    emitter_.close();
  }
  emitter_.close();
  emitter_.close();
  emitter_.close();
}

void NestPrinter::print_tile_body(const std::string& rows, const std::string& columns) {
  const std::string& v = schedule_.variable;
  const std::string& u = schedule_.transposed;
  const std::string vector = type_name(DType::f32, lanes_);
  const std::vector<int> roots = nest_.roots();
  emitter_.line(fmt::format("const int64_t {0} = {0}_tile;", v));
  std::vector<std::string> tiles;
  std::vector<int> loads;
  find_transposed(graph_.pool, nest_, nest_.loops, v, lanes_, &loads);
  for (int node : loads) {
    const Expr& e = graph_.pool[node];
    const Index& offset = e.coords[0];
    tiles.push_back(emitter_.fresh("tile"));
    emitter_.line(fmt::format("{} {}[{}];", vector, tiles.back(), lanes_));
    emitter_.open("");
    emitter_.line(fmt::format("const int64_t {0} = {0}_tile;", u));
    const std::string at = emitter_.index(offset);
    emitter_.line(fmt::format("load_transposed({}, {} + ({}), {}, {}, {});", tiles.back(),
                              graph_.name(e.buffer), at, offset.stride(v), rows, columns));
    emitter_.close();
  }
  auto body = [&](const std::string& row) {
    emitter_.set_lanes(v, lanes_, is_number(columns) ? "" : columns);
    for (size_t i = 0; i < tiles.size(); ++i) emitter_.preset(loads[i], fmt::format("{}[{}]", tiles[i], row));
    map_body(nest_.stores);
    emitter_.set_lanes("", 1, "");
  };
  // Short bodies are written out for every row of a whole block, so that the tile stays in registers.
  constexpr size_t kShortBody = 12;
  if (is_number(rows) && graph_.pool.reachable(roots).size() <= kShortBody) {
    for (int row = 0; row < lanes_; ++row) {
      emitter_.open("");
      emitter_.line(fmt::format("const int64_t {0} = {0}_tile + {1};", u, row));
      body(std::to_string(row));
      emitter_.close();
    }
    return;
  }
  emitter_.open(fmt::format("for (int64_t {0} = {0}_tile; {0} < {0}_tile + {1}; ++{0})", u, rows));
  body(fmt::format("{0} - {0}_tile", u));
  emitter_.close();
}

}  // namespace korch::tile
