#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "korch/kernel/schedule.h"
#include "korch/kernel/tile_tokens.h"

namespace korch::tile {
namespace {

constexpr int kMaxDepth = 200;  // of an index expression

class Parser : TileTokens {
 public:
  explicit Parser(std::string_view text) : TileTokens(text) {}

  ScheduledGraph parse() {
    expect("kernel");
    expect("{");
    while (!accept("}")) {
      if (accept_word("phase"))
        phase();
      else if (accept_word("scratch"))
        graph_.scratch_bytes = natural();
      else
        buffer();
    }
    if (!at_end()) fail("text after the kernel");
    if (const std::string fault = structural_fault(graph_); !fault.empty())
      throw Error(ErrorKind::invalid, fault);
    return std::move(graph_);
  }

 private:
  // --- buffers and loops

  void buffer() {
    const std::string text = word();
    const std::pair<const char*, BufferRole> roles[] = {{"in", BufferRole::input},
                                                        {"const", BufferRole::constant},
                                                        {"out", BufferRole::output},
                                                        {"temp", BufferRole::temporary},
                                                        {"s", BufferRole::scratch}};
    Buffer buffer;
    bool found = false;
    for (const auto& [prefix, role] : roles) {
      const size_t length = std::strlen(prefix);
      if (text.compare(0, length, prefix) != 0 || text.size() == length || !std::isdigit(text[length]))
        continue;
      buffer.role = role;
      found = true;
    }
    if (!found)
      fail(fmt::format("'{}' is neither a buffer (in0, const0, out0, temp0, s0) nor a phase", text));
    if (!graph_.phases.empty()) fail("a buffer after a phase");
    if (!graph_.buffers.empty() && graph_.buffers.back().role > buffer.role)
      fail(fmt::format("'{}' is out of order: in, const, out, temp, s", text));
    expect(":");
    buffer.type = dtype();
    expect("[");
    buffer.elements = natural();
    expect("]");
    if (buffer.role == BufferRole::scratch) {
      expect("at");
      buffer.offset_bytes = natural();
    }
    if (buffer.role == BufferRole::constant && accept_word("packed")) buffer.packing = packing();
    buffer.streamed = buffer.role == BufferRole::output && accept_word("streamed");
    graph_.buffers.push_back(buffer);
    const int number = static_cast<int>(graph_.buffers.size()) - 1;
    if (graph_.name(number) != text) fail(fmt::format("'{}' should be {}", text, graph_.name(number)));
    buffers_[text] = number;
  }

  Packing packing() {
    Packing packing;
    packing.kind = word();
    expect("(");
    while (!accept(")")) {
      if (!packing.params.empty()) expect(",");
      packing.params.push_back(bounded());
    }
    return packing;
  }

  int buffer_name() {
    const std::string text = word();
    const auto found = buffers_.find(text);
    if (found == buffers_.end()) fail(fmt::format("no buffer '{}'", text));
    return found->second;
  }

  LoopVariable variable() {
    LoopVariable loop;
    loop.name = word();
    if (std::isdigit(static_cast<unsigned char>(loop.name[0])) != 0) fail("a variable begins with a letter");
    expect("in");
    loop.extent = positive();
    return loop;
  }

  void declare(const LoopVariable& loop) {
    const auto [place, inserted] = extents_.emplace(loop.name, loop.extent);
    if (!inserted) fail(fmt::format("'{}' is declared twice", loop.name));
  }

  std::vector<LoopVariable> variables(const Phase* chunks) {
    std::vector<LoopVariable> loops;
    do {
      loops.push_back(variable());
      const GridVariable* chunked = chunks == nullptr ? nullptr : chunks->chunked(loops.back().name);
      if (chunked == nullptr)
        declare(loops.back());
      else if (chunked->variable.extent != loops.back().extent)
        fail(fmt::format("'{}' has another extent in the grid", loops.back().name));
    } while (accept(","));
    return loops;
  }

  void phase() {
    Phase phase;
    extents_.clear();
    ranges_.clear();
    while (!accept("{")) {
      if (!phase.grid.empty()) expect(",");
      GridVariable grid;
      grid.variable = variable();
      declare(grid.variable);
      if (accept_word("by")) grid.chunk = positive();
      if (grid.chunk > 1) declare({grid.block(), grid.count()});
      grid.ordered = accept_word("ordered");
      if (grid.ordered && !phase.grid.empty() && !phase.grid.back().ordered)
        fail(fmt::format("ordered '{}' is behind one that is not ordered", grid.variable.name));
      phase.grid.push_back(grid);
    }
    around_.clear();
    nests(phase);
    graph_.phases.push_back(std::move(phase));
    graph_.schedule.push_back(std::exchange(schedules_, {}));
  }

