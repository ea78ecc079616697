#include "korch/codegen/cpu/nest_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/codegen/cpu/rank_printer.h"

namespace korch::tile {
namespace {

constexpr int64_t kBlockTerms = 64;  // of a sum: about 2^6 roundings of its last bit

}  // namespace

NestPrinter::NestPrinter(TileGraph& graph, const Phase& phase, const Nest& nest, const NestSchedule& schedule,
                         const Device& target, BodyEmitter& emitter, SourceText& source)
    : graph_(graph),
      phase_(phase),
      nest_(nest),
      schedule_(schedule),
      emitter_(emitter),
      source_(source),
      lanes_(schedule.lanes > 1 ? schedule.lanes : target.lanes()) {}

void NestPrinter::print() {
  for (const GridVariable& variable : phase_.grid) bound_.insert({variable.variable.name, variable.block()});
  for (const LoopVariable& variable : nest_.loops) bound_.erase(variable.name);  // chunked ones loop here
  for (const OuterLoop& loop : nest_.around) bound_.insert(loop.variable.name);
  emitter_.set_lanes("", 1, "");
  emitter_.open(nest_.first_slice_only ? "if (slice == 0)" : "");
  open_ = 1;
  switch (nest_.kind) {
    case NestKind::map:
    case NestKind::scatter:
      schedule_.transposed.empty() ? print_map() : print_tiled();
      break;
    case NestKind::reduce:
    case NestKind::arg_reduce:
    case NestKind::scan:
      print_reduce();
      break;
    case NestKind::top_k:
    case NestKind::suppress:
      print_ranked();
      break;
  }
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
  const std::string& v = schedule_.variable;
  if (!offset.affine_in(v) || offset.stride(v) != 1 || offset.constant() % kCacheLineFloats != 0)
    return false;
  int odd = 0;  // the lanes' own term is the only one
  for (const Index::Term& term : offset.terms()) odd += term.coefficient % kCacheLineFloats != 0;
  return odd == 1;
}

int NestPrinter::unrolling(const std::vector<int>& roots, int64_t vectors) const {
  constexpr int kManyNodes = 40;                 // a body this long fills the pipelines by itself
  for (int node : graph_.pool.reachable(roots))  // and exponentials side by side run out of registers
    if (graph_.pool[node].decaying) return 1;
  if (static_cast<int>(graph_.pool.reachable(roots).size()) > kManyNodes) return 1;
  for (int unroll : {8, 6, 4, 3, 2})
    if (vectors % unroll == 0 && (unroll <= 4 || vectors == unroll)) return unroll;
  return vectors > 4 ? 4 : 1;
}

void NestPrinter::print_ranked() {
  emitter_.hoist(nest_.roots(), bound_);
  for (const LoopVariable& variable : nest_.loops) {
    open_loop(variable);
    emitter_.hoist(nest_.roots(), bound_);
  }
  print_ranking(graph_, nest_, emitter_, source_);
}

void NestPrinter::print_reduce() {
  const std::vector<int> roots = always_stored(nest_.stores);
  emitter_.hoist(roots, bound_);
  for (const LoopVariable& variable : nest_.loops) {
    if (variable.name == schedule_.variable) continue;
    open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  if (schedule_.variable.empty())
    print_scalar_reduce();
  else if (schedule_.across)
    print_horizontal();
  else
    print_vertical();
}

// accumulator = accumulator (combine) element; for arg_reduce also its position. Intermediates computed on
// the way are stored, and of a scan the accumulator.
void NestPrinter::accumulate(const std::vector<Store>& stores, const Index& position,
                             const std::string& accumulator, const std::string& valid_lanes) {
  const DType type = graph_.pool[stores[0].value].type;
  const int lanes = emitter_.lanes();
  const bool always = stores[0].condition.always_true();
  if (!always) emitter_.open(fmt::format("if ({})", tile::print(stores[0].condition)));
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
                          emitter_.index(position), nest_.select_last, nest_.nan_wins);
    if (!always) emitter_.close();
    return;
  }
  const std::string next = combined(type, accumulator, element, lanes);
  if (valid_lanes.empty())
    emitter_.line(fmt::format("{} = {};", accumulator, next));
  else
    emitter_.line(fmt::format("{0} = fn_select(lanes_below_{1}({2}), {3}, {0});", accumulator,
                              type_name(DType::bool_, lanes), valid_lanes, next));
  if (nest_.kind == NestKind::scan) store(stores[0], accumulator, lanes > 1);
}

