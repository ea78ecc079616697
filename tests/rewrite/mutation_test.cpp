// Random programs against themselves with one step gone wrong, and with every step written another way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/rewrite/equivalence.h"
#include "random_floats.h"

namespace korch {
namespace {

constexpr int64_t kSide = 3;  // every value is a matrix [kSide, kSide]
constexpr int kInputs = 2;
const Shape kShape = {kSide, kSide};

enum class Kind {
  add,
  sub,
  mul,
  div,
  max,
  min,
  neg,
  exp,
  tanh,
  relu,
  scale,
  matmul,
  transpose,
  row_sums,
  row_maxima,
  rotate
};
constexpr int kKinds = 16;

struct Step {
  Kind kind;
  int a, b;       // values: the inputs, then one per step
  int parameter;  // scale: which factor; matmul: which operands are transposed; sums and maxima: the axis;
                  // rotate: how far
};
using Program = std::vector<Step>;

class Builder {
 public:
  explicit Builder(bool otherwise) : otherwise_(otherwise) {
    values_.push_back(graph_.add_input({DType::f32, kShape}, "x"));
    values_.push_back(graph_.add_input({DType::f32, kShape}, "y"));
  }

  Graph build(const Program& program) {
    for (const Step& step : program) values_.push_back(add(step));
    graph_.set_outputs({values_.back()}, {"out"});
    graph_.remove_dead_nodes();
    return graph_;
  }

 private:
  ValueId op(Op op, std::vector<ValueId> inputs, Attrs attrs = NoAttrs{}) {
    return graph_.add(op, std::move(attrs), std::move(inputs));
  }
  ValueId constant(float value) {
    return graph_.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
  }
  ValueId transpose(ValueId a) { return op(Op::Transpose, {a}, PermAttrs{{1, 0}}); }
  ValueId slice(ValueId a, int64_t start, int64_t size) {
    return op(Op::Slice, {a}, SliceAttrs{{start, 0}, {size, kSide}, {1, 1}});
  }

  // Each step in two ways that compute the same.
  ValueId add(const Step& s) {
    const ValueId a = values_[s.a], b = values_[s.b];
    switch (s.kind) {
      case Kind::add:
        return otherwise_ ? op(Op::Add, {b, a}) : op(Op::Add, {a, b});
      case Kind::sub:
        return otherwise_ ? op(Op::Add, {op(Op::Neg, {b}), a}) : op(Op::Sub, {a, b});
      case Kind::mul:
        return otherwise_ ? op(Op::Mul, {b, a}) : op(Op::Mul, {a, b});
      case Kind::div:
        return otherwise_ ? op(Op::Mul, {op(Op::Reciprocal, {b}), a}) : op(Op::Div, {a, b});
      case Kind::max:
        return otherwise_ ? op(Op::Max, {op(Op::Max, {b, a}), a}) : op(Op::Max, {a, b});
      case Kind::min:
        return otherwise_ ? op(Op::Min, {b, a}) : op(Op::Min, {a, b});
      case Kind::neg:
        return otherwise_ ? op(Op::Sub, {op(Op::Sub, {a, a}), a}) : op(Op::Neg, {a});
      case Kind::exp:
        return otherwise_ ? op(Op::Reciprocal, {op(Op::Exp, {op(Op::Neg, {a})})}) : op(Op::Exp, {a});
      case Kind::tanh:
        return otherwise_ ? transpose(op(Op::Tanh, {transpose(a)})) : op(Op::Tanh, {a});
      case Kind::relu:
        return otherwise_ ? op(Op::Relu, {op(Op::Relu, {a})}) : op(Op::Relu, {a});
      case Kind::scale: {
        const float factor = 0.5f * static_cast<float>(s.parameter + 3);
        return otherwise_ ? op(Op::Div, {a, op(Op::Reciprocal, {constant(factor)})})
                          : op(Op::Mul, {a, constant(factor)});
      }
      case Kind::matmul: {
        const bool ta = s.parameter & 1, tb = s.parameter & 2;
        return otherwise_ ? transpose(op(Op::MatMul, {b, a}, MatMulAttrs{!tb, !ta}))
                          : op(Op::MatMul, {a, b}, MatMulAttrs{ta, tb});
      }
      case Kind::transpose:
        return transpose(a);
      case Kind::row_sums: {
        const int64_t axis = s.parameter % 2;
        if (!otherwise_) return expand(op(Op::ReduceSum, {a}, ReduceAttrs{{axis}, true}));
        const ValueId ones = op(Op::Expand, {constant(1)}, ShapeAttrs{kShape});
        return axis == 1 ? op(Op::MatMul, {a, ones}, MatMulAttrs{})
                         : op(Op::MatMul, {ones, a}, MatMulAttrs{});
      }
      case Kind::row_maxima: {
        const int64_t axis = s.parameter % 2;
        if (!otherwise_) return expand(op(Op::ReduceMax, {a}, ReduceAttrs{{axis}, true}));
        return transpose(expand(op(Op::ReduceMax, {transpose(a)}, ReduceAttrs{{1 - axis}, true})));
      }
      case Kind::rotate: {
        const int64_t by = 1 + s.parameter % (kSide - 1);
        const auto rotated = [&](ValueId v) {
          return op(Op::Concat, {slice(v, by, kSide - by), slice(v, 0, by)}, AxisAttrs{0});
        };
        return otherwise_ ? op(Op::Neg, {rotated(op(Op::Neg, {a}))}) : rotated(a);
      }
    }
    __builtin_unreachable();
  }
  ValueId expand(ValueId a) { return op(Op::Expand, {a}, ShapeAttrs{kShape}); }

