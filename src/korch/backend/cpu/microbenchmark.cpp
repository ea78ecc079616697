#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>

#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/cpu_parts.h"
#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/parallel.h"
#include "korch/base/stopwatch.h"

namespace korch {
namespace {

constexpr double kSampleSeconds = 0.005;
// A stretch within a sample: long for the clock, short for the system, which lets a thread run for
// milliseconds before another has its turn.
constexpr double kStretchSeconds = 50e-6;
constexpr int kSamples = 12;
// More are taken while samples disagree, within this time.
constexpr double kMostSeconds = 1.2;
constexpr int kLeastSamples = 4;

constexpr int kChains = 12;  // latency 4 x 2 units, with room; fits 16 registers
constexpr long kRounds = 2000;
constexpr int kAdditions = 16;  // per round

// Independent multiply-adds in registers, a copy that reads and writes one buffer each, and additions of
// which each waits for the one before: one per cycle on every x86-64 core.
std::string source_for(int lanes) {
  std::string text =
      fmt::format("typedef float V __attribute__((vector_size({}), aligned(4)));\n", lanes * 4);
  text +=
      "extern \"C\" float peak_fma(long rounds) {\n  float one = 1.0f; V x = {}; x += one; V y = x * 0.5f;\n";
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
  text +=
      "extern \"C\" long peak_chain(long rounds) {\n  long x = rounds, y = rounds + 1;\n"
      "  for (long r = 0; r < rounds; ++r) {\n";
  for (int i = 0; i < kAdditions; ++i) text += "    x += y; asm volatile(\"\" : \"+r\"(x), \"+r\"(y));\n";
  text += "  }\n  return x;\n}\n";
  return text;
}

struct Functions {
  float (*multiply_add)(long rounds);
  void (*copy)(const float* in, float* out, long floats);
  long (*add)(long rounds);
};

// What a worker does in one sample; returns its best speed, per microsecond.
using Work = std::function<double(int worker)>;

// Repeats `once`, in stretches, until the sample is long enough. The best stretch counts: whatever comes
// between makes the others slower.
template <typename Once>
double best_rate_per_us(double units_per_call, const Once& once) {
  once();
  const Stopwatch sample;
  int64_t calls = 1;
  double best = 0;
  do {
    const Stopwatch stretch;
    for (int64_t i = 0; i < calls; ++i) once();
    const double elapsed = stretch.seconds();
    if (elapsed >= kStretchSeconds)
      best = std::max(best, static_cast<double>(calls) * units_per_call / (elapsed * 1e6));
    else
      calls *= 2;
  } while (best == 0 || sample.seconds() < kSampleSeconds);
  return best;
}

// Copies within `bytes_per_worker`, half read and half written, a piece after the other.
Work copying(const Functions& code, int workers, int64_t bytes_per_worker) {
  constexpr int64_t kPieceFloats = 16 << 10;
  struct Buffers {
    std::vector<float> in, out;
    int64_t at = 0;
  };
  const int64_t wanted = std::max<int64_t>(bytes_per_worker / 8, 1024);  // half in, half out
  const int64_t piece = std::min(wanted, kPieceFloats) / 64 * 64, floats = wanted / piece * piece;
  auto buffers = std::make_shared<std::vector<Buffers>>(static_cast<size_t>(workers));
  return [=](int worker) {
    Buffers& mine = (*buffers)[static_cast<size_t>(worker)];
    if (mine.in.empty()) {  // by the one that uses them: so memory lies near it
      mine.in.assign(static_cast<size_t>(floats), 1.0f);
      mine.out = mine.in;
    }
    return best_rate_per_us(8.0 * static_cast<double>(piece), [&] {
      code.copy(mine.in.data() + mine.at, mine.out.data() + mine.at, piece);
      mine.at = mine.at + piece < floats ? mine.at + piece : 0;
    });
  };
}

// So much that the caches keep little of it, of what there is to spare.
int64_t memory_bytes(const Device& device) {
  int64_t available_kib = 0;
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("MemAvailable:", 0) == 0) available_kib = std::atoll(line.c_str() + 13);
  return std::min<int64_t>({4 * device.cache_bytes(), int64_t{512} << 20, (available_kib << 10) / 8});
}

struct Measured {
  std::vector<std::vector<double>> total, most;  // by work and sample: of all workers, of the fastest
  double ran_s = 0, waited_s = 0;
};

// Of the calling thread, since it began to live: seconds on a processor, and seconds in which it waited for
// one. Zeros where the system does not say.
struct ThreadTimes {
  double ran_s = 0, waited_s = 0;
};

ThreadTimes thread_times() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran_ns = 0, waited_ns = 0;
  if (!(file >> ran_ns >> waited_ns)) return {};
  return {1e-9 * ran_ns, 1e-9 * waited_ns};
}

