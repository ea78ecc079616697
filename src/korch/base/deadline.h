// When a compilation with a budget has to be over (docs/design/driver.md, "Budget").
#pragma once

#include <limits>

#include "korch/base/stopwatch.h"

namespace korch {

// Thrown by Deadline::check. Caught by code that can go on without the interrupted work.
struct BudgetSpent {};

// Copies share the limit. A default-constructed one is never over.
class Deadline {
 public:
  Deadline() = default;
  explicit Deadline(double seconds) : limit_s_(seconds) {}

  // Infinite without a limit; negative when it is over.
  double left_s() const { return limit_s_ - stopwatch_.seconds(); }
  bool is_over() const { return left_s() < 0; }
  void check() const {
    if (is_over()) throw BudgetSpent{};
  }
  // The same clock, over so much earlier (later: negative).
  Deadline earlier_by(double seconds) const {
    Deadline deadline = *this;
    deadline.limit_s_ -= seconds;
    return deadline;
  }

 private:
  Stopwatch stopwatch_;
  double limit_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace korch
