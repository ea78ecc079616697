#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/device/device.h"
#include "korch/kernel/region.h"

namespace korch::tile {
namespace {

class NestVerifier {
 public:
  NestVerifier(const TileGraph& graph, const Phase& phase, const Nest& nest)
      : graph_(graph), phase_(phase), nest_(nest) {}

  std::string fault() {
    for (const GridVariable& grid : phase_.grid)
      known_.insert(grid.chunk == 1 ? grid.variable.name : grid.block());
    std::vector<LoopVariable> loops;
    for (const OuterLoop& loop : nest_.around) {
      const GridVariable* grid = phase_.grid_variable(loop.variable.name);
      if (grid == nullptr || grid->chunk > 1) loops.push_back(loop.variable);
    }
    const auto declare = [&](const std::vector<LoopVariable>& variables) -> std::string {
      for (const LoopVariable& loop : variables)
        if (!known_.insert(loop.name).second)
          return fmt::format("'{}' counts the slices and loops in them", loop.name);
      return {};
    };
    if (const std::string fault = declare(loops); !fault.empty()) return fault;
    if (const std::string fault = in_scope(nest_.anew, known_); !fault.empty()) return fault;
    if (const std::string fault = declare(nest_.loops); !fault.empty()) return fault;
    if (nest_.kept)
      if (const std::string fault = kept(); !fault.empty()) return fault;
    for (const LoopVariable& loop : nest_.reduced) known_.insert(loop.name);
    if (nest_.stores.empty()) return "a nest that stores nothing";
    if (const std::string fault = kind(); !fault.empty()) return fault;
    if (const std::string fault = segments(); !fault.empty()) return fault;
    if (const std::string fault = stores(nest_.stores); !fault.empty()) return fault;
    for (const Segment& segment : nest_.segments) {
      if (const std::string fault = stores(segment.stores); !fault.empty()) return fault;
      for (size_t i = 0; i < nest_.stores.size(); ++i)
        if (segment.stores[i].buffer != nest_.stores[i].buffer) return "a segment that stores elsewhere";
    }
    return bounds();
  }

 private:
  std::string kind() const {
    const bool extreme = nest_.combine == ScalarFn::max || nest_.combine == ScalarFn::min;
    if (!nest_.nan_wins &&
        !(nest_.kind == NestKind::arg_reduce || (nest_.kind == NestKind::reduce && extreme)))
      return "only extremes are found by comparison";
    switch (nest_.kind) {
      case NestKind::scatter:
        return scatter();
      case NestKind::top_k:
        return top_k();
      case NestKind::suppress:
        return suppress();
      case NestKind::map:
      case NestKind::scan:
        return {};
      case NestKind::reduce:
      case NestKind::arg_reduce:
        return reduced();
    }
    __builtin_unreachable();
  }

  std::string reduced() const {
    for (const LoopVariable& loop : nest_.reduced)
      if (nest_.stores[0].offset.depends_on(loop.name))
        return fmt::format("the result of a reduction over {} goes to every {}", loop.name, loop.name);
    return {};
  }

  // Its points have an order, which slices do not.
  std::string scatter() const {
    const std::vector<int> nodes = graph_.pool.reachable(nest_.roots());
    for (const Store& store : nest_.stores) {
      const std::string name = graph_.name(store.buffer);
      const bool own = graph_.buffers[store.buffer].role == BufferRole::scratch;
      if (!own && !nest_.first_slice_only && phase_.slices() > 1)
        return fmt::format("several slices scatter over {}", name);
      for (int id : nodes)
        if (graph_.pool[id].kind == ExprKind::load && graph_.pool[id].buffer == store.buffer)
          return fmt::format("a scatter over {} reads it", name);
    }
    return {};
  }

  // Another one for every value of the variable.
  static bool has_places(const Index& place, const LoopVariable& variable) {
    return variable.extent == 1 || (place.affine_in(variable.name) && place.stride(variable.name) != 0);
  }

  // The positions' places hold what is kept so far.
  std::string top_k() const {
    if (nest_.reduced.size() != 1) return "top_k looks along one variable";
    const std::string &along = nest_.reduced[0].name, &rank = nest_.rank.name;
    if (nest_.rank.extent > nest_.reduced[0].extent)
      return fmt::format("{} elements have no {} best", nest_.reduced[0].extent, nest_.rank.extent);
    const Index& place = nest_.stores[0].offset;
    if (!has_places(place, nest_.rank))
      return fmt::format("the positions have no places of their own along {}", rank);
    for (const Store& store : nest_.stores)
      if (store.offset.depends_on(along)) return fmt::format("top_k stores at {}, not at {}", along, rank);
    for (int id : graph_.pool.reachable(nest_.roots())) {
      const Expr& e = graph_.pool[id];
      if (e.kind == ExprKind::checked) return "top_k of elements where data says";
      for (const Store& store : nest_.stores)
        if (e.kind == ExprKind::load && e.buffer == store.buffer)
          return fmt::format("top_k reads {} and stores there", graph_.name(e.buffer));
      if (graph_.pool.variables(id).count(rank) != 0)
        return fmt::format("top_k of elements that depend on {}", rank);
    }
    return {};
  }