  const bool otherwise_;
  Graph graph_;
  std::vector<ValueId> values_;
};

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  Program program() {
    Program result;
    const int steps = 3 + below(6);
    bool raised = false;  // one exponential: what is raised twice leaves the range of doubles
    while (static_cast<int>(result.size()) < steps) {
      Step step{static_cast<Kind>(below(kKinds)), recent(result), recent(result), below(4)};
      if (step.kind == Kind::exp && std::exchange(raised, true)) continue;
      result.push_back(step);
    }
    return result;
  }

  // One step, or what it reads, is another one.
  Program mutated(const Program& program) {
    Program result = program;
    const int at = below(static_cast<int>(program.size()));
    Step& step = result[at];
    switch (below(5)) {
      case 0:
        std::swap(step.a, step.b);
        break;
      case 1:  // another axis, transposition, factor or distance
        step.parameter = (step.parameter + 1 + below(3)) % 4;
        break;
      case 2:  // a + c -> b + c
        step.a = below(kInputs + at);
        break;
      case 3:  // a + c -> 2b
        step.a = step.b = below(kInputs + at);
        break;
      case 4:  // a dropped term, a missing rescale, a minimum for a maximum
        step.kind = static_cast<Kind>(below(kKinds));
        break;
    }
    return result;
  }

 private:
  int recent(const Program& program) {
    const int values = kInputs + static_cast<int>(program.size());
    return below(3) == 0 ? below(values) : values - 1 - below(std::min(values, 2));
  }
  std::mt19937_64 random_;
};

// Whether outputs differ in float64 by far more than rounding explains: than what float32 makes of either
// graph.
bool differ_in_float64(const Graph& a, const Graph& b, uint64_t seed) {
  const std::vector<HostTensor> inputs = random_floats(a, seed);
  const auto run = [&](const Graph& graph, Precision precision) {
    return converted(interpret(graph, inputs, {precision, {}})[0], DType::f64);
  };
  const HostTensor x = run(a, Precision::float64), y = run(b, Precision::float64);
  const HostTensor rounded_x = run(a, Precision::native), rounded_y = run(b, Precision::native);
  double difference = 0, noise = 0, largest = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto at = [i](const HostTensor& t) { return t.data<double>()[i]; };
    const double noise_here = std::fabs(at(x) - at(rounded_x)) + std::fabs(at(y) - at(rounded_y));
    if (!std::isfinite(noise_here)) return false;
    noise = std::max(noise, noise_here);
    difference = std::max(difference, std::fabs(at(x) - at(y)));
    largest = std::max({largest, std::fabs(at(x)), std::fabs(at(y))});
  }
  return difference > 10 * noise + 1e-6 * largest;
}

EquivalenceOptions field_options(uint64_t seed) {
  EquivalenceOptions options;
  options.tests = 48;  // a comparison hides a difference from half of them
  options.seed = seed;
  options.inputs = random_floats;
  return options;
}

TEST(Mutations, NoWrongRewriteIsAccepted) {
  constexpr int kWanted = 10000;
  int wrong = 0;
  for (uint64_t seed = 1; wrong < kWanted; ++seed) {
    Random random(seed);
    const Program program = random.program(), mutant = random.mutated(program);
    const Graph a = Builder(false).build(program), b = Builder(false).build(mutant);
    if (!differ_in_float64(a, b, seed)) continue;
    ++wrong;
    const FieldResult result = compare_over_field(a, b, field_options(seed));
    ASSERT_EQ(result.says, FieldResult::Says::different) << print(a) << print(b);
  }
}

TEST(Mutations, NoRightRewriteIsRejected) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const Program program = random.program();
    const Graph a = Builder(false).build(program), b = Builder(true).build(program);
    const FieldResult result = compare_over_field(a, b, field_options(seed));
    ASSERT_EQ(result.says, FieldResult::Says::same) << result.why << "\n" << print(a) << print(b);
  }
}

}  // namespace
}  // namespace korch
