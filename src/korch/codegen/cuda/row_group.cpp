#include "korch/codegen/cuda/row_group.h"

#include <algorithm>
#include <map>
#include <optional>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cuda/held_tile.h"
#include "korch/codegen/cuda/pipeline.h"
#include "korch/codegen/cuda/print_cuda.h"

namespace korch::tile {
namespace {

constexpr int64_t kWarpTeam = 32, kTeamsOfBlock = kCudaThreads / kWarpTeam;
constexpr int kLanesAtOnce = 4;
constexpr int64_t kMostKept = 32;     // registers of a thread for what nests keep
constexpr int64_t kMostOfWarp = 256;  // columns that a warp takes although other warps have no row
constexpr size_t kMostReduces = 32;
constexpr size_t kCheap = 16;  // expressions that are rather computed again than stored

int64_t points_of(const std::vector<LoopVariable>& loops) {
  int64_t count = 1;
  for (const LoopVariable& loop : loops) count *= loop.extent;
  return count;
}

// The loops, the last one fastest, as digits of `point`.
void add_digits(const std::vector<LoopVariable>& loops, const Index& point, Replacements& digits) {
  Index rest = point;
  for (size_t i = loops.size(); i-- > 0;) {
    digits[loops[i].name] = i > 0 ? floor_mod(rest, loops[i].extent) : rest;
    rest = floor_div(rest, loops[i].extent);
  }
}

bool can_be_shuffled(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::i32 || type == DType::i64;
}

// What a group's nests have written, and how one that joins them finds it.
class GroupBuilder {
 public:
  GroupBuilder(ScheduledGraph& graph, size_t phase, const std::set<size_t>& taken)
      : graph_(graph), phase_(graph.phases[phase]), schedule_(graph.schedule[phase]), taken_(taken) {}

  // Of the nests from `first` on as many as fit, put in place of those of the phase; none: no group.
  std::optional<RowGroup> build(size_t first);

 private:
  struct Written {
    Index offset;
    int value = -1;        // the expression stored there; of a reduce the one that loads its result
    bool is_found = true;  // by who reads it at the same row and column
  };

  bool may_join(size_t nest) const;
  bool find_rows(size_t first);
  std::optional<Replacements> places(const Nest& nest) const;
  std::optional<Nest> joined(const Nest& nest);
  bool note_stores(const Nest& nest, const std::set<int>& read);
  bool is_read_elsewhere(int buffer, size_t first, size_t end) const;
  void drop_stores(size_t first, size_t end);
  bool depends(int node) const { return graph_.pool.variables(node).count(group_.column.name) != 0; }
  std::set<int> computed(const Nest& nest) const;
  std::set<int> found_by(const Nest& nest, const std::map<int, size_t>& first_computed) const;
  void find_kept();
  int64_t most_kept() const;
  bool is_cheap() const;
  bool runs_along_rows() const;
  bool runs_in_lanes() const;
  bool runs_in_lanes(const Nest& nest) const;
  std::vector<int64_t> teams() const;
  bool choose_team();

