#include "korch/codegen/cuda/staged_windows.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cuda/cost_model.h"
#include "korch/codegen/cuda/window_tile.h"

namespace korch::tile {
namespace {

// Of a phase of one map alone all variables, whose values may be dealt out otherwise; empty: it is another
// phase.
std::vector<LoopVariable> points_of(const Phase& phase) {
  if (phase.nests.size() != 1) return {};
  const Nest& nest = phase.nests[0];
  if (nest.kind != NestKind::map || nest.first_slice_only || nest.kept || !nest.segments.empty()) return {};
  for (const Store& store : nest.stores)
    if (!store.condition.always_true() || !store.offset.dynamics().empty()) return {};
  std::vector<LoopVariable> points;
  const auto add = [&](const LoopVariable& variable) {
    if (std::none_of(points.begin(), points.end(),
                     [&](const LoopVariable& point) { return point.name == variable.name; }))
      points.push_back(variable);
  };
  for (const GridVariable& grid : phase.grid) {
    if (grid.ordered) return {};
    add(grid.variable);
  }
  for (const OuterLoop& loop : nest.around) {
    if (loop.low != 0 || loop.high != loop.variable.extent) return {};
    add(loop.variable);
  }
  for (const LoopVariable& loop : nest.loops) add(loop);
  // Neighbouring results are dealt to neighbouring threads.
  const Index& offset = nest.stores[0].offset;
  const auto stride = [&](const LoopVariable& point) {
    return offset.affine_in(point.name) ? std::abs(offset.stride(point.name)) : 0;
  };
  std::stable_sort(points.begin(), points.end(),
                   [&](const auto& a, const auto& b) { return stride(a) > stride(b); });
  return points;
}

// The loops of `sum` by those of `map`, where `written` and `read` are the same element then; none: they are
// not.
std::optional<Replacements> same_element(const Nest& sum, const Index& written, const Nest& map,
                                         const Index& read) {
  if (written.constant() != read.constant() || written.terms().size() != read.terms().size())
    return std::nullopt;
  Replacements result;
  std::set<std::string> used;
  for (const LoopVariable& loop : sum.loops) {
    if (!written.affine_in(loop.name)) return std::nullopt;
    const int64_t stride = written.stride(loop.name);
    const auto same = std::find_if(map.loops.begin(), map.loops.end(), [&](const LoopVariable& other) {
      return other.extent == loop.extent && read.affine_in(other.name) && read.stride(other.name) == stride &&
             used.count(other.name) == 0;
    });
    if (same == map.loops.end()) return std::nullopt;
    used.insert(same->name);
    result[loop.name] = Index::variable(same->name, same->extent);
  }
  return substitute(written, result) == read ? std::optional(result) : std::nullopt;
}

// Of a phase of two nests, a sum over no loop (the taps of a depthwise convolution, spelled out) in scratch
// and a map that reads each element at its own place: makes one map of them. The scratch that is free then;
// -1: another phase.
int join_sum(ScheduledGraph& graph, size_t number) {
  Phase& phase = graph.phases[number];
  if (phase.nests.size() != 2) return -1;
  const Nest &sum = phase.nests[0], &map = phase.nests[1];
  if (sum.kind != NestKind::reduce || sum.combine != ScalarFn::add || !sum.reduced.empty() ||
      !sum.anew.always_true() || sum.stores.size() != 1 || !sum.stores[0].condition.always_true() ||
      map.kind != NestKind::map || sum.around != map.around || sum.first_slice_only || sum.kept || map.kept ||
      !sum.segments.empty())
    return -1;
  const int buffer = sum.stores[0].buffer;
  if (graph.buffers[buffer].role != BufferRole::scratch || graph.buffers[buffer].type != DType::f32)
    return -1;
  std::optional<Replacements> places;
  for (int id : graph.pool.reachable(map.roots())) {
    const Expr& e = graph.pool[id];
    if (e.kind != ExprKind::load || e.buffer != buffer) continue;
    if (places) return -1;  // at another place, too
    places = same_element(sum, sum.stores[0].offset, map, e.coords[0]);
    if (!places) return -1;
  }
  for (const Store& store : map.stores)
    if (store.buffer == buffer) return -1;
  if (!places) return -1;
  Rewriter of_sum(graph.pool, graph.pool, *places);
  const int taps = of_sum.rewrite({sum.stores[0].value})[0];
  const int zero = identity_of(graph.pool, ScalarFn::add, DType::f32);
  const Expr value = graph.pool[graph.pool.call(ScalarFn::add, DType::f32, {zero, taps})];
  Nest joined = map;
  Rewriter of_map(graph.pool, graph.pool, {},
                  [&](Expr e) { return e.kind == ExprKind::load && e.buffer == buffer ? value : e; });
  const std::vector<int> values = of_map.rewrite(map.roots());
  for (size_t i = 0; i < joined.stores.size(); ++i) joined.stores[i].value = values[i];
  phase.nests = {std::move(joined)};
  graph.schedule[number] = {graph.schedule[number][1]};
  return buffer;
}

// An axis that the grid and a loop of the phase's only map have together becomes one loop.
void join_axes(ScheduledGraph& graph, size_t number) {
  Phase& phase = graph.phases[number];
  Nest& map = phase.nests[0];
  for (size_t g = 0; g < phase.grid.size(); ++g) {
    const LoopVariable outer = phase.grid[g].variable;
    const auto inner = std::find_if(map.loops.begin(), map.loops.end(), [&](const LoopVariable& loop) {
      const Index& offset = map.stores[0].offset;
      return offset.affine_in(loop.name) && offset.affine_in(outer.name) &&
             offset.stride(outer.name) == offset.stride(loop.name) * loop.extent;
    });
    if (phase.grid[g].chunk != 1 || phase.grid[g].ordered || inner == map.loops.end()) continue;
    const LoopVariable whole{outer.name + "_" + inner->name, outer.extent * inner->extent};
    const Index at = Index::variable(whole.name, whole.extent);
    const Replacements digits = {{outer.name, floor_div(at, inner->extent)},
                                 {inner->name, floor_mod(at, inner->extent)}};
    Rewriter rewriter(graph.pool, graph.pool, digits);
    const std::vector<int> values = rewriter.rewrite(map.roots());
    for (size_t i = 0; i < map.stores.size(); ++i) {
      map.stores[i].value = values[i];
      map.stores[i].offset = rewriter.rewrite(map.stores[i].offset);
      map.stores[i].condition = substitute(map.stores[i].condition, digits);
    }
    *inner = whole;
    phase.grid.erase(phase.grid.begin() + static_cast<int64_t>(g--));
  }
}

// The phase with its points dealt out by tiles, and a nest before it that stages the box.
class WindowRewriter {
 public:
  // `scratch`: a buffer that is free for the box; -1: none.
  WindowRewriter(ScheduledGraph& graph, const WindowBox& box, const std::vector<LoopVariable>& points,
                 const WindowTile& tile, int scratch)
      : graph_(graph), box_(box), points_(points), tile_(tile), staged_(staged_box(box, tile)) {
    scratch_ = scratch >= 0 ? scratch : static_cast<int>(graph.buffers.size());
    if (scratch < 0) graph.buffers.emplace_back();
    Buffer buffer{.role = BufferRole::scratch, .type = DType::f32, .elements = staged_.elements};
    buffer.offset_bytes = graph.scratch_bytes;
    graph.scratch_bytes += ceil_div(buffer.bytes(), kCacheLineBytes) * kCacheLineBytes;
    graph.buffers[scratch_] = buffer;
  }