  std::string suppress() const {
    if (nest_.reduced.size() != 2 || nest_.reduced[0].extent != nest_.reduced[1].extent)
      return "suppress looks along one variable, with another for what was taken";
    const std::string &along = nest_.reduced[0].name, &taken = nest_.reduced[1].name, &rank = nest_.rank.name;
    if (nest_.combine != ScalarFn::max) return "suppress takes the largest";
    if (nest_.stores.size() != 2) return "suppress stores what is taken, and works where it may";
    const Store &places = nest_.stores[0], &work = nest_.stores[1];
    if (graph_.pool[places.value].type != DType::f32 && graph_.pool[places.value].type != DType::f64)
      return "suppress compares floats";
    if (graph_.pool[work.value].type != DType::bool_) return "to exclude is a bool";
    if (graph_.pool.variables(places.value).count(taken) != 0)
      return fmt::format("a number that depends on {}, which was taken", taken);
    if (!has_places(places.offset, nest_.rank) || places.offset.depends_on(along) ||
        places.offset.depends_on(taken))
      return fmt::format("what is taken has no places of its own along {}", rank);
    if (!has_places(work.offset, nest_.reduced[0]) || work.offset.depends_on(rank) ||
        work.offset.depends_on(taken))
      return fmt::format("suppress has no working memory of its own along {}", along);
    for (int id : graph_.pool.reachable(nest_.roots())) {
      const Expr& e = graph_.pool[id];
      if (e.kind == ExprKind::checked) return "suppress of elements where data says";
      if (e.kind == ExprKind::load && (e.buffer == places.buffer || e.buffer == work.buffer))
        return fmt::format("suppress reads {} and stores there", graph_.name(e.buffer));
      if (graph_.pool.variables(id).count(rank) != 0)
        return fmt::format("suppress of elements that depend on {}", rank);
    }
    return {};
  }

  std::string segments() const {
    if (nest_.segments.empty()) return {};
    int64_t extent = 0, next = 0;
    for (const std::vector<LoopVariable>* loops : {&nest_.loops, &nest_.reduced})
      for (const LoopVariable& loop : *loops)
        if (loop.name == nest_.cut) extent = loop.extent;
    for (const Segment& segment : nest_.segments) {
      if (segment.low != next) return fmt::format("no segment has {} = {}", nest_.cut, next);
      if (segment.stores.size() != nest_.stores.size()) return "a segment with other stores";
      next = segment.high;
    }
    return next == extent ? std::string() : fmt::format("no segment has {} = {}", nest_.cut, next);
  }

  // It must stay as it is: nobody else writes there, and it reads what does not change.
  std::string kept() const {
    if (!nest_.around.empty()) return "what is kept stands in no loop";
    for (const Store& store : nest_.stores) {
      if (graph_.buffers[store.buffer].role != BufferRole::scratch) return "what is kept lies in scratch";
      for (const Nest& other : phase_.nests)
        for (const Store& overwriting : other.stores)
          if (!other.kept && overwriting.buffer == store.buffer)
            return fmt::format("{} is kept and overwritten", graph_.name(store.buffer));
    }
    for (int id : graph_.pool.reachable(nest_.roots())) {
      const Expr& e = graph_.pool[id];
      if (e.kind == ExprKind::load && graph_.buffers[e.buffer].role == BufferRole::scratch)
        return "what is kept is computed from scratch";
    }
    return {};
  }

  std::string stores(const std::vector<Store>& stores) {
    std::set<std::string> known = known_, places = known_;
    if (ranks(nest_.kind)) places.insert(nest_.rank.name);
    for (int id : graph_.pool.reachable(roots_of(stores)))
      if (graph_.pool[id].kind == ExprKind::fold) known.insert(graph_.pool[id].over.name);
    for (int id : graph_.pool.reachable(roots_of(stores)))
      if (const std::string fault = expression(graph_.pool[id], known); !fault.empty()) return fault;
    for (size_t i = 0; i < stores.size(); ++i) {
      const Store& store = stores[i];
      const Buffer& buffer = graph_.buffers[store.buffer];
      if (buffer.role == BufferRole::input || buffer.role == BufferRole::constant)
        return fmt::format("{} is only read", graph_.name(store.buffer));
      const bool position = i < static_cast<size_t>(row(nest_.kind).positions);
      const DType type = position ? DType::i64 : graph_.pool[store.value].type;
      if (type != buffer.type)
        return fmt::format("{} of {} takes no {}", graph_.name(store.buffer), korch::name(buffer.type),
                           korch::name(type));
      if (!store.offset.dynamics().empty() && nest_.kind != NestKind::scatter)
        return "a store where data says";
      if (const std::string fault = in_scope(store.offset, places); !fault.empty()) return fault;
      if (const std::string fault = condition(store); !fault.empty()) return fault;
    }
    return in_scope(nest_.position, known_);
  }

