#include "korch/runtime/cpu/board.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace korch::rt {
namespace {

struct DestroyBoard {
  void operator()(Board* board) const { Board::destroy(board); }
};
using BoardOwner = std::unique_ptr<Board, DestroyBoard>;

// Works that follow one another, of 1 to 50 chunks; each chunk adds to its own number.
struct Chain {
  Board* board;
  int works;
  int naps = 0;  // so many works apart, the one that goes on sleeps before it does
  int current = 0;
  std::atomic<int> wrong{0};
  std::vector<int> values = std::vector<int>(50, -1);
  std::atomic<bool> over{false};

  int64_t chunks() const { return 1 + current * 37 % 50; }
  void publish() {
    const auto chunk = [](void* user, int, int64_t number) {
      auto* chain = static_cast<Chain*>(user);
      int& value = chain->values[static_cast<size_t>(number)];
      if (value == chain->current) ++chain->wrong;  // taken twice
      value = chain->current;
    };
    const auto done = [](void* user, int) {
      auto* chain = static_cast<Chain*>(user);
      for (int64_t i = 0; i < chain->chunks(); ++i)
        if (chain->values[static_cast<size_t>(i)] != chain->current) ++chain->wrong;
      if (chain->naps > 0 && chain->current % chain->naps == 0) ::usleep(300);
      if (++chain->current < chain->works) return chain->publish();
      chain->over.store(true);
      chain->board->notify_all();
    };
    board->publish({chunks(), chunk, done, this});
  }
  // With threads that serve as workers 1 to `threads` - 1.
  void run(int threads) {
    std::vector<std::thread> others;
    for (int worker = 1; worker < threads; ++worker)
      others.emplace_back([this, worker] { board->serve(worker, over); });
    publish();
    board->serve(0, over);
    for (std::thread& other : others) other.join();
  }
};

class BoardTest : public testing::TestWithParam<int> {};

TEST_P(BoardTest, RunsEachChunkOnceBeforeWhatComesBehind) {
  const BoardOwner board(Board::create(GetParam()));
  Chain chain{board.get(), 20000};
  chain.run(GetParam());
  EXPECT_EQ(chain.wrong.load(), 0);
}

TEST_P(BoardTest, WakesThoseWhoSleep) {
  const BoardOwner board(Board::create(GetParam()));
  Chain chain{board.get(), 400, 3};
  chain.run(GetParam());
  EXPECT_EQ(chain.wrong.load(), 0);
}

TEST_P(BoardTest, WaitsForNobodyWhoHoldsNothing) {
  const BoardOwner board(Board::create(GetParam()));
  Chain chain{board.get(), 1000};
  chain.run(1);
  EXPECT_EQ(chain.wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, BoardTest, testing::Values(1, 2, 3, 4, 7));

// Two workers that wait for each other at every step and sleep at once: a wake-up meant for an earlier sleep
// may come late, and must not count for the one that it meets.
struct Steps {
  static constexpr int kWorkers = 2, kSteps = 30000;
  std::atomic<int> reached{0};  // by both together
  std::atomic<bool> over[kWorkers] = {};

  void run(Board* board, int worker) {
    std::minstd_rand random(static_cast<unsigned>(worker) + 1);
    for (int step = 1; step <= kSteps; ++step) {
      for (unsigned work = random() % 512; work > 0; --work) _mm_pause();
      board->poke(kWorkers);  // for nothing: whoever it meets goes back to sleep
      for (unsigned work = random() % 512; work > 0; --work) _mm_pause();
      if (reached.fetch_add(1) + 1 == kWorkers * step) {
        over[1 - worker].store(true);
        board->poke(kWorkers);
      } else {
        board->serve(worker, over[worker]);
        over[worker].store(false);
      }
    }
  }
};

TEST(Board, LosesNoWakeUp) {
  const BoardOwner board(Board::create(Steps::kWorkers, -1));
  // Of which there is never any: who serves waits for pokes.
  const OpenWork none = {[](void*, int) {}, [](const void*) { return false; }, nullptr};
  board->open(&none);
  Steps steps;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < Steps::kWorkers; ++worker)
    workers.emplace_back([&, worker] { steps.run(board.get(), worker); });
  constexpr int kAll = Steps::kWorkers * Steps::kSteps, kLong_ms = 3000;
  int seen = 0, stuck = 0;
  for (int still_ms = 0; steps.reached < kAll; ++still_ms) {
    ::usleep(1000);
    if (steps.reached != seen) still_ms = 0;
    seen = steps.reached;
    if (still_ms < kLong_ms) continue;
    still_ms = 0;
    ++stuck;
    board->notify_all();
  }
  for (std::thread& worker : workers) worker.join();
  board->close();
  EXPECT_EQ(stuck, 0);
}

// A share that has had no chunk for a million works is looked at when it has one.
TEST(Board, RemembersSharesThatWereEmptyForLong) {
  const BoardOwner board(Board::create(2));
  int chunks = 0;
  const auto count = [](void* user, int, int64_t) { ++*static_cast<int*>(user); };
  const auto nothing = [](void*, int) {};
  constexpr int kWorks = (1 << 21) + 1;
  for (int i = 0; i < kWorks; ++i) {
    board->publish({1, count, nothing, &chunks});
    board->take(0);
  }
  board->publish({2, count, nothing, &chunks});
  board->take(0);
  EXPECT_EQ(chunks, kWorks + 2);
}

}  // namespace
}  // namespace korch::rt
