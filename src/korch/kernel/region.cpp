#include "korch/kernel/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/kernel/boxes.h"

namespace korch::tile {
namespace {

constexpr size_t kMaxPaths = 256;           // ways through guards to one load
constexpr int64_t kFar = int64_t{1} << 60;  // beyond every index

// The conditions under which each node below the roots is evaluated.
class Paths {
 public:
  explicit Paths(const ExprPool& pool) : pool_(pool) {}

  // Roots and when they are asked for.
  std::map<int, std::vector<Condition>> of(const std::vector<std::pair<int, Condition>>& roots) {
    std::vector<int> nodes;
    for (const auto& [root, condition] : roots) nodes.push_back(root);
    std::vector<int> order = pool_.reachable(nodes);
    for (const auto& [root, condition] : roots) add(root, condition);
    for (size_t i = order.size(); i-- > 0;) spread(order[i]);
    return std::move(paths_);
  }

 private:
  void add(int node, const Condition& path) {
    if (path.always_false()) return;
    std::vector<Condition>& paths = paths_[node];
    for (const Condition& known : paths)
      if (known.always_true() || known == path) return;
    if (path.always_true() || paths.size() >= kMaxPaths)
      paths = {Condition::always()};
    else
      paths.push_back(path);
  }

  void spread(int node) {
    const Expr& e = pool_[node];
    const std::vector<Condition> paths = paths_[node];
    for (const Condition& path : paths) {
      if (e.kind != ExprKind::guard) {
        for (int operand : pool_.operands(node)) add(operand, path);
        continue;
      }
      for (const Bound& bound : e.condition.bounds())
        for (int dynamic : bound.index.dynamics()) add(dynamic, path);
      add(e.args[0], Condition(path).require(e.condition));
      Condition before = path;  // the first bound that fails is this one
      for (const Bound& bound : e.condition.bounds()) {
        add(e.args[1], Condition(before).require(bound.index, -kFar, bound.low - 1));
        add(e.args[1], Condition(before).require(bound.index, bound.high + 1, kFar));
        before.require(bound.index, bound.low, bound.high);
      }
    }
  }

  const ExprPool& pool_;
  std::map<int, std::vector<Condition>> paths_;
};

// What is written under a condition; a reduction writes its result always.
void collect(const TileGraph& graph, const Nest& nest, const std::vector<Store>& stores,
             std::vector<Place>& places) {
  std::vector<std::pair<int, Condition>> roots;
  for (const Store& store : stores) {
    const Condition when = reduces(nest.kind) ? Condition::always() : store.condition;
    places.push_back({store.buffer, Direction::written, store.offset, {when}});
    roots.push_back({store.value, store.condition});
    for (int dynamic : store.offset.dynamics()) roots.push_back({dynamic, store.condition});
  }
  for (const auto& [node, paths] : Paths(graph.pool).of(roots)) {
    const Expr& e = graph.pool[node];
    if (e.kind == ExprKind::load) places.push_back({e.buffer, Direction::read, e.coords[0], paths});
  }
}

// The variables' values in the slices that `grid` narrows (all of them when it is empty).
Ranges ranges_of(const TileGraph& graph, const Phase& phase, const Nest& nest,
                 const std::vector<int>& roots) {
  Ranges ranges;
  for (const GridVariable& grid : phase.grid) {
    ranges[grid.variable.name] = {0, grid.variable.extent - 1};
    if (grid.chunk > 1) ranges[grid.block()] = {0, grid.count() - 1};
  }
  for (const OuterLoop& loop : nest.around) ranges[loop.variable.name] = {loop.low, loop.high - 1};
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops) ranges[loop.name] = {0, loop.extent - 1};
  if (ranks(nest.kind)) ranges[nest.rank.name] = {0, nest.rank.extent - 1};
  for (int id : graph.pool.reachable(roots)) {
    const Expr& e = graph.pool[id];
    if (e.kind == ExprKind::fold) ranges[e.over.name] = {0, e.over.extent - 1};
  }
  return ranges;
}

// Calls `found` with every access of the nest and the ranges in which it happens.
void for_each_place(const TileGraph& graph, const Phase& phase, const Nest& nest,
                    const std::function<void(const Place&, const Ranges&)>& found) {
  const auto look = [&](const std::vector<Store>& stores, const Segment* segment) {
    Ranges ranges = ranges_of(graph, phase, nest, roots_of(stores));
    if (segment != nullptr) ranges[nest.cut] = {segment->low, segment->high - 1};
    std::vector<Place> places;
    collect(graph, nest, stores, places);
    if (!nest.anew.always_true())
      places.push_back({stores[0].buffer, Direction::read, stores[0].offset, {Condition::always()}});
    for (const Place& place : places) found(place, ranges);
  };
  if (nest.segments.empty()) look(nest.stores, nullptr);
  for (const Segment& segment : nest.segments) look(segment.stores, &segment);
}

// Calls `found` with ranges of blocks, one per grid variable from `axis` on, that together are the slices
// [begin, end) of those variables' grid.
void for_each_part(const std::vector<GridVariable>& grid, size_t axis, int64_t begin, int64_t end,
                   std::vector<IndexRange>& blocks, const std::function<void()>& found) {
  if (begin >= end) return;
  if (axis == grid.size()) return found();
  int64_t inner = 1;
  for (size_t i = axis + 1; i < grid.size(); ++i) inner *= grid[i].count();
  const auto part = [&](IndexRange range, int64_t from, int64_t to) {
    if (range.low > range.high) return;
    blocks[axis] = range;
    for_each_part(grid, axis + 1, from, to, blocks, found);
  };
  const int64_t first = begin / inner, last = (end - 1) / inner;
  if (first == last) return part({first, first}, begin - first * inner, end - first * inner);
  const int64_t first_whole = begin == first * inner ? first : first + 1;
  const int64_t last_whole = end == (last + 1) * inner ? last : last - 1;
  if (first_whole != first) part({first, first}, begin - first * inner, inner);
  part({first_whole, last_whole}, 0, inner);
  if (last_whole != last) part({last, last}, 0, end - last * inner);
}

// What is left of `ranges` in these blocks of the grid; false: nothing.
bool narrow(const std::vector<GridVariable>& grid, const std::vector<IndexRange>& blocks, Ranges& ranges) {
  for (size_t i = 0; i < grid.size(); ++i) {
    if (grid[i].chunk > 1) ranges[grid[i].block()] = blocks[i];
    IndexRange& range = ranges[grid[i].variable.name];  // a segment may have narrowed a chunked one
    range = {std::max(range.low, grid[i].values(blocks[i].low).low),
             std::min(range.high, grid[i].values(blocks[i].high).high)};
  }
  return std::all_of(ranges.begin(), ranges.end(),
                     [](const auto& range) { return range.second.low <= range.second.high; });
}

}  // namespace

