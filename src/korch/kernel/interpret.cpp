#include "korch/kernel/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/kernel/scalar_math.h"

namespace korch::tile {
namespace {

// Inputs and constants are read where they are.
struct Memory {
  const HostTensor* given = nullptr;
  std::vector<Scalar> values;
  std::vector<bool> written;
  int64_t elements() const { return given != nullptr ? given->elements() : std::ssize(values); }
};

// An Index with its variables resolved to slots.
struct IndexCode {
  struct Term {
    int64_t coefficient;
    AtomKind kind;
    int slot = -1;  // of a variable, or the node of a run-time value
    int64_t a = 0, b = 0;
    std::vector<IndexCode> argument;
  };
  int64_t constant = 0;
  std::vector<Term> terms;
};

// The bodies of one nest, ready to run.
class Body {
 public:
  Body(const TileGraph& graph, const std::vector<Store>& stores, const Nest& nest,
       std::map<std::string, int>& slots, const ScalarMath& math, std::vector<Memory>& memory)
      : graph_(graph),
        math_(math),
        memory_(memory),
        slots_(slots),
        stores_(stores),
        anew_(nest.anew.bounds()),
        never_anew_(nest.anew.always_false()) {
    for (int id : graph.pool.reachable(roots_of(stores))) add(id);
    for (int id : graph.pool.unconditional(always_stored(stores))) unconditional_.push_back(numbers_.at(id));
    for (const Store& store : stores) {
      roots_.push_back(numbers_.at(store.value));
      offsets_.push_back(code(store.offset));
      conditions_.emplace_back();
      for (const Bound& bound : store.condition.bounds()) conditions_.back().push_back(code(bound.index));
    }
    position_ = code(nest.position);
    for (const Bound& bound : anew_) anew_bounds_.push_back(code(bound.index));
    values_.resize(nodes_.size());
    stamps_.resize(nodes_.size(), 0);
  }

  // The values of the stores at the point that the variables are at; where nothing is stored, none.
  void evaluate(const std::vector<int64_t>& variables, std::vector<Scalar>& result) {
    variables_ = variables;
    ++stamp_;
    for (int node : unconditional_) value(node);
    result.clear();
    for (size_t i = 0; i < roots_.size(); ++i) result.push_back(stores(i) ? value(roots_[i]) : Scalar{});
  }
  // Where the stores go, and where the position is, at that point.
  int64_t offset(size_t store) { return index(offsets_[store]); }
  int64_t offset(size_t store, const std::vector<int64_t>& variables) {
    variables_ = variables;
    return index(offsets_[store]);
  }
  int64_t position() { return index(position_); }
  bool begins_anew(const std::vector<int64_t>& variables) {
    variables_ = variables;
    return !never_anew_ && hold(anew_, anew_bounds_);
  }
  Scalar stored(size_t store) { return load(stores_[store].buffer, index(offsets_[store])); }
  const std::vector<Store>& stores() const { return stores_; }
  bool stores(size_t store) { return hold(stores_[store].condition.bounds(), conditions_[store]); }

 private:
  struct Node {
    const Expr* expr;
    std::vector<int> args;
    IndexCode offset;
    std::vector<IndexCode> bounds;
    int slot = -1;           // fold: its variable
    std::vector<int> inner;  // fold: nodes that its variable changes
  };