  ScheduledGraph& graph_;
  Phase& phase_;
  std::vector<NestSchedule>& schedule_;
  const std::set<size_t>& taken_;  // nests that are printed otherwise
  RowGroup group_;
  std::vector<Nest> nests_;
  std::map<int, Written> written_;  // by buffer
  std::set<int> read_;              // buffers, from memory
};

bool GroupBuilder::may_join(size_t number) const {
  const Nest& nest = phase_.nests[number];
  if (taken_.count(number) != 0 || nest.first_slice_only || !nest.anew.always_true() ||
      (nest.kind != NestKind::map && nest.kind != NestKind::reduce))
    return false;
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops)
      if (phase_.chunked(loop.name) != nullptr) return false;
  return true;
}

// Those of the first reduce; before it stand maps.
bool GroupBuilder::find_rows(size_t first) {
  size_t reduce = first;
  while (reduce < phase_.nests.size() && may_join(reduce) && phase_.nests[reduce].kind == NestKind::map)
    ++reduce;
  if (reduce == phase_.nests.size() || !may_join(reduce)) return false;
  std::set<std::string> names;
  for (const GridVariable& grid : phase_.grid) names.insert(grid.variable.name);
  for (const Nest& nest : phase_.nests)
    for (const OuterLoop& loop : nest.around) names.insert(loop.variable.name);
  for (int id = 0; id < graph_.pool.size(); ++id)
    if (graph_.pool[id].kind == ExprKind::fold) names.insert(graph_.pool[id].over.name);
  const auto fresh = [&](std::string name) {
    while (names.count(name) != 0) name += "_";
    return name;
  };
  group_.row = {fresh("row"), points_of(phase_.nests[reduce].loops)};
  group_.column = {fresh("column"), points_of(phase_.nests[reduce].reduced)};
  return group_.column.extent > 1;
}

// Row and column of each of the nest's variables.
std::optional<Replacements> GroupBuilder::places(const Nest& nest) const {
  const auto [rows, columns] = std::pair(group_.row.extent, group_.column.extent);
  const Index row = Index::variable(group_.row.name, rows);
  const Index column = Index::variable(group_.column.name, columns);
  Replacements result;
  if (nest.kind == NestKind::reduce) {
    if (points_of(nest.loops) != rows || points_of(nest.reduced) != columns) return std::nullopt;
    add_digits(nest.loops, row, result);
    add_digits(nest.reduced, column, result);
    return result;
  }
  if (points_of(nest.loops) == rows) {
    add_digits(nest.loops, row, result);
    return result;
  }
  if (points_of(nest.loops) != rows * columns) return std::nullopt;
  // What results depend on counts rows.
  std::set<std::string> names;
  for (int id : graph_.pool.reachable(nest.roots())) {
    const auto written = written_.find(graph_.pool[id].buffer);
    if (graph_.pool[id].kind == ExprKind::load && written != written_.end() &&
        !written->second.offset.depends_on(group_.column.name))
      names.merge(graph_.pool[id].coords[0].variables());
  }
  std::vector<LoopVariable> of_rows, of_columns;
  for (const LoopVariable& loop : nest.loops)
    (names.count(loop.name) != 0 ? of_rows : of_columns).push_back(loop);
  if (points_of(of_rows) == rows) {
    add_digits(of_rows, row, result);
    add_digits(of_columns, column, result);
  } else {
    add_digits(nest.loops, row * columns + column, result);
  }
  return result;
}

// Notes what the nest writes; false: something that the group has accessed before.
bool GroupBuilder::note_stores(const Nest& nest, const std::set<int>& read) {
  for (size_t i = 0; i < nest.stores.size(); ++i) {
    const Store& store = nest.stores[i];
    if (written_.count(store.buffer) != 0 || read_.count(store.buffer) != 0 || read.count(store.buffer) != 0)
      return false;
    Written written{store.offset, store.value, true};
    if (nest.kind == NestKind::reduce && i == 0) {
      Expr load;
      load.kind = ExprKind::load;
      load.type = graph_.buffers[store.buffer].type;
      load.buffer = store.buffer;
      load.coords = {store.offset};
      written.value = graph_.pool.add(load);
      if (store.offset.depends_on(group_.column.name)) return false;
    } else {
      written.is_found = store.condition.always_true() && store.offset.dynamics().empty();
    }
    written_[store.buffer] = written;
  }
  return true;
}

// The nest in the group's loops, which reads what others of the group stored where they have it.
std::optional<Nest> GroupBuilder::joined(const Nest& nest) {
  const std::optional<Replacements> digits = places(nest);
  if (!digits) return std::nullopt;
  bool fits = true;
  std::set<int> read;
  Rewriter rewriter(graph_.pool, graph_.pool, *digits, [&](Expr e) {
    const auto written = written_.find(e.buffer);
    if (written == written_.end()) {
      read.insert(e.buffer);
      return e;
    }
    fits = fits && written->second.is_found && e.coords[0] == written->second.offset;
    return fits ? graph_.pool[written->second.value] : e;
  });
  const std::vector<int> values = rewriter.rewrite(nest.roots());
  Nest result = nest;
  for (size_t i = 0; i < nest.stores.size(); ++i)
    result.stores[i] = {nest.stores[i].buffer, rewriter.rewrite(nest.stores[i].offset), values[i],
                        substitute(nest.stores[i].condition, *digits)};
  result.loops = {group_.row};
  const bool over_rows = nest.kind == NestKind::map && points_of(nest.loops) == group_.row.extent;
  if (nest.kind == NestKind::reduce)
    result.reduced = {group_.column};
  else if (!over_rows)
    result.loops.push_back(group_.column);
  if (!fits || !note_stores(result, read)) return std::nullopt;
  read_.merge(read);
  return result;
}

bool GroupBuilder::is_read_elsewhere(int buffer, size_t first, size_t end) const {
  for (size_t i = 0; i < phase_.nests.size(); ++i) {
    if (i >= first && i < end) continue;
    const Nest& nest = phase_.nests[i];
    for (int id : graph_.pool.reachable(nest.roots()))
      if (graph_.pool[id].kind == ExprKind::load && graph_.pool[id].buffer == buffer) return true;
    for (const Store& store : nest.stores)
      if (store.buffer == buffer && !nest.anew.always_true()) return true;
  }
  return false;
}

// What nobody reads of memory any more. Nests [first, end) of the phase became the group's.
void GroupBuilder::drop_stores(size_t first, size_t end) {
  std::vector<Nest> left;
  for (Nest& nest : nests_) {
    std::vector<Store> stores;
    for (size_t i = 0; i < nest.stores.size(); ++i) {
      const Store& store = nest.stores[i];
      const bool is_dead = graph_.buffers[store.buffer].role == BufferRole::scratch &&
                           written_.at(store.buffer).is_found && !is_read_elsewhere(store.buffer, first, end);
      const bool is_result = nest.kind == NestKind::reduce && i == 0;
      if (is_dead && is_result) group_.in_registers.insert(store.buffer);
      if (is_result || !is_dead) stores.push_back(store);
    }
    nest.stores = std::move(stores);
    if (nest.stores.empty()) continue;
    group_.results.push_back(nest.kind == NestKind::reduce ? written_.at(nest.stores[0].buffer).value : -1);
    left.push_back(std::move(nest));
  }
  nests_ = std::move(left);
}

// Of each element, at every point.
std::set<int> GroupBuilder::computed(const Nest& nest) const {
  std::set<int> result;
  for (int id : graph_.pool.unconditional(always_stored(nest.stores)))
    if (depends(id)) result.insert(id);
  return result;
}

// What the nest needs of what others computed; not what that was computed from.
std::set<int> GroupBuilder::found_by(const Nest& nest, const std::map<int, size_t>& first_computed) const {
  std::set<int> found, seen;
  std::vector<int> open = nest.roots();
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (first_computed.count(id) != 0) {
      found.insert(id);
      continue;
    }
    for (int operand : graph_.pool.operands(id)) open.push_back(operand);
  }
  // One more instruction rather than one more register.
  for (auto it = found.begin(); it != found.end();) {
    const Expr& e = graph_.pool[*it];
    const bool is_soon_made = e.kind == ExprKind::call &&
                              (e.fn == ScalarFn::add || e.fn == ScalarFn::sub || e.fn == ScalarFn::mul) &&
                              std::all_of(e.args.begin(), e.args.end(),
                                          [&](int arg) { return !depends(arg) || found.count(arg) != 0; });
    it = is_soon_made ? found.erase(it) : std::next(it);
  }
  return found;
}

