// What the CUDA backend is made of, beside its compiler.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "korch/backend/backend.h"

namespace korch {

// As Backend::write, without a linker. With `input.emulation`, or for an emulated GPU, each kernel's image
// for such a one is beside its cubin.
PackageReport write_gpu_library(const PackageInput& input, const std::string& path,
                                const std::function<void()>& constants_are_written);

// By the driver's library, on the GPU of this machine (docs/design/cuda.md, "Measuring").
std::unique_ptr<Meter> cuda_meter(const Device& device, int64_t footprint_bytes);

// As Backend::reproducer: with the machine code, by a program that needs the driver alone.
std::vector<TextFile> cuda_reproducer(const ReproducedKernel& shown, const std::string& cubin,
                                      const std::string& compile_command);

// What an emulated GPU runs of a kernel: an object by the CPU backend's compiler. Error{unsupported} in a
// build without that.
std::string emulated_image(const Kernel& kernel);

}  // namespace korch
