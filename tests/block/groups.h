// Groups as terms, each written as networks have it, before any law.
#pragma once

#include <map>
#include <string>

#include "korch/block/term.h"

namespace korch::block {

// Names terms shortly: axes and leaves by name.
class GroupBuilder {
 public:
  // "m:128 n:64": names with extents.
  explicit GroupBuilder(const std::string& axes);

  Terms terms;

  AxisSet axes(const std::string& names) const;  // "m n"
  int leaf(const std::string& axes);             // a new one
  int num(double value) { return terms.number(value); }
  int call(Op op, std::vector<int> args) { return terms.call(op, std::move(args)); }
  int add(int a, int b) { return call(Op::Add, {a, b}); }
  int sub(int a, int b) { return call(Op::Sub, {a, b}); }
  int mul(int a, int b) { return call(Op::Mul, {a, b}); }
  int div(int a, int b) { return call(Op::Div, {a, b}); }
  int sum(const std::string& over, int a) { return terms.fold(ScalarFn::add, axes(over), a); }
  int max(const std::string& over, int a) { return terms.fold(ScalarFn::max, axes(over), a); }
  // sum over of a * b
  int dot(const std::string& over, int a, int b) { return sum(over, mul(a, b)); }
  int softmax(const std::string& over, int scores);
  // x / sqrt(mean of x^2 + epsilon)
  int rms_norm(const std::string& over, int x);
  int silu(int x) { return mul(x, call(Op::Sigmoid, {x})); }
};

std::map<std::string, Terms> groups();

}  // namespace korch::block