int64_t StridedBox::last() const {
  int64_t last = base;
  for (const Axis& axis : axes) last += (axis.extent - 1) * axis.stride;
  return last;
}

Region region(const TileGraph& graph, const Phase& phase, Direction direction, int buffer, int64_t begin,
              int64_t end) {
  Region result;
  for (const Nest& nest : phase.nests)
    for_each_place(graph, phase, nest, [&](const Place& place, const Ranges& whole) {
      if (place.buffer != buffer || place.direction != direction) return;
      for (int64_t slice = begin; slice < end; ++slice) {
        if (nest.first_slice_only && slice != 0) continue;
        Ranges ranges = whole;
        std::vector<IndexRange> blocks;
        for (int64_t block : blocks_of(phase.grid, slice)) blocks.push_back({block, block});
        if (narrow(phase.grid, blocks, ranges)) add_boxes(place, ranges, result);
      }
    });
  return result;
}

std::vector<Access> accesses(const TileGraph& graph, const Phase& phase, const Nest& nest) {
  std::vector<Access> result;
  for_each_place(graph, phase, nest, [&](const Place& place, const Ranges& whole) {
    Ranges ranges = whole;
    if (nest.first_slice_only)
      for (const GridVariable& grid : phase.grid)
        if (grid.chunk == 1) ranges[grid.variable.name] = {0, 0};
    result.push_back({place.buffer, place.direction, {}});
    add_boxes(place, ranges, result.back().region);
  });
  return result;
}

std::vector<Access> accesses(const TileGraph& graph, const Phase& phase, int64_t begin, int64_t end) {
  std::vector<Access> result;
  for (const Nest& nest : phase.nests)
    for_each_place(graph, phase, nest, [&](const Place& place, const Ranges& whole) {
      result.push_back({place.buffer, place.direction, {}});
      std::vector<IndexRange> blocks(phase.grid.size());
      const int64_t last = nest.first_slice_only ? std::min<int64_t>(end, 1) : end;
      for_each_part(phase.grid, 0, begin, last, blocks, [&] {
        Ranges ranges = whole;
        if (narrow(phase.grid, blocks, ranges)) add_boxes(place, ranges, result.back().region);
      });
    });
  return result;
}

