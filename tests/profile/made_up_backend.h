// A backend without a compiler, on a machine of which every kernel takes what the test says.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "korch/backend/stub/stub_backend.h"

namespace korch {

class MadeUpMeter : public Meter {
 public:
  explicit MadeUpMeter(std::vector<double> us) : us_(std::move(us)) {}
  // One after the other, and again from the first.
  Result<Cost> measure(const MeasuredKernel& kernel, Care care) override {
    EXPECT_TRUE(kernel.object->starts_with("object of ")) << *kernel.object;
    Cost cost;
    cost.us = us_[next_++ % us_.size()];
    cost.care = care;
    return cost;
  }
  Result<std::string> outputs(const MeasuredKernel&) override { return std::string(); }
  Result<int32_t> run(const MeasuredKernel&, void* const*) override { return 0; }
  void release_memory() override {}

 private:
  const std::vector<double> us_;
  size_t next_ = 0;
};

class MadeUpBackend : public StubBackend {
 public:
  explicit MadeUpBackend(std::vector<double> us = {1}) : StubBackend("nothing", ""), us_(std::move(us)) {}
  std::string missing() const override { return ""; }
  std::string obstacle(const Device&) const override { return ""; }
  std::string compiler() const override { return "made up"; }
  std::vector<Result<std::string>> compile(const std::vector<std::string>& sources,
                                           const Device&) const override {
    std::vector<Result<std::string>> objects;
    for (const std::string& source : sources)
      objects.push_back(source.find("refused") == source.npos
                            ? Result<std::string>("object of " + source)
                            : Refusal{RefusalReason::compile_failed, "made up"});
    return objects;
  }
  std::unique_ptr<Meter> meter(const Device&, int64_t) const override {
    return std::make_unique<MadeUpMeter>(us_);
  }
  PeakSamples sample_peaks(const Device& device, int workers) const override {
    const SpeedSamples samples{{1000, 1000, 1000}, 1000, "made up"};
    return {samples, std::vector<SpeedSamples>(device.memory.size(), samples), 100, workers, 4};
  }

 private:
  const std::vector<double> us_;
};

}  // namespace korch
