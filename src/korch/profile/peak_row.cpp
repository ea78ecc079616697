#include "korch/profile/peak_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/base/json.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

using Json = nlohmann::json;

constexpr double kMargin = 1.15;  // a core may be this much faster in another minute
// What else runs uses L2, L3 and memory, too, and the best stretch is 10 % slower for it.
constexpr double kSharedMargin = 1.15;
constexpr double kTolerance = 0.05;  // of a speed per cycle, for a clock that changes
constexpr double kLaunch_us = 0.02;  // a phase without barrier: two clock reads and a call
// Two workers on one core have half of its units each; less than that is somebody else's doing.
constexpr double kExplained = 0.45;
constexpr int64_t kLeastAge_s = 60;
constexpr double kFastest = 1e15;     // per us: faster than anything
constexpr size_t kLongestText = 400;  // bytes: what row_of writes is shorter
constexpr size_t kMostLevels = 16;

double best(const SpeedSamples& samples) {
  return samples.total.empty() ? 0 : *std::max_element(samples.total.begin(), samples.total.end());
}

// Each speed of both, but the launch.
Peaks combined(Peaks a, const Peaks& b, const auto& combine) {
  a.flops_per_us = combine(a.flops_per_us, b.flops_per_us);
  for (size_t level = 0; level < std::min(a.bytes_per_us.size(), b.bytes_per_us.size()); ++level)
    a.bytes_per_us[level] = combine(a.bytes_per_us[level], b.bytes_per_us[level]);
  return a;
}

double larger(double a, double b) {
  return std::max(a, b);
}

Json to_json(const Peaks& peaks) {
  return {{"flops", peaks.flops_per_us}, {"bytes", peaks.bytes_per_us}, {"launch", peaks.launch_us}};
}

bool read(const Json& json, double& value) {
  if (!json.is_number()) return false;
  value = json.get<double>();
  return value > 0 && value < kFastest;
}

bool read(const Json& row, const char* name, Peaks& peaks) {
  const Json json = row.value(name, Json::object());
  const Json bytes = json.is_object() ? json.value("bytes", Json()) : Json();
  if (!bytes.is_array() || bytes.empty() || bytes.size() > kMostLevels) return false;
  peaks.bytes_per_us.resize(bytes.size());
  for (size_t level = 0; level < bytes.size(); ++level)
    if (!read(bytes[level], peaks.bytes_per_us[level])) return false;
  return read(json.value("flops", Json()), peaks.flops_per_us) &&
         read(json.value("launch", Json()), peaks.launch_us);
}

}  // namespace

Device with_peaks(Device device, const Peaks& peaks) {
  for (size_t level = 0; level < std::min(device.memory.size(), peaks.bytes_per_us.size()); ++level)
    device.memory[level].bytes_per_us = peaks.bytes_per_us[level];
  device.flops_per_us = peaks.flops_per_us;
  device.launch_us = peaks.launch_us;
  return device;
}

Peaks peaks_of(const Device& device) {
  Peaks peaks{device.flops_per_us, {}, device.launch_us};
  for (const MemoryLevel& level : device.memory) peaks.bytes_per_us.push_back(level.bytes_per_us);
  return peaks;
}

double flops_at_most(const PeakSamples& s) {
  constexpr double kMostUnits = 2;
  const double per_unit = 2.0 * s.lanes * s.cycles_per_us;
  if (per_unit <= 0) return best(s.flops);
  const double units = std::ceil(s.flops.worker / per_unit - kTolerance);
  return std::clamp(units, 1.0, kMostUnits) * per_unit * s.workers;
}

double nearest_bytes_at_most(const PeakSamples& s) {
  const SpeedSamples& nearest = s.bytes[0];
  if (s.cycles_per_us <= 0 || nearest.worker <= 0) return best(nearest);
  const double per_cycle = nearest.worker / s.cycles_per_us;
  return s.workers * s.cycles_per_us * std::exp2(std::ceil(std::log2(per_cycle / (1 + kTolerance))));
}