  void rewrite(size_t number) {
    Phase& phase = graph_.phases[number];
    const Nest old = phase.nests[0];
    phase.grid.clear();
    Nest taps;
    Condition inside;
    for (const LoopVariable& point : points_) {
      const int64_t size = tile_.at(point.name), count = ceil_div(point.extent, size);
      if (count > 1) phase.grid.push_back({{block_name(point), count}, 1});
      if (size > 1) taps.loops.push_back({inner_name(point), size});
      const Index value = first(point) + inner(point);
      replacements_.emplace(point.name, value);
      if (point.extent % size != 0) inside.require(value, 0, point.extent - 1);
    }
    const std::vector<int> values = rewritten(old.roots());
    for (size_t i = 0; i < old.stores.size(); ++i) {
      Store store = old.stores[i];
      store.offset = substitute(store.offset, replacements_);
      store.value = values[i];
      store.condition = inside;
      taps.stores.push_back(std::move(store));
    }
    phase.nests = {staging(), std::move(taps)};
    graph_.schedule[number].clear();
    for (const Nest& nest : phase.nests)
      graph_.schedule[number].push_back({.lanes = 4, .variable = nest.loops.back().name});
  }

 private:
  static std::string block_name(const LoopVariable& point) { return point.name + "_tile"; }
  static std::string inner_name(const LoopVariable& point) { return point.name + "_in"; }

