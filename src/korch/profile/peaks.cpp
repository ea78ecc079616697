#include "korch/profile/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "korch/codegen/cpu/compiler.h"

namespace korch {
namespace {

constexpr double kMargin = 1.15;  // observed best speeds are raised by this much: bounds must stay bounds
constexpr int kPeakProtocol = 1;
constexpr double kSampleSeconds = 0.02;
constexpr int kSamples = 12;

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

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Best total rate over kSamples rounds in which every thread runs work(thread, seconds) and returns units
// done.
template <typename Work>
double best_rate_per_us(int threads, const Work& work) {
  double best = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> rates(threads);
    std::vector<std::thread> others;
    auto run = [&](int thread) { rates[thread] = work(thread); };
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
    for (std::thread& other : others) other.join();
    double total = 0;
    for (double rate : rates) total += rate;
    best = std::max(best, total);
  }
  return best;
}

// Repeats `once` until the sample is long enough; units per microsecond.
template <typename Once>
double timed_rate(double units_per_call, const Once& once) {
  once();
  const double start = seconds_now();
  double elapsed = 0;
  int64_t calls = 0;
  while (elapsed < kSampleSeconds) {
    for (int i = 0; i < 4; ++i) once();
    calls += 4;
    elapsed = seconds_now() - start;
  }
  return static_cast<double>(calls) * units_per_call / (elapsed * 1e6);
}

double copy_rate(void (*copy)(const float*, float*, long), int threads, int64_t bytes_per_thread) {
  const int64_t floats = std::max<int64_t>(bytes_per_thread / 8, 1024) / 64 * 64;  // half in, half out
  std::vector<std::vector<float>> in(threads, std::vector<float>(floats, 1.0f)), out = in;
  return best_rate_per_us(threads, [&](int thread) {
    return timed_rate(8.0 * static_cast<double>(floats),
                      [&] { copy(in[thread].data(), out[thread].data(), floats); });
  });
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
  peaks.flops_per_us = best_rate_per_us(target.threads, [&](int) {
    return timed_rate(flops_per_call, [&] {
      volatile float sink = fma(kRounds);
      (void)sink;
    });
  });
  peaks.l2_bytes_per_us = copy_rate(copy, target.threads, target.l1_bytes / 2);  // L1: no cache is faster
  peaks.l3_bytes_per_us = copy_rate(copy, target.threads, target.l2_bytes / 2);
  peaks.dram_bytes_per_us = copy_rate(copy, target.threads, target.l3_bytes / 2 / target.threads);
  peaks.flops_per_us *= kMargin;
  peaks.l2_bytes_per_us *= kMargin;
  peaks.l3_bytes_per_us *= kMargin;
  peaks.dram_bytes_per_us *= kMargin;
  peaks.launch_us = 0.05;  // a phase without barrier: two clock reads and a call
  return peaks;
}

}  // namespace

Peaks machine_peaks(const Target& target, Database* database) {
  using Json = nlohmann::json;
  const Hash key =
      hash_text(fmt::format("peaks|{}|{}|{}|{}|{}|{}|{}", kPeakProtocol, target.cpu_name, name(target.isa),
                            target.threads, target.l1_bytes, target.l2_bytes, target.l3_bytes));
  if (database != nullptr) {
    if (const auto text = database->get_text(key)) {
      const Json json = Json::parse(*text, nullptr, false);
      if (!json.is_discarded())
        return {json.value("flops", 0.0), json.value("l2", 0.0), json.value("l3", 0.0),
                json.value("dram", 0.0), json.value("launch", 0.0)};
    }
  }
  const Peaks peaks = measure_peaks(target);
  if (database != nullptr)
    database->put_text(key, Json{{"flops", peaks.flops_per_us},
                                 {"l2", peaks.l2_bytes_per_us},
                                 {"l3", peaks.l3_bytes_per_us},
                                 {"dram", peaks.dram_bytes_per_us},
                                 {"launch", peaks.launch_us}}
                                .dump());
  return peaks;
}

}  // namespace korch
