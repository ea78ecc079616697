// Seconds by kind of work. What is timed within other work counts as itself alone. For one thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "korch/base/stopwatch.h"

namespace korch {

class WorkClock {
 public:
  // Until it is destroyed; `clock` may be null.
  class Timed {
   public:
    Timed(WorkClock* clock, std::string name)
        : clock_(clock),
          name_(std::move(name)),
          outer_s_(clock != nullptr ? std::exchange(clock->inner_s_, 0) : 0) {}
    ~Timed() {
      if (clock_ == nullptr) return;
      const double seconds = stopwatch_.seconds();
      clock_->seconds_[name_] += seconds - clock_->inner_s_;
      clock_->inner_s_ = outer_s_ + seconds;
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;

   private:
    WorkClock* const clock_;
    const std::string name_;
    const double outer_s_;
    const Stopwatch stopwatch_;
  };

  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  std::map<std::string, double> seconds_;
  double inner_s_ = 0;  // spent in what is timed within the current work
};

}  // namespace korch
