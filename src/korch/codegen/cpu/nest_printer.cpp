#include "korch/codegen/cpu/nest_printer.h"

#include <fmt/format.h>

#include <algorithm>

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

NestPrinter::NestPrinter(TileGraph& graph, const Phase& phase, const Nest& nest, const Target& target,
                         BodyEmitter& emitter, SourceText& source)
    : graph_(graph),
      phase_(phase),
      nest_(nest),
      emitter_(emitter),
      source_(source),
      lanes_(nest.schedule.lanes > 1 ? nest.schedule.lanes : target.vector_lanes()) {}

void NestPrinter::print() {
  for (const GridVariable& variable : phase_.grid) bound_.insert({variable.variable.name, variable.block()});
  for (const LoopVariable& variable : nest_.loops) bound_.erase(variable.name);  // chunked ones loop here
  for (const OuterLoop& loop : nest_.around) bound_.insert(loop.variable.name);
  emitter_.set_lanes("", 1, "");
  emitter_.open(nest_.first_slice_only ? "if (slice == 0)" : "");
  open_ = 1;
  if (nest_.kind != NestKind::map)
    print_reduce();
  else if (!nest_.schedule.transposed.empty())
    print_tiled();
  else
    print_map();
  close_all();
}

const LoopVariable& NestPrinter::loop(const std::string& name) const {
  for (const LoopVariable& variable : nest_.loops)
    if (variable.name == name) return variable;
  for (const LoopVariable& variable : nest_.reduced)
    if (variable.name == name) return variable;
  KORCH_ASSERT(false, "no loop " + name);
  return nest_.loops.front();
}

// A chunked variable runs from NAME_begin to NAME_end inside the slice, a partitioned one through a part of
// that.
NestPrinter::Limits NestPrinter::limits(const LoopVariable& variable, int64_t low, int64_t high) const {
  const bool part = variable.name == part_.variable;
  if (part || phase_.chunked(variable.name) != nullptr) {
    const std::string begin = part ? part_.begin : variable.name + "_begin",
                      end = part ? part_.end : variable.name + "_end";
    return {low == 0 ? begin : fmt::format("index_max({}, {})", begin, low),
            high == variable.extent ? end : fmt::format("index_min({}, {})", end, high), false, low, high};
  }
  return {std::to_string(low), std::to_string(high), true, low, high};
}

