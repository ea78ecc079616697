// Times the stages of a compilation, those within others counted once, and reports progress when a stage
// begins.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/options/compile_options.h"

namespace korch {

class StageClock {
 public:
  explicit StageClock(const CompileOptions& options) : progress_(options.progress) {}

  template <typename F>
  auto timed(const std::string& name, F&& f) {
    throw_if_interrupted();
    if (progress_) progress_(name, 0, 0);
    const Timed timed(*this, name);
    return f();
  }
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  class Timed {
   public:
    Timed(StageClock& clock, const std::string& name)
        : clock_(clock), name_(name), outer_s_(std::exchange(clock.inner_s_, 0)) {}
    ~Timed() {
      const double seconds = stopwatch_.seconds();
      clock_.seconds_[name_] += seconds - clock_.inner_s_;
      clock_.inner_s_ = outer_s_ + seconds;
    }

   private:
    StageClock& clock_;
    const std::string name_;
    const double outer_s_;
    const Stopwatch stopwatch_;
  };

  const decltype(CompileOptions::progress) progress_;
  std::map<std::string, double> seconds_;
  double inner_s_ = 0;  // spent in what is timed within the current stage
};

}  // namespace korch
