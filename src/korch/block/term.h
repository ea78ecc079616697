// Terms over named axes: what a group of primitives computes, as functions of the group's axes in place of
// tensors with shapes. A product of matrices is `sum d (Mul(q[m,d], k[n,d]))`. Of attention:
//
//   s = sum d (Mul(q[b,m,d], k[b,n,d]))
//   w = Exp(Sub(s, max n (s)))
//   y = sum n (Mul(Div(w, sum n (w)), v[b,n,e]))
//
// Axes are what index maps leave when equal coordinates are given one name (docs/design/block.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/ir/op.h"
#include "korch/tensor/dtype.h"

namespace korch::block {

// A set of axes: bit i stands for axis i. Groups have at most 64.
using AxisSet = uint64_t;
constexpr int kMostAxes = 64;
constexpr AxisSet axis_set(int axis) {
  return AxisSet{1} << axis;
}

struct Axis {
  std::string name;
  int64_t extent = 1;
  bool operator==(const Axis&) const = default;
};

// What the group reads: a Value in memory, or one that layout primitives make of such Values. Its element
// depends on these axes alone.
struct Leaf {
  DType type = DType::f32;
  AxisSet axes = 0;
  bool constant = false;  // a Value that is known when kernels are built
  bool operator==(const Leaf&) const = default;
};

// Where a window reads: at the value sum of times * axis + offset of the axis `of`, which is read no other
// way below it. A convolution's reads x[y] at y = 2 h + i - 1, h a row of its result and i one of its kernel.
struct Window {
  struct Part {
    int axis = -1;
    int64_t times = 1;
    bool operator==(const Part&) const = default;
  };
  int of = -1;
  std::vector<Part> parts = {};  // axes of the result first, then those of a kernel; each once
  int64_t offset = 0;
  AxisSet axes() const;  // of the parts
  bool operator==(const Window&) const = default;
};

enum class TermKind {
  leaf,    // an element of leaf `leaf`
  number,  // a constant
  call,    // the elementwise primitive `op` of `args`
  fold,    // args[0] combined over the axes `over` by `combine`: add, mul, min or max
  window   // args[0] at another value of an axis, by `window`; 0 where the axis has no such value
};

struct Term {
  TermKind kind = TermKind::number;
  DType type = DType::f32;
  int leaf = -1;
  double number = 0;
  Op op = Op::Add;
  ScalarAttrs scalars = {};
  std::vector<int> args = {};  // earlier terms
  ScalarFn combine = ScalarFn::add;
  AxisSet over = 0;
  Window window = {};
  AxisSet axes = 0;  // that its value depends on
  bool operator==(const Term&) const = default;
};

// Terms in an order in which operands stand before their readers. Equal terms are one.
struct Terms {
  std::vector<Axis> axes;
  std::vector<Leaf> leaves;
  std::vector<Term> terms;
  std::vector<int> results;

  // The number of an equal term, or of a new one, whose `axes` are set.
  int add(Term term);
  int leaf(int number);
  int number(double value);
  int call(Op op, std::vector<int> args, ScalarAttrs scalars = {});
  int fold(ScalarFn combine, AxisSet over, int arg);  // over no axis: arg
  int at(Window window, int arg);
};

// Of the elementwise primitive with operands of these types.
DType type_of_call(Op op, const std::vector<DType>& operands);

// Whether it has ScalarAttrs, and attributes with these.
bool has_scalars(Op op);
Attrs op_attrs(Op op, const ScalarAttrs& scalars);

std::vector<std::string> names_of(const std::vector<Axis>& axes, AxisSet set);
// "y = 2 h + 1 i + -1"
std::string print(const std::vector<Axis>& axes, const Window& window);
// Of what it reads.
AxisSet axes_through(const Window& window, AxisSet axes);
const char* name_of_fold(ScalarFn combine);  // "sum", "mul", "min", "max"

// In words, for messages: "sum n (Exp(Sub(s, ...)))".
std::string print(const Terms& terms, int term);

// All terms as text, without extents: equal where one search serves.
std::string structure_text(const Terms& terms);

}  // namespace korch::block
