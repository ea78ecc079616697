// A set of small integers, as wide as the graph at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace korch {

class Bitset {
 public:
  explicit Bitset(size_t size = 0) : words_((size + 63) / 64, 0) {}

  bool test(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  // Returns whether anything was added.
  bool unite(const Bitset& other) {
    uint64_t added = 0;
    for (size_t w = 0; w < words_.size(); ++w) {
      added |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return added != 0;
  }
  // 64 members, from 64 * w on, as bits.
  uint64_t word(size_t w) const { return words_[w]; }
  static size_t word_of(size_t i) { return i / 64; }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace korch