void for_each_element(const Region& region, const std::function<void(int64_t)>& visit) {
  for (const StridedBox& box : region.boxes) {
    std::vector<int64_t> at(box.axes.size(), 0);
    for (int64_t element = box.base;;) {
      visit(element);
      size_t axis = 0;
      for (; axis < at.size(); ++axis) {
        element += box.axes[axis].stride;
        if (++at[axis] < box.axes[axis].extent) break;
        element -= box.axes[axis].stride * box.axes[axis].extent;
        at[axis] = 0;
      }
      if (axis == at.size()) break;
    }
  }
}

namespace {

// A variable that takes several values while the offset stays: each of them writes the same element.
std::string unused_variable(const Phase& phase, const Nest& nest, size_t store) {
  std::vector<LoopVariable> variables = nest.loops;
  std::set<std::string> narrowed;
  for (const OuterLoop& loop : nest.around) {
    narrowed.insert(loop.variable.name);
    variables.push_back({loop.variable.name, loop.high - loop.low});
  }
  for (const GridVariable& grid : phase.grid)
    if (!nest.first_slice_only && narrowed.count(grid.variable.name) == 0) variables.push_back(grid.variable);
  if (nest.kind == NestKind::suppress && store > 0)
    variables.push_back(nest.reduced[0]);
  else if (ranks(nest.kind))
    variables.push_back(nest.rank);
  else if (nest.kind == NestKind::scan || store > 0)
    variables.insert(variables.end(), nest.reduced.begin(), nest.reduced.end());
  for (const LoopVariable& variable : variables)
    if (variable.extent > 1 && !nest.stores[store].offset.depends_on(variable.name) &&
        !nest.stores[store].condition.depends_on(variable.name))
      return variable.name;
  return {};
}

class Coverage {
 public:
  Coverage(const TileGraph& graph, int buffer)
      : graph_(graph), buffer_(buffer), written_(static_cast<size_t>(graph.buffers[buffer].elements)) {}

  std::string fault() {
    for (const Phase& phase : graph_.phases) {
      before_phase_ = written_;
      for (const Nest& nest : phase.nests) {
        const std::string fault = look(phase, nest);
        if (!fault.empty()) return fault;
      }
    }
    const auto missing = std::find(written_.begin(), written_.end(), false);
    if (missing == written_.end()) return {};
    return fmt::format("element {} of {} is not written", missing - written_.begin(), graph_.name(buffer_));
  }

 private:
  std::string look(const Phase& phase, const Nest& nest) {
    const std::string name = graph_.name(buffer_);
    if (nest.kind == NestKind::scatter) return update(phase, nest);
    for (size_t i = 0; i < nest.stores.size(); ++i) {
      if (nest.stores[i].buffer != buffer_) continue;
      const std::string variable = unused_variable(phase, nest, i);
      if (!variable.empty()) return fmt::format("{} is written again for every {}", name, variable);
    }
    std::string fault;
    for (const Access& access : accesses(graph_, phase, nest)) {
      if (access.buffer != buffer_ || access.direction != Direction::written) continue;
      if (!access.region.exact) return fmt::format("which elements of {} are written is not known", name);
      for_each_element(access.region, [&](int64_t element) {
        if (written_[static_cast<size_t>(element)] && fault.empty())
          fault = fmt::format("element {} of {} is written twice", element, name);
        written_[static_cast<size_t>(element)] = true;
      });
    }
    return fault;
  }

  // What a scatter goes over must be there: of earlier phases, or of nests before it in the only slice.
  std::string update(const Phase& phase, const Nest& nest) const {
    const bool here = std::any_of(nest.stores.begin(), nest.stores.end(),
                                  [&](const Store& store) { return store.buffer == buffer_; });
    if (!here) return {};
    const std::vector<bool>& before = phase.slices() > 1 ? before_phase_ : written_;
    const auto missing = std::find(before.begin(), before.end(), false);
    if (missing == before.end()) return {};
    return fmt::format("element {} of {} is not written before a scatter", missing - before.begin(),
                       graph_.name(buffer_));
  }

  const TileGraph& graph_;
  int buffer_;
  std::vector<bool> written_, before_phase_;
};

}  // namespace

std::string coverage_fault(const TileGraph& graph) {
  for (size_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
    if (graph.buffers[buffer].role != BufferRole::output) continue;
    const std::string fault = Coverage(graph, static_cast<int>(buffer)).fault();
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace korch::tile
