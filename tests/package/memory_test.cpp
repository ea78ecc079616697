#include "korch/package/memory.h"

#include <gtest/gtest.h>

#include <random>

namespace korch {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

TEST(Arena, BuffersAliveTogetherShareNoByte) {
  std::mt19937 random(1);
  auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives;
    const int steps = pick(1, 40);
    for (int i = pick(0, 60); i > 0; --i) {
      const int first = pick(0, steps - 1);
      lives.push_back({pick(0, 3) == 0 ? pick(0, 100) : 64 * pick(1, 500), first, pick(first, steps - 1)});
    }
    const Arena arena = plan_arena(lives);
    int64_t most_alive = 0, total = 0;
    for (int step = 0; step < steps; ++step) {
      int64_t alive = 0;
      for (const Lifetime& life : lives)
        if (life.first_step <= step && step <= life.last_step) alive += life.size_bytes;
      most_alive = std::max(most_alive, alive);
    }
    for (size_t a = 0; a < lives.size(); ++a) {
      total += lives[a].size_bytes + kBufferAlignment;
      ASSERT_EQ(arena.offsets[a] % kBufferAlignment, 0);
      ASSERT_LE(arena.offsets[a] + lives[a].size_bytes, arena.size_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (!meet(lives[a], lives[b]) || lives[a].size_bytes == 0 || lives[b].size_bytes == 0) continue;
        ASSERT_TRUE(arena.offsets[a] + lives[a].size_bytes <= arena.offsets[b] ||
                    arena.offsets[b] + lives[b].size_bytes <= arena.offsets[a])
            << "round " << round;
      }
    }
    ASSERT_GE(arena.size_bytes, most_alive);
    ASSERT_LE(arena.size_bytes, total);
  }
}

TEST(Arena, ReusesWhatIsDead) {
  const Arena arena = plan_arena({{640, 0, 1}, {640, 1, 2}, {640, 2, 3}, {640, 3, 4}});
  EXPECT_EQ(arena.size_bytes, 1280);
}

// Chain x -> a -> b -> y of equal sizes, every kernel able to work in place.
struct Chain {
  Plan plan;
  Chain() {
    Kernel kernel;
    kernel.in_place = {{0, 0}};
    plan.kernels = {kernel};
    add("x", TensorRole::input, 0);
    add("a", TensorRole::intermediate, -1);
    add("b", TensorRole::intermediate, -1);
    add("y", TensorRole::output, 0);
    for (int s = 0; s < 3; ++s) step({s}, {s + 1});
  }
  int add(const char* name, TensorRole role, int index, int64_t bytes = 256) {
    PlanTensor tensor;
    tensor.name = name;
    tensor.size_bytes = bytes;
    tensor.role = role;
    tensor.index = index;
    plan.tensors.push_back(tensor);
    return static_cast<int>(plan.tensors.size()) - 1;
  }
  void step(std::vector<int> inputs, std::vector<int> outputs) {
    PlanStep made;
    made.kernel = 0;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    plan.steps.push_back(made);
  }
  MemoryPlan memory() const { return plan_memory(plan); }
};

TEST(MemoryPlan, InPlaceChainsLiveInTheOutput) {
  const Chain chain;
  const MemoryPlan memory = chain.memory();
  EXPECT_EQ(memory.arena_bytes, 0);
  EXPECT_EQ(memory.tensors[0].memory, rt::kInput);  // never overwritten
  for (int t : {1, 2, 3}) EXPECT_EQ(memory.tensors[static_cast<size_t>(t)].memory, rt::kOutput);
}

TEST(MemoryPlan, NotInPlaceWhenReadLater) {
  Chain chain;
  chain.plan.steps[2].inputs = {2, 1};  // y = f(b, a)
  const MemoryPlan memory = chain.memory();
  EXPECT_EQ(memory.tensors[1].memory, rt::kArena);
  EXPECT_EQ(memory.tensors[2].memory, rt::kOutput);
  EXPECT_EQ(memory.arena_bytes, 256);
}

