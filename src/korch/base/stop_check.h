// What long loops ask now and then: whether they may go on.
#pragma once

#include <cstdint>

#include "korch/base/deadline.h"
#include "korch/base/interrupt.h"

namespace korch {

// Of one thread; it counts work and looks at the clock seldom enough to cost nothing.
class StopCheck {
 public:
  // Elements between two questions: about a millisecond.
  static constexpr int64_t kEvery = int64_t{1} << 18;

  StopCheck() = default;
  explicit StopCheck(const Deadline& deadline) : deadline_(deadline) {}

  // To be called after every few elements that are read or computed. Throws BudgetSpent after the deadline,
  // Error{interrupted} after Ctrl-C.
  void after(int64_t elements) {
    if ((left_ -= elements) < 0) ask();
  }
  int64_t asked() const { return asked_; }  // how often it looked at the clock

 private:
  void ask() {
    left_ = kEvery;
    ++asked_;
    throw_if_interrupted();
    deadline_.check();
  }

  Deadline deadline_;
  int64_t left_ = kEvery, asked_ = 0;
};

}  // namespace korch