PeakRow row_of(const PeakSamples& s, const MachineLoad& load, int64_t now_s) {
  PeakRow row;
  row.observed = {best(s.flops), {}, kLaunch_us};
  row.at_most = {flops_at_most(s), {}, kLaunch_us};
  for (const SpeedSamples& level : s.bytes) {
    row.observed.bytes_per_us.push_back(best(level));
    row.at_most.bytes_per_us.push_back(&level == s.bytes.data() ? nearest_bytes_at_most(s)
                                                                : s.workers * level.worker);
  }
  row.at_most = combined(row.at_most, row.observed, larger);
  row.measured_at_s = now_s;
  row.disturbed = disturbance(load);
  const auto add = [&row](const std::string& what) {
    row.disturbed += (row.disturbed.empty() ? "" : ", ") + what;
  };
  if (const std::string names = not_met_again(s); !names.empty())
    add(fmt::format("the best speed of {} was met only once", names));
  const double reached = row.observed.flops_per_us / row.at_most.flops_per_us;
  if (reached < kExplained)
    add(fmt::format("multiply-adds reached {:.0f} % of what these cores can do", 100 * reached));
  return row;
}

PeakRow better(const PeakRow& a, const PeakRow& b) {
  PeakRow row = a.measured_at_s > b.measured_at_s ? a : b;
  row.observed = combined(a.observed, b.observed, larger);
  row.at_most = combined(a.at_most, b.at_most, larger);
  row.observed.launch_us = std::min(a.observed.launch_us, b.observed.launch_us);
  row.at_most.launch_us = std::min(a.at_most.launch_us, b.at_most.launch_us);
  if (a.disturbed.empty() || b.disturbed.empty()) row.disturbed.clear();
  return row;
}

bool is_to_repeat(const PeakRow& row, int64_t now_s) {
  const bool is_young = now_s >= row.measured_at_s && now_s - kLeastAge_s < row.measured_at_s;
  return !row.disturbed.empty() && !is_young;
}

Peaks peaks_of(const PeakRow& row) {
  const bool is_calm = row.disturbed.empty();
  Peaks peaks = is_calm ? row.observed : row.at_most;
  peaks.flops_per_us *= kMargin;
  for (size_t level = 0; level < peaks.bytes_per_us.size(); ++level)
    peaks.bytes_per_us[level] *= is_calm || level == 0 ? kMargin : kMargin * kSharedMargin;
  return peaks;
}

PeakRow raised_to(PeakRow row, const Peaks& reached) {
  constexpr double kMostRaise = 1.25;
  const Peaks most{row.at_most.flops_per_us,
                   std::vector<double>(reached.bytes_per_us.size(), row.at_most.bytes_per_us[0]), 0};
  const Peaks believed =
      combined(reached, most, [](double speed, double limit) { return std::min(speed / kMargin, limit); });
  for (Peaks* peaks : {&row.observed, &row.at_most}) {
    *peaks = combined(*peaks, believed, [](double speed, double wanted) {
      return std::max(speed, std::min(wanted, kMostRaise * speed));
    });
    peaks->launch_us = std::clamp(reached.launch_us, peaks->launch_us / kMostRaise, peaks->launch_us);
  }
  return row;
}

std::string to_text(const PeakRow& row) {
  return Json{{"observed", to_json(row.observed)},
              {"at_most", to_json(row.at_most)},
              {"disturbed", row.disturbed},
              {"measured_at", row.measured_at_s}}
      .dump();
}

std::optional<PeakRow> peak_row_from_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  PeakRow row;
  if (!read(json, "observed", row.observed) || !read(json, "at_most", row.at_most)) return std::nullopt;
  const auto disturbed = json.find("disturbed"), measured_at = json.find("measured_at");
  if (disturbed == json.end() || !disturbed->is_string()) return std::nullopt;
  if (measured_at == json.end() || !measured_at->is_number_integer()) return std::nullopt;
  row.disturbed = disturbed->get<std::string>();
  if (row.disturbed.size() > kLongestText || row.disturbed != printable(row.disturbed)) return std::nullopt;
  row.measured_at_s = measured_at->get<int64_t>();
  return row;
}

}  // namespace korch
