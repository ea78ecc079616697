// Random terms of a few axes, without a purpose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "korch/block/term.h"

namespace korch::block {

class RandomTerms {
 public:
  explicit RandomTerms(uint64_t seed) : draw_(seed) {
    terms.axes = {{"a", 2}, {"b", 3}, {"c", 2}};
    for (AxisSet axes : {1, 3, 3, 6, 4, 7, 0}) terms.leaves.push_back({.type = DType::f32, .axes = axes});
    for (int i = 0; i < 7; ++i) known_.push_back(terms.leaf(i));
    known_.push_back(terms.number(2));
    known_.push_back(terms.number(-0.5));
    const int many = 3 + pick(16);
    for (int i = 0; i < many; ++i) known_.push_back(next());
    terms.results = {known_.back()};
  }

  Terms terms;

 private:
  int pick(int n) { return static_cast<int>(draw_() % static_cast<uint64_t>(n)); }
  // Rather a late one.
  int any() {
    return known_[static_cast<size_t>(
        std::max(pick(static_cast<int>(known_.size())), pick(static_cast<int>(known_.size()))))];
  }
  int next() {
    constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::Div, Op::Max};
    constexpr Op kUnary[] = {Op::Neg, Op::Exp, Op::Tanh, Op::Reciprocal, Op::Exp};
    constexpr ScalarFn kFolds[] = {ScalarFn::add, ScalarFn::add, ScalarFn::max, ScalarFn::min};
    const int kind = pick(8);
    if (kind < 4) return terms.call(kBinary[pick(6)], {any(), any()});
    if (kind < 6) return terms.call(kUnary[pick(5)], {any()});
    const int arg = any();
    return terms.fold(kFolds[pick(4)], static_cast<AxisSet>(1 + pick(7)), arg);
  }

  std::mt19937_64 draw_;
  std::vector<int> known_;
};

}  // namespace korch::block
