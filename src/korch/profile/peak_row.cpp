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
// What else runs leaves whole samples alone, but shares caches, memory and the other half of a core.
constexpr double kDisturbedMargin = 1.5;
constexpr double kLaunch_us = 0.05;  // a phase without barrier: two clock reads and a call
constexpr double kAgreement = 0.9;   // of the best, that the third best reaches
constexpr size_t kThird = 2;
// Two workers on one core have half of its units each; less than that is somebody else's doing.
constexpr double kExplained = 0.45;
constexpr int64_t kLeastAge_s = 60;
constexpr size_t kLongestText = 400;  // bytes: what row_of writes is shorter

struct Field {
  const char* name;
  double PeakRow::*value;
};
constexpr Field kFields[] = {
    {"flops", &PeakRow::flops_per_us},         {"l1", &PeakRow::l1_bytes_per_us},
    {"l2", &PeakRow::l2_bytes_per_us},         {"l3", &PeakRow::l3_bytes_per_us},
    {"memory", &PeakRow::memory_bytes_per_us}, {"flops_at_most", &PeakRow::flops_at_most},
    {"launch", &PeakRow::launch_us},
};

double best(const std::vector<double>& rates) {
  return rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end());
}

}  // namespace

bool agree(const std::vector<double>& rates) {
  if (rates.size() <= kThird) return false;
  std::vector<double> sorted = rates;
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted[kThird] >= kAgreement * sorted[0];
}

bool agree(const PeakSamples& s) {
  return agree(s.flops_per_us) && agree(s.l1_bytes_per_us) && agree(s.l2_bytes_per_us) &&
         agree(s.l3_bytes_per_us) && agree(s.memory_bytes_per_us);
}

double flops_at_most(const PeakSamples& s) {
  constexpr double kMostUnits = 2, kTolerance = 0.05;
  const double per_unit = 2.0 * s.lanes * s.cycles_per_us;
  if (per_unit <= 0) return best(s.flops_per_us);
  const double units = std::ceil(s.worker_flops_per_us / per_unit - kTolerance);
  return std::clamp(units, 1.0, kMostUnits) * per_unit * s.workers;
}

PeakRow row_of(const PeakSamples& samples, const MachineLoad& load, int64_t now_s) {
  PeakRow row;
  row.flops_per_us = best(samples.flops_per_us);
  row.l1_bytes_per_us = best(samples.l1_bytes_per_us);
  row.l2_bytes_per_us = best(samples.l2_bytes_per_us);
  row.l3_bytes_per_us = best(samples.l3_bytes_per_us);
  row.memory_bytes_per_us = best(samples.memory_bytes_per_us);
  row.flops_at_most = std::max(row.flops_per_us, flops_at_most(samples));
  row.launch_us = kLaunch_us;
  row.measured_at_s = now_s;
  row.disturbed = disturbance(load);
  const auto add = [&row](const std::string& what) {
    row.disturbed += (row.disturbed.empty() ? "" : ", ") + what;
  };
  if (!agree(samples)) add("the best speed was met only once");
  if (row.flops_per_us < kExplained * row.flops_at_most)
    add(fmt::format("multiply-adds reach {:.0f} % of what these cores can do",
                    100 * row.flops_per_us / row.flops_at_most));
  return row;
}

PeakRow better(const PeakRow& a, const PeakRow& b) {
  PeakRow row = a.measured_at_s > b.measured_at_s ? a : b;
  for (const Field& field : kFields) row.*field.value = std::max(a.*field.value, b.*field.value);
  row.launch_us = std::min(a.launch_us, b.launch_us);
  if (a.disturbed.empty() || b.disturbed.empty()) row.disturbed.clear();
  return row;
}

bool is_to_repeat(const PeakRow& row, int64_t now_s) {
  const bool is_young = now_s >= row.measured_at_s && now_s - kLeastAge_s < row.measured_at_s;
  return !row.disturbed.empty() && !is_young;
}

Peaks peaks_of(const PeakRow& row) {
  const bool calm = row.disturbed.empty();
  const double margin = calm ? kMargin : kDisturbedMargin;
  return {.flops_per_us = kMargin * (calm ? row.flops_per_us : row.flops_at_most),
          .l1_bytes_per_us = margin * row.l1_bytes_per_us,
          .l2_bytes_per_us = margin * row.l2_bytes_per_us,
          .l3_bytes_per_us = margin * row.l3_bytes_per_us,
          .memory_bytes_per_us = margin * row.memory_bytes_per_us,
          .launch_us = row.launch_us};
}

PeakRow raised_to(PeakRow row, const Peaks& reached) {
  const auto raise = [](double& rate, double least) { rate = std::max(rate, least); };
  raise(row.flops_per_us, reached.flops_per_us / kMargin);
  raise(row.flops_at_most, reached.flops_per_us / kMargin);
  raise(row.l1_bytes_per_us, reached.l1_bytes_per_us / kMargin);
  raise(row.l2_bytes_per_us, reached.l2_bytes_per_us / kMargin);
  raise(row.l3_bytes_per_us, reached.l3_bytes_per_us / kMargin);
  row.launch_us = std::min(row.launch_us, reached.launch_us);
  return row;
}

std::string to_text(const PeakRow& row) {
  Json json = {{"disturbed", row.disturbed}, {"measured_at", row.measured_at_s}};
  for (const Field& field : kFields) json[field.name] = row.*field.value;
  return json.dump();
}

std::optional<PeakRow> peak_row_from_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  PeakRow row;
  for (const Field& field : kFields) {
    const auto found = json.find(field.name);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    row.*field.value = found->get<double>();
    if (!std::isfinite(row.*field.value) || row.*field.value <= 0) return std::nullopt;
  }
  const auto disturbed = json.find("disturbed"), measured_at = json.find("measured_at");
  if (disturbed == json.end() || !disturbed->is_string()) return std::nullopt;
  if (measured_at == json.end() || !measured_at->is_number_integer()) return std::nullopt;
  row.disturbed = disturbed->get<std::string>();
  if (row.disturbed.size() > kLongestText || row.disturbed != printable(row.disturbed)) return std::nullopt;
  row.measured_at_s = measured_at->get<int64_t>();
  return row;
}

}  // namespace korch