void NestPrinter::open_loop(const LoopVariable& variable) {
  const Limits range = limits(variable, 0, variable.extent);
  emitter_.open(
      fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", variable.name, range.begin, range.end));
  ++open_;
  bound_.insert(variable.name);
}

void NestPrinter::close_all() {
  for (; open_ > 0; --open_) emitter_.close();
}

void NestPrinter::store(const Store& store, const std::string& value, bool vector) {
  const Buffer& buffer = graph_.buffers[store.buffer];
  const bool streamed = buffer.streamed && vector && buffer.type == DType::f32 &&
                        lanes_ == kCacheLineFloats && whole_lines(store.offset);
  if (streamed)
    emitter_.store_line(graph_.name(store.buffer), store.offset, value);
  else
    emitter_.store(graph_.name(store.buffer), store.offset, buffer.type, value, vector);
}

// Whether vectors along the variable are cache lines where the buffer begins with one.
bool NestPrinter::whole_lines(const Index& offset) const {
  const std::string& v = nest_.schedule.variable;
  if (!offset.affine_in(v) || offset.stride(v) != 1 || offset.constant() % kCacheLineFloats != 0)
    return false;
  int odd = 0;  // the lanes' own term is the only one
  for (const Index::Term& term : offset.terms()) odd += term.coefficient % kCacheLineFloats != 0;
  return odd == 1;
}

void NestPrinter::map_body(const std::vector<Store>& stores) {
  for (const Store& place : stores) {
    const BodyEmitter::Operand value = emitter_.emit(place.value);
    const std::string& v = nest_.schedule.variable;
    const bool wide = !v.empty() && place.offset.depends_on(v) && emitter_.lanes() > 1;
    store(place, wide ? emitter_.as_vector(value, graph_.pool[place.value].type) : value.text, wide);
  }
}

void NestPrinter::print_map() {
  emitter_.hoist(nest_.roots(), bound_);
  if (nest_.partitioned.empty())
    print_points({nest_.stores, nest_.segments});
  else
    print_partitioned();
}

// In the loops that are not open yet, the vector one innermost.
void NestPrinter::print_points(const Body& body) {
  const OpenLoops outside{bound_, open_};
  const std::vector<int> roots = roots_of(body.stores);
  for (const LoopVariable& variable : nest_.loops) {
    if (variable.name == nest_.schedule.variable || bound_.count(variable.name) != 0) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  if (nest_.schedule.variable.empty())
    map_body(body.stores);
  else
    for (const Segment& segment : body.segments) print_lanes(segment);
  close_loops(outside);
}

void NestPrinter::print_lanes(const Segment& segment) {
  const std::string& v = nest_.schedule.variable;
  const Limits range = limits(loop(v), segment.low, segment.high);
  // What does not change along a part of the loop is accessed only where the part has elements.
  emitter_.open(v == part_.variable ? fmt::format("if ({} < {})", range.begin, range.end) : "");
  emitter_.hoist(roots_of(segment.stores), bound_);
  const int64_t length = segment.high - segment.low;
  if (length == 1) {  // the variable is a constant in the expressions
    if (range.fixed)
      emitter_.open("");
    else
      emitter_.open(
          fmt::format("if ({} <= {} && {} < {})", range.begin, segment.low, segment.low, range.end));
    map_body(segment.stores);
    emitter_.close();
  } else {
    emitter_.line(fmt::format("int64_t {} = {};", v, range.begin));
    if (length >= lanes_) {
      emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v, lanes_, range.end));
      emitter_.set_lanes(v, lanes_, "");
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
      emitter_.set_lanes(v, lanes_, count);
      map_body(segment.stores);
      emitter_.set_lanes("", 1, "");
      emitter_.close();
    }
  }
  emitter_.close();
}

