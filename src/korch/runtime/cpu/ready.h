// The tasks that may run and that no worker has taken, as bits: the first set one is the most urgent. Any
// number of threads add and take; no thread can hold up another.
#pragma once

#include <stdint.h>

#include <atomic>

namespace korch::rt {

class ReadyTasks {
 public:
  static constexpr uint32_t kWordBits = 64;

  // Bytes of memory that `count` tasks need, aligned to 64.
  static uint64_t bytes_for(uint32_t count);
  ReadyTasks() = default;
  void place(void* memory, uint32_t count);

  void add(uint32_t task);
  // False when there is none.
  bool take(uint32_t* task);
  bool any() const;

 private:
  static uint32_t words_for(uint32_t bits) { return (bits + kWordBits - 1) / kWordBits; }
  bool take_of(uint32_t word, uint32_t* task);

  // A bit of `marks_` says that a word of `bits_` may have a set bit. Adding sets the bit before the mark. A
  // taker that finds a word empty removes the mark and looks at the word again, so no bit is without a mark
  // for longer than that.
  std::atomic<uint64_t>* bits_ = nullptr;
  std::atomic<uint64_t>* marks_ = nullptr;
  uint32_t words_ = 0, mark_words_ = 0;
};

}  // namespace korch::rt
