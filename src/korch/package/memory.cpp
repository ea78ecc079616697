#include "korch/package/memory.h"

#include <algorithm>
#include <climits>
#include <map>
#include <numeric>
#include <optional>

#include "korch/base/error.h"
#include "korch/plan/reachable.h"

namespace korch {
namespace {

constexpr size_t kMostOrdered = 1 << 12;  // steps: their order takes bits for all pairs
constexpr double kMuchMore = 1.5;
constexpr int64_t kLittle_bytes = 1 << 20;  // of a core's second cache: never too much

int64_t align_up(int64_t value) {
  return (value + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Where in the plan's bytes a tensor lies: a root tensor, and an offset in it.
struct View {
  int root = -1;
  int64_t offset_bytes = 0;
};

// By the executor, whichever variant it takes.
std::vector<int> extents_read(const PlanStep& step) {
  std::vector<int> read = step.variants.extents;
  for (const PlanSliceLimit& limit : step.limits) read.push_back(limit.tensor);
  for (const KernelVariant& variant : step.variants.list)
    for (const PlanSliceLimit& limit : variant.limits) read.push_back(limit.tensor);
  return read;
}

// Which steps come after which because of the data that they exchange.
class DataOrder {
 public:
  DataOrder(const Plan& plan, const std::vector<View>& views)
      : before_(plan.steps.size(), plan.steps.size()) {
    std::map<int, std::vector<std::pair<int, int>>> writers;  // of a root: tensor, step
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const PlanStep& step = plan.steps[s];
      std::vector<int> read = extents_read(step);
      read.insert(read.end(), step.inputs.begin(), step.inputs.end());
      for (int id : read)
        for (const auto& [made, writer] : writers[views[static_cast<size_t>(id)].root])
          if (meet(plan, views, id, made)) {
            before_.add(s, static_cast<size_t>(writer));
            before_.set(s, static_cast<size_t>(writer));
          }
      for (int id : step.outputs)
        writers[views[static_cast<size_t>(id)].root].emplace_back(id, static_cast<int>(s));
    }
  }

  bool is_before(int a, int b) const { return before_.get(static_cast<size_t>(b), static_cast<size_t>(a)); }
  bool all_before(const std::vector<int>& earlier, const std::vector<int>& later) const {
    return std::all_of(earlier.begin(), earlier.end(), [&](int a) {
      return std::all_of(later.begin(), later.end(), [&](int b) { return is_before(a, b); });
    });
  }

 private:
  static bool meet(const Plan& plan, const std::vector<View>& views, int a, int b) {
    const auto begin = [&](int id) { return views[static_cast<size_t>(id)].offset_bytes; };
    const auto end = [&](int id) { return begin(id) + plan.tensors[static_cast<size_t>(id)].size_bytes; };
    return begin(a) < end(b) && begin(b) < end(a);
  }

  BitRows before_;  // of each step, one bit per step
};

// Tensors that share bytes, and what decides where they live. Indexed by root; in-place pairs join roots.
struct Group {
  int64_t size_bytes = 0;
  int first_step = INT_MAX;
  int last_step = -1;
  std::vector<int> steps;  // that access it
  bool external = false;   // a graph input or a constant: its bytes are not ours to place
  int output_tensor = -1;  // made in this graph output's buffer
  int joined_to = -1;      // the group whose bytes these are
};

// When memory may be used again: after a step, in the plan's order; where data order who used it before who
// uses it next; the same, but not what a step with rounds uses.
enum class Reuse { after_steps, along_data, along_data_but_rounds };

class MemoryPlanner {
 public:
  MemoryPlanner(const Plan& plan, Reuse reuse)
      : plan_(plan), reuse_(reuse), end_(static_cast<int>(plan.steps.size())) {}

  MemoryPlan run() {
    find_views();
    if (reuse_ != Reuse::after_steps) order_.emplace(plan_, views_);
    find_lifetimes();
    find_outputs();
    join_in_place();
    place();
    return std::move(result_);
  }

 private:
  const PlanTensor& tensor(int id) const { return plan_.tensors[static_cast<size_t>(id)]; }
  // Shortens the variant it goes, so that a long chain of joins is not gone through again and again.
  Group& group_of_root(int root) {
    Group* group = &groups_[static_cast<size_t>(root)];
    while (group->joined_to >= 0) {
      Group* next = &groups_[static_cast<size_t>(group->joined_to)];
      if (next->joined_to >= 0) group->joined_to = next->joined_to;
      group = next;
    }
    return *group;
  }
  Group& group_of(int id) { return group_of_root(views_[static_cast<size_t>(id)].root); }
  bool is_whole(int id) {
    return views_[static_cast<size_t>(id)].offset_bytes == 0 &&
           tensor(id).size_bytes == group_of(id).size_bytes;
  }

  void find_views();
  void find_lifetimes();
  void find_outputs();
  void join_in_place();
  // What reads the step's results may begin between its rounds, of one slice each, when its memory is still
  // in use.
  bool runs_by_rounds(int step) const {
    const PlanStep& runs = plan_.steps[static_cast<size_t>(step)];
    const std::vector<KernelPhase>& phases = plan_.kernels[static_cast<size_t>(runs.kernel)].phases;
    return reuse_ == Reuse::along_data_but_rounds &&
           std::any_of(phases.begin(), phases.end(),
                       [](const KernelPhase& phase) { return phase.rounds > 1 && phase.grid == 1; });
  }
  bool limits_read(const PlanStep& step, const Group& group) {
    const std::vector<int> read = extents_read(step);
    return std::any_of(read.begin(), read.end(), [&](int id) { return &group_of(id) == &group; });
  }
  // Whatever kernel runs the step.
  bool all_in_place(const PlanStep& step, const std::pair<int, int>& pair) const {
    const auto allows = [&](const KernelVariant& variant) {
      const auto& pairs = plan_.kernels[static_cast<size_t>(variant.kernel)].in_place;
      return std::find(pairs.begin(), pairs.end(), pair) != pairs.end();
    };
    return std::all_of(step.variants.list.begin(), step.variants.list.end(), allows);
  }
  bool may_join(int step, int input, int output);
  bool may_join_state(int end, int input, int output);
  void place();
  rt::BufferRef home(int root);

  const Plan& plan_;
  const Reuse reuse_;
  std::optional<DataOrder> order_;
  const int end_;  // the step after the last: outputs live until then
  std::vector<View> views_;
  std::vector<Group> groups_;
  std::vector<int> copied_outputs_;
  std::vector<int64_t> arena_offsets_;  // of each root that lives in the arena
  MemoryPlan result_;
};

void MemoryPlanner::find_views() {
  groups_.resize(plan_.tensors.size());
  for (int id = 0; id < static_cast<int>(plan_.tensors.size()); ++id) {
    const PlanTensor& t = tensor(id);
    View view{id, 0};
    if (t.alias_of >= 0) {
      KORCH_ASSERT(t.alias_of < id, "tensor '" + t.name + "' is a view of a later tensor");
      KORCH_ASSERT(t.role == TensorRole::intermediate || t.role == TensorRole::output,
                   "input or constant '" + t.name + "' is a view");
      view = views_[static_cast<size_t>(t.alias_of)];
      view.offset_bytes += t.alias_offset_bytes;
      KORCH_ASSERT(view.offset_bytes >= 0 && view.offset_bytes + t.size_bytes <= tensor(view.root).size_bytes,
                   "view '" + t.name + "' leaves its tensor");
    }
    views_.push_back(view);
    Group& group = groups_[static_cast<size_t>(id)];
    group.size_bytes = t.size_bytes;
    group.external = t.role == TensorRole::input || t.role == TensorRole::constant;
  }
}

void MemoryPlanner::find_lifetimes() {
  for (int s = 0; s < end_; ++s) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
    for (int id : step.outputs) {
      Group& group = group_of(id);
      KORCH_ASSERT(!group.external, "step '" + step.label + "' writes an input or a constant");
      group.first_step = std::min(group.first_step, s);
      group.last_step = std::max(group.last_step, s);
      group.steps.push_back(s);
    }
    for (int id : step.inputs) {
      Group& group = group_of(id);
      KORCH_ASSERT(group.external || group.first_step < s,
                   "step '" + step.label + "' reads '" + tensor(id).name + "' before it is made");
      group.last_step = std::max(group.last_step, s);
      group.steps.push_back(s);
    }
    for (int id : extents_read(step)) {
      Group& group = group_of(id);
      KORCH_ASSERT(group.external || group.first_step < s,
                   "an extent of step '" + step.label + "' is read before it is made");
      group.last_step = std::max(group.last_step, s);
      group.steps.push_back(s);
    }
  }
  // What a step of a loop reads of before it, every step reads.
  for (int s = 0; s < end_; ++s) {
    const int end = plan_.steps[static_cast<size_t>(s)].other_end;
    if (end <= s) continue;
    for (Group& group : groups_)
      if (group.first_step < s && group.last_step > s) group.last_step = std::max(group.last_step, end);
  }
}

// An output that covers its whole group is made where the caller wants it; all others are copied at the end.
void MemoryPlanner::find_outputs() {
  for (int id = 0; id < static_cast<int>(plan_.tensors.size()); ++id) {
    if (tensor(id).role != TensorRole::output) continue;
    Group& group = group_of(id);
    KORCH_ASSERT(group.external || group.last_step >= 0, "output '" + tensor(id).name + "' is never made");
    group.last_step = end_;
    if (!group.external && group.output_tensor < 0 && is_whole(id))
      group.output_tensor = id;
    else
      copied_outputs_.push_back(id);
  }
}

bool MemoryPlanner::may_join(int s, int input, int output) {
  Group& from = group_of(input);
  Group& to = group_of(output);
  if (&from == &to || from.external || from.output_tensor >= 0) return false;
  if (from.last_step != s || to.first_step != s || from.size_bytes != to.size_bytes) return false;
  if (!is_whole(input) || !is_whole(output)) return false;
  if (limits_read(plan_.steps[static_cast<size_t>(s)], from)) return false;
  if (order_ && std::any_of(from.steps.begin(), from.steps.end(),
                            [&](int other) { return other != s && !order_->is_before(other, s); }))
    return false;
  // The kernel promises the pair alone: no other argument may see these bytes change.
  const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
  const auto in_from = [&](int id) { return &group_of(id) == &from; };
  return std::count_if(step.inputs.begin(), step.inputs.end(), in_from) == 1 &&
         std::none_of(step.outputs.begin(), step.outputs.end(), in_from);
}

// Whether what a step of a loop makes for the next may be made where it is carried: nothing of the loop may
// read there any more once it is, and who makes it only where the kernel has both in one place.
bool MemoryPlanner::may_join_state(int end, int input, int output) {
  const int begin = plan_.steps[static_cast<size_t>(end)].other_end;
  Group& from = group_of(input);
  Group& to = group_of(output);
  if (&from == &to || from.external || from.output_tensor >= 0 || from.size_bytes != to.size_bytes)
    return false;
  if (from.first_step <= begin || from.last_step != end || !is_whole(input) || !is_whole(output))
    return false;
  const auto is_carried = [&](int id) { return &group_of(id) == &to; };
  for (int s = begin + 1; s <= end; ++s) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
    if (limits_read(step, to)) return false;
    const bool around = step.other_end > s && s < from.first_step && from.first_step < step.other_end;
    if (around) return false;  // made again and again in an inner loop
    const auto reads = std::count_if(step.inputs.begin(), step.inputs.end(), is_carried);
    if (s < from.first_step || reads == 0) continue;
    const auto& pairs = plan_.kernels[static_cast<size_t>(step.kernel)].in_place;
    const bool in_place = s == from.first_step && reads == 1 &&
                          std::any_of(pairs.begin(), pairs.end(), [&](const std::pair<int, int>& pair) {
                            const int read = step.inputs[static_cast<size_t>(pair.first)];
                            const int made = step.outputs[static_cast<size_t>(pair.second)];
                            return all_in_place(step, pair) && is_carried(read) && is_whole(read) &&
                                   &group_of(made) == &from && is_whole(made);
                          });
    if (!in_place) return false;
  }
  return true;
}

void MemoryPlanner::join_in_place() {
  for (int s = 0; s < end_; ++s) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
    for (const auto& [i, o] : plan_.kernels[static_cast<size_t>(step.kernel)].in_place) {
      if (!all_in_place(step, {i, o})) continue;
      const int input = step.inputs[static_cast<size_t>(i)], output = step.outputs[static_cast<size_t>(o)];
      const bool ends_loop = step.other_end >= 0 && step.other_end < s;
      if (ends_loop ? !may_join_state(s, input, output) : !may_join(s, input, output)) continue;
      Group& from = group_of(input);
      Group& to = group_of(output);
      to.first_step = std::min(to.first_step, from.first_step);
      to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
      from.joined_to = static_cast<int>(&to - groups_.data());
    }
  }
}

