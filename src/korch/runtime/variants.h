// Kernel variants of a step, and which of them a run takes (docs/design/variants.md).
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// Calls function(step) for the step and each other variant.
template <typename Function>
void for_each_variant(const Step& step, const Function& function) {
  function(step);
  for (uint32_t l = 0; step.variants != nullptr && l + 1 < step.variants->count; ++l)
    function(step.variants->others[l]);
}

// The number of arguments of all of these; an executor keeps them one after the other.
inline uint32_t all_args(const Step& step) {
  uint32_t count = 0;
  for_each_variant(step, [&](const Step& variant) { count += variant.arg_count; });
  return count;
}

// A variant, and its arguments, which stand behind those of the variants before.
struct StepVariant {
  const Step* step = nullptr;
  void** args = nullptr;
};
inline StepVariant variant_of(const Step& step, uint32_t variant, void** args) {
  if (variant == 0) return {&step, args};
  args += step.arg_count;
  for (uint32_t l = 0; l + 1 < variant; ++l) args += step.variants->others[l].arg_count;
  return {&step.variants->others[variant - 1], args};
}

// Chooses the variant of each step by a run's extents. Choices are remembered, so that extents that come
// again cost a comparison. Belongs to one executor; the worker that carries a run on uses it, one at a time
// for each step.
class Variants {
 public:
  // For a program with variants of some steps; null when there is no memory. `program` outlives it.
  static Variants* create(const Program* program);
  static void destroy(Variants* variants);

  // The variant for the extents at the step's arguments. `tries` is set if the costs do not decide: the
  // caller then notes the time that the variant took, unless it failed.
  uint32_t choose(uint32_t step, void* const* args, bool* tries);
  void note(uint32_t step, double us);

 private:
  static constexpr uint32_t kCandidates = 3, kRounds = 3;
  static constexpr uint32_t kSlots = 8;  // of a step: extents that are remembered

  struct Slot {
    int64_t extents[kMostVariantExtents];
    bool known;
    uint8_t variant;
    uint8_t candidate_count, tried;  // while tries go on: runs so far; 0 of 0 where there are none
    uint8_t candidates[kCandidates];
    double best_us[kCandidates];
  };
  struct StepState {
    uint32_t current, oldest;  // slots
    Slot slots[kSlots];
  };

  static void decide(const VariantTable& table, Slot* slot);

  const Program* program_ = nullptr;
  StepState** states_ = nullptr;  // of each step; null: it has no variants
};

}  // namespace korch::rt
