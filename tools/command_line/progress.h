// What a compilation says of itself while it runs, as people read it. Times are seconds since one moment,
// any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace korch {

// "45 s", "2 min 05 s": rounded up.
std::string time_text(double seconds);

// The state in one line: stage, done/total, time left at the rate since the stage began.
class ProgressLine {
 public:
  std::string operator()(const std::string& stage, int64_t done, int64_t total, double now_s);

 private:
  std::string stage_;
  double start_s_ = 0;
  int64_t done_at_start_ = 0;
};

// The same for a log, where nothing is written over: each line begins with the time since `start_s`.
class ProgressLog {
 public:
  static constexpr double kPeriod_s = 10;  // lets an hour fit a few pages

  explicit ProgressLog(double start_s) : start_s_(start_s) {}
  // A line where a stage begins, and kPeriod_s after the last one; else none.
  std::optional<std::string> operator()(const std::string& stage, int64_t done, int64_t total, double now_s);

 private:
  ProgressLine line_;
  std::string stage_;
  double start_s_, last_s_ = 0;
};

}  // namespace korch
