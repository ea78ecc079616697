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
  // Whether (a1 or a2) and (b1 or b2) and not `except` holds for any member.
  static bool meet(const Bitset& a1, const Bitset& a2, const Bitset& b1, const Bitset& b2,
                   const Bitset& except) {
    for (size_t w = 0; w < except.words_.size(); ++w) {
      if (((a1.words_[w] | a2.words_[w]) & (b1.words_[w] | b2.words_[w]) & ~except.words_[w]) != 0)
        return true;
    }
    return false;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace korch
