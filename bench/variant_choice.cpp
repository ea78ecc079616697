// What choosing a kernel variant of a step costs in a run: for the extents of the run before, and for new ones
// among 16 variants by two extents.
//
//     build/release/bench/bench_variant_choice
#include <fmt/format.h>

#include <chrono>

#include "korch/runtime/variants.h"

namespace korch::rt {
namespace {

double ns_per_choice(Variants* variants, int64_t most_extents) {
  constexpr int kRuns = 2000000;
  int64_t extent = 1;
  void* args[] = {&extent, &extent};
  bool tries = false;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i) {
    extent = i % most_extents + 1;
    variants->choose(0, args, &tries);
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kRuns;
}

void run() {
  const Phase phase{nullptr, 1000, 1};
  const BufferRef args[] = {{kInput, 0, 0}, {kInput, 1, 0}};
  const Step variant{&phase, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "variant"};
  Step others[kMostKernelVariants - 1];
  VariantCost costs[kMostKernelVariants];
  for (Step& other : others) other = variant;
  for (uint32_t l = 0; l < kMostKernelVariants; ++l)
    costs[l] = {
        {{1, 0, 1, 1000}, {1, 0, 1, 1000}}, {100.0 + l, 200.0 - 3 * l, 1, 2, 3, 4}, {1, .1, .2, .1, .1, .1}};
  const VariantTable table{others, costs, kMostKernelVariants, 2, {0, 1}, {1, 1}, {1000, 1000}, true};
  Step step = variant;
  step.variants = &table;
  const Program program{&step, 1, 1, 0, 0, false};
  Variants* variants = Variants::create(&program);
  fmt::print("the extents of the run before: {:.0f} ns\n", ns_per_choice(variants, 1));
  fmt::print("new extents, {} variants: {:.0f} ns\n", kMostKernelVariants, ns_per_choice(variants, 900));
  Variants::destroy(variants);
}

}  // namespace
}  // namespace korch::rt

int main() {
  korch::rt::run();
  return 0;
}
