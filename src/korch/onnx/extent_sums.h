// Extents as sums: whether two are one number by how they are computed, and which of two is larger.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "korch/onnx/ranges.h"

namespace korch::onnx {

// number + the sum of times * value, each an i64 of one element; none computed like another.
struct Terms {
  int64_t number = 0;
  std::vector<std::pair<ValueId, int64_t>> terms;
};

class ExtentSums {
 public:
  ExtentSums(const Graph& graph, Ranges& ranges) : graph_(graph), ranges_(ranges) {}

  Terms of(ValueId value) {
    Terms sum;
    add(value, 1, kDeepest, &sum);
    return sum;
  }
  bool is_same(ValueId a, ValueId b) { return is_same(a, b, kDeepest); }
  // What a less b can be.
  Range difference(ValueId a, ValueId b);

 private:
  static constexpr int kDeepest = 12;  // nodes behind each other that are looked at

  bool is_same(ValueId a, ValueId b, int depth);
  bool is_alike(ValueId a, ValueId b, int depth);
  void add(ValueId value, int64_t times, int depth, Terms* sum);
  bool add_dimension(ValueId value, int64_t times, int depth, Terms* sum);
  bool add_parts(const Node& node, int64_t times, int depth, Terms* sum);
  void add_term(ValueId value, int64_t times, int depth, Terms* sum);

  const Graph& graph_;
  Ranges& ranges_;
};

}  // namespace korch::onnx
