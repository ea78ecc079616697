// A 64-bit sum over bytes, as fast as memory is read. Two inputs that differ within one aligned word never
// have the same sum; others do with the probability of chance. Against accidents, not against malice.
#pragma once

#include <stdint.h>
#include <string.h>

namespace korch::rt {

class Checksum {
 public:
  static constexpr uint64_t kStripeBytes = 64;

  Checksum() {
    for (uint64_t i = 0; i < kLanes; ++i) lanes_[i] = kOdd * (i + 1);
  }

  // Whole stripes, except in the last call.
  void add(const void* bytes, uint64_t size_bytes) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    size_bytes_ += size_bytes;
    uint64_t lanes[kLanes];  // in registers
    memcpy(lanes, lanes_, sizeof lanes);
    for (; size_bytes >= kStripeBytes; size_bytes -= kStripeBytes, at += kStripeBytes) add_stripe(lanes, at);
    if (size_bytes > 0) {
      unsigned char last[kStripeBytes] = {};
      memcpy(last, at, size_bytes);
      add_stripe(lanes, last);
    }
    memcpy(lanes_, lanes, sizeof lanes);
  }

  uint64_t value() const {
    uint64_t sum = size_bytes_;
    for (const uint64_t lane : lanes_) sum = mixed(sum, lane);
    return sum;
  }

 private:
  static constexpr uint64_t kLanes = 8;  // independent multiplications hide their latency
  // Odd, so that products can be undone, with bits all over.
  static constexpr uint64_t kOdd = 0x9e3779b97f4a7c15, kOther = 0xc2b2ae3d27d4eb4f;

  // The round of XXH64. Invertible in either argument; both products are needed, lest the highest bit of a
  // word undoes one bit of the word before.
  static uint64_t mixed(uint64_t sum, uint64_t word) {
    const uint64_t value = sum + word * kOther;
    return (value << 31 | value >> 33) * kOdd;
  }

  static void add_stripe(uint64_t (&lanes)[kLanes], const unsigned char* bytes) {
    uint64_t words[kLanes];
    memcpy(words, bytes, sizeof words);
#pragma GCC unroll 8
    for (uint64_t i = 0; i < kLanes; ++i) lanes[i] = mixed(lanes[i], words[i]);
  }

  uint64_t lanes_[kLanes];
  uint64_t size_bytes_ = 0;
};

inline uint64_t checksum(const void* bytes, uint64_t size_bytes) {
  Checksum sum;
  sum.add(bytes, size_bytes);
  return sum.value();
}

}  // namespace korch::rt