void GroupBuilder::find_kept() {
  std::map<int, size_t> first_computed;
  group_.kept.assign(nests_.size(), {});
  group_.found.assign(nests_.size(), {});
  for (size_t i = 0; i < nests_.size(); ++i) {
    group_.found[i] = found_by(nests_[i], first_computed);
    for (int id : group_.found[i]) group_.kept[first_computed.at(id)].insert(id);
    for (int id : computed(nests_[i])) first_computed.try_emplace(id, i);
  }
}

// Values between any two nests.
int64_t GroupBuilder::most_kept() const {
  int64_t most = 0;
  for (size_t i = 0; i + 1 < nests_.size(); ++i) {
    std::set<int> needed;
    for (size_t later = i + 1; later < nests_.size(); ++later)
      needed.insert(group_.found[later].begin(), group_.found[later].end());
    int64_t kept = 0;
    for (size_t before = 0; before <= i; ++before)
      for (int id : group_.kept[before]) kept += needed.count(id) != 0 ? 1 : 0;
    most = std::max(most, kept);
  }
  return most;
}

// Whether what would have been kept is soon computed again.
bool GroupBuilder::is_cheap() const {
  for (const std::set<int>& found : group_.found) {
    const std::vector<int> again = graph_.pool.reachable(std::vector<int>(found.begin(), found.end()));
    if (again.size() > kCheap || std::any_of(again.begin(), again.end(),
                                             [&](int id) { return graph_.pool[id].kind == ExprKind::fold; }))
      return false;
  }
  return true;
}

