#include "korch/tensor/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "korch/base/error.h"

namespace korch {
namespace {

std::vector<int> full_order(const Layout& layout, size_t rank) {
  if (!layout.order.empty()) {
    KORCH_ASSERT(layout.order.size() == rank, "layout rank differs from the tensor's");
    return layout.order;
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Layout Layout::channels_last(int rank) {
  Layout layout;
  if (rank < 3) return layout;
  layout.order.push_back(0);
  for (int axis = 2; axis < rank; ++axis) layout.order.push_back(axis);
  layout.order.push_back(1);
  return layout;
}

Layout Layout::channel_blocked(int block) {
  Layout layout;
  layout.block_axis = 1;
  layout.block = block;
  return layout;
}

Shape physical_shape(const Shape& logical, const Layout& layout) {
  Shape result;
  for (int axis : full_order(layout, logical.size())) {
    const int64_t extent = logical[axis];
    result.push_back(axis == layout.block_axis ? (extent + layout.block - 1) / layout.block : extent);
  }
  if (layout.block_axis >= 0) result.push_back(layout.block);
  return result;
}

int64_t physical_elements(const Shape& logical, const Layout& layout) {
  return element_count(physical_shape(logical, layout));
}

int64_t physical_bytes(const TensorType& type, const Layout& layout) {
  return TensorType{type.dtype, physical_shape(type.shape, layout)}.bytes();
}

int64_t element_offset(const Shape& logical, const Layout& layout, const std::vector<int64_t>& index) {
  int64_t offset = 0;
  for (int axis : full_order(layout, logical.size())) {
    const bool blocked = axis == layout.block_axis;
    const int64_t extent = blocked ? (logical[axis] + layout.block - 1) / layout.block : logical[axis];
    offset = offset * extent + (blocked ? index[axis] / layout.block : index[axis]);
  }
  if (layout.block_axis >= 0) offset = offset * layout.block + index[layout.block_axis] % layout.block;
  return offset;
}

Shape strides(const Shape& logical, const Layout& layout) {
  KORCH_ASSERT(layout.has_strides(), "a blocked layout has no single stride per axis");
  const std::vector<int> order = full_order(layout, logical.size());
  Shape result(logical.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    result[order[i]] = stride;
    stride *= logical[order[i]];
  }
  return result;
}

Layout canonical(const Layout& layout, const Shape& logical) {
  if (!layout.has_strides() || layout.order.empty()) return layout;
  std::vector<int> long_axes;
  for (int axis : layout.order)
    if (logical[axis] != 1) long_axes.push_back(axis);
  return std::is_sorted(long_axes.begin(), long_axes.end()) ? Layout{} : layout;
}

std::string to_string(const Layout& layout) {
  if (layout.is_row_major()) return "rm";
  std::string text = "p";
  for (int axis : layout.order) text += static_cast<char>('0' + axis);
  if (layout.block_axis >= 0) text += fmt::format("b{}.{}", layout.block_axis, layout.block);
  return text;
}

bool parse_layout(std::string_view text, Layout* layout) {
  *layout = {};
  if (text == "rm") return true;
  if (text.empty() || text[0] != 'p') return false;
  size_t i = 1;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) layout->order.push_back(text[i] - '0');
  std::vector<int> sorted = layout->order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t k = 0; k < sorted.size(); ++k)
    if (sorted[k] != static_cast<int>(k)) return false;
  if (i == text.size()) return true;
  if (text[i] != 'b' || i + 3 >= text.size() || text[i + 2] != '.') return false;
  layout->block_axis = text[i + 1] - '0';
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data() + i + 3, end, layout->block);
  return code == std::errc() && rest == end && layout->block > 0 && layout->block_axis >= 0;
}

}  // namespace korch