  // Up to the closing brace, with the loops in `around_` open.
  void nests(Phase& phase) {
    if (around_.size() > kMaxDepth) fail("loops nested too deeply");
    while (!accept("}")) {
      const auto outside = std::pair{extents_, ranges_};
      if (accept_word("for")) {
        around_.push_back(outer_loop(phase));
        const OuterLoop& loop = around_.back();
        ranges_[loop.variable.name] = Index::variable(loop.variable.name, loop.low, loop.high - 1);
        expect("{");
        nests(phase);
        around_.pop_back();
      } else {
        phase.nests.push_back(nest(phase));
      }
      std::tie(extents_, ranges_) = outside;
    }
  }

  // for NAME in EXTENT, for NAME in LOW..HIGH of EXTENT
  OuterLoop outer_loop(const Phase& phase) {
    OuterLoop loop;
    loop.variable.name = word();
    expect("in");
    loop.high = loop.variable.extent = natural();
    if (accept("..")) {
      loop.low = loop.high;
      loop.high = positive();
      expect("of");
      loop.variable.extent = positive();
    }
    if (loop.low >= loop.high || loop.high > loop.variable.extent) fail("a loop outside of its variable");
    const GridVariable* grid = phase.grid_variable(loop.variable.name);
    if (grid == nullptr)
      declare(loop.variable);
    else if (grid->variable.extent != loop.variable.extent)
      fail(fmt::format("'{}' has another extent in the grid", loop.variable.name));
    return loop;
  }

  // --- nests

  static bool begins_option(const std::string& text) {
    for (const char* option : {"over", "rank", "folding", "at", "by", "anew", "lanes", "transposed",
                               "registers", "matrix", "prefetch", "partition", "jam"})
      if (text == option) return true;
    return false;
  }

  NestKind kind() {
    std::string names;
    for (const NestKindRow& row : kNestKinds) {
      if (accept_word(row.name)) return row.kind;
      names += fmt::format("{}{}", names.empty() ? "" : " or ", row.name);
    }
    fail("expected " + names);
  }

  // What is combined how, over which loops.
  void reduction(Nest& nest) {
    nest.combine = combination();
    const bool extreme = nest.combine == ScalarFn::min || nest.combine == ScalarFn::max;
    if (row(nest.kind).extremes && !extreme)
      fail(fmt::format("{} finds no element", korch::name(nest.combine)));
  }

  void reduction_loops(Nest& nest) {
    if (accept_word("over") && !reduces(nest.kind)) fail("this reduces nothing");
    if (reduces(nest.kind) && !peek().empty() && !begins_option(peek())) nest.reduced = variables(nullptr);
    if (ranks(nest.kind)) {
      expect("rank");
      nest.rank = variables(nullptr)[0];
    }
  }

  void position(Nest& nest) {
    if (accept_word("at")) {
      if (nest.kind != NestKind::arg_reduce) fail("only arg_reduce has a position");
      nest.position = index();
      nest.select_last = accept_word("last");
    }
    nest.nan_wins = !accept_word("by");
    if (!nest.nan_wins) expect("comparison");
  }

  Nest nest(const Phase& phase) {
    Nest nest;
    nest.around = around_;
    nest.first_slice_only = accept_word("once");
    nest.kept = !nest.first_slice_only && accept_word("kept");
    nest.kind = kind();
    nodes_.clear();
    if (reduces(nest.kind)) reduction(nest);
    const std::string next = peek();
    if (!next.empty() && !begins_option(next)) nest.loops = variables(&phase);
    reduction_loops(nest);
    if (accept_word("folding")) variables(nullptr);
    position(nest);
    if (accept_word("anew")) {
      if (nest.kind != NestKind::reduce) fail("only reduce goes on from what is stored");
      if (accept_word("never")) {
        nest.anew.require(0, 1, 1);
      } else {
        expect("if");
        nest.anew = condition();
      }
    }
    schedules_.push_back(schedule());
    expect("{");
    nest.stores = stores();
    forget_unused(nest);
    while (accept_word("segment")) nest.segments.push_back(segment(nest));
    if (const std::string fault = structural_fault(graph_, phase, nest); !fault.empty()) fail(fault);
    if (const std::string fault = schedule_fault(graph_, phase, nest, schedules_.back()); !fault.empty())
      fail(fault);
    expect("}");
    return nest;
  }

  // What the whole body does not use, a segment must define for its own range.
  void forget_unused(const Nest& nest) {
    const std::vector<int> used = graph_.pool.reachable(nest.roots());
    std::erase_if(nodes_, [&](const auto& item) {
      return std::find(used.begin(), used.end(), item.second) == used.end();
    });
  }

