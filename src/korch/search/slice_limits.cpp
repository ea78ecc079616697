#include "korch/search/slice_limits.h"

#include <algorithm>
#include <set>

#include "korch/kernel/region.h"

namespace korch {
namespace {

constexpr int64_t kMostSlices = 1 << 14;  // that are looked at one by one

// The smallest index on an axis of what a box of elements holds; 0 where that takes more than a look.
class SmallestIndex {
 public:
  SmallestIndex(const LimitedOutput& output, size_t axis) : extent_(output.shape[axis]) {
    const Layout& layout = output.layout;
    const Shape physical = physical_shape(output.shape, layout);
    size_t place = axis;
    if (!layout.order.empty())
      place = static_cast<size_t>(
          std::find(layout.order.begin(), layout.order.end(), static_cast<int>(axis)) - layout.order.begin());
    known_ = layout.block_axis != static_cast<int>(axis);
    for (size_t p = place + 1; p < physical.size(); ++p) stride_ *= physical[p];
  }

  int64_t operator()(const tile::StridedBox& box) const {
    if (!known_) return 0;
    // What does not move by whole ranges of the index moves it upwards, unless it leaves the range.
    const int64_t range = stride_ * extent_, at = box.base % range;
    int64_t last = at;
    for (const tile::StridedBox::Axis& axis : box.axes)
      if (axis.stride % range != 0) last += (axis.extent - 1) * axis.stride;
    return last < range ? at / stride_ : 0;
  }

 private:
  int64_t extent_, stride_ = 1;
  bool known_ = true;
};

class PhaseLimits {
 public:
  PhaseLimits(const tile::TileGraph& graph, const tile::Phase& phase,
              const std::vector<LimitedOutput>& outputs)
      : phase_(phase), outputs_(outputs) {
    int output = 0;
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
      const tile::BufferRole role = graph.buffers[b].role;
      if (role != tile::BufferRole::output && role != tile::BufferRole::temporary) continue;
      const bool is_output = role == tile::BufferRole::output;
      std::vector<tile::Region> regions;
      bool any = false;
      for (int64_t slice = 0; slice < phase.slices(); ++slice) {
        regions.push_back(
            region(graph, phase, tile::Direction::written, static_cast<int>(b), slice, slice + 1));
        any = any || !regions.back().boxes.empty();
      }
      if (any && !is_output) writes_outputs_alone_ = false;
      if (any && is_output) written_.emplace_back(output, std::move(regions));
      output += is_output ? 1 : 0;
    }
  }

  // Of each grid variable, or of what counts the values of one, the limit that all outputs that are written
  // allow.
  std::vector<SliceLimit> find() const {
    std::vector<SliceLimit> result;
    if (!writes_outputs_alone_ || written_.empty()) return result;
    int64_t stride = phase_.slices();
    for (const tile::GridVariable& variable : phase_.grid) {
      stride /= variable.count();
      for (const int64_t times : repeats(variable.count())) {
        const int64_t count = variable.count() / times;
        std::optional<NeededExtent> common;
        bool limited = true;
        for (const auto& [output, regions] : written_) {
          const auto found = along(output, regions, stride, count);
          limited = limited && found && (!common || *common == *found);
          if (limited) common = found;
        }
        if (limited) result.push_back({0, stride, count, *common});
      }
    }
    return result;
  }

 private:
  // How often a grid variable of so many values may run along an axis again and again: for each index of the
  // axes around it. Ascending: counts descend.
  std::set<int64_t> repeats(int64_t values) const {
    std::set<int64_t> result = {1};
    for (const auto& [output, regions] : written_) {
      const LimitedOutput& to = outputs_[static_cast<size_t>(output)];
      const Shape physical = physical_shape(to.shape, to.layout);
      for (size_t from = 0; from < physical.size(); ++from)
        for (size_t end = from; end < physical.size(); ++end) {
          const int64_t around = element_count(Shape(physical.begin() + static_cast<std::ptrdiff_t>(from),
                                                     physical.begin() + static_cast<std::ptrdiff_t>(end)));
          if (around > 0 && around < values && values % around == 0) result.insert(around);
        }
    }
    return result;
  }

  // How many values are needed of what counts them, by the part of an axis that is.
  std::optional<NeededExtent> along(int output, const std::vector<tile::Region>& regions, int64_t stride,
                                    int64_t count) const {
    const LimitedOutput& to = outputs_[static_cast<size_t>(output)];
    if (count < 2) return std::nullopt;
    for (size_t axis = 0; axis < to.part.size(); ++axis) {
      if (!to.part[axis] || to.shape[axis] < 2) continue;
      // Values up to which some slice writes below an index.
      const SmallestIndex smallest(to, axis);
      std::vector<int64_t> values(static_cast<size_t>(to.shape[axis]) + 1, 0);
      for (size_t slice = 0; slice < regions.size(); ++slice) {
        int64_t least = to.shape[axis];
        for (const tile::StridedBox& box : regions[slice].boxes) least = std::min(least, smallest(box));
        if (least == to.shape[axis]) continue;
        int64_t& below = values[static_cast<size_t>(least) + 1];
        below = std::max(below, static_cast<int64_t>(slice) / stride % count + 1);
      }
      for (size_t index = 1; index < values.size(); ++index)
        values[index] = std::max(values[index], values[index - 1]);
      if (values[1] == values.back()) continue;  // whatever is needed
      if (const auto limit = following(*to.part[axis], values); limit) return limit;
    }
    return std::nullopt;
  }

  const tile::Phase& phase_;
  const std::vector<LimitedOutput>& outputs_;
  bool writes_outputs_alone_ = true;
  std::vector<std::pair<int, std::vector<tile::Region>>> written_;  // by output: a region per slice
};

// Extents of which 0 leaves nothing of any output.
std::vector<NeededExtent> emptying(const std::vector<LimitedOutput>& outputs) {
  std::vector<NeededExtent> result;
  if (outputs.empty()) return result;
  for (const std::optional<NeededExtent>& needed : outputs[0].part)
    if (needed && needed->extent != kNoId && needed->plus < needed->by &&
        std::all_of(outputs.begin(), outputs.end(), [&](const LimitedOutput& output) {
          return std::find(output.part.begin(), output.part.end(), needed) != output.part.end();
        }))
      result.push_back(*needed);
  return result;
}

}  // namespace

std::vector<SliceLimit> slice_limits(const tile::TileGraph& graph,
                                     const std::vector<LimitedOutput>& outputs) {
  std::vector<SliceLimit> result;
  const std::vector<NeededExtent> empty = emptying(outputs);
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const tile::Phase& phase = graph.phases[p];
    if (phase.rounds() > 1) continue;
    for (const NeededExtent& needed : empty)
      result.push_back({static_cast<int>(p), phase.slices(), 1, needed});
    if (phase.slices() < 2 || phase.slices() > kMostSlices) continue;
    for (SliceLimit limit : PhaseLimits(graph, phase, outputs).find()) {
      limit.phase = static_cast<int>(p);
      result.push_back(limit);
    }
  }
  return result;
}

}  // namespace korch
