// The slices of a phase that a run needs; the others write only beyond extents of the run.
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// Numbers [0, count()) for them, in the order of the slices.
class ActiveSlices {
 public:
  static constexpr int kMostLimits = 4;

  ActiveSlices() = default;
  explicit ActiveSlices(int64_t grid) : count_(grid) {}

  // Keeps the slices whose value (slice / stride) % count is below `needed`. Leaves out nothing if this does
  // not cut whole groups of the slices that outer limits kept. Outer limits come first: each stride is a
  // multiple of the next one's.
  void limit(int64_t stride, int64_t count, int64_t needed) {
    if (needed < 0) needed = 0;
    if (needed >= count || levels_ == kMostLimits) return;
    for (int i = 0; i < levels_; ++i)
      if (level_[i].active_stride % (stride * count) != 0) return;
    // What outer levels count are slices of which this level leaves some out.
    for (int i = 0; i < levels_; ++i) level_[i].active_stride = level_[i].active_stride / count * needed;
    level_[levels_++] = {stride * count, stride * needed, stride * needed};
    count_ = count_ / count * needed;
  }

  int64_t count() const { return count_; }

  // function(first, last + 1) for runs of neighbouring slices that make up numbers [begin, end), until one's
  // result is not 0, which it returns.
  template <typename Function>
  int32_t visit(int64_t begin, int64_t end, const Function& function) const {
    if (levels_ == 0) return function(begin, end);
    const int64_t together = level_[levels_ - 1].active_stride;
    while (begin < end) {
      const int64_t left = together - begin % together, length = end - begin < left ? end - begin : left;
      const int64_t slice = slice_of(begin);
      if (const int32_t code = function(slice, slice + length); code != 0) return code;
      begin += length;
    }
    return 0;
  }

  // As visit, for what is needed of the slices [begin, end) themselves.
  template <typename Function>
  int32_t visit_within(int64_t begin, int64_t end, const Function& function) const {
    while (begin < end) {
      int64_t length = end - begin, skipped = 0;
      for (int i = 0; i < levels_ && skipped == 0; ++i) {
        const int64_t at = begin % level_[i].whole;
        if (at >= level_[i].part)
          skipped = level_[i].whole - at;
        else if (level_[i].part - at < length)
          length = level_[i].part - at;
      }
      if (skipped == 0)
        if (const int32_t code = function(begin, begin + length); code != 0) return code;
      begin += skipped == 0 ? length : skipped;
    }
    return 0;
  }

 private:
  // Slices in groups of `whole`, of which the first `part` count, `active_stride` numbers.
  struct Level {
    int64_t whole, part, active_stride;
  };

  int64_t slice_of(int64_t number) const {
    int64_t slice = 0;
    for (int i = 0; i < levels_; ++i) {
      slice += number / level_[i].active_stride * level_[i].whole;
      number %= level_[i].active_stride;
    }
    return slice + number;
  }

  int64_t count_ = 0;
  int levels_ = 0;
  Level level_[kMostLimits];
};

// Of a phase; `args` are the step's.
inline ActiveSlices active_slices(const Step& step, uint32_t phase, void* const* args) {
  ActiveSlices active(step.phases[phase].grid);
  for (uint32_t i = 0; i < step.limit_count; ++i) {
    const SliceLimit& limit = step.limits[i];
    if (limit.phase != phase) continue;
    const int64_t extent = *static_cast<const int64_t*>(args[limit.arg]);
    active.limit(limit.stride, limit.count, (extent * limit.times + limit.plus) / limit.by);
  }
  return active;
}

}  // namespace korch::rt
