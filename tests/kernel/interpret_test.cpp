// The interpreter of tile graphs against values worked out here.
#include "korch/kernel/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graphs.h"
#include "korch/kernel/schedule.h"

namespace korch::testing {
namespace {

HostTensor counting(int64_t elements, double step) {
  HostTensor tensor(TensorType{DType::f32, {elements}});
  for (int64_t i = 0; i < elements; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i % 7 * step);
  return tensor;
}

TEST(TileInterpreter, Softmax) {
  const HostTensor x = counting(24, 0.5);
  const HostTensor y = tile::interpret(tile::parse_tile_graph(kSoftmax), {x}, tile::Arithmetic::float64)[0];
  for (int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 6; ++i) sum += std::exp(element_as_double(x, row * 6 + i));
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_NEAR(y.data<double>()[row * 6 + i], std::exp(element_as_double(x, row * 6 + i)) / sum, 1e-15);
  }
}

TEST(TileInterpreter, PaddedWindowsInChunks) {
  const HostTensor x = counting(40, 1);
  const HostTensor y = tile::interpret(tile::parse_tile_graph(kWindows), {x}, tile::Arithmetic::native)[0];
  ASSERT_EQ(y.dtype(), DType::f32);
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t i = 0; i < 8; ++i) {
      double sum = 0;
      for (int64_t tap = std::max<int64_t>(0, i - 1); tap <= std::min<int64_t>(7, i + 1); ++tap)
        sum += element_as_double(x, row * 8 + tap);
      EXPECT_EQ(y.data<float>()[row * 8 + i], sum);
    }
}

// Rounding and wrapping are the type's own.
TEST(TileInterpreter, NativeTypes) {
  const auto one = [](const std::string& type, const std::string& body) {
    return tile::parse_tile_graph("kernel {\n out0: " + type + "[1]\n phase {\n map {\n" + body +
                                  "}\n}\n}\n");
  };
  const auto value = [&](const std::string& type, const std::string& body, tile::Arithmetic arithmetic) {
    return element_as_double(tile::interpret(one(type, body), {}, arithmetic)[0], 0);
  };
  const std::string third = "%0 = f32 1\n%1 = f32 3\n%2 = f32 div(%0, %1)\nout0[0] <- %2\n";
  EXPECT_EQ(value("f32", third, tile::Arithmetic::native), 1.0f / 3.0f);
  EXPECT_EQ(value("f32", third, tile::Arithmetic::float64), 1.0 / 3.0);
  EXPECT_EQ(value("i8", "%0 = i8 100\n%1 = i8 add(%0, %0)\nout0[0] <- %1\n", tile::Arithmetic::native), -56);
  EXPECT_EQ(value("u8", "%0 = f32 -3\n%1 = u8 cast(%0)\nout0[0] <- %1\n", tile::Arithmetic::native), 253);
  EXPECT_EQ(value("bool", "%0 = i32 7\n%1 = bool cast(%0)\nout0[0] <- %1\n", tile::Arithmetic::native), 1);
}

TEST(TileInterpreter, TheFirstNaNWinsAndTiesGoAsStated) {
  const auto graph = [](const std::string& last) {
    return tile::parse_tile_graph(
        "kernel {\n in0: f32[4]\n out0: i64[1]\n phase {\n arg_reduce max over r0 in 4 at r0" + last +
        " {\n %0 = in0[r0]\n out0[0] <- %0\n }\n }\n}\n");
  };
  const auto at = [&](const std::string& last, const std::vector<float>& values) {
    const HostTensor x = HostTensor::of<float>(DType::f32, {4}, values);
    return element_as_int(tile::interpret(graph(last), {x}, tile::Arithmetic::native)[0], 0);
  };
  EXPECT_EQ(at("", {1, 3, 3, 2}), 1);
  EXPECT_EQ(at(" last", {1, 3, 3, 2}), 2);
  EXPECT_EQ(at(" last", {1, NAN, 3, NAN}), 1);
}

