// Casts to and from stored types as arithmetic on bytes: every byte, and every place where rounding changes.
#include "korch/fission/storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"

namespace korch::test {
namespace {

std::vector<DType> stored_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i)
    if (is_storage(static_cast<DType>(i))) types.push_back(static_cast<DType>(i));
  return types;
}

// One Cast of the tensor, with a Reshape before or after it.
Graph cast_graph(const TensorType& from, DType to, bool saturate) {
  Graph graph;
  const ValueId x = graph.add_input(from, "x");
  ValueId y = graph.add(Op::Reshape, ShapeAttrs{{1, from.elements()}}, {x});
  y = graph.add(Op::Cast, CastAttrs{to, saturate}, {y});
  y = graph.add(Op::Transpose, PermAttrs{{1, 0}}, {y});
  graph.set_outputs({y}, {"y"});
  return graph;
}

void expect_same_bytes(const HostTensor& input, DType to, bool saturate) {
  const Graph graph = cast_graph(input.type(), to, saturate);
  const InterpretOptions native{Precision::native, {}};
  const HostTensor wanted = interpret(graph, {input}, native)[0],
                   got = interpret(fission(graph), {input}, native)[0];
  ASSERT_EQ(got.bytes(), wanted.bytes());
  const auto size = static_cast<int64_t>(size_bytes(got.dtype()));
  for (int64_t i = 0; i < got.elements(); ++i) {
    const bool both_nan = std::isnan(element_as_double(*as_type(got, wanted.type()), i)) &&
                          std::isnan(element_as_double(wanted, i));
    EXPECT_TRUE(both_nan || std::memcmp(got.data<char>() + i * size, wanted.data<char>() + i * size,
                                        static_cast<size_t>(size)) == 0)
        << name(input.dtype()) << " " << element_as_double(input, i) << " to " << name(to) << ": "
        << element_as_double(*as_type(got, wanted.type()), i) << ", not " << element_as_double(wanted, i);
  }
}

HostTensor floats(const std::vector<float>& values) {
  return HostTensor::of<float>(DType::f32, {static_cast<int64_t>(values.size())}, values);
}

TEST(StoredTypes, CastsFromThem) {
  for (DType from : stored_types()) {
    HostTensor bytes(TensorType{from, {kStorageCodes}});
    for (int code = 0; code < kStorageCodes; ++code)  // of narrow types as they are stored
      bytes.mutable_data<uint8_t>()[code] =
          small_format(from).exponent_bits > 0 || from == DType::f8e8m0
              ? static_cast<uint8_t>(code & ((1 << storage_bits(from)) - 1))
              : static_cast<uint8_t>(static_cast<int>(stored_value(from, static_cast<uint8_t>(code))));
    for (DType to : {DType::f32, DType::f16, DType::bf16, DType::f8e5m2, DType::i4})
      expect_same_bytes(bytes, to, true);
  }
}

TEST(StoredTypes, CastsToThem) {
  for (DType to : stored_types()) {
    std::vector<float> values = {0.F, -0.F, NAN, INFINITY, -INFINITY, 1e38F, -1e38F, 1e-45F, -1e-38F};
    for (int code = 0; code < kStorageCodes; ++code) {
      const auto at = [&](int c) { return static_cast<float>(stored_value(to, static_cast<uint8_t>(c))); };
      const float low = at(code), middle = (low + at(code + 1)) / 2;
      for (float value : {low, middle, std::nextafter(middle, low), std::nextafter(middle, 1e9F)})
        values.insert(values.end(), {value, -value});
    }
    if (small_format(to).exponent_bits == 0 && to != DType::f8e8m0)  // what no integer holds is not defined
      std::erase_if(values, [](float value) { return !(std::fabs(value) < 1e9F); });
    expect_same_bytes(floats(values), to, true);
    if (to != DType::f8e8m0) expect_same_bytes(floats(values), to, false);
    expect_same_bytes(HostTensor::of<int64_t>(DType::i64, {6}, {0, 1, -1, 7, -9, 300}), to, true);
  }
}

// There and back, with nothing between the casts: fake quantization.
TEST(StoredTypes, CastsOfCasts) {
  std::vector<float> values;
  for (int i = -40; i < 40; ++i) values.push_back(0.37F * static_cast<float>(i));
  for (DType through : stored_types()) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {80}}, "x");
    const ValueId stored = graph.add(Op::Cast, CastAttrs{through}, {x});
    graph.set_outputs({graph.add(Op::Cast, CastAttrs{DType::f32}, {stored}),
                       graph.add(Op::Cast, CastAttrs{DType::f8e4m3fn}, {stored})},
                      {"y", "z"});
    const InterpretOptions native{Precision::native, {}};
    const auto wanted = interpret(graph, {floats(values)}, native),
               got = interpret(fission(graph), {floats(values)}, native);
    for (size_t output = 0; output < wanted.size(); ++output) {
      ASSERT_EQ(got[output].bytes(), wanted[output].bytes());
      EXPECT_EQ(
          std::memcmp(got[output].raw(), wanted[output].raw(), static_cast<size_t>(got[output].bytes())), 0)
          << name(through) << ", output " << output;
    }
  }
}

TEST(StoredTypes, ArithmeticIsRefused) {
  for (Op op : {Op::Neg, Op::Relu, Op::IsNaN})
    EXPECT_THROW(infer_types(op, NoAttrs{}, {{DType::f8e4m3fn, {3}}}), Error) << name(op);
  EXPECT_THROW(infer_types(Op::Add, NoAttrs{}, {{DType::i4, {3}}, {DType::i4, {3}}}), Error);
  EXPECT_THROW(infer_types(Op::Cast, CastAttrs{DType::f8e8m0, false}, {{DType::f32, {3}}}), Error);
}

}  // namespace
}  // namespace korch::test