TEST(MemoryPlan, NotInPlaceWhenAnotherArgumentSeesTheBytes) {
  Chain chain;
  const int view = chain.add("view of b", TensorRole::intermediate, -1, 64);
  chain.plan.tensors[static_cast<size_t>(view)].alias_of = 2;
  chain.plan.tensors[static_cast<size_t>(view)].alias_offset_bytes = 64;
  chain.plan.steps[2].inputs = {2, view};
  const MemoryPlan memory = chain.memory();
  EXPECT_EQ(memory.tensors[2].memory, rt::kArena);
  EXPECT_EQ(memory.tensors[static_cast<size_t>(view)].offset, memory.tensors[2].offset + 64);
}

TEST(MemoryPlan, PartsOfAConcatLiveInTheWhole) {
  Chain chain;
  chain.plan.kernels[0].in_place.clear();
  const int whole = chain.add("whole", TensorRole::intermediate, -1, 512);
  const int left = chain.add("left", TensorRole::intermediate, -1);
  const int right = chain.add("right", TensorRole::intermediate, -1);
  chain.plan.tensors[static_cast<size_t>(left)].alias_of = whole;
  chain.plan.tensors[static_cast<size_t>(right)].alias_of = whole;
  chain.plan.tensors[static_cast<size_t>(right)].alias_offset_bytes = 256;
  chain.plan.steps.clear();
  chain.step({0}, {left});
  chain.step({0}, {1});  // alive together with `left`, before `right` is made
  chain.step({1}, {right});
  chain.step({whole}, {3});
  const MemoryPlan memory = chain.memory();
  EXPECT_EQ(memory.tensors[static_cast<size_t>(right)].offset,
            memory.tensors[static_cast<size_t>(left)].offset + 256);
  const uint64_t a = memory.tensors[1].offset, w = memory.tensors[static_cast<size_t>(whole)].offset;
  EXPECT_TRUE(a + 256 <= w || w + 512 <= a);
}

TEST(MemoryPlan, OutputsThatAreViewsOfOthersAreCopied) {
  Chain chain;
  auto output = [&](int index, int alias_of, int64_t offset, int64_t bytes) {
    const int id = chain.add("o", TensorRole::output, index, bytes);
    chain.plan.tensors[static_cast<size_t>(id)].alias_of = alias_of;
    chain.plan.tensors[static_cast<size_t>(id)].alias_offset_bytes = offset;
    return id;
  };
  const int constant = chain.add("c", TensorRole::constant, 0);
  output(1, 0, 0, 256);         // an input
  output(2, constant, 32, 64);  // part of a constant
  output(3, 3, 0, 256);         // the same as another output
  output(4, 1, 64, 64);         // part of an intermediate: keeps it alive
  const MemoryPlan memory = chain.memory();
  ASSERT_EQ(memory.copies.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(memory.copies[i].destination.memory, rt::kOutput);
    EXPECT_EQ(memory.copies[i].destination.index, i + 1);
  }
  EXPECT_EQ(memory.copies[0].source.memory, rt::kInput);
  EXPECT_EQ(memory.copies[1].source.memory, rt::kWeights);
  EXPECT_EQ(memory.copies[1].source.index, 0u);
  EXPECT_EQ(memory.copies[1].source.offset, 32u);
  EXPECT_EQ(memory.copies[2].source.memory, rt::kOutput);
  EXPECT_EQ(memory.copies[2].source.index, 0u);
  EXPECT_EQ(memory.tensors[1].memory, rt::kArena);
  EXPECT_EQ(memory.copies[3].source.offset, memory.tensors[1].offset + 64);
  EXPECT_NE(memory.tensors[2].memory == rt::kArena && memory.tensors[2].offset == memory.tensors[1].offset,
            true);
}

TEST(MemoryPlan, TemporariesShareNothingWithTheStepsTensors) {
  Chain chain;
  chain.plan.kernels[0].in_place.clear();
  chain.plan.kernels[0].temporary_bytes = {100, 300};
  const MemoryPlan memory = chain.memory();
  ASSERT_EQ(memory.temporaries.size(), 3u);
  EXPECT_EQ(memory.arena_bytes, 256 + 256 + 128 + 320);  // step 1: a, b and both
}