std::string NestPrinter::combined(DType type, const std::string& a, const std::string& b, int lanes) {
  if (nest_.nan_wins) return emitter_.combine(nest_.combine, type, a, b, lanes);
  return fmt::format("{0} {2} {1} ? {1} : {0}", a, b, nest_.combine == ScalarFn::max ? "<" : ">");
}

// Combined with what is stored, where the nest does not begin anew.
void NestPrinter::store_reduced(const Store& place, const std::string& value, bool vector) {
  if (nest_.anew.always_true()) return store(place, value, vector);
  const DType type = graph_.pool[place.value].type;
  const int lanes = emitter_.lanes();
  const std::string name = emitter_.fresh("a");
  emitter_.line(fmt::format("{} {} = {};", type_name(type, lanes), name, value));
  emitter_.open(fmt::format("if (!({}))", tile::print(nest_.anew)));
  const std::string before = emitter_.stored(graph_.name(place.buffer), place.offset, type, vector);
  emitter_.line(fmt::format("{} = {};", name, combined(type, before, name, lanes)));
  emitter_.close();
  store(place, name, vector);
}

bool NestPrinter::sums_floats() const {
  return nest_.kind == NestKind::reduce && nest_.combine == ScalarFn::add &&
         is_float(graph_.pool[nest_.stores[0].value].type);
}

// The innermost loop that makes enough terms together with those inside it, which end in `vectors` of lanes.
NestPrinter::Blocks NestPrinter::blocks(int64_t vectors) const {
  std::vector<const LoopVariable*> loops;
  int64_t terms = vectors;
  for (const LoopVariable& variable : nest_.reduced) {
    if (variable.name == schedule_.variable) continue;
    loops.push_back(&variable);
    terms *= variable.extent;
  }
  if (!sums_floats() || terms < 2 * kBlockTerms) return {};
  int64_t inside = vectors;
  while (loops.size() > 1 && inside * loops.back()->extent < kBlockTerms) {
    inside *= loops.back()->extent;
    loops.pop_back();
  }
  if (loops.empty()) return {};
  return {loops.back(), std::max<int64_t>(1, kBlockTerms / inside)};
}

// The loops over what is reduced, but the one that counts lanes (`vectors` of them, where it is one of
// those), in a scope of their own.
NestPrinter::Reduction NestPrinter::open_reduction(const std::vector<int>& roots,
                                                   const std::vector<std::string>& accumulators, int lanes,
                                                   int64_t vectors) {
  Reduction reduction{{bound_, open_}, accumulators, {}, {}};
  const Blocks parts = blocks(vectors);
  emitter_.open("");
  ++open_;
  for (const LoopVariable& variable : nest_.reduced) {
    if (variable.name == schedule_.variable) continue;
    if (&variable == parts.loop)
      open_block(parts, reduction, lanes);
    else
      open_loop(variable);
    emitter_.hoist(roots, bound_);
  }
  return reduction;
}

void NestPrinter::open_block(const Blocks& blocks, Reduction& reduction, int lanes) {
  const std::string &v = blocks.loop->name, first = emitter_.fresh("b");
  const Limits range = limits(*blocks.loop, 0, blocks.loop->extent);
  emitter_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", first, range.begin, range.end,
                            blocks.iterations));
  ++open_;
  const DType type = graph_.pool[nest_.stores[0].value].type;
  for (size_t i = 0; i < reduction.sums.size(); ++i)
    reduction.parts.push_back(emitter_.accumulator(nest_.combine, type, lanes, false));
  reduction.block = OpenLoops{bound_, open_};
  emitter_.open(fmt::format("for (int64_t {0} = {1}; {0} < index_min({1} + {2}, {3}); ++{0})", v, first,
                            blocks.iterations, range.end));
  ++open_;
  bound_.insert(v);
}

void NestPrinter::close_reduction(const Reduction& reduction, int lanes) {
  if (reduction.block) {
    close_loops(*reduction.block);
    add_parts(reduction.sums, reduction.parts, lanes);
  }
  close_loops(reduction.loops);
}

void NestPrinter::add_parts(const std::vector<std::string>& sums, const std::vector<std::string>& parts,
                            int lanes) {
  const DType type = graph_.pool[nest_.stores[0].value].type;
  for (size_t i = 0; i < parts.size(); ++i)
    emitter_.line(fmt::format("{} = {};", sums[i], combined(type, sums[i], parts[i], lanes)));
}