  void add(int id) {
    const Expr& e = graph_.pool[id];
    Node node;
    node.expr = &e;
    for (int arg : e.args) node.args.push_back(numbers_.at(arg));
    if (e.kind == ExprKind::load) node.offset = code(e.coords[0]);
    for (const Bound& bound : e.condition.bounds()) node.bounds.push_back(code(bound.index));
    if (e.kind == ExprKind::fold) {
      node.slot = slot(e.over.name);
      for (int inner : graph_.pool.reachable({e.args[0]}))
        if (graph_.pool.variables(inner).count(e.over.name) != 0) node.inner.push_back(numbers_.at(inner));
    }
    numbers_[id] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  int slot(const std::string& name) {
    return slots_.emplace(name, static_cast<int>(slots_.size())).first->second;
  }

  IndexCode code(const Index& index) {
    IndexCode result;
    result.constant = index.constant();
    for (const Index::Term& term : index.terms()) {
      const Atom& atom = *term.atom;
      IndexCode::Term t{term.coefficient, atom.kind, -1, atom.a, atom.b, {}};
      if (atom.kind == AtomKind::variable)
        t.slot = slot(atom.name);
      else if (atom.kind == AtomKind::dynamic)
        t.slot = numbers_.at(atom.id);
      else
        t.argument.push_back(code(atom.arg));
      result.terms.push_back(std::move(t));
    }
    return result;
  }

  int64_t index(const IndexCode& code) {
    int64_t sum = code.constant;
    for (const IndexCode::Term& term : code.terms) sum += term.coefficient * atom(term);
    return sum;
  }

  int64_t atom(const IndexCode::Term& term) {
    if (term.kind == AtomKind::variable) return variables_[term.slot];
    if (term.kind == AtomKind::dynamic) return value(term.slot).integer;
    const int64_t x = index(term.argument[0]);
    const int64_t rest = term.a == 0 ? 0 : (x % term.a + term.a) % term.a;
    switch (term.kind) {
      case AtomKind::div:
        return (x - rest) / term.a;
      case AtomKind::mod:
        return rest;
      case AtomKind::abs:
        return std::abs(x);
      case AtomKind::variable:
      case AtomKind::dynamic:
      case AtomKind::clamp:
        break;
    }
    return std::clamp(x, term.a, term.b);
  }

  const Scalar& value(int number) {
    if (stamps_[number] != stamp_) {
      const Scalar computed = compute(nodes_[number]);
      values_[number] = computed;
      stamps_[number] = stamp_;
    }
    return values_[number];
  }

  Scalar compute(const Node& node) {
    const Expr& e = *node.expr;
    switch (e.kind) {
      case ExprKind::constant:
        return math_.constant(e);
      case ExprKind::load:
        return load(e.buffer, index(node.offset));
      case ExprKind::call: {
        Scalar args[3];
        for (size_t i = 0; i < node.args.size(); ++i) args[i] = value(node.args[i]);
        return math_.call(e.fn, e.type, graph_.pool[e.args.back()].type, args,
                          static_cast<int>(node.args.size()));
      }
      case ExprKind::guard:
        return value(node.args[hold(e.condition.bounds(), node.bounds) ? 0 : 1]);
      case ExprKind::fold:
        return fold(node);
      case ExprKind::checked: {
        const int64_t at = value(node.args[0]).integer, wrapped = at < 0 ? at + e.integer : at;
        if (wrapped < 0 || wrapped >= e.integer)
          throw Error(ErrorKind::invalid, fmt::format("index {} of an axis of {} elements", at, e.integer));
        return {0, wrapped};
      }
      case ExprKind::intermediate:
        break;
    }
    KORCH_ASSERT(false, "an intermediate in a tile graph");
    return {};
  }

  bool hold(const std::vector<Bound>& bounds, const std::vector<IndexCode>& codes) {
    for (size_t i = 0; i < bounds.size(); ++i) {
      const int64_t at = index(codes[i]);
      if (at < bounds[i].low || at > bounds[i].high) return false;
    }
    return true;
  }

  Scalar fold(const Node& node) {
    const Expr& e = *node.expr;
    Scalar sum;
    for (int64_t at = 0; at < e.over.extent; ++at) {
      variables_[node.slot] = at;
      for (int inner : node.inner) stamps_[inner] = 0;
      const Scalar args[2] = {sum, value(node.args[0])};
      sum = at == 0 ? args[1] : math_.call(e.fn, e.type, e.type, args, 2);
    }
    for (int inner : node.inner) stamps_[inner] = 0;
    return sum;
  }

  Scalar load(int buffer, int64_t at) const {
    const Memory& memory = memory_[buffer];
    if (at < 0 || at >= memory.elements())
      throw Error(ErrorKind::internal, fmt::format("reads {} at {}", graph_.name(buffer), at));
    if (memory.given != nullptr) return math_.load(*memory.given, at, graph_.buffers[buffer].type);
    if (!memory.written[at])
      throw Error(ErrorKind::internal,
                  fmt::format("reads {} at {}, which nothing wrote", graph_.name(buffer), at));
    return memory.values[at];
  }

  const TileGraph& graph_;
  const ScalarMath& math_;
  std::vector<Memory>& memory_;
  std::map<std::string, int>& slots_;
  std::vector<Store> stores_;
  std::vector<Bound> anew_;
  bool never_anew_;
  std::vector<IndexCode> anew_bounds_;
  std::map<int, int> numbers_;  // of the pool's nodes, here
  std::vector<Node> nodes_;
  std::vector<int> unconditional_, roots_;
  std::vector<IndexCode> offsets_;
  std::vector<std::vector<IndexCode>> conditions_;
  IndexCode position_;
  std::vector<int64_t> variables_;
  std::vector<Scalar> values_;
  std::vector<uint64_t> stamps_;
  uint64_t stamp_ = 0;
};

class NestRunner {
 public:
  NestRunner(const TileGraph& graph, const Phase& phase, const Nest& nest, const ScalarMath& math,
             std::vector<Memory>& memory)
      : graph_(graph), phase_(phase), nest_(nest), math_(math), memory_(memory) {
    for (const GridVariable& grid : phase.grid) grid_slots_.push_back(slot(grid.variable.name));
    for (const GridVariable& grid : phase.grid) block_slots_.push_back(slot(grid.block()));
    for (const OuterLoop& loop : nest.around) around_slots_.push_back(slot(loop.variable.name));
    for (const LoopVariable& loop : nest.loops) loop_slots_.push_back(slot(loop.name));
    for (const LoopVariable& loop : nest.reduced) reduced_slots_.push_back(slot(loop.name));
    if (ranks(nest.kind)) rank_slot_ = slot(nest.rank.name);
    if (nest.segments.empty()) bodies_.push_back({0, INT64_MAX, make(nest.stores)});
    for (const Segment& segment : nest.segments)
      bodies_.push_back({segment.low, segment.high, make(segment.stores)});
    whole_ = make(nest.stores);
    variables_.resize(slots_.size());
    if (!nest.segments.empty()) vector_slot_ = slots_.at(nest.cut);
  }

