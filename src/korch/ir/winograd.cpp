#include "korch/ir/winograd.h"

#include <algorithm>
#include <iterator>

#include "korch/base/ceil_div.h"

namespace korch {

int64_t tile_elements(const WinogradAttrs& attrs) {
  return is_strassen(attrs) ? kStrassenProducts : tile_inputs(attrs) * tile_inputs(attrs);
}

bool is_winograd(int64_t tile, int64_t taps) {
  if (taps == 1) return tile == kStrassenPixels;
  return tile >= 2 && taps >= kFewestWinogradTaps && taps <= kMostWinogradTaps &&
         std::count(std::begin(kWinogradInputs), std::end(kWinogradInputs), tile + taps - 1) > 0;
}

WinogradTiles::WinogradTiles(const WinogradAttrs& attrs, const Shape& result)
    : images(result[0]), down(ceil_div(result[2], attrs.tile)), across(ceil_div(result[3], attrs.tile)) {
  if (!is_strassen(attrs)) return;
  across = ceil_div(result[0] * result[2] * result[3], kStrassenPixels);
  images = down = 1;
}

Shape winograd_result(const WinogradAttrs& attrs, const Shape& x) {
  Shape result = {x[0], 0};
  for (size_t axis = 0; axis < 2; ++axis)
    result.push_back(x[axis + 2] + attrs.pads_before[axis] + attrs.pads_after[axis] - attrs.taps + 1);
  return result;
}

}  // namespace korch
