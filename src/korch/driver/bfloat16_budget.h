// Which products may multiply bfloat16, and which results may be stored as bfloat16 (--accuracy
// relaxed:ERROR): as many as leave the outputs' error within the budget, as the interpreter computes it on
// several drawn inputs. The executable's own error is measured when it is checked (inspect/verify.h).
#pragma once

#include <set>
#include <string>

#include "korch/base/deadline.h"
#include "korch/ir/graph.h"

namespace korch {

struct Bfloat16Choice {
  std::set<std::string> float_products;  // ONNX nodes whose products stay float32,
  std::set<std::string> float_results;   // and those whose results are not stored as bfloat16
  int products = 0, taken = 0;           // that could be, and that may be
  int results = 0, stored = 0;
  double error = 0;           // of the outputs, as the interpreter rounds
  bool budget_spent = false;  // before the error was known: then all stay float32
  bool is_empty() const { return taken == 0 && stored == 0; }
};

// `primitives`: one producer per Value. `multiplies`: products may be of bfloat16, and not only results.
// After the deadline nothing more is tried.
Bfloat16Choice fit_bfloat16(const Graph& primitives, bool multiplies, double allowed,
                            const Deadline& deadline);

// In words.
std::string to_string(const Bfloat16Choice& choice, double allowed);

}  // namespace korch
