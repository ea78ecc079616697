// Products in registers as calls of micro-kernels (cpu/micro_kernel.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/device/device.h"
#include "korch/kernel/product.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

class ProductPrinter {
 public:
  ProductPrinter(const TileGraph& graph, const Device& target) : graph_(graph), target_(target) {}

  // The statement for a nest whose schedule says `registers`.
  void print(const Phase& phase, const Nest& nest, const NestSchedule& schedule, BodyEmitter& emitter);
  // Of all micro-kernels called so far.
  const std::string& functions() const { return functions_; }
  // Whether a product since the last call is computed in tiles of AMX, which somebody releases. A variable
  // `kConfiguration` tells what function configured them last.
  static constexpr const char* kConfiguration = "configured";
  bool take_matrix_tiles() { return std::exchange(uses_matrix_tiles_, false); }

 private:
  // The name of the function; adds it where it is new.
  const std::string& function(const std::function<std::string(const std::string& name)>& emit);
  // Tiles of AMX for the kernel, unless they are so already.
  void configure(const linear::MicroKernel& kernel, BodyEmitter& emitter);
  void print_narrow(const Nest& nest, const Product& product, BodyEmitter& emitter);
  std::string next_columns(const Phase& phase, const Nest& nest, const std::string& columns,
                           int64_t elements_per_tile) const;

  const TileGraph& graph_;
  const Device& target_;
  std::map<std::string, std::string> names_;  // by the function's text from its parameters on
  std::string functions_;
  bool uses_matrix_tiles_ = false;
  bool has_tables_ = false;
};

}  // namespace korch::tile