  NestSchedule schedule() {
    NestSchedule schedule;
    if (accept_word("lanes")) {
      schedule.lanes = static_cast<int>(std::min<int64_t>(positive(), 1 << 10));
      schedule.across = accept_word("across");
      if (!schedule.across) expect("along");
      schedule.variable = word();
    }
    if (accept_word("transposed")) {
      expect("with");
      schedule.transposed = word();
    }
    schedule.registers = accept_word("registers");
    if (accept_word("matrix")) {
      schedule.matrix_units = product_type_named(word());
      if (!schedule.matrix_units) fail("matrix units multiply f32, tf32, f16 or bf16");
    }
    if (accept_word("stages")) schedule.stages = static_cast<int>(std::min<int64_t>(positive(), 1 << 10));
    while (accept_word("prefetch")) {
      const bool rows = accept_word("rows");
      if (!rows) expect("columns");
      (rows ? schedule.prefetch_rows : schedule.prefetch_columns) = true;
    }
    if (accept_word("partition")) {
      expect("along");
      do schedule.partitioned.push_back(word());
      while (accept(","));
    }
    if (accept_word("jam")) schedule.jam = static_cast<int>(std::min<int64_t>(positive(), 1 << 10));
    return schedule;
  }

  Segment segment(Nest& nest) {
    Segment segment;
    const std::string variable = word();
    if (!nest.segments.empty() && nest.cut != variable) fail("segments of two variables");
    nest.cut = variable;
    expect("in");
    segment.low = natural();
    expect("..");
    segment.high = natural();
    if (extents_.count(variable) == 0) fail(fmt::format("no variable '{}' here", variable));
    if (segment.low >= segment.high || segment.high > extents_.at(variable))
      fail("a segment outside of its loop");
    expect("{");
    const auto whole = std::pair{ranges_, nodes_};
    ranges_[variable] = Index::variable(variable, segment.low, segment.high - 1);
    segment.stores = stores();
    std::tie(ranges_, nodes_) = whole;
    expect("}");
    return segment;
  }

  std::vector<Store> stores() {
    std::vector<Store> result;
    for (;;) {
      skip_space();
      if (at_ == text_.size() || text_[at_] == '}' || peek() == "segment") return result;
      if (accept("%")) {
        const int64_t number = natural();
        expect("=");
        const int node = definition();
        if (!nodes_.emplace(number, node).second) fail(fmt::format("%{} is defined twice", number));
        continue;
      }
      Store store;
      store.buffer = buffer_name();
      expect("[");
      store.offset = index();
      expect("]");
      expect("<-");
      store.value = operand();
      if (accept_word("if")) store.condition = condition();
      if (store.condition.always_false()) fail("a condition that never holds");
      result.push_back(store);
    }
  }

  // --- expressions

  int operand() {
    expect("%");
    const int64_t number = natural();
    const auto found = nodes_.find(number);
    if (found == nodes_.end()) fail(fmt::format("%{} is not defined above", number));
    return found->second;
  }

  int definition() {
    skip_space();
    Expr e;
    if (at_ < text_.size() && text_[at_] == '%') return guard();
    if (accept_word("fold")) {
      e.kind = ExprKind::fold;
      e.fn = combination();
      e.over.name = word();
      const auto found = extents_.find(e.over.name);
      if (found == extents_.end()) fail(fmt::format("no variable '{}'", e.over.name));
      e.over.extent = found->second;
      expect("of");
      e.args = {operand()};
      e.type = graph_.pool[e.args[0]].type;
      return graph_.pool.add(std::move(e));
    }
    if (accept_word("checked")) {
      e.kind = ExprKind::checked;
      e.args = {operand()};
      e.type = graph_.pool[e.args[0]].type;
      if (e.type != DType::i64 && e.type != DType::i32) fail("an index that is no i64 or i32");
      expect("of");
      e.integer = positive();
      if (e.type == DType::i32 && e.integer > INT32_MAX) fail("an i32 of an axis that it cannot count");
      return graph_.pool.add(std::move(e));
    }
    if (buffers_.count(peek()) != 0) {
      e.kind = ExprKind::load;
      e.buffer = buffer_name();
      e.type = graph_.buffers[e.buffer].type;
      expect("[");
      e.coords = {index()};
      expect("]");
      return graph_.pool.add(std::move(e));
    }
    return constant_or_call(dtype());
  }

