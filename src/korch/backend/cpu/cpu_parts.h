// What the CPU backend is made of, beside its compiler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/backend/backend.h"

namespace korch {

// On the step executor and the pool of the executables, of as many threads as the device has workers.
std::unique_ptr<Meter> cpu_meter(const Device& device, int64_t footprint_bytes);

// By a microbenchmark: multiply-adds, copies and additions, on so many threads at once.
PeakSamples sample_cpu_peaks(const Device& device, int workers);

// As Backend::reproducer.
std::vector<TextFile> cpu_reproducer(const ReproducedKernel& shown, const Device& device);

// A shared library with a C interface, its memory planned, its weights inside, page-aligned. As
// Backend::write; the linker maps the constants twice: `constants_are_written` may free them before that.
PackageReport write_library(const PackageInput& input, const std::string& path,
                            const std::function<void()>& constants_are_written);

}  // namespace korch
