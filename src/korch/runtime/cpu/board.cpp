#include "korch/runtime/cpu/board.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace korch::rt {
namespace {

constexpr int kPauses = 32;  // between two looks at the clock, a microsecond
// How long a worker may come to spin.
constexpr int64_t kLeastSpin_ns = int64_t{1000} * Board::kSpin_us / 8,
                  kMostSpin_ns = int64_t{1000} * Board::kSpin_us * 4;

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

// Numbers of works count around.
constexpr int kNumberBits = 64 - Board::kChunkBits;
constexpr uint64_t kNumberMask = (uint64_t{1} << kNumberBits) - 1;
// So many works apart, every share is told how far the numbers are: one that had no chunks for long would
// look new.
constexpr uint64_t kReminder = uint64_t{1} << 20;

uint64_t pack(uint64_t number, int64_t chunks) {
  return number << Board::kChunkBits | static_cast<uint64_t>(chunks);
}

uint64_t number_of(uint64_t packed) {
  return packed >> Board::kChunkBits;
}

int64_t chunks_of(uint64_t packed) {
  return static_cast<int64_t>(packed) & Board::kMostChunks;
}

bool is_later(uint64_t number, uint64_t than) {
  return ((number - than) & kNumberMask) - 1 < kNumberMask / 2;
}

// Of the board's sleepers: how many there are, and how many of them at most are woken already. (Who wakes
// counts after the wake-up, so that the number may be below 0 for a moment.)
constexpr uint64_t kWoken = uint64_t{1} << 32;

int64_t asleep(uint64_t sleepers) {
  return static_cast<uint32_t>(sleepers);
}

int64_t woken(uint64_t sleepers) {
  return static_cast<int32_t>(sleepers >> 32);
}

// Which sleepers a wake-up is for.
constexpr uint32_t kFirst = 1, kOthers = 2;

// Whether it slept and was woken.
bool futex_wait(std::atomic<uint32_t>* word, uint32_t expected, uint32_t who) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_BITSET_PRIVATE, expected, nullptr,
                 nullptr, who) == 0;
}

// How many were woken.
int64_t futex_wake(std::atomic<uint32_t>* word, int64_t sleepers, uint32_t who) {
  const int64_t woken = syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_BITSET_PRIVATE,
                                sleepers, nullptr, nullptr, who);
  return woken > 0 ? woken : 0;
}

}  // namespace

Board* Board::create(int workers, int spin_us) {
  const size_t shares = static_cast<size_t>(workers) * sizeof(Share);
  void* memory = aligned_alloc(alignof(Board), sizeof(Board) + shares);
  if (memory == nullptr) return nullptr;
  Board* board = new (memory) Board(workers, spin_us);
  board->shares_ = reinterpret_cast<Share*>(board + 1);
  for (int i = 0; i < workers; ++i)
    (new (&board->shares_[i]) Share)->spin_ns = int64_t{1000} * (board->adapts_ ? kSpin_us : spin_us);
  return board;
}

void Board::destroy(Board* board) {
  if (board == nullptr) return;
  board->~Board();
  free(board);
}

void Board::publish(const Work& work) {
  const uint64_t number = (number_of(state_.load(std::memory_order_relaxed)) + 1) & kNumberMask;
  work_ = work;
  ended_.store(0, std::memory_order_relaxed);
  if (number % kReminder == 0)
    for (int i = 0; i < workers_; ++i)
      shares_[i].taken.store(pack((number - 1) & kNumberMask, kMostChunks), std::memory_order_relaxed);
  state_.store(pack(number, work.chunks), std::memory_order_release);
  changed(work.chunks - 1, kFirst | kOthers);
}

// A sleeper counts itself before the kernel compares the word, and the word changes before anyone looks for
// sleepers: one of the two sees the other.
void Board::changed(int64_t wanted, uint32_t who) {
  changes_.fetch_add(1);
  if (asleep(sleepers_.load()) != 0 && wanted > 0) wake(wanted, who);
}

void Board::wake(int64_t wanted, uint32_t who) {
  sleepers_.fetch_add(kWoken * static_cast<uint64_t>(futex_wake(&changes_, wanted, who)));
}

void Board::notify_all() {
  changed(INT32_MAX, kFirst | kOthers);
}

void Board::notify_first() {
  changed(1, kFirst);
}

