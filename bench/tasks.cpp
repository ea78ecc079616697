// What tasks cost and gain by themselves, apart from any network.
//
//     build/release/bench/bench_tasks
//
// Configure with -DKORCH_BENCH=ON. Cost of a task that does nothing; three equal tiles on two workers, in
// layers that each follow the one before tile by tile; layers whose tiles take unequal times; and workers
// that wait for long, by how long they spin.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "../tests/runtime/task_program.h"
#include "korch/runtime/executor.h"

namespace korch::testing {
namespace {

constexpr int kLayers = 64, kRuns = 200;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Tile i of a layer computes for tile_us[(i + layer) % tiles].
const std::vector<double>* tile_us;

int32_t compute(const korch_kernel_context* context, int64_t begin, int64_t end) {
  const auto layer =
      static_cast<size_t>(static_cast<const char*>(context->args[0]) - static_cast<const char*>(nullptr));
  for (int64_t i = begin; i < end; ++i) {
    const double us = (*tile_us)[(static_cast<size_t>(i) + layer) % tile_us->size()];
    if (us <= 0) continue;
    const double until = now_us() + us;
    while (now_us() < until) {
    }
  }
  return KORCH_KERNEL_OK;
}

// Median of a run, in microseconds. `spin_us` as Pool::create has it.
double run_us(const std::vector<double>& tiles, int workers, rt::Schedule schedule, int spin_us = 0) {
  tile_us = &tiles;
  const auto count = static_cast<int64_t>(tiles.size());
  std::vector<TaskUse> uses;
  const std::vector<rt::Phase> phases(kLayers, {compute, count, 1});
  std::vector<rt::BufferRef> args;
  std::vector<rt::Step> steps;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (int64_t i = 0; i < count; ++i) {
      const double us = tiles[static_cast<size_t>(i + layer) % tiles.size()];
      uses.push_back({layer, 0, i, i + 1, us, {{0, {}, {{i, i + 1}}}}});
    }
    args.push_back({rt::kInput, 0, static_cast<uint64_t>(layer)});
  }
  for (size_t layer = 0; layer < kLayers; ++layer)
    steps.push_back({&phases[layer], 1, &args[layer], 1, nullptr, nullptr, 0, nullptr, 0, "layer"});
  const TaskTables tables(task_graph(uses));
  const rt::Program program{steps.data(),  kLayers, static_cast<uint32_t>(workers), 0, 0, false,
                            &tables.table, schedule};
  rt::Pool* pool = rt::Pool::create(workers, spin_us);
  rt::RunStatus status;
  rt::Executor* executor = rt::Executor::create(&program, nullptr, pool->workers(), &status);
  std::vector<double> times;
  const void* inputs[] = {nullptr};
  for (int run = 0; run < kRuns; ++run) {
    const double begin = now_us();
    executor->run(inputs, nullptr);
    times.push_back(now_us() - begin);
  }
  rt::Executor::destroy(executor);
  rt::Pool::destroy(pool);
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

void compare(const char* what, const std::vector<double>& tiles, int workers) {
  const double barrier = run_us(tiles, workers, rt::Schedule::barrier);
  const double dynamic = run_us(tiles, workers, rt::Schedule::dynamic);
  fmt::print("{}: barrier {:.1f} us, dynamic {:.1f} us ({:.2f} x)\n", what, barrier, dynamic,
             barrier / dynamic);
}

}  // namespace
}  // namespace korch::testing

int main() {
  using namespace korch::testing;
  const std::vector<double> nothing(32, 0);
  fmt::print("a task that does nothing: {:.0f} ns\n",
             1e3 * run_us(nothing, 2, korch::rt::Schedule::dynamic) / (kLayers * 32));
  compare("3 tiles of 10 us in 64 layers, 2 workers", {10, 10, 10}, 2);
  compare("tiles of 20, 5, 5, 5 us in 64 layers, 2 workers", {20, 5, 5, 5}, 2);
  compare("tiles of 30, 2, 2, 2, 2, 2 us in 64 layers, 2 workers", {30, 2, 2, 2, 2, 2}, 2);
  for (const double longest : {40, 80, 120, 180, 400})
    fmt::print("tiles of {}, 5, 5 us in 64 layers, barrier: spins as waits show {:.1f} us, 50 us {:.1f} us\n",
               longest, run_us({longest, 5, 5}, 2, korch::rt::Schedule::barrier),
               run_us({longest, 5, 5}, 2, korch::rt::Schedule::barrier, 50));
  return 0;
}
