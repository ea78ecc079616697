// What choosing a way to run a step costs in a run: for the extents of the run before, and for new ones among
// 16 ways by two extents.
//
//     build/release/bench/bench_launch_choice
#include <fmt/format.h>

#include <chrono>

#include "korch/runtime/launches.h"

namespace korch::rt {
namespace {

double ns_per_choice(Launches* launches, int64_t most_extents) {
  constexpr int kRuns = 2000000;
  int64_t extent = 1;
  void* args[] = {&extent, &extent};
  bool tries = false;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) {
    extent = i % most_extents + 1;
    launches->choose(0, args, &tries);
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kRuns;
}

void run() {
  const Phase phase{nullptr, 1000, 1};
  const BufferRef args[] = {{kInput, 0, 0}, {kInput, 1, 0}};
  const Step way{&phase, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "way"};
  Step others[kMostLaunches - 1];
  LaunchCost costs[kMostLaunches];
  for (Step& other : others) other = way;
  for (uint32_t l = 0; l < kMostLaunches; ++l)
    costs[l] = {
        {{1, 0, 1, 1000}, {1, 0, 1, 1000}}, {100.0 + l, 200.0 - 3 * l, 1, 2, 3, 4}, {1, .1, .2, .1, .1, .1}};
  const LaunchTable table{others, costs, kMostLaunches, 2, {0, 1}, {1, 1}, {1000, 1000}, true};
  Step step = way;
  step.launches = &table;
  const Program program{&step, 1, 1, 0, 0, false};
  Launches* launches = Launches::create(&program);
  fmt::print("the extents of the run before: {:.0f} ns\n", ns_per_choice(launches, 1));
  fmt::print("new extents, {} ways: {:.0f} ns\n", kMostLaunches, ns_per_choice(launches, 900));
  Launches::destroy(launches);
}

}  // namespace
}  // namespace korch::rt

int main() {
  korch::rt::run();
  return 0;
}