// Whether elements lie beside each other along the rows rather than along the columns.
bool GroupBuilder::runs_along_rows() const {
  int votes = 0;
  const auto vote = [&](int buffer, const Index& offset) {
    if (graph_.buffers[buffer].role == BufferRole::scratch) return;
    const std::string &row = group_.row.name, &column = group_.column.name;
    votes -= offset.affine_in(column) && offset.stride(column) == 1 ? 1 : 0;
    votes += offset.affine_in(row) && offset.stride(row) == 1 && offset.depends_on(column) ? 1 : 0;
  };
  for (const Nest& nest : nests_) {
    for (int id : graph_.pool.reachable(nest.roots()))
      if (graph_.pool[id].kind == ExprKind::load) vote(graph_.pool[id].buffer, graph_.pool[id].coords[0]);
    for (const Store& store : nest.stores) vote(store.buffer, store.offset);
  }
  return votes > 0;
}

// Whether every thread may have four neighbouring columns: of float32, loaded and stored at once, or one
// element for all of them.
bool GroupBuilder::runs_in_lanes(const Nest& nest) const {
  const std::string& column = group_.column.name;
  const auto at_once = [&](const Index& offset) {
    return offset.dynamics().empty() &&
           (is_same_for_lanes(offset, column, kLanesAtOnce) || is_aligned(offset, column, kLanesAtOnce));
  };
  for (const Store& store : nest.stores)
    if (graph_.buffers[store.buffer].type != DType::f32 || !at_once(store.offset) ||
        !same_for_lanes(store.condition, column, kLanesAtOnce))
      return false;
  for (int id : graph_.pool.reachable(nest.roots())) {
    if (!depends(id)) continue;
    const Expr& e = graph_.pool[id];
    if (e.type != DType::f32 || e.kind == ExprKind::fold || e.kind == ExprKind::checked ||
        (e.kind == ExprKind::guard && !same_for_lanes(e.condition, column, kLanesAtOnce)) ||
        (e.kind == ExprKind::load && !at_once(e.coords[0])))
      return false;
  }
  return true;
}

bool GroupBuilder::runs_in_lanes() const {
  return group_.column.extent % kLanesAtOnce == 0 &&
         std::all_of(nests_.begin(), nests_.end(), [&](const Nest& nest) {
           const bool over_rows = nest.kind == NestKind::map && nest.loops.size() == 1;
           return over_rows || runs_in_lanes(nest);
         });
}

// The best one first.
std::vector<int64_t> GroupBuilder::teams() const {
  const int64_t rows = group_.row.extent, units = group_.column.extent / group_.lanes;
  if (rows < kTeamsOfBlock && units > kWarpTeam && (rows == 1 || group_.column.extent > kMostOfWarp))
    return {kCudaThreads};
  int64_t team = kWarpTeam;
  while (team / 2 >= units && rows % (kCudaThreads / (team / 2)) == 0) team /= 2;
  return {team, kCudaThreads};
}