  // `around`: the values of the loops around it.
  void run(int64_t slice, const std::vector<int64_t>& around) {
    if (nest_.first_slice_only && slice != 0) return;
    std::vector<IndexRange> ranges;
    for (const LoopVariable& loop : nest_.loops) ranges.push_back({0, loop.extent - 1});
    const std::vector<int64_t> blocks = blocks_of(phase_.grid, slice);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const GridVariable& grid = phase_.grid[i];
      const IndexRange values = grid.values(blocks[i]);
      variables_[grid_slots_[i]] = values.low;
      variables_[block_slots_[i]] = blocks[i];
      for (size_t j = 0; j < nest_.loops.size(); ++j)
        if (grid.chunk > 1 && nest_.loops[j].name == grid.variable.name) ranges[j] = values;
    }
    for (size_t i = 0; i < around.size(); ++i) variables_[around_slots_[i]] = around[i];
    over(loop_slots_, ranges, 0, [&] {
      switch (nest_.kind) {
        case NestKind::map:
        case NestKind::scatter:
          return map_point();
        case NestKind::reduce:
        case NestKind::arg_reduce:
        case NestKind::scan:
          return reduce_point();
        case NestKind::top_k:
          return top_k_point();
        case NestKind::suppress:
          return suppress_point();
      }
    });
  }

 private:
  struct Part {
    int64_t low, high;
    std::unique_ptr<Body> body;
  };

  int slot(const std::string& name) {
    return slots_.emplace(name, static_cast<int>(slots_.size())).first->second;
  }
  std::unique_ptr<Body> make(const std::vector<Store>& stores) {
    return std::make_unique<Body>(graph_, stores, nest_, slots_, math_, memory_);
  }

  void over(const std::vector<int>& slots, const std::vector<IndexRange>& ranges, size_t depth,
            const std::function<void()>& visit) {
    if (depth == slots.size()) return visit();
    for (int64_t at = ranges[depth].low; at <= ranges[depth].high; ++at) {
      variables_[slots[depth]] = at;
      over(slots, ranges, depth + 1, visit);
    }
  }

  Body& body() {
    for (Part& part : bodies_)
      if (vector_slot_ < 0 || (variables_[vector_slot_] >= part.low && variables_[vector_slot_] < part.high))
        return *part.body;
    KORCH_ASSERT(false, "a point that no segment has");
    return *bodies_[0].body;
  }

  void store(int buffer, int64_t at, const Scalar& value) {
    Memory& memory = memory_[buffer];
    if (at < 0 || at >= memory.elements())
      throw Error(ErrorKind::internal, fmt::format("writes {} at {}", graph_.name(buffer), at));
    memory.values[at] = math_.stored(value, graph_.buffers[buffer].type);
    memory.written[at] = true;
  }

  void map_point() {
    Body& here = body();
    here.evaluate(variables_, values_);
    for (size_t i = 0; i < values_.size(); ++i)
      if (here.stores(i)) store(here.stores()[i].buffer, here.offset(i), values_[i]);
  }

