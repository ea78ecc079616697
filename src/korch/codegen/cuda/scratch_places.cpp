#include "korch/codegen/cuda/scratch_places.h"

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/device/device.h"

namespace korch::tile {
namespace {

// Nests first .. last.
struct Span {
  size_t first = 0, last = 0;
  bool meets(const Span& other) const { return first <= other.last && other.first <= last; }
};

// When a scratch buffer has to keep its elements.
class LifeFinder {
 public:
  LifeFinder(const RowGraph& rows, size_t phase, const std::vector<Pipeline>& pipelines)
      : rows_(rows), number_(phase), phase_(rows.graph.phases[phase]), pipelines_(pipelines) {
    for (size_t i = 0; i < phase_.nests.size(); ++i) accesses_.push_back(accesses(rows, phase, i));
  }

  // From the nest that fills it to the last one that reads it, if each run of these fills the same elements
  // before any is read; else always.
  Span life(int buffer) const {
    const Span always{0, phase_.nests.size() - 1};
    Span span{phase_.nests.size(), 0};
    size_t last_write = 0, first_read = phase_.nests.size();
    for (size_t i = 0; i < phase_.nests.size(); ++i) {
      const bool reads = accesses_[i].read.count(buffer) != 0,
                 writes = accesses_[i].written.count(buffer) != 0;
      if (!reads && !writes) continue;
      if (phase_.nests[i].first_slice_only) return always;
      span.first = std::min(span.first, i);
      span.last = i;
      if (writes) last_write = i;
      if (reads) first_read = std::min(first_read, i);
    }
    const bool ordered = std::any_of(phase_.grid.begin(), phase_.grid.end(),
                                     [](const GridVariable& variable) { return variable.ordered; });
    if (ordered || span.first > span.last || last_write >= first_read) return always;
    widen(span);
    return same_in_each_run(buffer, span) ? span : always;
  }

 private:
  // Loops that are around all nests of the span.
  size_t depth(const Span& span) const {
    size_t depth = phase_.nests[span.first].around.size();
    for (size_t i = span.first + 1; i <= span.last; ++i)
      depth = std::min(depth, shared_loops(phase_.nests[span.first].around, phase_.nests[i].around));
    return depth;
  }

  // To whole runs of the loops that are around a part of it, and of what is printed together.
  void widen(Span& span) const {
    for (Span before{1, 0}; before.first != span.first || before.last != span.last;) {
      before = span;
      for (const RowGroup& group : rows_.groups[number_]) include({group.first, group.end - 1}, span);
      for (const Pipeline& pipeline : pipelines_) include({pipeline.first, pipeline.product}, span);
      const size_t around = depth(span);
      const auto in_one_run = [&](size_t a, size_t b) {
        return shared_loops(phase_.nests[a].around, phase_.nests[b].around) > around;
      };
      while (span.first > 0 && in_one_run(span.first - 1, span.first)) --span.first;
      while (span.last + 1 < phase_.nests.size() && in_one_run(span.last, span.last + 1)) ++span.last;
    }
  }

  static void include(const Span& printed_together, Span& span) {
    if (!span.meets(printed_together)) return;
    span.first = std::min(span.first, printed_together.first);
    span.last = std::max(span.last, printed_together.last);
  }

  bool same_in_each_run(int buffer, const Span& span) const {
    std::set<std::string> around;
    for (size_t i = 0; i < depth(span); ++i) around.insert(phase_.nests[span.first].around[i].variable.name);
    const auto depends = [&](const std::set<std::string>& variables) {
      return std::any_of(variables.begin(), variables.end(),
                         [&](const std::string& name) { return around.count(name) != 0; });
    };
    for (size_t i = span.first; i <= span.last; ++i) {
      const Nest& nest = phase_.nests[i];
      for (const Store& store : nest.stores)
        if (store.buffer == buffer && (depends(store.offset.variables()) ||
                                       !store.offset.dynamics().empty() || !store.condition.always_true()))
          return false;
      for (int id : rows_.graph.pool.reachable(nest.roots())) {
        const Expr& e = rows_.graph.pool[id];
        if (e.kind == ExprKind::load && e.buffer == buffer && depends(e.coords[0].variables())) return false;
      }
    }
    return true;
  }

