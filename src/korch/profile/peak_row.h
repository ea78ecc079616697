// The results of a microbenchmark: whether its samples agree, which of two measurements counts, and the peaks
// for bounds. Arithmetic alone: peaks.cpp measures.
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
  // At least a calm machine's speeds: for multiply-adds and the nearest memory what the cycles allow, else the
  // fastest worker's copies times all workers. (Other programs take turns with workers, and hardly slow down a
  // worker in its own turn.)
  Peaks at_most;
  std::string disturbed;  // what else ran whenever it was measured; "": it was calm once
  int64_t measured_at_s = 0;
};

// The most multiply-adds that all workers can do, 2 each: whole units, whose number one worker alone shows.
// Noise only slows a worker down, so this is no less than the truth.
double flops_at_most(const PeakSamples& samples);

// The same of the nearest memory: copies move a power of two of bytes per cycle.
double nearest_bytes_at_most(const PeakSamples& samples);

PeakRow row_of(const PeakSamples& samples, const MachineLoad& load, int64_t now_s);

// Of two measurements of one machine: the best of each speed; calm if one of them was.
PeakRow better(const PeakRow& a, const PeakRow& b);

// Whether to measure again: a disturbed row, on a calm machine, but not at once, so that successive
// compilations have the same peaks.
bool is_to_repeat(const PeakRow& row, int64_t now_s);

// The peaks for bounds: the observed speeds, or for a row that was always disturbed the possible ones, raised
// by a margin so that they stay bounds.
Peaks peaks_of(const PeakRow& row);

// The row, raised so that its peaks are at least these, which a kernel reached. By a quarter at most, since
// one measurement may be wrong, and never above what the cycles allow: multiply-adds of whole units, and for
// any copy the nearest memory's speed.
PeakRow raised_to(PeakRow row, const Peaks& reached);

std::string to_text(const PeakRow& row);
// Nothing when the text is not what to_text writes, or a speed is not a positive number.
std::optional<PeakRow> peak_row_from_text(const std::string& text);

}  // namespace korch
