#include "korch/profile/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "korch/backend/backend.h"
#include "korch/base/usable_cpus.h"
#include "korch/profile/peak_row.h"

namespace korch {
namespace {

constexpr int kPeakProtocol = 5;

int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

PeakRow measure_peaks(const Backend& backend, const Device& target, int workers) {
  const LoadWatch watch;
  const PeakSamples samples = backend.sample_peaks(target, workers);
  MachineLoad load = watch.load();
  load.waited = samples.waited;
  return row_of(samples, load, now_s());
}

int workers_of(const Device& target) {
  return std::min(target.workers, usable_cpus());
}

Hash key_of(const Device& target) {
  std::string text =
      fmt::format("peaks|{}|{}|{}|{}", kPeakProtocol, target.name, target.code, workers_of(target));
  for (const MemoryLevel& level : target.memory) text += fmt::format("|{}", level.bytes);
  return hash_text(text);
}

std::optional<PeakRow> known_row(const Device& target, Database* database) {
  if (database == nullptr) return std::nullopt;
  const std::optional<std::string> text = database->get_text(key_of(target));
  return text ? peak_row_from_text(*text) : std::nullopt;
}

bool is_calm_now() {
  constexpr std::chrono::milliseconds kMoment(100);
  const LoadWatch watch;
  std::this_thread::sleep_for(kMoment);
  return disturbance(watch.load()).empty();
}

}  // namespace

MachinePeaks machine_peaks(const Device& target, Database* database, const Backend* backend) {
  std::optional<PeakRow> row = known_row(target, database);
  if (!row || (is_to_repeat(*row, now_s()) && is_calm_now())) {
    const PeakRow measured =
        measure_peaks(backend != nullptr ? *backend : backend_of(target), target, workers_of(target));
    row = row ? better(*row, measured) : measured;
    if (database != nullptr) database->put_text(key_of(target), to_text(*row));
  }
  return {with_peaks(target, peaks_of(*row)), row->disturbed};
}

void raise_machine_peaks(const Device& target, Database& database, const Device& reached) {
  if (const std::optional<PeakRow> row = known_row(target, &database))
    database.put_text(key_of(target), to_text(raised_to(*row, peaks_of(reached))));
}

}  // namespace korch