  const RowGraph& rows_;
  const size_t number_;
  const Phase& phase_;
  const std::vector<Pipeline>& pipelines_;
  std::vector<Accesses> accesses_;
};

// A buffer in shared memory.
struct Placed {
  int buffer;
  Span life;
  int64_t offset, bytes;
};

// The lowest place beside those that live at the same time.
int64_t free_offset(std::vector<Placed> placed, const Span& life, int64_t bytes) {
  std::erase_if(placed, [&](const Placed& other) { return !other.life.meets(life); });
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (offset + bytes <= other.offset) break;
    offset = std::max(offset, other.offset + other.bytes);
  }
  return offset;
}

}  // namespace

void Accesses::add(const Accesses& other) {
  read.insert(other.read.begin(), other.read.end());
  written.insert(other.written.begin(), other.written.end());
}

Accesses accesses(const RowGraph& rows, size_t phase, size_t number) {
  const TileGraph& graph = rows.graph;
  const Nest& nest = graph.phases[phase].nests[number];
  Accesses result;
  for (const Store& store : nest.stores) result.written.insert(store.buffer);
  for (int id : graph.pool.reachable(nest.roots()))
    if (graph.pool[id].kind == ExprKind::load) result.read.insert(graph.pool[id].buffer);
  if (!nest.anew.always_true()) result.read.insert(result.written.begin(), result.written.end());
  if (const RowGroup* group = rows.group_of(phase, number))
    for (int buffer : group->in_registers) {
      result.read.erase(buffer);
      result.written.erase(buffer);
    }
  return result;
}

int ScratchPlaces::stages(int buffer) const {
  for (const Pipeline& pipeline : pipelines)
    if (pipeline.panels.count(buffer) != 0) return pipeline.stages;
  return 1;
}

std::set<int> ScratchPlaces::with_neighbours(const std::set<int>& buffers) const {
  std::set<int> result = buffers;
  for (int buffer : buffers)
    if (const auto found = neighbours.find(buffer); found != neighbours.end())
      result.insert(found->second.begin(), found->second.end());
  return result;
}

namespace {

// Puts the buffers into shared memory in this order; false: not all of them find room there.
bool place_in_order(const std::vector<Placed>& buffers, ScratchPlaces& places) {
  std::vector<Placed> placed;
  bool all = true;
  for (Placed next : buffers) {
    next.offset = free_offset(placed, next.life, next.bytes);
    if (next.offset + next.bytes > kCudaSharedBytes) {
      all = false;
      places.workspace[next.buffer] = places.workspace_bytes;
      places.workspace_bytes += next.bytes;
      continue;
    }
    for (const Placed& other : placed)
      if (next.offset < other.offset + other.bytes && other.offset < next.offset + next.bytes) {
        places.neighbours[next.buffer].insert(other.buffer);
        places.neighbours[other.buffer].insert(next.buffer);
      }
    placed.push_back(next);
    places.shared[next.buffer] = next.offset;
    places.shared_bytes = std::max(places.shared_bytes, next.offset + next.bytes);
  }
  return all;
}

}  // namespace

// Large ones first waste least; if that is not enough, those of the first nests.
ScratchPlaces scratch_places(const RowGraph& rows, size_t phase, bool with_pipelines) {
  const ScheduledGraph& graph = rows.graph;
  ScratchPlaces places;
  places.held = held_tiles(graph, phase, kCudaThreads);
  if (with_pipelines) places.pipelines = pipelines(graph, phase, places.held);
  const LifeFinder lives(rows, phase, places.pipelines);
  Accesses used;
  for (size_t i = 0; i < graph.phases[phase].nests.size(); ++i) used.add(accesses(rows, phase, i));
  std::vector<Placed> buffers;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const int buffer = static_cast<int>(i);
    if (graph.buffers[i].role != BufferRole::scratch || places.held.count(buffer) != 0 ||
        (used.read.count(buffer) == 0 && used.written.count(buffer) == 0))
      continue;
    const int64_t bytes =
        ceil_div(graph.buffers[i].bytes() * places.stages(buffer), kCacheLineBytes) * kCacheLineBytes;
    buffers.push_back({buffer, lives.life(buffer), 0, bytes});
  }
  std::vector<Placed> large_first = buffers;
  std::stable_sort(large_first.begin(), large_first.end(),
                   [](const Placed& a, const Placed& b) { return a.bytes > b.bytes; });
  ScratchPlaces by_size = places;
  if (place_in_order(large_first, by_size)) return by_size;
  place_in_order(buffers, places);
  const bool torn = std::any_of(places.workspace.begin(), places.workspace.end(),
                                [&](const auto& entry) { return places.stages(entry.first) > 1; });
  return torn ? scratch_places(rows, phase, false) : places;
}

}  // namespace korch::tile
