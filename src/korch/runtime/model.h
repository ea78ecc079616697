// Data that `package` writes into an executable for the C interface (c_api.cpp).
#pragma once

#include "korch/plan/program.h"
#include "korch/runtime/korch.h"

namespace korch::rt {

// Values of korch::Isa (device/device.h), in Model::isa.
enum IsaLevel : uint32_t {
  kPortable,
  kX86_64_v3,
  kX86_64_v4,
  kX86_64_v4_vnni,
  kX86_64_v4_bf16,
  kX86_64_v4_amx
};

// Whether this CPU and its operating system offer the instructions. Runs on every x86-64. The registers of
// AMX are asked for, which the system then gives to all threads of the process.
bool cpu_offers(IsaLevel isa);

}  // namespace korch::rt