// A share that speaks of an earlier work was not looked at in this one. That this holds of a work that is
// over too is impossible: it ended because the shares that had chunks were used up.
bool Board::claim(int owner, uint64_t number, int64_t length, int64_t* chunk) {
  std::atomic<uint64_t>& taken = shares_[owner].taken;
  uint64_t seen = taken.load(std::memory_order_relaxed);
  do {
    if (is_later(number_of(seen), number)) return false;
    *chunk = number_of(seen) == number ? chunks_of(seen) : 0;
    if (*chunk >= length) return false;
  } while (!taken.compare_exchange_weak(seen, pack(number, *chunk + 1), std::memory_order_relaxed));
  return true;
}

// A worker that comes late to a work that is over gets no chunk of it, and reads no more than `state`.
bool Board::take_of(uint64_t state, int worker) {
  const int64_t chunks = chunks_of(state);
  int64_t ended = 0;
  for (int k = 0; k < workers_; ++k) {
    const int owner = (worker + k) % workers_;
    const int64_t first = chunks * owner / workers_, length = chunks * (owner + 1) / workers_ - first;
    for (int64_t chunk = 0; claim(owner, number_of(state), length, &chunk); ++ended)
      work_.chunk(work_.user, worker, first + chunk);
  }
  if (ended == 0) return false;
  if (ended_.fetch_add(ended, std::memory_order_acq_rel) + ended == chunks) work_.done(work_.user, worker);
  return true;
}

void Board::take(int worker) {
  while (take_of(state_.load(std::memory_order_acquire), worker)) {
  }
  if (open_.load(std::memory_order_relaxed) != nullptr) run_open(worker);
}

// Who sleeps while nothing is open does not count as waiting for pieces.
void Board::open(const OpenWork* work) {
  if (open_.load(std::memory_order_relaxed) == work) return;
  if (open_.exchange(work) == nullptr) notify_all();
}

// Who counts itself inside after this finds nothing open.
void Board::close() {
  open_.store(nullptr);
  while (inside_.load() != 0) sched_yield();
}

void Board::run_open(int worker) {
  inside_.fetch_add(1);
  if (const OpenWork* work = open_.load()) work->run(work->user, worker);
  inside_.fetch_sub(1);
}

bool Board::any_open() {
  inside_.fetch_add(1);
  const OpenWork* work = open_.load();
  const bool any = work != nullptr && work->any(work->user);
  inside_.fetch_sub(1);
  return any;
}

void Board::poke(int64_t pieces) {
  if (waiting_.load() == 0) return;
  changes_.fetch_add(1);
  // Who was woken and has not begun yet, as on a busy machine, will find the pieces.
  const uint64_t sleepers = sleepers_.load();
  if (asleep(sleepers) > woken(sleepers)) wake(pieces, kFirst | kOthers);
}

void Board::serve(int worker, const std::atomic<bool>& over) {
  for (;;) {
    const uint32_t seen = changes_.load();
    take(worker);
    if (over.load(std::memory_order_acquire)) return;
    if (open_.load(std::memory_order_relaxed) == nullptr) {
      wait(worker, seen);
      continue;
    }
    waiting_.fetch_add(1);
    if (!any_open()) wait(worker, seen);
    waiting_.fetch_sub(1);
  }
}

// Spinning a little longer would have saved a sleep that was short. What is waited for much longer is not to
// be had by spinning, and somebody may have use for the processor; but it may be just that no run goes on.
void Board::wait(int worker, uint32_t seen) {
  int64_t& spin_ns = shares_[worker].spin_ns;
  const int64_t begin = spin_ns > 0 ? now_ns() : 0;
  while (spin_ns > 0) {
    for (int pause = 0; pause < kPauses; ++pause) {
      if (changes_.load(std::memory_order_acquire) != seen) return;
      _mm_pause();
    }
    if (now_ns() >= begin + spin_ns) break;
  }
  sleep(worker, seen);
  if (!adapts_) return;
  const bool was_short = now_ns() - begin <= kMostSpin_ns;
  spin_ns = was_short ? std::min(2 * spin_ns, kMostSpin_ns) : std::max(spin_ns - spin_ns / 16, kLeastSpin_ns);
}

void Board::sleep(int worker, uint32_t seen) {
  sleepers_.fetch_add(1);
  // A wake-up for an earlier change may come when this worker has looked and sleeps again: it counts no
  // longer as woken before it looks whether there is a new one.
  while (changes_.load() == seen)
    if (futex_wait(&changes_, seen, worker == 0 ? kFirst : kOthers)) sleepers_.fetch_sub(kWoken);
  sleepers_.fetch_sub(1);
}

}  // namespace korch::rt