  void reduce_point() {
    std::vector<IndexRange> ranges;
    for (const LoopVariable& loop : nest_.reduced) ranges.push_back({0, loop.extent - 1});
    Scalar sum;
    int64_t best = -1;
    bool first = whole_->begins_anew(variables_);
    if (!first) sum = whole_->stored(0);
    over(reduced_slots_, ranges, 0, [&] {
      Body& here = body();
      here.evaluate(variables_, values_);
      if (!here.stores(0)) return;
      for (size_t i = 1; i < values_.size(); ++i) store(here.stores()[i].buffer, here.offset(i), values_[i]);
      const DType type = graph_.pool[here.stores()[0].value].type;
      if (nest_.kind == NestKind::arg_reduce) {
        if (first || is_better(values_[0], sum, type)) {
          sum = values_[0];
          best = here.position();
        }
      } else {
        const Scalar args[2] = {sum, values_[0]};
        sum = first ? values_[0] : math_.call(nest_.combine, type, type, args, 2);
      }
      if (nest_.kind == NestKind::scan) store(here.stores()[0].buffer, here.offset(0), sum);
      first = false;
    });
    if (nest_.kind == NestKind::scan) return;
    store(nest_.stores[0].buffer, whole_->offset(0, variables_),
          nest_.kind == NestKind::arg_reduce ? Scalar{0, best} : sum);
  }

  void top_k_point() {
    int64_t& at = variables_[reduced_slots_[0]];
    std::vector<Scalar> elements;
    std::vector<int64_t> order;
    for (at = 0; at < nest_.reduced[0].extent; ++at) {
      whole_->evaluate(variables_, values_);
      elements.push_back(values_[0]);
      order.push_back(at);
    }
    const DType type = graph_.pool[nest_.stores[0].value].type;
    const bool max = nest_.combine == ScalarFn::max;
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const Scalar &x = elements[a], &y = elements[b];
      if (is_larger(x, y, type) || is_larger(y, x, type)) return is_larger(x, y, type) == max;
      return a < b;
    });
    for (int64_t rank = 0; rank < nest_.rank.extent; ++rank) {
      variables_[rank_slot_] = rank;
      at = order[rank];
      whole_->evaluate(variables_, values_);
      store(nest_.stores[0].buffer, whole_->offset(0), Scalar{0, at});
      for (size_t i = 1; i < values_.size(); ++i)
        store(nest_.stores[i].buffer, whole_->offset(i), values_[i]);
    }
  }

  void suppress_point() {
    int64_t &at = variables_[reduced_slots_[0]], &taken = variables_[reduced_slots_[1]];
    std::vector<int64_t> left;
    std::vector<double> numbers;
    taken = 0;
    for (at = 0; at < nest_.reduced[0].extent; ++at) {
      whole_->evaluate(variables_, values_);
      numbers.push_back(math_.number(values_[0]));
      if (numbers.back() > -std::numeric_limits<double>::infinity()) left.push_back(at);
      store(nest_.stores[1].buffer, whole_->offset(1), Scalar{0, at});
    }
    for (int64_t rank = 0; rank < nest_.rank.extent; ++rank) {
      taken = left.empty() ? -1 : left[0];
      for (int64_t other : left)
        if (numbers[other] > numbers[taken]) taken = other;
      variables_[rank_slot_] = rank;
      store(nest_.stores[0].buffer, whole_->offset(0, variables_), Scalar{0, taken});
      std::erase_if(left, [&](int64_t other) {
        at = other;
        if (other != taken) whole_->evaluate(variables_, values_);
        return other == taken || values_[1].integer != 0;
      });
    }
  }

  bool is_larger(const Scalar& a, const Scalar& b, DType type) const {
    return math_.is_nan(a, type) ? !math_.is_nan(b, type) : math_.is_less(b, a, type);
  }

  bool is_better(const Scalar& element, const Scalar& best, DType type) const {
    const auto less = [&](const Scalar& a, const Scalar& b) {
      return math_.is_less(a, b, type) || (nest_.select_last && math_.is_equal(a, b, type));
    };
    if (nest_.nan_wins && math_.is_nan(element, type) && !math_.is_nan(best, type)) return true;
    return nest_.combine == ScalarFn::max ? less(best, element) : less(element, best);
  }

  const TileGraph& graph_;
  const Phase& phase_;
  const Nest& nest_;
  const ScalarMath& math_;
  std::vector<Memory>& memory_;
  std::map<std::string, int> slots_;
  std::vector<int> grid_slots_, block_slots_, around_slots_, loop_slots_, reduced_slots_;
  int vector_slot_ = -1, rank_slot_ = -1;
  std::vector<Part> bodies_;     // by segment
  std::unique_ptr<Body> whole_;  // tells where a reduction's result goes
  std::vector<int64_t> variables_;
  std::vector<Scalar> values_;
};

