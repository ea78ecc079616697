#include "korch/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/base/error.h"

namespace korch {

constexpr int64_t kMaxElements = int64_t{1} << 62;  // products stay inside int64 with a margin for byte sizes

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0) throw Error(ErrorKind::invalid, "negative extent in shape " + to_string(shape));
    if (extent != 0 && count > kMaxElements / extent)
      throw Error(ErrorKind::invalid, "shape " + to_string(shape) + " has too many elements");
    count *= extent;
  }
  return count;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(ErrorKind::invalid, fmt::format("shapes [{}] and [{}] cannot be broadcast together",
                                                  to_string(a), to_string(b)));
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

int64_t TensorType::bytes() const {
  const int64_t count = elements();
  const auto element_bytes = static_cast<int64_t>(size_bytes(dtype));
  if (count > kMaxElements / element_bytes)
    throw Error(ErrorKind::invalid, "shape " + to_string(shape) + " has too many bytes");
  return count * element_bytes;
}

std::string to_string(const TensorType& type) {
  return fmt::format("{}[{}]", name(type.dtype), to_string(type.shape));
}

}  // namespace korch