void NestPrinter::close_loops(const OpenLoops& loops) {
  for (; open_ > loops.open; --open_) emitter_.close();
  bound_ = loops.bound;
}

void NestPrinter::print_scalar_reduce() {
  const DType type = graph_.pool[nest_.stores[0].value].type;
  const std::string accumulator =
      emitter_.accumulator(nest_.combine, type, 1, nest_.kind == NestKind::arg_reduce);
  const Reduction reduction = open_reduction(always_stored(nest_.stores), {accumulator}, 1, 1);
  accumulate(nest_.stores, nest_.position, reduction.accumulators()[0], "");
  close_reduction(reduction, 1);
  if (nest_.kind == NestKind::scan) return;
  store_reduced(nest_.stores[0], accumulator + (nest_.kind == NestKind::arg_reduce ? "_at" : ""), false);
}

// Lanes along a reduced variable; combined across at the end.
void NestPrinter::print_horizontal() {
  const std::vector<int> roots = nest_.roots();
  const LoopVariable& v = loop(schedule_.variable);
  const DType type = graph_.pool[roots[0]].type;
  const int unroll = std::min(4, unrolling(roots, v.extent / lanes_));
  std::vector<std::string> accumulators;
  for (int u = 0; u < unroll; ++u)
    accumulators.push_back(emitter_.accumulator(nest_.combine, type, lanes_, false));
  const Reduction reduction =
      open_reduction(roots, accumulators, lanes_, std::max<int64_t>(1, v.extent / lanes_ / unroll));
  for (const Segment& segment : nest_.segments) {
    emitter_.open("");
    emitter_.hoist(roots_of(segment.stores), bound_);
    const int64_t length = segment.high - segment.low;
    emitter_.line(fmt::format("int64_t {} = {};", v.name, segment.low));
    for (int step : {unroll, 1}) {
      if (length < step * lanes_ || (step == 1 && unroll > 1 && length % (unroll * lanes_) < lanes_))
        continue;
      print_vectors(segment, step, reduction.accumulators());
      if (unroll == 1) break;
    }
    if (length % lanes_ != 0) {
      const std::string count = std::to_string(length % lanes_), &first = reduction.accumulators()[0];
      emitter_.open("");
      if (length == 1) {
        emitter_.line(fmt::format("float single = {}[0];", first));
        accumulate(segment.stores, nest_.position, "single", "");
        emitter_.line(fmt::format("{}[0] = single;", first));
      } else {
        emitter_.set_lanes(v.name, lanes_, count, segment.low % lanes_ == 0);
        accumulate(segment.stores, nest_.position, first, count);
        emitter_.set_lanes("", 1, "");
      }
      emitter_.close();
    }
    emitter_.close();
  }
  close_reduction(reduction, lanes_);
  for (int u = 1; u < unroll; ++u)
    emitter_.line(
        fmt::format("{0} = {1};", accumulators[0], combined(type, accumulators[0], accumulators[u], lanes_)));
  const std::string across = std::string("across_") + korch::name(nest_.combine);
  source_.use_function(across, lanes_);
  store_reduced(nest_.stores[0], fmt::format("{}({})", across, accumulators[0]), false);
}

// Whole vectors of the reduced variable, `step` at a time, from where it stands.
void NestPrinter::print_vectors(const Segment& segment, int step,
                                const std::vector<std::string>& accumulators) {
  const std::string& v = schedule_.variable;
  const int64_t length = step * lanes_;
  std::string end = std::to_string(segment.high);
  const bool parts = sums_floats() && (segment.high - segment.low) / length >= 2 * kBlockTerms;
  const std::vector<std::string> sums(accumulators.begin(), accumulators.begin() + step);
  std::vector<std::string> names = sums;
  if (parts) {
    emitter_.open(fmt::format("while ({} + {} <= {})", v, length, end));
    const DType type = graph_.pool[nest_.stores[0].value].type;
    for (std::string& name : names) name = emitter_.accumulator(nest_.combine, type, lanes_, false);
    emitter_.line(
        fmt::format("const int64_t {0}_until = index_min({0} + {1}, {2});", v, length * kBlockTerms, end));
    end = v + "_until";
  }
  emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v, length, end));
  emitter_.line(fmt::format("const int64_t {0}_step = {0};", v));
  for (int u = 0; u < step; ++u) {
    emitter_.open("");
    emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v, u * lanes_));
    emitter_.set_lanes(v, lanes_, "", segment.low % lanes_ == 0);
    accumulate(segment.stores, nest_.position, names[u], "");
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  }
  emitter_.close();
  if (!parts) return;
  add_parts(sums, names, lanes_);
  emitter_.close();
}