rt::BufferRef MemoryPlanner::home(int root) {
  const PlanTensor& t = tensor(root);
  if (t.role == TensorRole::input) return {rt::kInput, static_cast<uint32_t>(t.index), 0};
  if (t.role == TensorRole::constant) return {rt::kWeights, static_cast<uint32_t>(t.index), 0};
  const Group& group = group_of_root(root);
  if (group.output_tensor >= 0)
    return {rt::kOutput, static_cast<uint32_t>(tensor(group.output_tensor).index), 0};
  const auto index = static_cast<size_t>(&group - groups_.data());
  return {rt::kArena, 0, static_cast<uint64_t>(arena_offsets_[index])};
}

void MemoryPlanner::place() {
  std::vector<Lifetime> lifetimes;
  std::vector<size_t> roots;
  for (size_t root = 0; root < groups_.size(); ++root) {
    const Group& group = groups_[root];
    if (group.external || group.output_tensor >= 0 || group.joined_to >= 0 || group.last_step < 0) continue;
    lifetimes.push_back({group.size_bytes, group.first_step, group.last_step, group.steps});
    roots.push_back(root);
  }
  for (int s = 0; s < end_; ++s)
    for (int64_t bytes : temporary_bytes(plan_, plan_.steps[static_cast<size_t>(s)]))
      lifetimes.push_back({bytes, s, s, {s}});

  InOrder in_order;
  if (order_)
    in_order = [&](const Lifetime& a, const Lifetime& b) {
      const auto by_rounds = [&](int step) { return runs_by_rounds(step); };
      return std::none_of(a.steps.begin(), a.steps.end(), by_rounds) && order_->all_before(a.steps, b.steps);
    };
  const Arena arena = plan_arena(lifetimes, in_order);
  result_.arena_bytes = arena.size_bytes;
  arena_offsets_.assign(groups_.size(), 0);
  for (size_t i = 0; i < roots.size(); ++i) arena_offsets_[roots[i]] = arena.offsets[i];
  size_t next = roots.size();
  for (const PlanStep& step : plan_.steps) {
    std::vector<rt::BufferRef> refs;
    for (size_t t = 0; t < temporary_bytes(plan_, step).size(); ++t)
      refs.push_back({rt::kArena, 0, static_cast<uint64_t>(arena.offsets[next++])});
    result_.temporaries.push_back(std::move(refs));
  }
  for (const View& view : views_) {
    rt::BufferRef ref = home(view.root);
    ref.offset += static_cast<uint64_t>(view.offset_bytes);
    result_.tensors.push_back(ref);
  }
  for (int id : copied_outputs_) {
    const rt::BufferRef destination{rt::kOutput, static_cast<uint32_t>(tensor(id).index), 0};
    result_.copies.push_back({result_.tensors[static_cast<size_t>(id)], destination, tensor(id).size_bytes});
  }
}

