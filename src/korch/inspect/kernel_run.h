// One kernel alone: a tile graph compiled for this machine, run on random inputs, compared with the graph's
// interpreter, and timed; or compared with another one.
#pragma once

#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"
#include "korch/kernel/tile_equivalence.h"
#include "korch/rewrite/equivalence.h"

namespace korch {

struct KernelOutput {
  std::string name;    // "out0"
  double error = 0;    // largest difference from the interpreter in float64
  int64_t at = 0;      // its element
  double allowed = 0;  // 20 times what the interpreter's native arithmetic differs by anywhere, or 1e-6 of
                       // the largest magnitude; 0 for integers
  bool right() const { return error <= allowed; }
};

struct KernelRun {
  std::vector<KernelOutput> outputs;
  double us = 0, low_us = 0,
         high_us = 0;  // on all of the target's threads: mean without the slowest, quartiles
};

// Floats are uniform in [-2, 2]; integers from 0 on below every extent that an index from data is checked
// against. Constants are drawn like inputs. Error{invalid} when the kernel refuses its inputs.
KernelRun run_kernel_alone(const tile::ScheduledGraph& graph, const Device& target, uint64_t seed);

// As check_equivalence of networks; `tests` over the field. Error{invalid} where arguments or results differ.
Equivalence check_kernel_equivalence(const tile::TileGraph& a, const tile::TileGraph& b,
                                     const tile::FieldTests& tests);

// Lines of both texts: "  " in both, "- " in the first, "+ " in the second; stretches of equal lines are
// shortened. Empty when they are equal.
std::string text_difference(const std::string& a, const std::string& b);

}  // namespace korch