// What the last variable does not decide is known before its loop; where there is none, before all loops.
void NestPrinter::print_partitioned() {
  const Parts parts = parts_of(graph_.pool, phase_, nest_);
  const std::vector<int> roots = nest_.roots();
  std::set<std::string> undecided(nest_.partitioned.begin(), nest_.partitioned.end());
  std::string decided;  // C++ expression
  for (const std::string& variable : nesting_order(phase_, nest_)) {
    const bool is_loop = bound_.count(variable) == 0, decides = undecided.erase(variable) != 0;
    if (is_loop && decides && undecided.empty()) return print_parts(loop(variable), decided, parts);
    if (is_loop) {
      open_loop(loop(variable));
      emitter_.hoist(roots, bound_);
    }
    if (!decides) continue;
    const std::string inside = emitter_.fresh("inside");
    emitter_.line(fmt::format("const bool {} = {};", inside,
                              tile::print(decided_along(graph_.pool, phase_, nest_, variable))));
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
      where_holds(decided_along(graph_.pool, phase_, nest_, variable.name), variable, whole.begin, whole.end);
  const std::string first =
      decided.empty() ? holding.begin : fmt::format("{} ? {} : {}", decided, holding.begin, whole.end);
  emitter_.line(fmt::format("const int64_t {} = index_min({}, {});", low, first, whole.end));
  emitter_.line(fmt::format("const int64_t {} = index_max({}, {});", high, holding.end, low));
  const auto print = [&](const std::string& begin, const std::string& end, const Body& body) {
    part_ = {variable.name, begin, end};
    print_points(body);
  };
  print(whole.begin, low, parts.outside);
  print(low, high, parts.inside);
  print(high, whole.end, parts.outside);
  part_ = {};
}

// Blocks of lanes x lanes: loads run along the tile variable and are transposed in registers, stores run
// along the vector variable.
void NestPrinter::print_tiled() {
  const LoopVariable& v = loop(nest_.schedule.variable);
  const LoopVariable& u = loop(nest_.schedule.transposed);
  const std::vector<int> roots = nest_.roots();
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
  const std::string& v = nest_.schedule.variable;
  const std::string& u = nest_.schedule.transposed;
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

int NestPrinter::unrolling(const std::vector<int>& roots, int64_t vectors) const {
  constexpr int kManyNodes = 40;  // a body this long fills the pipelines by itself
  if (static_cast<int>(graph_.pool.reachable(roots).size()) > kManyNodes) return 1;
  for (int unroll : {8, 6, 4, 3, 2})
    if (vectors % unroll == 0 && (unroll <= 4 || vectors == unroll)) return unroll;
  return vectors > 4 ? 4 : 1;
}

void NestPrinter::print_reduce() {
  const std::vector<int> roots = nest_.roots();
  emitter_.hoist(roots, bound_);
  for (const LoopVariable& variable : nest_.loops) {
    if (variable.name == nest_.schedule.variable) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  if (nest_.schedule.variable.empty())
    print_scalar_reduce();
  else if (nest_.schedule.across)
    print_horizontal();
  else
    print_vertical();
}

// accumulator = accumulator (combine) element; for arg_reduce also its position. Stages computed on the way
// are stored.
void NestPrinter::accumulate(const std::vector<Store>& stores, const Index& position,
                             const std::string& accumulator, const std::string& valid_lanes) {
  const DType type = graph_.pool[stores[0].value].type;
  const int lanes = emitter_.lanes();
  const auto value = [&](const Store& of) {
    return lanes > 1 ? emitter_.emit_full(of.value) : emitter_.emit(of.value).text;
  };
  for (size_t i = 1; i < stores.size(); ++i) {
    const std::string text = value(stores[i]);
    store(stores[i], text, lanes > 1);
  }
  const std::string element = value(stores[0]);
  if (nest_.kind == NestKind::arg_reduce) {
    emitter_.take_extreme(nest_.combine, type, accumulator, accumulator + "_at", element,
                          emitter_.index(position), nest_.select_last);
    return;
  }
  const std::string combined = emitter_.combine(nest_.combine, type, accumulator, element, lanes);
  if (valid_lanes.empty())
    emitter_.line(fmt::format("{} = {};", accumulator, combined));
  else
    emitter_.line(fmt::format("{0} = fn_select(lanes_below_{1}({2}), {3}, {0});", accumulator,
                              type_name(DType::bool_, lanes), valid_lanes, combined));
}

// The loops over what is reduced, but the one that counts lanes, in a scope of their own.
NestPrinter::OpenLoops NestPrinter::open_reduced(const std::vector<int>& roots) {
  OpenLoops loops{bound_, open_};
  emitter_.open("");
  ++open_;
  for (const LoopVariable& variable : nest_.reduced) {
    if (variable.name == nest_.schedule.variable) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  return loops;
}

void NestPrinter::close_loops(const OpenLoops& loops) {
  for (; open_ > loops.open; --open_) emitter_.close();
  bound_ = loops.bound;
}

void NestPrinter::print_scalar_reduce() {
  const std::vector<int> roots = nest_.roots();
  const DType type = graph_.pool[roots[0]].type;
  const std::string accumulator =
      emitter_.accumulator(nest_.combine, type, 1, nest_.kind == NestKind::arg_reduce);
  const OpenLoops loops = open_reduced(roots);
  accumulate(nest_.stores, nest_.position, accumulator, "");
  close_loops(loops);
  store(nest_.stores[0], accumulator + (nest_.kind == NestKind::arg_reduce ? "_at" : ""), false);
}

// Lanes along a reduced variable; combined across at the end.
void NestPrinter::print_horizontal() {
  const std::vector<int> roots = nest_.roots();
  const LoopVariable& v = loop(nest_.schedule.variable);
  const DType type = graph_.pool[roots[0]].type;
  const int unroll = std::min(4, unrolling(roots, v.extent / lanes_));
  std::vector<std::string> accumulators;
  for (int u = 0; u < unroll; ++u)
    accumulators.push_back(emitter_.accumulator(nest_.combine, type, lanes_, false));
  const OpenLoops loops = open_reduced(roots);
  for (const Segment& segment : nest_.segments) {
    emitter_.open("");
    emitter_.hoist(roots_of(segment.stores), bound_);
    const int64_t length = segment.high - segment.low;
    emitter_.line(fmt::format("int64_t {} = {};", v.name, segment.low));
    for (int step : {unroll, 1}) {
      if (length < step * lanes_ || (step == 1 && unroll > 1 && length % (unroll * lanes_) < lanes_))
        continue;
      emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v.name, step * lanes_, segment.high));
      emitter_.line(fmt::format("const int64_t {0}_step = {0};", v.name));
      for (int u = 0; u < step; ++u) {
        emitter_.open("");
        emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v.name, u * lanes_));
        emitter_.set_lanes(v.name, lanes_, "");
        accumulate(segment.stores, nest_.position, accumulators[u], "");
        emitter_.set_lanes("", 1, "");
        emitter_.close();
      }
      emitter_.close();
      if (unroll == 1) break;
    }
    if (length % lanes_ != 0) {
      const std::string count = std::to_string(length % lanes_);
      emitter_.open("");
      if (length == 1) {
        emitter_.line(fmt::format("float single = {}[0];", accumulators[0]));
        accumulate(segment.stores, nest_.position, "single", "");
        emitter_.line(fmt::format("{}[0] = single;", accumulators[0]));
      } else {
        emitter_.set_lanes(v.name, lanes_, count);
        accumulate(segment.stores, nest_.position, accumulators[0], count);
        emitter_.set_lanes("", 1, "");
      }
      emitter_.close();
    }
    emitter_.close();
  }
  close_loops(loops);
  for (int u = 1; u < unroll; ++u)
    emitter_.line(
        fmt::format("{0} = {1};", accumulators[0],
                    emitter_.combine(nest_.combine, type, accumulators[0], accumulators[u], lanes_)));
  const std::string across = std::string("across_") + korch::name(nest_.combine);
  source_.use_function(across, lanes_);
  store(nest_.stores[0], fmt::format("{}({})", across, accumulators[0]), false);
}

