// Times the stages of a compilation and reports progress when one begins.
#pragma once

#include <string>

#include "korch/base/interrupt.h"
#include "korch/base/work_clock.h"
#include "korch/options/compile_options.h"

namespace korch {

class StageClock : public WorkClock {
 public:
  explicit StageClock(const CompileOptions& options) : progress_(options.progress) {}

  template <typename F>
  auto timed(const std::string& name, F&& f) {
    throw_if_interrupted();
    if (progress_) progress_(name, 0, 0);
    const Timed timed(this, name);
    return f();
  }

 private:
  const decltype(CompileOptions::progress) progress_;
};

}  // namespace korch
