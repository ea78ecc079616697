#include "korch/profile/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>

#include "korch/base/stopwatch.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/profile/peaks_text.h"

namespace korch {
namespace {

constexpr double kMargin = 1.15;  // observed best speeds are raised by this much: bounds must stay bounds
constexpr int kPeakProtocol = 2;
constexpr double kSampleSeconds = 0.005;
constexpr int kSamples = 20;

// Independent multiply-add chains in registers, and a copy that reads and writes one buffer each.
std::string source_for(int lanes) {
  std::string text =
      fmt::format("typedef float V __attribute__((vector_size({}), aligned(4)));\n", lanes * 4);
  text +=
      "extern \"C\" float peak_fma(long rounds) {\n  float one = 1.0f; V x = {}; x += one; V y = x * 0.5f;\n";
  constexpr int kChains = 12;  // latency 4 x 2 units, with room; fits 16 registers
  for (int i = 0; i < kChains; ++i) text += fmt::format("  V a{} = x * {}.0f;\n", i, i);
  text += "  for (long r = 0; r < rounds; ++r) {\n";
  for (int i = 0; i < kChains; ++i) text += fmt::format("    a{0} = a{0} * y + x;\n", i);
  for (int i = 0; i < kChains; ++i) text += fmt::format("    asm volatile(\"\" : \"+v\"(a{}));\n", i);
  text += "  }\n  V s = x;\n";
  for (int i = 0; i < kChains; ++i) text += fmt::format("  s += a{};\n", i);
  text += "  return s[0];\n}\n";
  text +=
      "extern \"C\" void peak_copy(const float* in, float* out, long n) {\n"
      "  for (long i = 0; i < n; i += 4 * (long)(sizeof(V) / 4)) {\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format("    ((V*)(out + i))[{0}] = ((const V*)(in + i))[{0}];\n", i);
  text += "  }\n}\n";
  return text;
}

// What every thread does; returns units per microsecond.
using Work = std::function<double(int thread)>;

// The best total rate of each work. They take turns, so that what disturbs a moment disturbs no work's every
// sample.
std::vector<double> best_rates_per_us(int threads, const std::vector<Work>& works) {
  std::vector<double> best(works.size(), 0);
  for (int sample = 0; sample < kSamples; ++sample)
    for (size_t w = 0; w < works.size(); ++w) {
      std::vector<double> rates(threads);
      std::vector<std::thread> others;
      auto run = [&](int thread) { rates[thread] = works[w](thread); };
      for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
      run(0);
      for (std::thread& other : others) other.join();
      best[w] = std::max(best[w], std::accumulate(rates.begin(), rates.end(), 0.0));
    }
  return best;
}

// Repeats `once` until the sample is long enough; units per microsecond.
template <typename Once>
double timed_rate(double units_per_call, const Once& once) {
  once();
  const Stopwatch stopwatch;
  double elapsed = 0;
  int64_t calls = 0;
  while (elapsed < kSampleSeconds) {
    for (int i = 0; i < 4; ++i) once();
    calls += 4;
    elapsed = stopwatch.seconds();
  }
  return static_cast<double>(calls) * units_per_call / (elapsed * 1e6);
}

Work copying(void (*copy)(const float*, float*, long), int threads, int64_t bytes_per_thread) {
  struct Buffers {
    std::vector<float> in, out;
  };
  const int64_t floats = std::max<int64_t>(bytes_per_thread / 8, 1024) / 64 * 64;  // half in, half out
  const std::vector<float> ones(floats, 1.0f);
  auto buffers = std::make_shared<std::vector<Buffers>>(threads, Buffers{ones, ones});
  return [=](int thread) {
    Buffers& mine = (*buffers)[thread];
    return timed_rate(8.0 * static_cast<double>(floats),
                      [&] { copy(mine.in.data(), mine.out.data(), floats); });
  };
}

Peaks measure_peaks(const Target& target) {
  LoadedKernels loaded;
  const Result<std::string> object = compile_object(source_for(target.vector_lanes()), target.isa);
  KORCH_ASSERT(object.ok(),
               "the microbenchmark does not compile: " + (object ? "" : object.refusal().detail));
  const auto functions = loaded.load(object.value(), {"peak_fma", "peak_copy"});
  KORCH_ASSERT(functions.ok(), "the microbenchmark does not load");
  const auto fma = reinterpret_cast<float (*)(long)>(functions.value()[0]);
  const auto copy = reinterpret_cast<void (*)(const float*, float*, long)>(functions.value()[1]);
  Peaks peaks;
  constexpr long kRounds = 20000;
  const double flops_per_call = 2.0 * 12 * target.vector_lanes() * kRounds;
  const Work multiply_add = [&](int) {
    return timed_rate(flops_per_call, [&] {
      volatile float sink = fma(kRounds);
      (void)sink;
    });
  };
  const std::vector<double> rates = best_rates_per_us(
      target.threads,
      {multiply_add,
       // L1: no cache is faster
       copying(copy, target.threads, target.l1_bytes / 2), copying(copy, target.threads, target.l2_bytes / 2),
       copying(copy, target.threads, target.l3_bytes / 2 / target.threads)});
  peaks.flops_per_us = kMargin * rates[0];
  peaks.l2_bytes_per_us = kMargin * rates[1];
  peaks.l3_bytes_per_us = kMargin * rates[2];
  peaks.dram_bytes_per_us = kMargin * rates[3];
  peaks.launch_us = 0.05;  // a phase without barrier: two clock reads and a call
  return peaks;
}

}  // namespace

Peaks machine_peaks(const Target& target, Database* database) {
  const Hash key =
      hash_text(fmt::format("peaks|{}|{}|{}|{}|{}|{}|{}", kPeakProtocol, target.cpu_name, name(target.isa),
                            target.threads, target.l1_bytes, target.l2_bytes, target.l3_bytes));
  if (database != nullptr) {
    if (const auto text = database->get_text(key))
      if (const std::optional<Peaks> peaks = peaks_from_text(*text)) return *peaks;
  }
  const Peaks peaks = measure_peaks(target);
  if (database != nullptr) database->put_text(key, to_text(peaks));
  return peaks;
}

}  // namespace korch
