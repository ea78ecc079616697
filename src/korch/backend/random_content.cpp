#include "korch/backend/random_content.h"

#include <algorithm>
#include <cstring>

namespace korch {
namespace {

HostTensor random_block(DType dtype) {
  constexpr int64_t kElements = 1 << 14;
  HostTensor block(TensorType{DType::f64, {kElements}});
  uint64_t state = 0x9e3779b97f4a7c15;
  for (int64_t i = 0; i < kElements; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      sum += static_cast<double>(state >> 40) / (1 << 24);
    }
    block.mutable_data<double>()[i] = is_float(dtype) ? (sum - 2) * 1.7 : static_cast<double>(sum > 2);
  }
  return converted(block, dtype);
}

}  // namespace

const HostTensor& RandomContent::block(DType dtype) {
  const auto [found, missing] = blocks_.try_emplace(dtype);
  if (missing) found->second = random_block(dtype);
  return found->second;
}

void RandomContent::fill(unsigned char* data, int64_t bytes, DType dtype) {
  const HostTensor& source = block(dtype);
  for (int64_t at = 0; at < bytes; at += source.bytes())
    std::memcpy(data + at, source.raw(), static_cast<size_t>(std::min(bytes - at, source.bytes())));
}

}  // namespace korch