  int constant_or_call(DType type) {
    Expr e;
    e.type = type;
    skip_space();
    const bool is_call =
        std::isalpha(static_cast<unsigned char>(at_ < text_.size() ? text_[at_] : '0')) != 0 &&
        peek() != "inf" && peek() != "nan";
    if (is_call) return call(type);
    if (!is_float(type)) {
      e.integer = type == DType::u64 ? static_cast<int64_t>(integer()) : integer();
      return graph_.pool.add(std::move(e));
    }
    const size_t end = text_.find_first_of("\n \t", at_);
    const std::string text(text_.substr(at_, (end == std::string_view::npos ? text_.size() : end) - at_));
    char* rest = nullptr;
    e.number = std::strtod(text.c_str(), &rest);
    if (text.empty() || *rest != '\0') fail(fmt::format("'{}' is not a number", text));
    at_ += text.size();
    return graph_.pool.add(std::move(e));
  }

  int call(DType type) {
    Expr e;
    e.kind = ExprKind::call;
    e.type = type;
    e.fn = function();
    expect("(");
    do e.args.push_back(operand());
    while (accept(","));
    expect(")");
    if (static_cast<int>(e.args.size()) != arity(e.fn))
      fail(fmt::format("{} takes {} operands, not {}", korch::name(e.fn), arity(e.fn), e.args.size()));
    e.decaying = e.fn == ScalarFn::exp && accept_word("decaying");
    return graph_.pool.add(std::move(e));
  }

  Condition condition() {
    Condition result;
    do {
      const int64_t low = bounded();
      expect("<=");
      const Index between = index();
      expect("<=");
      result.require(between, low, bounded());
    } while (accept_word("and"));
    return result;
  }

  int guard() {
    Expr e;
    e.kind = ExprKind::guard;
    e.args = {operand()};
    e.type = graph_.pool[e.args[0]].type;
    expect("if");
    e.condition = condition();
    expect("else");
    e.args.push_back(operand());
    if (graph_.pool[e.args[1]].type != e.type) fail("alternatives of two types");
    return graph_.pool.guard(e.condition, e.args[0], e.args[1]);
  }

  // --- index expressions

  Index index(int depth = 0) {
    if (depth > kMaxDepth) fail("an index expression nested too deeply");
    const bool negative = accept("-");
    Index sum = product(depth);
    if (negative) sum = sum * -1;
    for (;;) {
      skip_space();
      if (text_.compare(at_, 2, "<-") == 0) return checked(sum);
      if (accept("+"))
        sum = sum + product(depth);
      else if (accept("-"))
        sum = sum - product(depth);
      else
        return checked(sum);
    }
  }

  Index checked(const Index& index) const {
    if (!index.range().inside(-kMaxNumber, kMaxNumber)) fail("an index that becomes too large");
    return index;
  }

  Index product(int depth) {
    Index value = primary(depth);
    for (;;) {
      if (accept("*"))
        value = checked(value * bounded());
      else if (accept("/"))
        value = floor_div(value, positive());
      else if (accept("%"))
        value = floor_mod(value, positive());
      else
        return value;
    }
  }

  Index primary(int depth) {
    skip_space();
    if (accept("(")) {
      const Index inner = index(depth + 1);
      expect(")");
      return inner;
    }
    if (at_ < text_.size() && text_[at_] == '%') {
      const int id = operand();
      const Expr& e = graph_.pool[id];
      if (e.kind != ExprKind::checked) fail("an index at run time must be checked");
      return Index::dynamic(id, e.integer);
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      return Index(bounded());
    const std::string name = word();
    if (accept("(")) return function_of(name, depth);
    const auto range = ranges_.find(name);
    if (range != ranges_.end()) return range->second;
    const auto found = extents_.find(name);
    if (found == extents_.end()) fail(fmt::format("no variable '{}'", name));
    return Index::variable(name, found->second);
  }

  Index function_of(const std::string& name, int depth) {
    const Index argument = index(depth + 1);
    Index result;
    if (name == "index_abs") {
      result = absolute(argument);
    } else if (name == "index_div" || name == "index_mod") {
      expect(",");
      const int64_t divisor = positive();
      result = name == "index_div" ? floor_div(argument, divisor) : floor_mod(argument, divisor);
    } else if (name == "index_clamp") {
      expect(",");
      const int64_t low = bounded();
      expect(",");
      const int64_t high = bounded();
      if (low > high) fail("a clamp to nothing");
      result = clamp(argument, low, high);
    } else {
      fail(fmt::format("unknown function '{}'", name));
    }
    expect(")");
    return result;
  }

  ScheduledGraph graph_;
  std::vector<NestSchedule> schedules_;  // of the phase at hand
  std::map<std::string, int> buffers_;
  std::map<std::string, int64_t> extents_;  // of the variables in scope
  Replacements ranges_;                     // narrower ones, in a loop around nests or a segment
  std::vector<OuterLoop> around_;           // that are open
  std::map<int64_t, int> nodes_;            // by their number in the text
};

}  // namespace

ScheduledGraph parse_tile_graph(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace korch::tile