bool GroupBuilder::choose_team() {
  const bool along_rows = runs_along_rows();
  if (along_rows && group_.row.extent < kWarpTeam) return false;
  group_.lanes = !along_rows && runs_in_lanes() ? kLanesAtOnce : 1;
  const std::vector<int64_t> possible = along_rows ? std::vector<int64_t>{1} : teams();
  size_t reduces = 0;
  for (const Nest& nest : nests_) {
    reduces += nest.kind == NestKind::reduce ? 1 : 0;
    if (nest.kind == NestKind::reduce && !along_rows &&
        !can_be_shuffled(graph_.pool[nest.stores[0].value].type))
      return false;
  }
  if (reduces > kMostReduces) return false;
  for (int64_t team : possible) {
    group_.team = team;
    if (most_kept() * group_.points() * group_.lanes <= kMostKept) return true;
  }
  if (!is_cheap()) return false;
  group_.kept.assign(nests_.size(), {});
  group_.found.assign(nests_.size(), {});
  return true;
}

std::optional<RowGroup> GroupBuilder::build(size_t first) {
  if (!find_rows(first)) return std::nullopt;
  size_t end = first;
  bool reduces = false;
  for (; end < phase_.nests.size() && may_join(end) && phase_.nests[end].around == phase_.nests[first].around;
       ++end) {
    std::optional<Nest> nest = joined(phase_.nests[end]);
    if (!nest) break;
    reduces = reduces || nest->kind == NestKind::reduce;
    nests_.push_back(std::move(*nest));
  }
  if (!reduces || nests_.size() < 2) return std::nullopt;
  drop_stores(first, end);
  find_kept();
  if (!choose_team()) return std::nullopt;
  group_.first = first;
  group_.end = first + nests_.size();
  const auto offset = static_cast<std::ptrdiff_t>(first), past = static_cast<std::ptrdiff_t>(end);
  phase_.nests.erase(phase_.nests.begin() + offset, phase_.nests.begin() + past);
  phase_.nests.insert(phase_.nests.begin() + offset, nests_.begin(), nests_.end());
  schedule_.erase(schedule_.begin() + offset, schedule_.begin() + past);
  schedule_.insert(schedule_.begin() + offset, nests_.size(), NestSchedule{});
  return group_;
}

// Nests on tiles held in registers and those of their pipelines.
std::set<size_t> printed_otherwise(const ScheduledGraph& graph, size_t phase) {
  const std::map<int, HeldTile> held = held_tiles(graph, phase, kCudaThreads);
  std::set<size_t> result;
  for (const Pipeline& pipeline : pipelines(graph, phase, held))
    for (size_t i = pipeline.first; i <= pipeline.product; ++i) result.insert(i);
  const std::vector<Nest>& nests = graph.phases[phase].nests;
  for (size_t i = 0; i < nests.size(); ++i) {
    const bool stores = std::any_of(nests[i].stores.begin(), nests[i].stores.end(),
                                    [&](const Store& store) { return held.count(store.buffer) != 0; });
    if (stores || graph.schedule[phase][i].registers || held_reader(graph, nests[i], held).buffer >= 0)
      result.insert(i);
  }
  return result;
}

}  // namespace

int64_t RowGroup::points() const {
  return ceil_div(column.extent, team * lanes);
}

std::set<int> RowGroup::needed(const ExprPool& pool, const Nest& nest, size_t number) const {
  std::set<int> result;
  std::vector<int> open = nest.roots();
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    if (found[number].count(id) != 0 || !result.insert(id).second) continue;
    for (int operand : pool.operands(id)) open.push_back(operand);
  }
  return result;
}

const RowGroup* RowGraph::group_of(size_t phase, size_t nest) const {
  for (const RowGroup& group : groups[phase])
    if (group.first <= nest && nest < group.end) return &group;
  return nullptr;
}

RowGraph with_row_groups(const ScheduledGraph& graph) {
  RowGraph result{graph, {}};
  for (size_t phase = 0; phase < graph.phases.size(); ++phase) {
    std::vector<RowGroup>& groups = result.groups.emplace_back();
    std::set<size_t> taken = printed_otherwise(result.graph, phase);
    for (size_t nest = 0; nest < result.graph.phases[phase].nests.size(); ++nest) {
      std::optional<RowGroup> group = GroupBuilder(result.graph, phase, taken).build(nest);
      if (!group) continue;
      nest = group->end - 1;
      groups.push_back(std::move(*group));
      taken = printed_otherwise(result.graph, phase);
    }
  }
  return result;
}

}  // namespace korch::tile
