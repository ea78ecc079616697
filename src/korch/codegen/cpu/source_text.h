// The constant text of generated C++: vector types, memory access, arithmetic and the vector math library.
// Only what a kernel uses is put before it. Functions exist for one element (lanes 1) and for vectors under
// the same names; the f32 exp, log, tanh and erf stay within 4 ulp of the exact value over all of float32,
// special values included, and never change the floating-point environment.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "korch/device/device.h"
#include "korch/ir/scalar.h"
#include "korch/tensor/dtype.h"
#include "korch/tensor/product_type.h"

namespace korch::tile {

// "f32x16", "m16" for bool vectors; "float", "int64_t", "bool" when lanes is 1.
std::string type_name(DType type, int lanes);
// The C++ type of one stored element ("uint8_t" for bool).
std::string element_type(DType type);

class SourceText {
 public:
  explicit SourceText(Isa isa) : isa_(isa) {}

  void use_matrix_units(ProductType type);  // NestSchedule::matrix_units
  void use_copies() { copies_ = true; }     // to shared memory, asynchronously
  void use_lanes(int lanes) {
    if (lanes > 1) lanes_.insert(lanes);
  }
  void use_function(const std::string& name, int lanes);  // "fn_exp", "load_transposed", ...
  // Whether one instruction loads a vector of float32 from places that another vector tells.
  bool loads_looked_up(int lanes) const;
  bool is_vector_function(ScalarFn fn, DType type) const;  // else it is called lane by lane

  // Everything before the kernel: context struct, types, functions.
  std::string preamble() const;
  // The same for CUDA C++ (single elements, and f32x4; the f32 functions are CUDA's own). `as_cuda` spells
  // what compiler builtins a body contains.
  std::string cuda_preamble() const;
  static std::string as_cuda(std::string text);

 private:
  Isa isa_;
  std::set<int> lanes_;
  std::optional<ProductType> matrix_units_;
  bool copies_ = false;
  std::set<std::pair<std::string, int>> functions_;
};

}  // namespace korch::tile
