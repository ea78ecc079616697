#include "korch/runtime/launches.h"

#include <stdlib.h>

#include <new>

#include "korch/runtime/launch_cost.h"

namespace korch::rt {
namespace {

bool is_finite(double value) {
  return value - value == 0;
}

bool limits_fit(const Step& step) {
  for (uint32_t i = 0; i < step.limit_count; ++i) {
    const SliceLimit& limit = step.limits[i];
    if (limit.phase >= step.phase_count || limit.arg >= step.arg_count || limit.stride < 1 ||
        limit.count < 1 || limit.times < 0 || limit.by < 1)
      return false;
  }
  return true;
}

bool is_usable(const LaunchCost& cost) {
  for (uint32_t i = 0; i < kLaunchTerms; ++i)
    if (!is_finite(cost.over[i]) || !is_finite(cost.under[i])) return false;
  for (const NeededShare& share : cost.shares)
    if (share.by < 1 || share.times < 0 || share.count < 0) return false;
  return true;
}

}  // namespace

const char* launch_fault(const Step& step) {
  const LaunchTable* table = step.launches;
  if (table == nullptr) return "";
  if (table->count < 1 || table->count > kMostLaunches || table->costs == nullptr ||
      (table->count > 1 && table->others == nullptr))
    return "a number of launches";
  if (table->shares < 1) return "a number of shares";
  if (table->extent_count < 1 || table->extent_count > kMostLaunchExtents) return "a number of extents";
  for (uint32_t i = 0; i < table->extent_count; ++i)
    if (table->extent_args[i] >= step.arg_count || table->least[i] > table->most[i]) return "an extent";
  for (uint32_t i = 0; i < table->count; ++i)
    if (!is_usable(table->costs[i])) return "a cost that is no number";
  for (uint32_t i = 0; i + 1 < table->count; ++i) {
    const Step& other = table->others[i];
    if (other.phases == nullptr || other.args == nullptr || other.library != nullptr ||
        other.launches != nullptr || other.jump_arg >= 0 || !limits_fit(other))
      return "a launch that cannot be run";
  }
  return limits_fit(step) ? "" : "a limit";
}

Launches* Launches::create(const Program* program) {
  void* memory = calloc(1, sizeof(Launches));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) Launches;
  made->program_ = program;
  made->states_ = static_cast<StepState**>(calloc(program->step_count + 1, sizeof(StepState*)));
  bool enough = made->states_ != nullptr;
  for (uint32_t s = 0; enough && s < program->step_count; ++s) {
    if (program->steps[s].launches == nullptr) continue;
    made->states_[s] = static_cast<StepState*>(calloc(1, sizeof(StepState)));
    enough = made->states_[s] != nullptr;
  }
  if (enough) return made;
  destroy(made);
  return nullptr;
}

void Launches::destroy(Launches* launches) {
  if (launches == nullptr) return;
  for (uint32_t s = 0; launches->states_ != nullptr && s < launches->program_->step_count; ++s)
    free(launches->states_[s]);
  free(launches->states_);
  free(launches);
}

// The best by their costs, or the best few to try where these do not tell.
void Launches::decide(const LaunchTable& table, Slot* slot) {
  bool told = table.trusted;
  for (uint32_t i = 0; i < table.extent_count; ++i)
    told = told && slot->extents[i] >= table.least[i] && slot->extents[i] <= table.most[i];
  double best[kCandidates];
  uint32_t count = 0;
  for (uint32_t l = 0; l < table.count; ++l) {
    const double us = launch_rank(launch_us(table.costs[l], slot->extents, table.extent_count), l);
    uint32_t place = count;
    while (place > 0 && us < best[place - 1]) --place;
    if (place == kCandidates) continue;
    if (count < kCandidates) ++count;
    for (uint32_t i = count - 1; i > place; --i) {
      best[i] = best[i - 1];
      slot->candidates[i] = slot->candidates[i - 1];
    }
    best[place] = us;
    slot->candidates[place] = static_cast<uint8_t>(l);
  }
  slot->launch = slot->candidates[0];
  slot->tried = 0;
  slot->candidate_count = static_cast<uint8_t>(told || count < 2 ? 0 : count);
}

uint32_t Launches::choose(uint32_t step, void* const* args, bool* tries) {
  const LaunchTable& table = *program_->steps[step].launches;
  StepState* state = states_[step];
  int64_t extents[kMostLaunchExtents] = {};
  for (uint32_t i = 0; i < table.extent_count; ++i)
    extents[i] = *static_cast<const int64_t*>(args[table.extent_args[i]]);
  const auto is_of = [&](const Slot& slot) {
    return slot.known && slot.extents[0] == extents[0] && slot.extents[1] == extents[1];
  };
  if (!is_of(state->slots[state->current])) {
    uint32_t at = 0;
    while (at < kSlots && !is_of(state->slots[at])) ++at;
    if (at == kSlots) {
      at = state->oldest;
      state->oldest = (at + 1) % kSlots;
      Slot& slot = state->slots[at];
      for (uint32_t i = 0; i < kMostLaunchExtents; ++i) slot.extents[i] = extents[i];
      decide(table, &slot);
      slot.known = true;
    }
    state->current = at;
  }
  const Slot& slot = state->slots[state->current];
  *tries = slot.candidate_count > 0;
  return *tries ? slot.candidates[slot.tried % slot.candidate_count] : slot.launch;
}

void Launches::note(uint32_t step, double us) {
  StepState* state = states_[step];
  Slot& slot = state->slots[state->current];
  const uint32_t candidate = slot.tried % slot.candidate_count;
  if (slot.tried < slot.candidate_count || us < slot.best_us[candidate]) slot.best_us[candidate] = us;
  if (++slot.tried < kRounds * slot.candidate_count) return;
  uint32_t best = 0;
  for (uint32_t i = 1; i < slot.candidate_count; ++i)
    if (slot.best_us[i] < slot.best_us[best]) best = i;
  slot.launch = slot.candidates[best];
  slot.candidate_count = 0;
}

}  // namespace korch::rt
