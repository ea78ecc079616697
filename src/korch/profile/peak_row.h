// What a microbenchmark saw of a machine, and what follows from it: whether its samples agree, which of two
// measurements counts, the peaks that bounds are computed from. Arithmetic alone: peaks.cpp measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "korch/backend/peak_samples.h"
#include "korch/device/device.h"
#include "korch/profile/machine_load.h"

namespace korch {

// Speeds as in Device; of each of its memory levels.
struct Peaks {
  double flops_per_us = 0;
  std::vector<double> bytes_per_us = {};
  double launch_us = 0;
};
Device with_peaks(Device device, const Peaks& peaks);
Peaks peaks_of(const Device& device);

// As the database keeps it: without margins.
struct PeakRow {
  Peaks observed;  // the best that was ever seen, of all workers together
  // No less than a calm machine's: of multiply-adds and the nearest memory what the cycles allow, else what
  // the fastest worker copied, times all workers. Other programs take turns with workers and hardly slow down
  // the one that has its turn.
  Peaks at_most;
  std::string disturbed;  // what else ran whenever it was measured; "": it was calm once
  int64_t measured_at_s = 0;
};

// Multiply-adds that all workers can do at most, 2 each: whole units, of which one worker alone shows how
// many there are. Noise makes a worker slow and never fast, so this is no less than the truth.
double flops_at_most(const PeakSamples& samples);

// The same of the nearest memory: copies move a power of two of bytes per cycle.
double nearest_bytes_at_most(const PeakSamples& samples);

PeakRow row_of(const PeakSamples& samples, const MachineLoad& load, int64_t now_s);

// Of two measurements of one machine: the best of each speed, and calm where one of them was.
PeakRow better(const PeakRow& a, const PeakRow& b);

// What was disturbed is measured again, on a calm machine, but not at once: compilations that follow one
// another have the same peaks.
bool is_to_repeat(const PeakRow& row, int64_t now_s);

// What bounds are computed from, raised by a margin so that they stay bounds: what was observed, but of a row
// that was always disturbed what is possible at most.
Peaks peaks_of(const PeakRow& row);

// So that its peaks are no less than these, which a kernel reached; by a quarter at most, since one
// measurement says so, and never above what the cycles allow: multiply-adds of whole units, and of any copy
// what the nearest memory does.
PeakRow raised_to(PeakRow row, const Peaks& reached);

std::string to_text(const PeakRow& row);
// Nothing when the text is not what to_text writes, or a speed is not a positive number.
std::optional<PeakRow> peak_row_from_text(const std::string& text);

}  // namespace korch