// One sample of each work. They take turns, so that what disturbs a moment disturbs no work's every sample.
void sample(int workers, const std::vector<Work>& works, Measured& measured) {
  for (size_t w = 0; w < works.size(); ++w) {
    std::vector<double> rates(static_cast<size_t>(workers));
    std::vector<ThreadTimes> times(static_cast<size_t>(workers));
    run_in_parallel(rates.size(), workers, [&](size_t worker) {
      const ThreadTimes before = thread_times();
      rates[worker] = works[w](static_cast<int>(worker));
      const ThreadTimes after = thread_times();
      times[worker] = {after.ran_s - before.ran_s, after.waited_s - before.waited_s};
    });
    measured.total[w].push_back(std::accumulate(rates.begin(), rates.end(), 0.0));
    measured.most[w].push_back(*std::max_element(rates.begin(), rates.end()));
    for (const ThreadTimes& time : times) {
      measured.ran_s += time.ran_s;
      measured.waited_s += time.waited_s;
    }
  }
}

Functions functions_of(const Device& device, LoadedKernels& loaded) {
  const Result<std::string> object = compile_object(source_for(device.lanes()), device.code);
  KORCH_ASSERT(object.ok(),
               "the microbenchmark does not compile: " + (object ? "" : object.refusal().detail));
  const auto functions = loaded.load(object.value(), {"peak_fma", "peak_copy", "peak_chain"});
  KORCH_ASSERT(functions.ok(), "the microbenchmark does not load");
  return {reinterpret_cast<float (*)(long)>(functions.value()[0]),
          reinterpret_cast<void (*)(const float*, float*, long)>(functions.value()[1]),
          reinterpret_cast<long (*)(long)>(functions.value()[2])};
}

PeakSamples samples_of(const Measured& measured, const Device& device, int workers) {
  const auto speed = [&](size_t work) {
    const std::vector<double>& most = measured.most[work];
    return SpeedSamples{measured.total[work], *std::max_element(most.begin(), most.end())};
  };
  return {.flops = speed(0),
          .l1_bytes = speed(1),
          .l2_bytes = speed(2),
          .l3_bytes = speed(3),
          .memory_bytes = speed(4),
          .cycles_per_us = speed(5).worker,
          .workers = workers,
          .lanes = device.lanes(),
          .waited = measured.waited_s > 0 ? measured.waited_s / (measured.waited_s + measured.ran_s) : 0};
}

}  // namespace

PeakSamples sample_cpu_peaks(const Device& device, int workers) {
  LoadedKernels loaded;
  const Functions code = functions_of(device, loaded);
  const std::vector<Work> works = {
      [&](int) {
        return best_rate_per_us(2.0 * kChains * device.lanes() * kRounds, [&] {
          volatile float sink = code.multiply_add(kRounds);
          (void)sink;
        });
      },
      copying(code, workers, device.memory[0].bytes / 2),
      copying(code, workers, device.own_bytes() / 2),
      copying(code, workers, device.cache_bytes() / 2 / workers),
      copying(code, workers, memory_bytes(device) / workers),
      [&](int) {
        return best_rate_per_us(kAdditions * kRounds, [&] {
          volatile long sink = code.add(kRounds);
          (void)sink;
        });
      },
  };
  Measured measured;
  measured.total.resize(works.size());
  measured.most.resize(works.size());
  const Stopwatch running;
  for (int taken = 0; taken < kLeastSamples || running.seconds() < kMostSeconds; ++taken) {
    throw_if_interrupted();
    if (taken >= kSamples && agree(samples_of(measured, device, workers))) break;
    sample(workers, works, measured);
  }
  return samples_of(measured, device, workers);
}

}  // namespace korch
