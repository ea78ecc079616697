// Kernels that run nowhere, and machines on which they take what their objects say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "korch/base/files.h"
#include "korch/base/hash.h"
#include "korch/fleet/fleet.h"
#include "korch/fleet/worker.h"
#include "korch/profile/cost_row.h"

namespace korch {

inline Device made_up_device() {
  Device device;
  device.name = "made up";
  device.workers = 2;
  return device;
}

inline double made_up_us(const std::string& object) {
  return 1 + static_cast<double>(hash_text(object).low % 100'000) / 100;
}

// A kernel with that object, and what a MeasuredKernel points to.
struct MadeUpKernel {
  explicit MadeUpKernel(const std::string& text) : object(text) {
    kernel.source = "made up";
    kernel.phases = {{"k", 4, 1, 1}};
    measured.kernel = &kernel;
    measured.object = &object;
    measured.inputs = {{DType::f32, {16}}};
    measured.input_bytes = measured.output_bytes = {64};
  }
  MadeUpKernel(const MadeUpKernel&) = delete;
  MadeUpKernel& operator=(const MadeUpKernel&) = delete;

  Kernel kernel;
  std::string object;
  MeasuredKernel measured;
};

inline std::deque<MadeUpKernel> made_up_kernels(int count) {
  std::deque<MadeUpKernel> kernels;
  for (int i = 0; i < count; ++i) kernels.emplace_back("object " + std::to_string(i));
  return kernels;
}

class ObjectMeter : public Meter {
 public:
  // What each kernel does first; `factor`: of the times.
  explicit ObjectMeter(double factor = 1, std::function<void(const std::string&)> before = nullptr)
      : factor_(factor), before_(std::move(before)) {}
  Result<Cost> measure(const MeasuredKernel& kernel, Care care) override {
    if (before_) before_(*kernel.object);
    if (kernel.object->starts_with("refused")) return Refusal{RefusalReason::run_failed, "made up"};
    const double us = factor_ * made_up_us(*kernel.object);
    return Cost{us, us, us, 1, care};
  }
  Result<std::string> outputs(const MeasuredKernel&) override { return std::string(); }
  Result<int32_t> run(const MeasuredKernel&, void* const*) override { return 0; }
  void release_memory() override {}

 private:
  const double factor_;
  const std::function<void(const std::string&)> before_;
};

inline FleetTimes quick_times() {
  return {.poll_s = 0.002, .beat_s = 0.02, .lost_after = 25, .meet_s = 5, .stuck_s = 60};
}

inline FleetOptions fleet_options(const std::string& folder) {
  FleetOptions options;
  options.folder = folder;
  options.times = quick_times();
  options.make_meter = [](const Device&, int64_t) { return std::make_unique<ObjectMeter>(); };
  options.make_sentinels = [](const Device& device) {
    std::vector<KernelWork> sentinels;
    for (const char* text : {"sentinel 0", "sentinel 1"})
      sentinels.push_back(work_of(MadeUpKernel(text).measured, device, 1 << 20, Care::thorough));
    return sentinels;
  };
  return options;
}

inline WorkerNote made_up_machine() {
  WorkerNote machine;
  machine.host = "here";
  machine.build = build_of_this_program();
  machine.protocol = kCostProtocol;
  machine.processor = "made up";
  machine.cpus = 2;
  return machine;
}

// Serves on a thread while it lives.
class ThreadWorker {
 public:
  ThreadWorker(
      const std::string& folder, const std::string& name,
      const std::function<void(ServeOptions&)>& change = [](ServeOptions&) {}) {
    options_.folder = folder;
    options_.name = name;
    options_.machine = made_up_machine();
    options_.can_run = [](const Device&) { return true; };
    options_.make_meter = [](const Device&, int64_t) { return std::make_unique<ObjectMeter>(); };
    options_.times = quick_times();
    options_.is_over = [this] { return is_over_.load(); };
    change(options_);
    thread_ = std::thread([this] {
      try {
        served_ = serve(options_);
      } catch (const Error& error) {
        failure_ = error.what();
      }
    });
  }
  ~ThreadWorker() { end(); }
  ThreadWorker(const ThreadWorker&) = delete;
  ThreadWorker& operator=(const ThreadWorker&) = delete;

  void end() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // Once it has ended.
  const Served& served() {
    end();
    return served_;
  }
  const std::string& failure() {
    end();
    return failure_;
  }

 private:
  ServeOptions options_;
  std::atomic<bool> is_over_ = false;
  Served served_;
  std::string failure_;
  std::thread thread_;
};

// Looks until it holds; false after a minute.
inline bool soon(const std::function<bool()>& holds) {
  for (int look = 0; look < 6000; ++look) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Measures all of them; each gets the cost that its object says, once.
inline void expect_costs(Meter& meter, std::deque<MadeUpKernel>& kernels, Care care = Care::quick) {
  std::vector<int> done(kernels.size(), 0);
  meter.measure_all(
      kernels.size(), [&](size_t i) { return kernels[i].measured; }, care,
      [&](size_t i, const Result<Cost>& cost) {
        ++done[i];
        ASSERT_TRUE(cost.ok()) << cost.refusal().detail;
        EXPECT_EQ(cost.value().us, made_up_us(kernels[i].object)) << i;
        EXPECT_EQ(cost.value().care, care);
      });
  EXPECT_EQ(done, std::vector<int>(kernels.size(), 1));
}

}  // namespace korch