// The nests of a phase, in the loops that they share.
class PhaseRunner {
 public:
  PhaseRunner(const TileGraph& graph, const Phase& phase, const ScalarMath& math, std::vector<Memory>& memory)
      : phase_(phase) {
    for (const Nest& nest : phase.nests)
      nests_.push_back(std::make_unique<NestRunner>(graph, phase, nest, math, memory));
  }

  void run(int64_t slice) { run(slice, 0, nests_.size()); }

 private:
  // Nests begin .. end - 1, which are in the loops that `around_` gives the values of.
  void run(int64_t slice, size_t begin, size_t end) {
    const size_t depth = around_.size();
    while (begin < end) {
      if (phase_.nests[begin].around.size() == depth) {
        nests_[begin++]->run(slice, around_);
        continue;
      }
      const OuterLoop& loop = phase_.nests[begin].around[depth];
      size_t next = begin + 1;
      while (next < end && phase_.nests[next].around.size() > depth &&
             phase_.nests[next].around[depth] == loop)
        ++next;
      const IndexRange range = values(loop, slice);
      for (int64_t at = range.low; at <= range.high; ++at) {
        around_.push_back(at);
        run(slice, begin, next);
        around_.pop_back();
      }
      begin = next;
    }
  }

  IndexRange values(const OuterLoop& loop, int64_t slice) const {
    IndexRange range{loop.low, loop.high - 1};
    const std::vector<int64_t> blocks = blocks_of(phase_.grid, slice);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (phase_.grid[i].variable.name != loop.variable.name) continue;
      const IndexRange in_slice = phase_.grid[i].values(blocks[i]);
      range = {std::max(range.low, in_slice.low), std::min(range.high, in_slice.high)};
    }
    return range;
  }

  const Phase& phase_;
  std::vector<std::unique_ptr<NestRunner>> nests_;
  std::vector<int64_t> around_;
};

bool is_read_only(const Buffer& buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::constant;
}

// What is not among the arguments is memory that nothing wrote.
std::vector<Memory> memory_of(const TileGraph& graph, const std::vector<HostTensor>& arguments,
                              const ScalarMath& math) {
  std::vector<Memory> memory(graph.buffers.size());
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    const bool given = i < arguments.size();
    KORCH_ASSERT(given ? arguments[i].elements() == buffer.elements : !is_read_only(buffer),
                 "arguments of another kernel");
    if (is_read_only(buffer)) {
      memory[i].given = &arguments[i];
      continue;
    }
    memory[i].values.resize(buffer.elements);
    memory[i].written.assign(buffer.elements, given);
    for (int64_t at = 0; given && at < buffer.elements; ++at)
      memory[i].values[at] = math.load(arguments[i], at, buffer.type);
  }
  return memory;
}

std::vector<HostTensor> tensors_of(const TileGraph& graph, const std::vector<Memory>& memory,
                                   const ScalarMath& math, std::initializer_list<BufferRole> roles) {
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < graph.buffers.size(); ++i)
    if (std::find(roles.begin(), roles.end(), graph.buffers[i].role) != roles.end())
      tensors.push_back(math.to_tensor(memory[i].values, graph.buffers[i].type));
  return tensors;
}

}  // namespace

std::vector<HostTensor> interpret(const TileGraph& graph, const std::vector<HostTensor>& arguments,
                                  Arithmetic arithmetic) {
  return interpret(graph, arguments, NativeMath(arithmetic));
}

std::vector<HostTensor> interpret(const TileGraph& graph, const std::vector<HostTensor>& arguments,
                                  const ScalarMath& math) {
  std::vector<Memory> memory = memory_of(graph, arguments, math);
  for (const Phase& phase : graph.phases) {
    PhaseRunner runner(graph, phase, math, memory);
    for (int64_t slice = 0; slice < phase.slices(); ++slice) {
      for (size_t i = 0; i < graph.buffers.size(); ++i)
        if (graph.buffers[i].role == BufferRole::scratch)
          memory[i].written.assign(memory[i].written.size(), false);
      runner.run(slice);
    }
  }
  return tensors_of(graph, memory, math, {BufferRole::output});
}

std::vector<HostTensor> interpret_slice(const TileGraph& graph, const Phase& phase, int64_t slice,
                                        const std::vector<HostTensor>& arguments, Arithmetic arithmetic) {
  const NativeMath math(arithmetic);
  std::vector<Memory> memory = memory_of(graph, arguments, math);
  PhaseRunner(graph, phase, math, memory).run(slice);
  return tensors_of(graph, memory, math, {BufferRole::output, BufferRole::temporary});
}

}  // namespace korch::tile
