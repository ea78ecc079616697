// A set of small integers, as wide as the graph at hand.
#pragma once

#include <bit>
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
  // Members of `a` and `b` that are not in `except`, ascending.
  static std::vector<int> members_of_both(const Bitset& a, const Bitset& b, const Bitset& except) {
    std::vector<int> members;
    for (size_t w = 0; w < a.words_.size(); ++w) {
      for (uint64_t rest = a.words_[w] & b.words_[w] & ~except.words_[w]; rest != 0; rest &= rest - 1)
        members.push_back(static_cast<int>(w * 64) + std::countr_zero(rest));
    }
    return members;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace korch