// Lanes along a kept variable: `unroll` vectors beside each other go through the reduced loops together.
void NestPrinter::print_vertical() {
  const LoopVariable& v = loop(nest_.schedule.variable);
  for (const Segment& segment : nest_.segments) {
    emitter_.open("");
    const int64_t length = segment.high - segment.low, vectors = length / lanes_;
    const int unroll = vectors == 0 ? 1 : unrolling(roots_of(segment.stores), vectors);
    if (length > 1) emitter_.line(fmt::format("int64_t {} = {};", v.name, segment.low));
    for (int step : {unroll, 1}) {
      if (length < step * lanes_ || (step == 1 && unroll > 1 && vectors % unroll == 0)) continue;
      emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v.name, step * lanes_, segment.high));
      print_accumulation(segment, "", step);
      emitter_.close();
      if (unroll == 1) break;
    }
    if (length % lanes_ != 0) {
      emitter_.open("");
      print_accumulation(segment, std::to_string(length % lanes_), 1);
      emitter_.close();
    }
    emitter_.close();
  }
}

void NestPrinter::print_accumulation(const Segment& segment, const std::string& count, int unroll) {
  const std::string& v = nest_.schedule.variable;
  const bool single = segment.high - segment.low == 1;
  const int lanes = single ? 1 : lanes_;
  const bool arg = nest_.kind == NestKind::arg_reduce;
  const std::vector<int> roots = roots_of(segment.stores);
  const DType type = graph_.pool[roots[0]].type;
  const Index position = substitute(nest_.position, {{v, Index::variable(v, segment.low, segment.high - 1)}});
  std::vector<std::string> accumulators;
  for (int u = 0; u < unroll; ++u)
    accumulators.push_back(emitter_.accumulator(nest_.combine, type, lanes, arg));
  if (!single) emitter_.line(fmt::format("const int64_t {0}_step = {0};", v));
  const OpenLoops loops = open_reduced(roots);
  for (int u = 0; u < unroll; ++u) {
    emitter_.open("");
    if (!single) {
      emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v, u * lanes_));
      emitter_.set_lanes(v, lanes, count);
    }
    accumulate(segment.stores, position, accumulators[u], "");
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  }
  close_loops(loops);
  for (int u = 0; u < unroll; ++u) {
    emitter_.open("");
    if (!single) {
      emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v, u * lanes_));
      emitter_.set_lanes(v, lanes, count);
    }
    store(segment.stores[0], accumulators[u] + (arg ? "_at" : ""), !single);
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  }
}

}  // namespace korch::tile
