#include "korch/codegen/cuda/window_tile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "korch/codegen/cuda/print_cuda.h"

namespace korch::tile {
namespace {

// Guesses, but for the hardware's.
constexpr int64_t kStagedElements = 5 << 10;  // so that a multiprocessor has eight blocks
constexpr int64_t kMostPoints = 4096;         // of a tile
constexpr double kTapInstructions = 3, kStagedInstructions = 12, kPointInstructions = 12;
constexpr double kBlocks = 8;  // of a multiprocessor
constexpr double kWave_us = 1.5;
constexpr double kMemoryReach = 3;  // times its share of the bandwidth that a multiprocessor alone may have
constexpr double kWavefrontsPerUs = 1700;  // of a multiprocessor
constexpr double kLeastReuse = 1.5;        // reads of a staged element
constexpr int kWarp = 32, kQuad = 4;

std::vector<int64_t> tile_sizes(int64_t extent) {
  std::set<int64_t> sizes{1};
  constexpr int64_t kMostPieces = 32;
  for (int64_t pieces = 1; pieces <= kMostPieces && pieces <= extent; ++pieces)
    if (extent % pieces == 0) sizes.insert(extent / pieces);
  for (int64_t size = 2; size < extent && size <= kMostPoints; size *= 2) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

class TileChoice {
 public:
  TileChoice(const WindowBox& box, const Index& stored_at, const std::vector<LoopVariable>& points,
             const Device& device)
      : box_(box), stored_at_(stored_at), points_(points), device_(device) {}

  WindowTile choose() {
    for (const LoopVariable& point : points_) sizes_.push_back(tile_sizes(point.extent));
    thin_out();
    choose_from(0, 1);
    return best_;
  }

 private:
  // Of the sizes of many axes every other one, so that there are not too many tiles to look at.
  void thin_out() {
    constexpr size_t kMostTiles = 8000;
    for (;;) {
      size_t tiles = 1;
      for (const std::vector<int64_t>& sizes : sizes_) tiles *= sizes.size();
      std::vector<int64_t>& most = *std::max_element(
          sizes_.begin(), sizes_.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
      if (tiles <= kMostTiles || most.size() <= 2) return;
      std::vector<int64_t> kept{most[0]};  // and the largest one
      for (size_t i = 1 + most.size() % 2; i < most.size(); i += 2) kept.push_back(most[i]);
      most = std::move(kept);
    }
  }

  void choose_from(size_t point, int64_t count) {
    if (point == points_.size()) return consider(static_cast<double>(count));
    for (int64_t size : sizes_[point]) {
      if (count * size > kMostPoints) break;
      // Neighbouring threads have whole lines, and no condition along them.
      const bool is_line = point + 1 == points_.size();
      if (is_line && (size == 1 || points_[point].extent % size != 0)) continue;
      tile_[points_[point].name] = size;
      choose_from(point + 1, count * size);
    }
  }

  void consider(double points) {
    const StagedBox staged = staged_box(box_, tile_);
    const double boxed = static_cast<double>(staged.elements), taps = static_cast<double>(box_.loads.size());
    if (staged.elements > kStagedElements || points * taps < kLeastReuse * boxed) return;
    double slices = 1;
    for (const LoopVariable& point : points_)
      slices *= static_cast<double>(ceil_div(point.extent, tile_.at(point.name)));
    const auto rounds = [](double count) { return std::ceil(count / kCudaThreads) * kCudaThreads; };
    const double instructions =
        rounds(points) * (kPointInstructions + kTapInstructions * taps) + rounds(boxed) * kStagedInstructions;
    const double moved = sectors(points, written_line()) +
                         sectors(boxed, box_.axes.back().unit == 1 ? staged.width.back() : 1);
    // Multiprocessors that have fewer slices than others wait.
    const double busy = std::ceil(slices / device_.workers) * device_.workers;
    const double compute = busy * instructions / (device_.flops_per_us / 2);
    const double memory =
        std::max(slices, busy / kMemoryReach) * moved * 32 / device_.memory.back().bytes_per_us;
    const double waves = std::ceil(slices / (device_.workers * kBlocks)) * kWave_us;
    double us = compute + memory + waves;
    if (us >= best_us_) return;
    const double reads = busy * rounds(points) * taps / kWarp * conflicts(staged);
    us += reads / (device_.workers * kWavefrontsPerUs);
    if (us >= best_us_) return;
    best_us_ = us;
    best_ = tile_;
  }

  // Results that lie beside each other.
  int64_t written_line() const {
    for (const LoopVariable& point : points_)
      if (stored_at_.affine_in(point.name) && stored_at_.stride(point.name) == 1) return tile_.at(point.name);
    return 1;
  }

  // Of so many elements in lines of `length` neighbours.
  static double sectors(double elements, int64_t length) {
    constexpr double kPerSector = 8;
    const double beyond = length % 8 == 0 ? 0 : length % 4 == 0 ? 0.5 : 7.0 / kPerSector;
    return elements / static_cast<double>(length) * (static_cast<double>(length) / kPerSector + beyond);
  }

  // Wavefronts of a tap's reads over the least, in a tile's first warps.
  double conflicts(const StagedBox& staged) const {
    const LoopVariable& fast = points_.back();
    const bool quads = box_.axes.back().variable.name == fast.name && box_.axes.back().low == 0 &&
                       box_.axes.back().high == 0 && tile_.at(fast.name) % kQuad == 0;
    const int64_t width = quads ? kQuad : 1, lanes = kWarp / width;  // of a wavefront
    int64_t points = 1;
    for (const LoopVariable& point : points_) points *= tile_.at(point.name);
    constexpr int64_t kWavefronts = 8;
    double most = 0, count = 0;
    for (int64_t first = 0; first + lanes * width <= points && count < kWavefronts; first += lanes * width) {
      std::array<std::set<int64_t>, kWarp> words;
      size_t deepest = 0;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t at = place(staged, first + lane * width) / width;
        std::set<int64_t>& bank = words[static_cast<size_t>(at % lanes)];
        bank.insert(at);
        deepest = std::max(deepest, bank.size());
      }
      most += static_cast<double>(deepest);
      ++count;
    }
    return count > 0 ? most / count : 1;
  }

  // Where the first tap of a point reads.
  int64_t place(const StagedBox& staged, int64_t point) const {
    int64_t at = 0;
    for (size_t i = points_.size(); i-- > 0;) {
      const int64_t size = tile_.at(points_[i].name), value = point % size;
      point /= size;
      for (size_t axis = 0; axis < box_.axes.size(); ++axis)
        if (box_.axes[axis].variable.name == points_[i].name)
          at += value * box_.axes[axis].step * staged.pitch[axis];
    }
    return at;
  }

  const WindowBox& box_;
  const Index& stored_at_;
  const std::vector<LoopVariable>& points_;
  const Device& device_;
  std::vector<std::vector<int64_t>> sizes_;  // of each point, ascending
  WindowTile tile_, best_;
  double best_us_ = INFINITY;
};

}  // namespace

StagedBox staged_box(const WindowBox& box, const WindowTile& tile) {
  StagedBox staged;
  bool by_four = box.axes.back().unit == 1;
  for (const WindowAxis& axis : box.axes) {
    const int64_t size = tile.at(axis.variable.name);
    staged.low.push_back(axis.low);
    staged.width.push_back(axis.width(size));
    by_four = by_four && (axis.unit % kQuad == 0 || (&axis == &box.axes.back() &&
                                                     (axis.blocks(size) == 1 || axis.step * size % 4 == 0)));
  }
  if (by_four) {
    const int64_t low = floor_quotient(staged.low.back(), kQuad) * kQuad;
    staged.width.back() = ceil_div(staged.low.back() - low + staged.width.back(), kQuad) * kQuad;
    staged.low.back() = low;
  }
  staged.pitch.resize(box.axes.size());
  for (size_t i = box.axes.size(); i-- > 0;) {
    staged.pitch[i] = staged.elements;
    staged.elements *= staged.width[i];
  }
  return staged;
}

WindowTile choose_window_tile(const WindowBox& box, const Index& stored_at,
                              const std::vector<LoopVariable>& points, const Device& device) {
  return TileChoice(box, stored_at, points, device).choose();
}

}  // namespace korch::tile
