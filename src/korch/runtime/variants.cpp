#include "korch/runtime/variants.h"

#include <stdlib.h>

#include <new>

#include "korch/runtime/variant_cost.h"

namespace korch::rt {
Variants* Variants::create(const Program* program) {
  void* memory = calloc(1, sizeof(Variants));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) Variants;
  made->program_ = program;
  made->states_ = static_cast<StepState**>(calloc(program->step_count + 1, sizeof(StepState*)));
  bool enough = made->states_ != nullptr;
  for (uint32_t s = 0; enough && s < program->step_count; ++s) {
    if (program->steps[s].variants == nullptr) continue;
    made->states_[s] = static_cast<StepState*>(calloc(1, sizeof(StepState)));
    enough = made->states_[s] != nullptr;
  }
  if (enough) return made;
  destroy(made);
  return nullptr;
}

void Variants::destroy(Variants* variants) {
  if (variants == nullptr) return;
  for (uint32_t s = 0; variants->states_ != nullptr && s < variants->program_->step_count; ++s)
    free(variants->states_[s]);
  free(variants->states_);
  free(variants);
}

// The best by their costs, or the best few to try where these do not tell.
void Variants::decide(const VariantTable& table, Slot* slot) {
  bool told = table.trusted;
  for (uint32_t i = 0; i < table.extent_count; ++i)
    told = told && slot->extents[i] >= table.least[i] && slot->extents[i] <= table.most[i];
  double best[kCandidates];
  uint32_t count = 0;
  for (uint32_t l = 0; l < table.count; ++l) {
    const double us = variant_rank(variant_us(table.costs[l], slot->extents, table.extent_count), l);
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
  slot->variant = slot->candidates[0];
  slot->tried = 0;
  slot->candidate_count = static_cast<uint8_t>(told || count < 2 ? 0 : count);
}

uint32_t Variants::choose(uint32_t step, void* const* args, bool* tries) {
  const VariantTable& table = *program_->steps[step].variants;
  StepState* state = states_[step];
  int64_t extents[kMostVariantExtents] = {};
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
      for (uint32_t i = 0; i < kMostVariantExtents; ++i) slot.extents[i] = extents[i];
      decide(table, &slot);
      slot.known = true;
    }
    state->current = at;
  }
  const Slot& slot = state->slots[state->current];
  *tries = slot.candidate_count > 0;
  return *tries ? slot.candidates[slot.tried % slot.candidate_count] : slot.variant;
}

void Variants::note(uint32_t step, double us) {
  StepState* state = states_[step];
  Slot& slot = state->slots[state->current];
  const uint32_t candidate = slot.tried % slot.candidate_count;
  if (slot.tried < slot.candidate_count || us < slot.best_us[candidate]) slot.best_us[candidate] = us;
  if (++slot.tried < kRounds * slot.candidate_count) return;
  uint32_t best = 0;
  for (uint32_t i = 1; i < slot.candidate_count; ++i)
    if (slot.best_us[i] < slot.best_us[best]) best = i;
  slot.variant = slot.candidates[best];
  slot.candidate_count = 0;
}

}  // namespace korch::rt
