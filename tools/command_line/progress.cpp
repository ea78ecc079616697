#include "progress.h"

#include <fmt/format.h>

#include <cmath>

namespace korch {

std::string time_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string ProgressLine::operator()(const std::string& stage, int64_t done, int64_t total, double now_s) {
  if (stage != stage_) {
    stage_ = stage;
    start_s_ = now_s;
    done_at_start_ = done;
  }
  std::string line = stage;
  if (total > 0) line += fmt::format(" {}/{}", done, total);
  if (done > done_at_start_) {
    const double item_s = (now_s - start_s_) / static_cast<double>(done - done_at_start_);
    line += fmt::format(", {} left", time_text(static_cast<double>(total - done) * item_s));
  }
  return line;
}

std::optional<std::string> ProgressLog::operator()(const std::string& stage, int64_t done, int64_t total,
                                                   double now_s) {
  const std::string line = line_(stage, done, total, now_s);
  if (stage == stage_ && now_s - last_s_ < kPeriod_s) return std::nullopt;
  stage_ = stage;
  last_s_ = now_s;
  return fmt::format("[{:7.1f} s] {}", now_s - start_s_, line);
}

}  // namespace korch
