// Which products may multiply bfloat16 (--accuracy relaxed:ERROR): as many as leave the outputs' error within
// the budget, as the interpreter computes it on several drawn inputs. The executable's own error is measured
// when it is checked (inspect/verify.h).
#pragma once

#include <set>
#include <string>

#include "korch/base/deadline.h"
#include "korch/ir/graph.h"

namespace korch {

struct Bfloat16Products {
  std::set<std::string> kept;  // ONNX nodes whose products stay float32
  int products = 0, taken = 0;
  double error = 0;           // of the outputs, as the interpreter rounds
  bool budget_spent = false;  // before the error was known: then all stay float32
};

// `primitives`: one producer per Value. After the deadline nothing more is tried.
Bfloat16Products fit_bfloat16_products(const Graph& primitives, double allowed, const Deadline& deadline);

// In words.
std::string to_string(const Bfloat16Products& products, double allowed);

}  // namespace korch