  std::string condition(const Store& store) const {
    if (store.condition.always_true()) return {};
    if (store.condition.always_false()) return "a condition that never holds";
    const bool possible =
        !reduces(nest_.kind) || (nest_.kind == NestKind::arg_reduce && nest_.stores.size() == 1);
    if (!possible) return "only maps, scatters and the element of an arg_reduce have conditions";
    for (const Bound& bound : store.condition.bounds())
      if (!bound.index.dynamics().empty()) return "a store where data says";
    return in_scope(store.condition, known_);
  }

  static std::string in_scope(const Index& index, const std::set<std::string>& known) {
    for (const std::string& name : index.variables())
      if (known.count(name) == 0) return fmt::format("no variable '{}' here", name);
    return {};
  }

  static std::string in_scope(const Condition& condition, const std::set<std::string>& known) {
    for (const Bound& bound : condition.bounds())
      if (const std::string fault = in_scope(bound.index, known); !fault.empty()) return fault;
    return {};
  }

  std::string expression(const Expr& e, const std::set<std::string>& known) const {
    for (const Index& coord : e.coords)
      if (const std::string fault = in_scope(coord, known); !fault.empty()) return fault;
    if (const std::string fault = in_scope(e.condition, known); !fault.empty()) return fault;
    if (e.kind == ExprKind::intermediate) return "a Value that is nowhere computed";
    if (e.kind == ExprKind::load && graph_.buffers[e.buffer].type != e.type) return "a load of another type";
    if (e.kind == ExprKind::call) return call(e);
    return {};
  }

  static bool gives_condition(ScalarFn fn) { return fn >= ScalarFn::eq && fn <= ScalarFn::logical_not; }

  std::string call(const Expr& e) const {
    const auto type = [&](size_t arg) { return graph_.pool[e.args[arg]].type; };
    const std::string what = fmt::format("{} {}", korch::name(e.type), korch::name(e.fn));
    if (e.fn == ScalarFn::cast) return {};
    const size_t first = e.fn == ScalarFn::select ? 1 : 0;
    if (first == 1 && type(0) != DType::bool_) return what + " chooses by something that is no bool";
    for (size_t arg = first; arg < e.args.size(); ++arg)
      if (type(arg) != type(first)) return what + " of operands of two types";
    if (e.type != (gives_condition(e.fn) ? DType::bool_ : type(first)))
      return fmt::format("{} of {}", what, korch::name(type(first)));
    return {};
  }

  std::string bounds() const {
    for (const Access& access : accesses(graph_, phase_, nest_))
      for (const StridedBox& box : access.region.boxes)
        if (box.base < 0 || box.last() >= graph_.buffers[access.buffer].elements)
          return fmt::format("{} {}..{} of {}, which has {} elements",
                             access.direction == Direction::read ? "reads" : "writes", box.base, box.last(),
                             graph_.name(access.buffer), graph_.buffers[access.buffer].elements);
    return {};
  }

  const TileGraph& graph_;
  const Phase& phase_;
  const Nest& nest_;
  std::set<std::string> known_;
};

}  // namespace

std::string structural_fault(const TileGraph& graph, const Phase& phase, const Nest& nest) {
  return NestVerifier(graph, phase, nest).fault();
}

std::string structural_fault(const TileGraph& graph) {
  int64_t free = 0;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    if (buffer.role != BufferRole::scratch) continue;
    if (buffer.offset_bytes < free || buffer.offset_bytes % kCacheLineBytes != 0)
      return fmt::format("{} lies in another buffer or unaligned", graph.name(static_cast<int>(i)));
    free = buffer.offset_bytes + buffer.bytes();
    if (free > graph.scratch_bytes)
      return fmt::format("{} exceeds the scratch", graph.name(static_cast<int>(i)));
  }
  for (const Phase& phase : graph.phases)
    for (const Nest& nest : phase.nests)
      if (const std::string fault = structural_fault(graph, phase, nest); !fault.empty()) return fault;
  return {};
}

}  // namespace korch::tile