// A run gives one buffer for both ends of a state that grows: what appends must read the one and write the
// other.
void require_in_place(const Plan& plan, const MemoryPlan& memory) {
  for (const StatePair& state : plan.states) {
    const auto appends = [&](const PlanStep& step) {
      if (plan.kernels[static_cast<size_t>(step.kernel)].call.function != "append") return false;
      const auto has = [&](const std::vector<int>& tensors, rt::MemoryKind kind, int index) {
        return std::any_of(tensors.begin(), tensors.end(), [&](int id) {
          const rt::BufferRef& ref = memory.tensors[static_cast<size_t>(id)];
          return ref.memory == kind && ref.index == static_cast<uint32_t>(index) && ref.offset == 0;
        });
      };
      return has(step.inputs, rt::kInput, state.input) && has(step.outputs, rt::kOutput, state.output);
    };
    KORCH_ASSERT(state.axis < 0 || std::any_of(plan.steps.begin(), plan.steps.end(), appends),
                 "no step appends to '" + plan.inputs[static_cast<size_t>(state.input)].name + "' in place");
  }
}

}  // namespace

Arena plan_arena(const std::vector<Lifetime>& lifetimes, const InOrder& in_order) {
  const auto ends_before = [&](const Lifetime& a, const Lifetime& b) {
    return a.last_step < b.first_step && (!in_order || in_order(a, b));
  };
  Arena arena;
  arena.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].size_bytes > lifetimes[b].size_bytes; });
  std::vector<size_t> placed;  // by offset
  for (size_t mine : order) {
    const Lifetime& life = lifetimes[mine];
    const int64_t size = align_up(life.size_bytes);
    int64_t gap_start = 0, best = -1, best_gap = INT64_MAX;
    for (size_t other : placed) {
      if (ends_before(lifetimes[other], life) || ends_before(life, lifetimes[other])) continue;
      const int64_t gap = arena.offsets[other] - gap_start;
      if (gap >= size && gap < best_gap) {
        best = gap_start;
        best_gap = gap;
      }
      gap_start = std::max(gap_start, arena.offsets[other] + align_up(lifetimes[other].size_bytes));
    }
    arena.offsets[mine] = best >= 0 ? best : gap_start;
    arena.size_bytes = std::max(arena.size_bytes, arena.offsets[mine] + size);
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), arena.offsets[mine],
                         [&](int64_t offset, size_t id) { return offset < arena.offsets[id]; });
    placed.insert(place, mine);
  }
  return arena;
}

