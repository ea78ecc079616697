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

struct Field {
  const char* name;
  double Peaks::*speed;
};
constexpr Field kSpeeds[] = {
    {"flops", &Peaks::flops_per_us}, {"l1", &Peaks::l1_bytes_per_us},         {"l2", &Peaks::l2_bytes_per_us},
    {"l3", &Peaks::l3_bytes_per_us}, {"memory", &Peaks::memory_bytes_per_us},
};

double best(const SpeedSamples& samples) {
  return samples.total.empty() ? 0 : *std::max_element(samples.total.begin(), samples.total.end());
}

Peaks with(Peaks peaks, const auto& change) {
  for (const Field& field : kSpeeds) change(peaks.*field.speed, field);
  return peaks;
}

Json to_json(const Peaks& peaks) {
  Json json;
  for (const Field& field : kSpeeds) json[field.name] = peaks.*field.speed;
  json["launch"] = peaks.launch_us;
  return json;
}

bool read(const Json& json, const char* name, double& value) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return false;
  value = found->get<double>();
  return value > 0 && value < kFastest;
}

bool read(const Json& row, const char* name, Peaks& peaks) {
  const auto found = row.find(name);
  if (found == row.end() || !found->is_object()) return false;
  for (const Field& field : kSpeeds)
    if (!read(*found, field.name, peaks.*field.speed)) return false;
  return read(*found, "launch", peaks.launch_us);
}

}  // namespace

Device with_peaks(Device device, const Peaks& peaks) {
  const double bytes_per_us[] = {peaks.l1_bytes_per_us, peaks.l2_bytes_per_us, peaks.l3_bytes_per_us,
                                 peaks.memory_bytes_per_us};
  for (size_t level = 0; level < device.memory.size(); ++level)
    device.memory[level].bytes_per_us = bytes_per_us[std::min(level, std::size(bytes_per_us) - 1)];
  device.flops_per_us = peaks.flops_per_us;
  device.launch_us = peaks.launch_us;
  return device;
}

Peaks peaks_of(const Device& device) {
  const auto speed = [&](size_t level) {
    return level < device.memory.size() ? device.memory[level].bytes_per_us : 0;
  };
  return {device.flops_per_us, speed(0), speed(1), speed(2), speed(3), device.launch_us};
}

double flops_at_most(const PeakSamples& s) {
  constexpr double kMostUnits = 2;
  const double per_unit = 2.0 * s.lanes * s.cycles_per_us;
  if (per_unit <= 0) return best(s.flops);
  const double units = std::ceil(s.flops.worker / per_unit - kTolerance);
  return std::clamp(units, 1.0, kMostUnits) * per_unit * s.workers;
}

double l1_bytes_at_most(const PeakSamples& s) {
  if (s.cycles_per_us <= 0 || s.l1_bytes.worker <= 0) return best(s.l1_bytes);
  const double per_cycle = s.l1_bytes.worker / s.cycles_per_us;
  return s.workers * s.cycles_per_us * std::exp2(std::ceil(std::log2(per_cycle / (1 + kTolerance))));
}

PeakRow row_of(const PeakSamples& s, const MachineLoad& load, int64_t now_s) {
  PeakRow row;
  row.observed = {best(s.flops),    best(s.l1_bytes),     best(s.l2_bytes),
                  best(s.l3_bytes), best(s.memory_bytes), kLaunch_us};
  const double workers = s.workers;
  row.at_most = {flops_at_most(s),
                 l1_bytes_at_most(s),
                 workers * s.l2_bytes.worker,
                 workers * s.l3_bytes.worker,
                 workers * s.memory_bytes.worker,
                 kLaunch_us};
  row.at_most = with(row.at_most, [&](double& speed, const Field& field) {
    speed = std::max(speed, row.observed.*field.speed);
  });
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
  row.observed = with(row.observed, [&](double& speed, const Field& field) {
    speed = std::max(a.observed.*field.speed, b.observed.*field.speed);
  });
  row.at_most = with(row.at_most, [&](double& speed, const Field& field) {
    speed = std::max(a.at_most.*field.speed, b.at_most.*field.speed);
  });
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
  Peaks peaks =
      with(is_calm ? row.observed : row.at_most, [](double& speed, const Field&) { speed *= kMargin; });
  if (is_calm) return peaks;
  for (double Peaks::*shared :
       {&Peaks::l2_bytes_per_us, &Peaks::l3_bytes_per_us, &Peaks::memory_bytes_per_us})
    peaks.*shared *= kSharedMargin;
  return peaks;
}

PeakRow raised_to(PeakRow row, const Peaks& reached) {
  constexpr double kMostRaise = 1.25;
  const double most_flops = row.at_most.flops_per_us, most_bytes = row.at_most.l1_bytes_per_us;
  for (Peaks* peaks : {&row.observed, &row.at_most}) {
    *peaks = with(*peaks, [&](double& speed, const Field& field) {
      const double most = field.speed == &Peaks::flops_per_us ? most_flops : most_bytes;
      speed = std::max(speed, std::min({reached.*field.speed / kMargin, kMostRaise * speed, most}));
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
