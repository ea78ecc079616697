// Random products and convolutions of bfloat16 with sums in float32, every implementation of theirs, on every
// instruction set that multiplies bfloat16. Operands are exact in bfloat16, so that the interpreter's float64
// is what the kernels compute but for the order of sums. KORCH_GRAPHS=N: so many; KORCH_SEED=S: that one
// alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

#include "harness.h"
#include "korch/base/ceil_div.h"

namespace korch::testing {
namespace {

std::vector<Isa> isas_of_bfloat16() {
  std::vector<Isa> found;
  for (const IsaRow& level : kIsas)
    if (level.multiplies_bfloat16 && runs_here(level.isa)) found.push_back(level.isa);
  return found;
}

class Bfloat16Product {
 public:
  explicit Bfloat16Product(uint64_t seed) : random_(seed) {}

  Graph make() {
    ValueId result = pick(3) != 0 ? matmul() : convolution();
    if (pick(2) == 0) {
      const Shape shape = graph_.value(result).type.shape;
      result =
          graph_.add(Op::Add, NoAttrs{}, {result, graph_.add_constant(numbers(DType::f32, {1}), "bias")});
      result = graph_.add(Op::Relu, NoAttrs{}, {result});
    }
    graph_.set_outputs({result}, {"y"});
    return std::move(graph_);
  }

  const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  int64_t pick(int64_t choices) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(choices)); }
  int64_t extent(int64_t most) { return 1 + pick(most); }

  // Of bfloat16, whatever the type; sums of `terms_` products have about unit size.
  // Padding times an infinite weight is no number; networks have no such weights.
  HostTensor numbers(DType type, const Shape& shape, bool may_be_special = false) {
    std::normal_distribution<double> normal(0, std::pow(static_cast<double>(terms_), -0.25));
    HostTensor wide(TensorType{DType::f64, shape});
    const bool has_specials = may_be_special && pick(8) == 0;
    for (int64_t i = 0; i < wide.elements(); ++i) {
      double value = normal(random_);
      if (has_specials && pick(500) == 0) value = pick(2) == 0 ? INFINITY : NAN;
      if (has_specials && pick(50) == 0) value = 0x1p-130;  // subnormal
      wide.mutable_data<double>()[i] = value;
    }
    return converted(converted(wide, DType::bf16), type);
  }

  ValueId operand(const Shape& shape, bool constant) {
    if (constant) return graph_.add_constant(numbers(DType::bf16, shape), "w");
    const DType type = pick(3) == 0 ? DType::bf16 : DType::f32;
    inputs_.push_back(numbers(type, shape, true));
    ValueId value = graph_.add_input({type, shape}, "x");
    if (type == DType::bf16) return value;
    if (pick(3) == 0) value = graph_.add(Op::Neg, NoAttrs{}, {value});
    return graph_.add(Op::Cast, CastAttrs{DType::bf16}, {value});
  }

  ValueId matmul() {
    const int64_t m = extent(pick(4) == 0 ? 150 : 40), k = extent(pick(3) == 0 ? 3000 : 100), n = extent(120),
                  batch = extent(3);
    terms_ = k;
    const bool transpose_a = pick(5) == 0, transpose_b = pick(2) == 0;
    Shape a = transpose_a ? Shape{k, m} : Shape{m, k}, b = transpose_b ? Shape{n, k} : Shape{k, n};
    if (pick(2) == 0) a.insert(a.begin(), batch);
    if (pick(4) == 0) b.insert(b.begin(), batch);
    const ValueId left = operand(a, false);
    return graph_.add(Op::MatMul, MatMulAttrs{transpose_a, transpose_b, true},
                      {left, operand(b, pick(3) != 0)});
  }

  ValueId convolution() {
    ConvAttrs attrs;
    attrs.wide_result = true;
    const size_t axes = static_cast<size_t>(1 + pick(2));
    attrs.group = extent(2);
    const int64_t in = extent(90), out = extent(50);
    Shape x = {extent(2), in * attrs.group}, w = {out * attrs.group, in};
    terms_ = in;
    for (size_t i = 0; i < axes; ++i) {
      const int64_t taps = extent(3), dilation = extent(2), before = pick(taps), after = pick(taps);
      attrs.strides.push_back(extent(2));
      attrs.dilations.push_back(dilation);
      attrs.pads_before.push_back(before);
      attrs.pads_after.push_back(after);
      w.push_back(taps);
      terms_ *= taps;
      x.push_back((taps - 1) * dilation + extent(16));
    }
    const ValueId data = operand(x, false);
    return graph_.add(Op::Conv, attrs, {data, operand(w, true)});
  }

  std::mt19937_64 random_;
  Graph graph_;
  int64_t terms_ = 1;
  std::vector<HostTensor> inputs_;
};

TEST(Bfloat16Products, MatchInterpreter) {
  const std::vector<Isa> isas = isas_of_bfloat16();
  if (isas.empty()) GTEST_SKIP() << "this machine does not multiply bfloat16";
  const char *only = std::getenv("KORCH_SEED"), *many = std::getenv("KORCH_GRAPHS");
  const uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const uint64_t count = only != nullptr ? 1 : many != nullptr ? std::strtoull(many, nullptr, 10) : 16;
  std::map<std::string, int> ran;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("KORCH_SEED=" + std::to_string(seed));
    Bfloat16Product product(seed);
    const Graph graph = product.make();
    const CheckOptions options{.isa = isas[seed % isas.size()],
                               .tolerance = 1e-5,
                               .l2_bytes = seed % 5 == 0 ? 1 << 16 : 1 << 20,
                               .rescheduled = seed % 4 == 0};
    for (const char* family : {"matmul", "conv_direct"})
      ran[family] += check_family(graph, family, options, product.inputs());
  }
  for (const auto& [family, runs] : ran) std::cout << family << ": " << runs << " kernels\n";
  if (only != nullptr) return;
  EXPECT_GT(ran["matmul"], 0);
  EXPECT_GT(ran["conv_direct"], 0);
}

}  // namespace
}  // namespace korch::testing
