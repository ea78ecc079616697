// What a microbenchmark saw of a machine, and what follows from it: whether its samples agree, which of two
// measurements counts, the peaks that bounds are computed from. Arithmetic alone: peaks.cpp measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "korch/profile/machine_load.h"
#include "korch/target/target.h"

namespace korch {

// Total speeds of all workers, per sample.
struct PeakSamples {
  std::vector<double> flops_per_us, l1_bytes_per_us, l2_bytes_per_us, l3_bytes_per_us, memory_bytes_per_us;
  double cycles_per_us = 0;        // of the fastest core, from a chain of dependent additions
  double worker_flops_per_us = 0;  // the best of one worker
  int workers = 1, lanes = 1;
};

// As the database keeps it: the best that was ever observed, without margins.
struct PeakRow {
  double flops_per_us = 0, l1_bytes_per_us = 0, l2_bytes_per_us = 0, l3_bytes_per_us = 0,
         memory_bytes_per_us = 0;
  double flops_at_most = 0;  // per us: what the cycles and units of these cores allow
  double launch_us = 0;
  std::string disturbed;  // what else ran whenever it was measured; "": it was calm once
  int64_t measured_at_s = 0;
};

// Whether the best speed was met more than once: there may be a better one where it was not.
bool agree(const std::vector<double>& rates);
bool agree(const PeakSamples& samples);

// Multiply-adds that all workers can do at most, 2 each: whole units, of which one worker alone shows how
// many there are. Noise makes a worker slow and never fast, so this is no less than the truth.
double flops_at_most(const PeakSamples& samples);

PeakRow row_of(const PeakSamples& samples, const MachineLoad& load, int64_t now_s);

// Of two measurements of one machine: the best of each speed, and calm where one of them was.
PeakRow better(const PeakRow& a, const PeakRow& b);

// What was disturbed is measured again, on a calm machine, but not at once: compilations that follow one
// another have the same peaks.
bool is_to_repeat(const PeakRow& row, int64_t now_s);

// Raised by a margin, so that bounds stay bounds; by more where it was disturbed.
Peaks peaks_of(const PeakRow& row);

// So that its peaks are no less than these, which a kernel reached.
PeakRow raised_to(PeakRow row, const Peaks& reached);

std::string to_text(const PeakRow& row);
// Nothing when the text is not what to_text writes, or a speed is not a positive number.
std::optional<PeakRow> peak_row_from_text(const std::string& text);

}  // namespace korch
