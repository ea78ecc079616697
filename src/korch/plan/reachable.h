// Which tasks come before which, as rows of bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace korch {

class BitRows {
 public:
  BitRows(size_t rows, size_t bits) : words_((bits + 63) / 64), data_(rows * words_, 0) {}
  bool get(size_t row, size_t bit) const { return data_[row * words_ + bit / 64] >> (bit % 64) & 1; }
  void set(size_t row, size_t bit) { data_[row * words_ + bit / 64] |= uint64_t{1} << (bit % 64); }
  void add(size_t row, size_t other) {
    for (size_t i = 0; i < words_; ++i) data_[row * words_ + i] |= data_[other * words_ + i];
  }

 private:
  size_t words_;
  std::vector<uint64_t> data_;
};

}  // namespace korch