std::vector<int64_t> temporary_bytes(const Plan& plan, const PlanStep& step) {
  std::vector<int64_t> bytes;
  visit_kernels(step, [&](int kernel) {
    const std::vector<int64_t>& own = plan.kernels[static_cast<size_t>(kernel)].temporary_bytes;
    bytes.resize(std::max(bytes.size(), own.size()), 0);
    for (size_t t = 0; t < own.size(); ++t) bytes[t] = std::max(bytes[t], own[t]);
  });
  return bytes;
}

namespace {

MemoryPlan best_memory(const Plan& plan) {
  MemoryPlan by_steps = MemoryPlanner(plan, Reuse::after_steps).run();
  const bool loops =
      std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& s) { return s.other_end >= 0; });
  if (plan.threads == 1 || loops || plan.steps.size() > kMostOrdered) return by_steps;
  const double limit = std::max<double>(kLittle_bytes, kMuchMore * static_cast<double>(by_steps.arena_bytes));
  for (const Reuse reuse : {Reuse::along_data_but_rounds, Reuse::along_data}) {
    MemoryPlan along_data = MemoryPlanner(plan, reuse).run();
    if (static_cast<double>(along_data.arena_bytes) <= limit) return along_data;
  }
  return by_steps;
}

}  // namespace

MemoryPlan plan_memory(const Plan& plan) {
  MemoryPlan memory = best_memory(plan);
  require_in_place(plan, memory);
  return memory;
}

}  // namespace korch
