// Workers find shared work on a board and take chunks of it. The worker that ends the last chunk goes on. So
// nobody waits for a worker without a chunk, be it idle, late or descheduled.
#pragma once

#include <stdint.h>

#include <atomic>

namespace korch::rt {

struct Work {
  int64_t chunks;  // 1 to Board::kMostChunks
  // Called once for each chunk, by any worker.
  void (*chunk)(void* user, int worker, int64_t chunk);
  // Called when all chunks are done, by the worker that ended the last of them. It may publish.
  void (*done)(void* user, int worker);
  void* user;
};

// Work that comes up bit by bit, as workers do some of it.
struct OpenWork {
  // Does the available work, until there is none at the moment. Many workers at once.
  void (*run)(void* user, int worker);
  bool (*any)(const void* user);  // whether there is something
  void* user;
};

class Board {
 public:
  static constexpr int kChunkBits = 24;
  static constexpr int64_t kMostChunks = (int64_t{1} << kChunkBits) - 1;

  // A sleep and the wake-up cost about as much, so that waiting costs twice that at worst.
  static constexpr int kSpin_us = 50;

  // Null when there is no memory. `workers` >= 1; their numbers are smaller, and no two have the same one at
  // the same time. A waiting worker spins for spin_us before it sleeps; 0: for a time that its recent waits
  // make worth while, kSpin_us at first; below 0: not at all.
  static Board* create(int workers, int spin_us = 0);
  static void destroy(Board* board);

  // What was published before must be done. Callers follow one another.
  void publish(const Work& work);
  // Takes chunks of the published work, and of works published after it, until none is left. Each worker has
  // a share of its own, and then takes from the others' shares.
  void take(int worker);
  // Takes chunks until `over`. Waiting for more spins, then sleeps.
  void serve(int worker, const std::atomic<bool>& over);
  // Opens work that serving workers do when they find no chunk. One at a time; it replaces the former one,
  // which workers may still read, and find no work there. `close` returns when no worker reads any.
  void open(const OpenWork* work);
  void close();
  // This much open work has come up: wakes as many sleepers.
  void poke(int64_t pieces);
  // Makes serving workers look at `over` again: all, or worker 0.
  void notify_all();
  void notify_first();

 private:
  struct alignas(64) Share {
    std::atomic<uint64_t> taken{0};  // number of the work, and so many of its share's chunks
    int64_t spin_ns = 0;             // of the owner's next wait
  };

  Board(int workers, int spin_us) : workers_(workers), adapts_(spin_us == 0) {}
  ~Board() = default;
  bool take_of(uint64_t state, int worker);
  void run_open(int worker);
  bool any_open();
  bool claim(int owner, uint64_t number, int64_t length, int64_t* chunk);
  void changed(int64_t wanted, uint32_t who);
  void wake(int64_t wanted, uint32_t who);
  void wait(int worker, uint32_t seen);
  void sleep(int worker, uint32_t seen);

  // One cache line: the word that a waiting worker looks at, and the data that it needs then.
  alignas(64) std::atomic<uint64_t> state_{0};  // number of the work, and how many chunks it has
  std::atomic<uint32_t> changes_{0};
  std::atomic<uint64_t> sleepers_{0};  // and those of them that are woken: they have not gone on yet
  std::atomic<const OpenWork*> open_{nullptr};
  Work work_{};
  alignas(64) std::atomic<uint32_t> inside_{0};  // look at the open work
  std::atomic<uint32_t> waiting_{0};             // for pieces of it; who counts itself then looks again
  alignas(64) std::atomic<int64_t> ended_{0};    // chunks
  Share* shares_ = nullptr;
  const int workers_;
  const bool adapts_;
};

}  // namespace korch::rt