// x -> a -> a2 -> a3 and x -> b -> b2 -> b3, then y of both ends: nothing in the data orders the one branch
// before the other.
struct Branches : Chain {
  explicit Branches(int threads, int64_t last_bytes = 256) {
    plan.threads = threads;
    plan.kernels[0].in_place.clear();
    plan.steps.clear();
    for (int branch = 0; branch < 2; ++branch) {
      int before = 0;
      for (int64_t bytes : {int64_t{256}, int64_t{256}, last_bytes}) {
        ends[branch].push_back(add("made", TensorRole::intermediate, -1, bytes));
        step({before}, {ends[branch].back()});
        before = ends[branch].back();
      }
    }
    step({ends[0].back(), ends[1].back()}, {3});
  }
  bool share(int a, int b) const {
    const MemoryPlan memory = this->memory();
    const auto begin = [&](int id) {
      return static_cast<int64_t>(memory.tensors[static_cast<size_t>(id)].offset);
    };
    const auto end = [&](int id) { return begin(id) + plan.tensors[static_cast<size_t>(id)].size_bytes; };
    return begin(a) < end(b) && begin(b) < end(a);
  }
  std::vector<int> ends[2];
};

TEST(MemoryPlan, MemoryOrdersNothingThatDataDoNot) {
  const Branches beside(2);
  for (int a : beside.ends[0])
    for (int b : beside.ends[1]) EXPECT_FALSE(beside.share(a, b));
  EXPECT_TRUE(beside.share(beside.ends[0][0], beside.ends[0][2]));  // along a branch it is used again
  EXPECT_EQ(beside.memory().arena_bytes, 4 * 256);
  EXPECT_EQ(Branches(1).memory().arena_bytes, 3 * 256);
}

TEST(MemoryPlan, WhatIsUsedRoundAfterRoundIsNotUsedAgain) {
  // x -> a -> b -> c -> y: c may begin when the first round of what makes b is done.
  Chain chain;
  chain.plan.threads = 2;
  chain.plan.kernels[0].in_place.clear();
  chain.plan.kernels[0].temporary_bytes = {128};
  const auto arena_bytes = [&](int64_t rounds) {
    chain.plan.kernels[0].phases = {{"made", 1, 1, rounds}};
    return chain.memory().arena_bytes;
  };
  EXPECT_EQ(arena_bytes(2), 2 * 256 + 3 * 128);
  EXPECT_LT(arena_bytes(1), arena_bytes(2));
  // Much more memory is not taken for it: then data order as ever.
  chain.plan.steps.clear();
  constexpr int64_t kLarge = 1 << 20;
  int before = 0;
  for (int made = 0; made < 4; ++made) {
    const int next = chain.add("large", TensorRole::intermediate, -1, kLarge);
    chain.step({before}, {next});
    before = next;
  }
  chain.step({before}, {3});
  EXPECT_EQ(arena_bytes(2), 2 * kLarge + 128);
}

TEST(MemoryPlan, MuchMoreMemoryIsNotTakenForIt) {
  // Many values that live for two steps, each on a branch of its own.
  Chain chain;
  chain.plan.threads = 2;
  chain.plan.kernels[0].in_place.clear();
  chain.plan.steps.clear();
  std::vector<int> sums = {0};
  for (int branch = 0; branch < 8; ++branch) {
    const int large = chain.add("large", TensorRole::intermediate, -1, 1 << 22);
    sums.push_back(chain.add("small", TensorRole::intermediate, -1, 64));
    chain.step({0}, {large});
    chain.step({large}, {sums.back()});
  }
  chain.step(sums, {3});
  EXPECT_LT(chain.memory().arena_bytes, 2 << 22);
}

TEST(MemoryPlan, NotInPlaceBesideAnotherReader) {
  // a is read by the step that makes b, and by the one that makes y in a's place: who is first is open.
  Chain chain;
  const int c = chain.add("c", TensorRole::intermediate, -1);
  chain.plan.steps.clear();
  chain.step({0}, {1});
  chain.step({1}, {2});
  chain.step({1}, {c});
  chain.step({c, 2}, {3});
  const auto in_one_place = [&](int threads) {
    chain.plan.threads = threads;
    const MemoryPlan memory = chain.memory();
    const rt::BufferRef &a = memory.tensors[1], &made = memory.tensors[static_cast<size_t>(c)];
    return a.memory == made.memory && a.offset == made.offset;
  };
  EXPECT_TRUE(in_one_place(1));
  EXPECT_FALSE(in_one_place(2));
}

}  // namespace
}  // namespace korch
