#include <algorithm>
#include <numeric>

#include "operators.h"

namespace korch::fuzz {

PoolAttrs random_pool(GraphMaker& maker, const Shape& spatial, bool may_pad_more) {
  Random& random = maker.random;
  PoolAttrs pool;
  const bool centred = random.one_in(3);
  for (int64_t extent : spatial) {
    int64_t kernel = random.between(1, centred ? 5 : 4);
    if (centred) kernel |= 1;
    pool.kernel.push_back(kernel);
    pool.strides.push_back(centred && !random.one_in(4) ? 1 : random.between(1, 3));
    pool.dilations.push_back(random.one_in(5) ? 2 : 1);
    const int64_t most = may_pad_more && random.one_in(8) ? kernel + 2 : kernel - 1;
    pool.pads_before.push_back(centred ? kernel / 2 : random.between(0, most));
    pool.pads_after.push_back(centred ? kernel / 2 : random.between(0, most));
    const int64_t span = (kernel - 1) * pool.dilations.back() + 1;
    while (extent + pool.pads_before.back() + pool.pads_after.back() < span) {
      ++pool.pads_before.back();
    }
  }
  pool.count_include_pad = random.one_in(2);
  return pool;
}

ConvAttrs random_conv(GraphMaker& maker, const Shape& spatial, const std::vector<int64_t>& kernel) {
  Random& random = maker.random;
  ConvAttrs conv;
  const bool same = random.one_in(2);
  for (size_t i = 0; i < spatial.size(); ++i) {
    conv.strides.push_back(same || random.one_in(2) ? 1 : random.between(1, 3));
    conv.dilations.push_back(random.one_in(6) ? random.between(2, 3) : 1);
    const int64_t span = (kernel[i] - 1) * conv.dilations.back() + 1;
    const int64_t most = random.one_in(8) ? span + spatial[i] : span - 1;
    conv.pads_before.push_back(same ? (span - 1) / 2 : random.between(0, most));
    conv.pads_after.push_back(same ? span / 2 : random.between(0, most));
    while (spatial[i] + conv.pads_before.back() + conv.pads_after.back() < span) ++conv.pads_after.back();
    conv.output_padding.push_back(0);
  }
  return conv;
}

std::vector<int64_t> random_permutation(GraphMaker& maker, size_t rank) {
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (rank >= 3 && maker.random.one_in(3)) {  // channels last and back
    if (maker.random.one_in(2)) {
      std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
    } else {
      std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
    }
    return perm;
  }
  if (rank >= 2 && maker.random.one_in(3)) {
    std::swap(perm[rank - 1], perm[rank - 2]);
    return perm;
  }
  for (size_t i = rank; i > 1; --i) std::swap(perm[i - 1], perm[maker.random.below(static_cast<int64_t>(i))]);
  return perm;
}

Shape random_factors(GraphMaker& maker, int64_t count, size_t rank) {
  Shape result(rank, 1);
  if (count == 0 || rank == 0) {
    if (rank > 0) result[maker.random.below(static_cast<int64_t>(rank))] = count;
    return result;
  }
  for (int64_t factor = 2; count > 1; ++factor)
    for (; count % factor == 0; count /= factor)
      result[maker.random.below(static_cast<int64_t>(rank))] *= factor;
  return result;
}

SliceAttrs random_slice(GraphMaker& maker, const Shape& shape) {
  Random& random = maker.random;
  SliceAttrs slice;
  for (int64_t extent : shape) {
    if (extent == 0 || random.one_in(2)) {
      slice.starts.push_back(0);
      slice.sizes.push_back(extent);
      slice.steps.push_back(1);
      continue;
    }
    const bool backwards = random.one_in(6);
    const int64_t step = random.one_in(3) ? random.between(1, 3) : 1;
    const int64_t size = random.one_in(60) ? 0 : random.between(1, (extent - 1) / step + 1);
    const int64_t first = size == 0 ? 0 : random.below(extent - (size - 1) * step);
    slice.starts.push_back(backwards && size > 0 ? first + (size - 1) * step : first);
    slice.sizes.push_back(size);
    slice.steps.push_back(backwards ? -step : step);
  }
  return slice;
}

PadAttrs random_pad(GraphMaker& maker, const Shape& shape) {
  Random& random = maker.random;
  PadAttrs pad;
  pad.mode = static_cast<PadMode>(random.below(3));
  static const std::vector<double> values = {0, 0, 0, 1, -0.5, 0.3};
  pad.value = random.of(values);
  for (int64_t extent : shape) {
    int64_t most = random.one_in(2) ? 0 : 3;
    if (pad.mode == PadMode::reflect) most = std::clamp<int64_t>(extent - 1, 0, most);
    if (pad.mode == PadMode::edge && extent == 0) most = 0;
    pad.before.push_back(random.between(0, most));
    pad.after.push_back(random.between(0, most));
  }
  return pad;
}

}  // namespace korch::fuzz
