#include "korch/runtime/cpu/ready.h"

#include <new>

namespace korch::rt {
namespace {

using Word = std::atomic<uint64_t>;
constexpr uint64_t kLineBytes = 64;

uint64_t whole_lines(uint64_t words) {
  return (words * sizeof(Word) + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

uint64_t ReadyTasks::bytes_for(uint32_t count) {
  return whole_lines(words_for(count)) + whole_lines(words_for(words_for(count)));
}

void ReadyTasks::place(void* memory, uint32_t count) {
  words_ = words_for(count);
  mark_words_ = words_for(words_);
  auto* bytes = static_cast<unsigned char*>(memory);
  marks_ = reinterpret_cast<Word*>(bytes);
  bits_ = reinterpret_cast<Word*>(bytes + whole_lines(mark_words_));
  for (uint32_t i = 0; i < mark_words_; ++i) new (&marks_[i]) Word(0);
  for (uint32_t i = 0; i < words_; ++i) new (&bits_[i]) Word(0);
}

void ReadyTasks::add(uint32_t task) {
  const uint32_t word = task / kWordBits;
  bits_[word].fetch_or(uint64_t{1} << (task % kWordBits));
  const uint64_t mark = uint64_t{1} << (word % kWordBits);
  Word& marks = marks_[word / kWordBits];
  if ((marks.load() & mark) == 0) marks.fetch_or(mark);
}

bool ReadyTasks::take(uint32_t* task) {
  for (uint32_t i = 0; i < mark_words_; ++i)
    for (uint64_t marks = marks_[i].load(); marks != 0; marks &= marks - 1) {
      const uint32_t word = i * kWordBits + static_cast<uint32_t>(__builtin_ctzll(marks));
      if (take_of(word, task)) return true;
      const uint64_t mark = uint64_t{1} << (word % kWordBits);
      marks_[i].fetch_and(~mark);
      if (bits_[word].load() != 0) marks_[i].fetch_or(mark);
      if (take_of(word, task)) return true;
    }
  return false;
}

bool ReadyTasks::take_of(uint32_t word, uint32_t* task) {
  for (uint64_t bits = bits_[word].load(); bits != 0;) {
    const uint64_t bit = bits & -bits;
    const uint64_t before = bits_[word].fetch_and(~bit);
    if ((before & bit) != 0) {
      *task = word * kWordBits + static_cast<uint32_t>(__builtin_ctzll(bit));
      return true;
    }
    bits = before & ~bit;
  }
  return false;
}

bool ReadyTasks::any() const {
  for (uint32_t i = 0; i < words_; ++i)
    if (bits_[i].load() != 0) return true;
  return false;
}

}  // namespace korch::rt