// The graph of graphs.h, step by step.
TEST(TileInterpreter, ScattersScansAndRanks) {
  const auto run = [](std::vector<float> data, const std::vector<int64_t>& rows) {
    std::vector<float> over(12);
    for (size_t i = 0; i < over.size(); ++i) over[i] = static_cast<float>(100 + i);
    return tile::interpret(
        tile::parse_tile_graph(kInOrder),
        {HostTensor::of<float>(DType::f32, {24}, std::move(data)),
         HostTensor::of<float>(DType::f32, {12}, over), HostTensor::of<int64_t>(DType::i64, {2}, rows)},
        tile::Arithmetic::native);
  };
  const std::vector<float> data = {1, -1, 0, 2, 2, NAN, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 5, 1, 5, 1, 5, 1};
  const std::vector<HostTensor> results = run(data, {-3, 1});
  const auto row = [&](int output, int64_t first, int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(element_as_double(results[output], first + i));
    return values;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(row(0, 6, 6), (Values{106, 107, 108, 109, 110, 111}));  // the later of two wins
  EXPECT_EQ(row(0, 18, 6), (Values{5, 1, 5, 1, 5, 1}));
  EXPECT_EQ(row(1, 18, 6), (Values{5, 6, 11, 12, 17, 18}));
  EXPECT_EQ(row(2, 0, 8), (Values{5, 4, 5, 4, 0, 1, 5, 4}));  // a NaN is largest, of equals the first
  EXPECT_EQ(row(3, 6, 2), (Values{18, 17}));
  // A NaN is passed over unless it comes first.
  EXPECT_EQ(row(4, 0, 6), (Values{0, 0, 3, 3, 3, 4}));
  EXPECT_EQ(row(4, 18, 6), (Values{0, 0, 2, 2, 4, 4}));
  EXPECT_THROW(run(data, {4, 0}), Error);
}

TEST(TileInterpreter, Suppresses) {
  const float inf = std::numeric_limits<float>::infinity();
  const HostTensor x =
      HostTensor::of<float>(DType::f32, {12}, {1, 5, 4.5F, 3.5F, 5, 4, -inf, NAN, 2, -inf, 1.5F, -inf});
  const HostTensor y = tile::interpret(tile::parse_tile_graph(kSuppress), {x}, tile::Arithmetic::native)[0];
  std::vector<int64_t> places = as_int_vector(y);
  EXPECT_EQ(places, (std::vector<int64_t>{1, 5, 0, 2, -1, -1}));
}

TEST(TileInterpreter, ReductionsGoOnFromWhatIsStored) {
  const HostTensor x = counting(600, 0.25);
  const HostTensor n = HostTensor::of<int32_t>(DType::i32, {12}, {1, 2, 1, 1, 3, 1, 1, -1, 1, 1, 5, 1});
  const std::vector<HostTensor> y =
      tile::interpret(tile::parse_tile_graph(kInParts), {x, n}, tile::Arithmetic::float64);
  for (int64_t i = 0; i < 40; ++i) {
    double sum = 0;
    for (int64_t r = 0; r < 15; ++r) sum += element_as_double(x, r * 40 + i);
    EXPECT_NEAR(y[0].data<double>()[i], sum, 1e-12);
  }
  double sum = 0;
  for (int64_t i = 0; i < 300; ++i) sum += std::exp(element_as_double(x, i) - 1.5);
  EXPECT_EQ(y[1].data<double>()[0], 1.5);
  EXPECT_NEAR(y[1].data<double>()[1], sum, 1e-12);
  EXPECT_EQ(element_as_int(y[2], 0), -30);
}

TEST(TileInterpreter, SaysWhatNothingWroteAndWhichIndexIsBad) {
  const tile::ScheduledGraph unwritten = tile::parse_tile_graph(
      "kernel {\n out0: f32[2]\n s0: f32[2] at 0\n scratch 64\n phase {\n map {\n %0 = f32 1\n s0[0] <- %0\n "
      "}\n"
      " map i0 in 2 {\n %0 = s0[i0]\n out0[i0] <- %0\n }\n }\n}\n");
  EXPECT_THROW(tile::interpret(unwritten, {}, tile::Arithmetic::native), Error);
  const tile::ScheduledGraph gather = tile::parse_tile_graph(
      "kernel {\n in0: i64[1]\n in1: f32[5]\n out0: f32[1]\n phase {\n map {\n %0 = in0[0]\n %1 = checked %0 "
      "of 5\n"
      " %2 = in1[%1]\n out0[0] <- %2\n }\n }\n}\n");
  const HostTensor table = counting(5, 1);
  const auto gathered = [&](int64_t index) {
    const HostTensor ids = HostTensor::of<int64_t>(DType::i64, {1}, {index});
    return element_as_double(tile::interpret(gather, {ids, table}, tile::Arithmetic::native)[0], 0);
  };
  EXPECT_EQ(gathered(-2), 3);
  EXPECT_THROW(gathered(5), Error);
  EXPECT_THROW(gathered(-6), Error);
}

}  // namespace
}  // namespace korch::testing
