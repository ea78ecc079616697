// Random numbers, drawn while the model is read: by the node's seed, else by the importer's and the node's
// name. Every run of an executable has the same ones.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

std::mt19937_64 generator(NodeImport& n) {
  std::vector<uint32_t> words;
  if (n.has("seed")) {
    const auto seed = static_cast<float>(n.op_type() == "Dropout" ? static_cast<double>(n.int_attr("seed"))
                                                                  : n.float_attr("seed", 0));
    words.resize(1);
    std::memcpy(words.data(), &seed, sizeof seed);
  } else {
    words = {static_cast<uint32_t>(n.seed()), static_cast<uint32_t>(n.seed() >> 32)};
    words.insert(words.end(), n.origin().begin(), n.origin().end());
  }
  std::seed_seq sequence(words.begin(), words.end());
  return std::mt19937_64(sequence);
}

// In [0, 1), of float32's precision: the standard library's distributions are not the same everywhere.
double unit(std::mt19937_64& random) {
  return static_cast<double>(random() >> 40) * 0x1p-24;
}

template <typename Draw>
Operand drawn(NodeImport& n, const TensorType& type, const Draw& draw) {
  if (!is_float(type.dtype)) n.invalid(fmt::format("random numbers of type {}", name(type.dtype)));
  n.require_moderate(type);
  std::mt19937_64 random = generator(n);
  HostTensor values(TensorType{DType::f64, type.shape});
  for (int64_t i = 0; i < values.elements(); ++i) values.mutable_data<double>()[i] = draw(random);
  return n.constant(converted(values, type.dtype));
}

bool is_like(NodeImport& n) {
  return n.op_type() == "RandomUniformLike" || n.op_type() == "RandomNormalLike";
}

// By the node's attributes, or like an input.
TensorType wanted(NodeImport& n) {
  if (!is_like(n)) {
    const Shape shape = n.ints_attr("shape", {});
    n.bounded("extent", shape, 0, kMaxOffset);
    return {n.dtype_attr("dtype", DType::f32), shape};
  }
  const TensorType& like = n.input(0)->type;
  return {n.dtype_attr("dtype", is_float(like.dtype) ? like.dtype : DType::f32), like.shape};
}

// With the extents of what they are like.
Operand as_long(NodeImport& n, const Operand& numbers) {
  return is_like(n) ? n.bounded(numbers, extents_of(n.input(0))) : numbers;
}

Results random_uniform(NodeImport& n) {
  const double low = n.float_attr("low", 0), high = n.float_attr("high", 1);
  return {as_long(
      n, drawn(n, wanted(n), [&](std::mt19937_64& random) { return low + (high - low) * unit(random); }))};
}

Results random_normal(NodeImport& n) {
  const double mean = n.float_attr("mean", 0), scale = n.float_attr("scale", 1);
  return {as_long(n, drawn(n, wanted(n), [&](std::mt19937_64& random) {
                    const double radius = std::sqrt(-2 * std::log(1 - unit(random)));
                    return mean + scale * radius * std::cos(2 * std::numbers::pi * unit(random));
                  }))};
}

// Whether a number of its own is below each probability.
Results bernoulli(NodeImport& n) {
  const Term probability(n, n.input(0));
  const DType type = n.dtype_attr("dtype", probability.dtype());
  const Term number(n, n.bounded(uniform_numbers(n, probability.shape()), extents_of(probability)));
  return {cast(cast(number, DType::f64) < cast(probability, DType::f64), type)};
}

// Of classes with these logarithms of probabilities, not normalized: where the sum passes a number of its
// own.
Results multinomial(NodeImport& n) {
  const Term logits(n, n.input(0));
  const int64_t count = n.int_attr("sample_size", 1);
  const DType type = n.dtype_attr("dtype", DType::i32);
  n.bounded("sample_size", {count}, 1, kMaxStep);
  if (logits.rank() != 2) n.invalid("the input must have rank 2");
  const Term sums = apply(Op::CumSum, {softmax(widened(logits), 1)}, ScanAttrs{1, false, false});
  n.require_known(logits, 1, "the number of classes");
  const Term number(
      n, n.bounded(uniform_numbers(n, {logits.extent(0), count}), {extent_of(logits, 0), nullptr}));
  const Term passed = cast(insert_axis(sums, 1) <= insert_axis(cast(number, sums.dtype()), 2), DType::i64);
  const Term sampled = reduce(Op::ReduceSum, passed, {2}, false);
  return {cast(min(sampled, number_like(sampled, static_cast<double>(logits.extent(1) - 1))), type)};
}

}  // namespace

Operand uniform_numbers(NodeImport& n, const Shape& shape) {
  return drawn(n, {DType::f32, shape}, [](std::mt19937_64& random) { return unit(random); });
}

std::vector<RuleRow> random_rules() {
  return {
      {"RandomUniform", random_uniform, 1, 22}, {"RandomUniformLike", random_uniform, 1, 22},
      {"RandomNormal", random_normal, 1, 22},   {"RandomNormalLike", random_normal, 1, 22},
      {"Bernoulli", bernoulli, 15, 22},         {"Multinomial", multinomial, 7, 22},
  };
}

}  // namespace korch::onnx
