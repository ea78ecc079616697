// The tables of an executable: plan/program.h, which the runtime reads, and what the C interface describes.
#pragma once

#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/package/blob.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan.h"

namespace korch {

constexpr const char* kWeightsSymbol = "korch_weights";
constexpr const char* kModelSymbol = "korch_model";
constexpr const char* kInfoSymbol = "korch_info";
constexpr const char* kInfoSection = ".data.rel.ro.korch";  // which the linker puts beside others, as
constexpr const char* kLinkedInfoSection = ".data.rel.ro";

// Objects of different kernels may use equal names; in an executable each gets its kernel's number in front.
std::string linked_symbol(int kernel, const std::string& symbol);

// Size of the weights, and the offset of each of Plan::constants in them.
struct WeightsLayout {
  int64_t size_bytes = 0;
  std::vector<int64_t> offsets;
};

// Of a GPU.
struct DeviceCode {
  int compute_capability = 0;
  int threads = 0;                    // of a block
  std::vector<std::string> images;    // one per kernel, empty for library calls
  std::vector<std::string> emulated;  // the same for an emulated one, or none at all
};

// Begins with an rt::Model; links to the kernels' functions, to library calls and to the weights.
Blob model_tables(const Plan& plan, const std::vector<Placement>& placements, const WeightsLayout& weights,
                  Isa isa, const DeviceCode* gpu = nullptr);

// Begins with a korch_model_info; links to itself.
Blob model_info(const Plan& plan, const std::vector<Placement>& placements, const WeightsLayout& weights,
                const std::string& code);

}  // namespace korch
