// What the CUDA backend is made of, beside its compiler.
#pragma once

#include <functional>
#include <string>

#include "korch/backend/backend.h"

namespace korch {

// As Backend::write, without a linker. With `input.emulation` each kernel's image for an emulated GPU is
// beside its cubin.
PackageReport write_gpu_library(const PackageInput& input, const std::string& path,
                                const std::function<void()>& constants_are_written);

// What an emulated GPU runs of a kernel: an object by the CPU backend's compiler. Error{unsupported} in a
// build without that.
std::string emulated_image(const Kernel& kernel);

}  // namespace korch
