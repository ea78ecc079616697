// Random products and convolutions of int16, int32 and bytes, every implementation of theirs, to the bit.
// KORCH_GRAPHS=N: so many; KORCH_SEED=S: that one alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

#include "harness.h"

namespace korch::testing {
namespace {

class IntegerProduct {
 public:
  explicit IntegerProduct(uint64_t seed) : random_(seed) {}

  // Of quantized bytes less their zero point, as networks have them, or of all numbers of the type.
  Graph make() {
    type_ = pick(3) == 0 ? DType::i32 : pick(2) == 0 ? DType::i16 : DType::u8;
    weight_type_ = type_ == DType::u8 ? DType::i8 : type_;
    const ValueId value = pick(2) == 0 ? matmul() : convolution();
    ValueId result = value;
    if (pick(2) == 0) {  // exact in float32 as far as the bounds below let it count
      const ValueId real = graph_.add(Op::Cast, CastAttrs{DType::f32}, {value});
      const ValueId scaled = graph_.add(Op::Mul, NoAttrs{}, {real, number(DType::f32, 0x1p-7)});
      const ValueId rounded = graph_.add(Op::Round, NoAttrs{}, {scaled});
      const ValueId low = number(DType::f32, 0);
      result =
          graph_.add(Op::Cast, CastAttrs{DType::u8},
                     {graph_.add(Op::Min, NoAttrs{},
                                 {graph_.add(Op::Max, NoAttrs{}, {rounded, low}), number(DType::f32, 255)})});
    }
    graph_.set_outputs({result}, {"y"});
    return std::move(graph_);
  }

  const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  int64_t pick(int64_t choices) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(choices)); }
  int64_t extent(int64_t most) { return 1 + pick(most); }

  ValueId number(DType type, double value) {
    HostTensor wide(TensorType{DType::f64, {}});
    wide.mutable_data<double>()[0] = value;
    return graph_.add_constant(converted(wide, type), "number");
  }

  HostTensor numbers(DType type, const Shape& shape) {
    const int64_t bits = static_cast<int64_t>(size_bytes(type)) * 8, kind = pick(3);
    HostTensor wide(TensorType{DType::i64, shape});
    for (int64_t i = 0; i < wide.elements(); ++i) {
      const int64_t least = type == DType::u8 ? 0 : -(int64_t{1} << (bits - 1));
      int64_t value = pick(int64_t{1} << bits) + least;
      if (kind == 1 && bits > 8) value = pick(511) - 255;
      if (kind == 2) value = type == DType::u8 ? 255 : least;  // whose products wrap around
      wide.mutable_data<int64_t>()[i] = value;
    }
    return converted(wide, type);
  }

  ValueId operand(DType type, const Shape& shape, bool constant, bool plain = false) {
    if (constant) return graph_.add_constant(numbers(type, shape), "w");
    if (plain || pick(2) == 0) {
      inputs_.push_back(numbers(type, shape));
      return graph_.add_input({type, shape}, "x");
    }
    HostTensor bytes(TensorType{DType::u8, shape});
    for (int64_t i = 0; i < bytes.elements(); ++i)
      bytes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(pick(256));
    inputs_.push_back(bytes);
    const ValueId wide =
        graph_.add(Op::Cast, CastAttrs{type}, {graph_.add_input({DType::u8, shape}, "bytes")});
    return graph_.add(Op::Sub, NoAttrs{},
                      {wide, number(type, static_cast<double>(pick(type == DType::i8 ? 128 : 256)))});
  }

  ValueId matmul() {
    const int64_t m = extent(pick(4) == 0 ? 150 : 40), k = extent(pick(4) == 0 ? 2600 : 50), n = extent(80),
                  batch = extent(3);
    const bool transpose_a = pick(4) == 0, transpose_b = pick(2) == 0;
    Shape a = transpose_a ? Shape{k, m} : Shape{m, k}, b = transpose_b ? Shape{n, k} : Shape{k, n};
    if (pick(2) == 0) a.insert(a.begin(), batch);
    if (pick(4) == 0) b.insert(b.begin(), batch);
    const ValueId left = operand(type_, a, false);
    return graph_.add(Op::MatMul, MatMulAttrs{transpose_a, transpose_b},
                      {left, operand(weight_type_, b, pick(3) != 0)});
  }

  ValueId convolution() {
    ConvAttrs attrs;
    const size_t axes = static_cast<size_t>(1 + pick(2));
    const bool depthwise = pick(4) == 0;
    attrs.group = depthwise ? 1 + extent(30) : extent(2);
    const int64_t in = depthwise ? 1 : extent(pick(3) == 0 ? 150 : 24), out = depthwise ? 1 : extent(40);
    Shape x = {extent(2), in * attrs.group}, w = {out * attrs.group, in};
    for (size_t i = 0; i < axes; ++i) {
      const int64_t taps = extent(3), dilation = extent(2), before = pick(taps), after = pick(taps);
      attrs.strides.push_back(extent(2));
      attrs.dilations.push_back(dilation);
      attrs.pads_before.push_back(before);
      attrs.pads_after.push_back(after);
      w.push_back(taps);
      x.push_back((taps - 1) * dilation + extent(16));
    }
    const ValueId data = operand(type_, x, false, depthwise);  // whose kernels have no prologue
    return graph_.add(Op::Conv, attrs, {data, operand(weight_type_, w, true)});
  }

  std::mt19937_64 random_;
  Graph graph_;
  DType type_ = DType::i16, weight_type_ = DType::i16;
  std::vector<HostTensor> inputs_;
};

std::vector<Isa> isas_of_integers() {
  std::vector<Isa> isas = isas_that_run_here();
  if (runs_here(Isa::x86_64_v4_amx)) isas.insert(isas.end(), 2, Isa::x86_64_v4_amx);
  return isas;
}

TEST(IntegerProducts, AreExact) {
  const char *only = std::getenv("KORCH_SEED"), *many = std::getenv("KORCH_GRAPHS");
  const uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const uint64_t count = only != nullptr ? 1 : many != nullptr ? std::strtoull(many, nullptr, 10) : 30;
  std::map<std::string, int> ran;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("KORCH_SEED=" + std::to_string(seed));
    IntegerProduct product(seed);
    const Graph graph = product.make();
    const std::vector<Isa> isas = isas_of_integers();
    const CheckOptions options{.isa = isas[seed % isas.size()], .tolerance = 0};
    int computed = 0;
    for (const char* family : {"matmul", "conv_direct", "conv_pixels", "depthwise", "linear_generic"}) {
      const int runs = check_family(graph, family, options, product.inputs());
      ran[family] += runs;
      computed += runs;
    }
    // Groups of one channel with more results each, and what follows them, are computed one after the other.
    if (whole_graph(graph).nodes.size() == 1) {
      EXPECT_GT(computed, 0) << "nothing computes it";
    }
  }
  for (const auto& [family, runs] : ran) {
    std::cout << family << ": " << runs << " kernels\n";
    if (count >= 100) {
      EXPECT_GT(runs, 0) << family;
    }
  }
}

}  // namespace
}  // namespace korch::testing