// Lanes along a kept variable: `unroll` vectors beside each other go through the reduced loops together.
void NestPrinter::print_vertical() {
  const LoopVariable& v = loop(schedule_.variable);
  for (const Segment& segment : nest_.segments) {
    emitter_.open("");
    const Limits range = limits(v, segment.low, segment.high);
    const GridVariable* chunked = phase_.chunked(v.name);
    int64_t length = segment.high - segment.low;
    const bool single = length == 1;
    if (chunked != nullptr) length = std::min(length, chunked->chunk);  // at most
    const int64_t vectors = length / lanes_;
    const int unroll = vectors == 0 ? 1 : unrolling(roots_of(segment.stores), vectors);
    if (!single) emitter_.line(fmt::format("int64_t {} = {};", v.name, range.begin));
    for (int step : {unroll, 1}) {
      const bool none_left = range.fixed && step == 1 && unroll > 1 && vectors % unroll == 0;
      if (length < step * lanes_ || none_left) continue;
      emitter_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", v.name, step * lanes_, range.end));
      print_accumulation(segment, "", step);
      emitter_.close();
      if (unroll == 1) break;
    }
    print_vertical_rest(segment, range);
    emitter_.close();
  }
}

// What no whole vector holds.
void NestPrinter::print_vertical_rest(const Segment& segment, const Limits& range) {
  const std::string& v = schedule_.variable;
  const int64_t length = segment.high - segment.low;
  if (length == 1) {  // the variable is a constant in the expressions
    emitter_.open(
        range.fixed ? "" : fmt::format("if ({0} <= {1} && {1} < {2})", range.begin, segment.low, range.end));
    print_accumulation(segment, "", 1);
    emitter_.close();
  } else if (range.fixed && length % lanes_ != 0) {
    emitter_.open("");
    print_accumulation(segment, std::to_string(length % lanes_), 1);
    emitter_.close();
  } else if (!range.fixed) {
    emitter_.open(fmt::format("if ({} < {})", v, range.end));
    const std::string count = emitter_.fresh("n");
    emitter_.line(fmt::format("const int {} = (int)({} - {});", count, range.end, v));
    print_accumulation(segment, count, 1);
    emitter_.close();
  }
}

void NestPrinter::print_accumulation(const Segment& segment, const std::string& count, int unroll) {
  const std::string& v = schedule_.variable;
  const bool single = segment.high - segment.low == 1;
  const int lanes = single ? 1 : lanes_;
  const bool arg = nest_.kind == NestKind::arg_reduce;
  const DType type = graph_.pool[segment.stores[0].value].type;
  const Index position = substitute(nest_.position, {{v, Index::variable(v, segment.low, segment.high - 1)}});
  std::vector<std::string> accumulators;
  for (int u = 0; u < unroll; ++u)
    accumulators.push_back(emitter_.accumulator(nest_.combine, type, lanes, arg));
  if (!single) emitter_.line(fmt::format("const int64_t {0}_step = {0};", v));
  const Reduction reduction = open_reduction(always_stored(segment.stores), accumulators, lanes, 1);
  for (int u = 0; u < unroll; ++u) {
    emitter_.open("");
    if (!single) {
      emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v, u * lanes_));
      emitter_.set_lanes(v, lanes, count);
    }
    accumulate(segment.stores, position, reduction.accumulators()[u], "");
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  }
  close_reduction(reduction, lanes);
  if (nest_.kind == NestKind::scan) return;
  for (int u = 0; u < unroll; ++u) {
    emitter_.open("");
    if (!single) {
      emitter_.line(fmt::format("const int64_t {0} = {0}_step + {1};", v, u * lanes_));
      emitter_.set_lanes(v, lanes, count);
    }
    store_reduced(segment.stores[0], accumulators[u] + (arg ? "_at" : ""), !single);
    emitter_.set_lanes("", 1, "");
    emitter_.close();
  }
}

}  // namespace korch::tile