  Index first(const LoopVariable& point) const {
    const int64_t size = tile_.at(point.name), count = ceil_div(point.extent, size);
    return count > 1 ? Index::variable(block_name(point), count) * size : Index(0);
  }
  Index inner(const LoopVariable& point) const {
    const int64_t size = tile_.at(point.name);
    return size > 1 ? Index::variable(inner_name(point), size) : Index(0);
  }

  static Expr load_of(int buffer, const Index& offset) {
    Expr load;
    load.kind = ExprKind::load;
    load.buffer = buffer;
    load.coords = {offset};
    return load;
  }

  Nest staging() {
    Nest nest;
    Index from(0), to(0);
    Condition inside;
    for (size_t i = 0; i < box_.axes.size(); ++i) {
      const WindowAxis& axis = box_.axes[i];
      const int64_t width = staged_.width[i];
      const std::string name = axis.variable.name + "_box";
      const Index within = width > 1 ? Index::variable(name, width) : Index(0);
      if (width > 1) nest.loops.push_back({name, width});
      const Index at = first(axis.variable) * axis.step + within + staged_.low[i];
      inside.require(at, axis.first, axis.last);
      from = from + at * axis.unit;
      to = to + within * staged_.pitch[i];
    }
    const int padding = box_.padding >= 0 ? box_.padding : graph_.pool.constant(DType::f32, 0);
    nest.stores = {
        {scratch_, to, graph_.pool.guard(inside, graph_.pool.add(load_of(box_.buffer, from)), padding)}};
    return nest;
  }

  Expr staged(const std::vector<int64_t>& tap) const {
    Index offset(0);
    for (size_t i = 0; i < box_.axes.size(); ++i) {
      const WindowAxis& axis = box_.axes[i];
      offset = offset + (inner(axis.variable) * axis.step + (tap[i] - staged_.low[i])) * staged_.pitch[i];
    }
    return load_of(scratch_, offset);
  }

  std::vector<int> rewritten(const std::vector<int>& roots) {
    std::map<int, int> ids;
    const auto renamed = [&](int id) { return ids.at(id); };
    for (int id : graph_.pool.reachable(roots)) {
      Expr e = graph_.pool[id];
      for (int& arg : e.args) arg = ids.at(arg);
      for (Index& coord : e.coords) coord = substitute(coord, replacements_, renamed);
      if (const auto load = box_.loads.find(id); load != box_.loads.end())
        ids[id] = graph_.pool.add(staged(load->second));
      else if (std::count(box_.guards.begin(), box_.guards.end(), id) != 0)
        ids[id] = e.args[0];
      else if (e.kind == ExprKind::guard)
        ids[id] = graph_.pool.guard(substitute(e.condition, replacements_, renamed), e.args[0], e.args[1]);
      else
        ids[id] = graph_.pool.add(std::move(e));
    }
    std::vector<int> result;
    for (int root : roots) result.push_back(ids.at(root));
    return result;
  }

  ScheduledGraph& graph_;
  const WindowBox& box_;
  const std::vector<LoopVariable>& points_;
  const WindowTile& tile_;
  const StagedBox staged_;
  int scratch_ = -1;
  Replacements replacements_;
};

}  // namespace

ScheduledGraph with_staged_windows(ScheduledGraph graph, const Device& device,
                                   const std::function<bool()>& constants_are_finite) {
  for (size_t i = 0; i < graph.phases.size(); ++i) {
    ScheduledGraph staged = graph;
    const int scratch = join_sum(staged, i);
    if (scratch >= 0) join_axes(staged, i);
    const std::vector<LoopVariable> points = points_of(staged.phases[i]);
    if (points.empty()) continue;
    const Nest& nest = staged.phases[i].nests[0];
    const std::optional<WindowBox> box = window_box(staged, nest, points, constants_are_finite);
    if (!box) continue;
    const WindowTile tile = choose_window_tile(*box, nest.stores[0].offset, points, device);
    if (tile.empty()) continue;
    WindowRewriter(staged, *box, points, tile, scratch).rewrite(i);
    if (cuda_model_us(staged, {}, device) <= cuda_model_us(graph, {}, device)) graph = std::move(staged);
  }
  return graph;
}

}  // namespace korch::tile
