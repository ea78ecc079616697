// What is not needed changes nothing that counts, and what is known to be needed in part is what the test
// says.
#include "korch/ir/needed_part.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "korch/interp/interpreter.h"

namespace korch {
namespace {

ValueId numbers(Graph& g, const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  HostTensor value(TensorType{DType::f32, shape});
  std::generate_n(value.mutable_data<float>(), value.elements(), [&] { return normal(random); });
  return g.add_constant(value);
}

// Copies share their bytes.
HostTensor own_copy(const HostTensor& tensor) {
  HostTensor copy(tensor.type());
  std::memcpy(copy.mutable_raw(), tensor.raw(), static_cast<size_t>(tensor.bytes()));
  return copy;
}

ValueId positions(Graph& g, const Shape& shape) {
  HostTensor value(TensorType{DType::i64, shape});
  for (int64_t i = 0; i < value.elements(); ++i) value.mutable_data<int64_t>()[i] = i;
  return g.add_constant(value);
}

// x[4, 6, 8], of which n matrices and m rows count, through attention over the rows, and layouts.
struct Network {
  Graph g;
  ValueId x, n, m;
  std::vector<ValueId> between;

  Network() {
    x = g.add_input({DType::f32, {4, 6, 8}}, "x");
    n = g.add_input({DType::i64, {}}, "n");
    m = g.add_input({DType::i64, {}}, "m");
    const ValueId heads =
        g.add(Op::Transpose, PermAttrs{{0, 2, 1, 3}}, {g.add(Op::Reshape, ShapeAttrs{{4, 6, 2, 4}}, {x})});
    const ValueId scores = g.add(Op::MatMul, MatMulAttrs{false, true}, {heads, heads});
    const ValueId counts = g.add(Op::Less, NoAttrs{}, {positions(g, {6}), m});
    const auto masked = [&](ValueId value, ValueId condition, float other) {
      return g.add(Op::Where, NoAttrs{},
                   {condition, value, g.add_constant(HostTensor::of<float>(DType::f32, {}, {other}))});
    };
    const ValueId most = g.add(Op::ReduceMax, ReduceAttrs{{3}, true}, {masked(scores, counts, -1e30F)});
    const ValueId weights =
        g.add(Op::Exp, NoAttrs{}, {g.add(Op::Sub, NoAttrs{}, {masked(scores, counts, -1e30F), most})});
    const ValueId rows = g.add(Op::Reshape, ShapeAttrs{{6, 1}}, {counts});
    const ValueId mixed = g.add(Op::MatMul, MatMulAttrs{}, {weights, masked(heads, rows, 0)});
    const ValueId back = g.add(Op::Transpose, PermAttrs{{0, 2, 1, 3}}, {mixed});
    const ValueId flat = g.add(Op::Reshape, ShapeAttrs{{4, 6, 8}}, {back});
    const ValueId y = g.add(Op::MatMul, MatMulAttrs{}, {flat, numbers(g, {8, 3}, 1)});
    g.set_outputs({y, n, m}, {"y", "n", "m"}, {{0, 0}, {0, 1}});
    g.set_open_dimensions({{"n", 1, 4, {{0, 0}}}, {"m", 1, 6, {{0, 1}}}});
    between = {heads, scores, most, weights, mixed, flat};
  }
};

TEST(NeededPart, FollowsOperatorsBackwards) {
  Network network;
  const auto parts = needed_parts(network.g, network.g.topological_order());
  const std::optional<NeededExtent> n = NeededExtent{network.n, 1, 0, 1},
                                    m = NeededExtent{network.m, 1, 0, 1}, all = std::nullopt;
  EXPECT_EQ(parts.at(network.x), (NeededPart{n, m, all}));
  EXPECT_EQ(parts.at(network.between[0]), (NeededPart{n, all, m, all}));
  EXPECT_EQ(parts.at(network.between[1]), (NeededPart{n, all, m, m}));
  EXPECT_EQ(parts.at(network.between[2]), (NeededPart{n, all, m, all}));
  EXPECT_EQ(parts.at(network.between[3]), (NeededPart{n, all, m, all}));
  EXPECT_EQ(parts.at(network.between[5]), (NeededPart{n, m, all}));
}

TEST(NeededPart, NothingElseMatters) {
  Network network;
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  HostTensor x(TensorType{DType::f32, {4, 6, 8}});
  std::generate_n(x.mutable_data<float>(), x.elements(), [&] { return normal(random); });
  for (int64_t n = 1; n <= 4; ++n)
    for (int64_t m = 1; m <= 6; ++m) {
      HostTensor other = own_copy(x);
      for (int64_t i = 0; i < x.elements(); ++i)
        if (i / 48 >= n || i / 8 % 6 >= m) other.mutable_data<float>()[i] = NAN;
      const auto outputs = [&](const HostTensor& data) {
        const std::vector<HostTensor> all =
            interpret(network.g, {data, HostTensor::of<int64_t>(DType::i64, {}, {n}),
                                  HostTensor::of<int64_t>(DType::i64, {}, {m})});
        const HostTensor y = all[0].cropped(output_shapes(network.g, all)[0]);
        return std::string(static_cast<const char*>(y.raw()), static_cast<size_t>(y.bytes()));
      };
      EXPECT_EQ(outputs(x), outputs(other)) << n << " " << m;
    }
}

TEST(NeededPart, RowsOfAllMatrices) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {4, 6, 8}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  const ValueId rows = g.add(Op::Reshape, ShapeAttrs{{24, 8}}, {x});
  const ValueId sums = g.add(Op::ReduceSum, ReduceAttrs{{1}, false}, {rows});
  g.set_outputs({g.add(Op::Reshape, ShapeAttrs{{4, 6}}, {sums}), n}, {"y", "n"}, {{0, 0}});
  const auto parts = needed_parts(g, g.topological_order());
  EXPECT_EQ(parts.at(sums), (NeededPart{NeededExtent{n, 6, 0, 1}}));
  EXPECT_EQ(parts.at(x), (NeededPart{NeededExtent{n, 1, 0, 1}, std::nullopt, std::nullopt}));
}

// Two readers that need different parts need all of it, and so do operators that mix what counts with what
// does not.
TEST(NeededPart, AllWhereItIsNotKnown) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {6, 8}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  const ValueId y = g.add(Op::Relu, NoAttrs{}, {x});
  const ValueId sum = g.add(Op::ReduceSum, ReduceAttrs{{0}, false}, {y});
  g.set_outputs({y, sum, n}, {"y", "sum", "n"}, {{0, 0}});
  EXPECT_TRUE(needed_parts(g, g.topological_order()).empty());
}

// What reads the first rows needs no more than what reads those that count, of which there is one at least;
// of what neither covers, a line above both is needed.
TEST(NeededPart, FirstRowsAreAmongThoseThatCount) {
  for (const int64_t row : {0, 2}) {
    Graph g;
    const ValueId x = g.add_input({DType::f32, {6, 8}}, "x"), n = g.add_input({DType::i64, {}}, "n");
    const ValueId y = g.add(Op::Relu, NoAttrs{}, {x});
    const ValueId which = g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {row}));
    const ValueId one = g.add(Op::Gather, AxisAttrs{0}, {y, which});
    g.set_outputs({y, one, n}, {"y", "one", "n"}, {{0, 0}});
    g.set_open_dimensions({{"n", 1, 6, {{0, 0}}}});
    const auto parts = needed_parts(g, g.topological_order());
    EXPECT_EQ(parts.at(y), (NeededPart{NeededExtent{n, 1, row, 1}, std::nullopt}));
  }
}

// Of the old rows those that there are, of the new ones those that are taken.
TEST(NeededPart, WhatIsAppended) {
  Graph g;
  const ValueId old = g.add_input({DType::f32, {6, 3}}, "old"),
                fresh = g.add_input({DType::f32, {2, 3}}, "fresh");
  const ValueId length = g.add_input({DType::i64, {}}, "length"),
                count = g.add_input({DType::i64, {}}, "count");
  const ValueId rows = g.add(Op::Relu, NoAttrs{}, {fresh});
  const ValueId all = g.add(Op::Append, AppendAttrs{0, 8}, {old, rows, length, count, length});
  g.set_outputs({all, g.add(Op::Add, NoAttrs{}, {length, count})}, {"all", "total"}, {{0, 0}});
  g.set_open_dimensions({{"length", 0, 6, {{0, 0}}}, {"count", 1, 2, {{1, 0}}}});
  verify(g, GraphForm::imported);
  const auto parts = needed_parts(g, g.topological_order());
  EXPECT_EQ(parts.at(old), (NeededPart{NeededExtent{length}, std::nullopt}));
  EXPECT_EQ(parts.at(rows), (NeededPart{NeededExtent{count}, std::nullopt}));
}

// Rows that are scattered: those beyond the extent go to a row that is cut off.
TEST(NeededPart, WhatIsScatteredNowhere) {
  for (const int64_t nowhere : {6, 2}) {
    Graph g;
    const ValueId x = g.add_input({DType::f32, {6, 3}}, "x"), n = g.add_input({DType::i64, {}}, "n");
    const ValueId rows = g.add(Op::Relu, NoAttrs{}, {x});
    HostTensor places(TensorType{DType::i64, {6, 3}});
    for (int64_t i = 0; i < 18; ++i) places.mutable_data<int64_t>()[i] = 5 - i / 3;
    const ValueId counts = g.add(Op::Less, NoAttrs{}, {positions(g, {6, 1}), n});
    const ValueId to = g.add(
        Op::Where, NoAttrs{},
        {counts, g.add_constant(places), g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {nowhere}))});
    const ValueId made = g.add(Op::ScatterElements, AxisAttrs{0}, {numbers(g, {7, 3}, 2), to, rows});
    const ValueId y = g.add(Op::Slice, SliceAttrs{{0, 0}, {6, 3}, {1, 1}}, {made});
    g.set_outputs({y}, {"y"});
    const auto parts = needed_parts(g, g.topological_order());
    const bool is_cut = parts.contains(rows) && parts.at(rows)[0] == std::optional(NeededExtent{n, 1, 0, 1});
    ASSERT_EQ(is_cut, nowhere == 6);
    const HostTensor data = HostTensor::of<float>(DType::f32, {6, 3}, std::vector<float>(18, 1));
    HostTensor other = own_copy(data);
    for (int64_t i = 12; i < 18; ++i) other.mutable_data<float>()[i] = 7;
    const HostTensor four = HostTensor::of<int64_t>(DType::i64, {}, {4});
    const HostTensor a = interpret(g, {data, four})[0], b = interpret(g, {other, four})[0];
    EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0, nowhere == 6);
  }
}

// y is made of x[1, 2, 12, 6], and of its rows the first n count: those of x that are not needed are no
// numbers.
struct Rows {
  const char* name;
  std::function<ValueId(Graph&, ValueId)> y;
  std::function<int64_t(int64_t)> needed;  // of n rows of y; the least that could be said
};

void expect_rows_needed(const Rows& rows) {
  const Shape shape = {1, 2, 12, 6};
  Graph g;
  const ValueId x = g.add_input({DType::f32, shape}, "x"), n = g.add_input({DType::i64, {}}, "n");
  const ValueId y = rows.y(g, x);
  const int64_t most = g.value(y).type.shape[2];
  g.set_outputs({y, n}, {"y", "n"}, {{0, 2}});
  g.set_open_dimensions({{"n", 1, most, {{0, 2}}}});
  const auto parts = needed_parts(g, g.topological_order());
  ASSERT_TRUE(parts.contains(x) && parts.at(x)[2]) << rows.name;
  const NeededExtent part = *parts.at(x)[2];
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  HostTensor data(TensorType{DType::f32, shape});
  std::generate_n(data.mutable_data<float>(), data.elements(), [&] { return normal(random); });
  for (int64_t count = 1; count <= most; ++count) {
    const int64_t needed = std::max<int64_t>((count * part.times + part.plus) / part.by, 0);
    EXPECT_EQ(std::min<int64_t>(needed, shape[2]), rows.needed(count)) << rows.name << " of " << count;
    HostTensor other = own_copy(data);
    for (int64_t i = 0; i < other.elements(); ++i)
      if (i / shape[3] % shape[2] >= needed) other.mutable_data<float>()[i] = NAN;
    const auto bytes = [&](const HostTensor& value) {
      const std::vector<HostTensor> all =
          interpret(g, {value, HostTensor::of<int64_t>(DType::i64, {}, {count})});
      const HostTensor result = all[0].cropped(output_shapes(g, all)[0]);
      return std::string(static_cast<const char*>(result.raw()), static_cast<size_t>(result.bytes()));
    };
    EXPECT_EQ(bytes(data), bytes(other)) << rows.name << " of " << count;
  }
}

TEST(NeededPart, RowsOfImages) {
  const auto least = [](int64_t a) { return std::min<int64_t>(a, 12); };
  const auto conv = [](int64_t stride, int64_t dilation, int64_t pad) {
    return ConvAttrs{{stride, stride}, {dilation, dilation}, {pad, pad}, {pad, pad}, {}, 1};
  };
  const auto convolution = [](const ConvAttrs& attrs) {
    return [=](Graph& g, ValueId x) { return g.add(Op::Conv, attrs, {x, numbers(g, {3, 2, 3, 3}, 1)}); };
  };
  const auto gather = [](const std::vector<int64_t>& places) {
    return [=](Graph& g, ValueId x) {
      const auto count = static_cast<int64_t>(places.size());
      return g.add(Op::Gather, AxisAttrs{2},
                   {x, g.add_constant(HostTensor::of<int64_t>(DType::i64, {count}, places))});
    };
  };
  const std::vector<Rows> all = {
      {"same convolution", convolution(conv(1, 1, 1)), [&](int64_t n) { return least(n + 1); }},
      {"strides", convolution(conv(2, 2, 1)), [&](int64_t n) { return least(2 * (n - 1) + 4); }},
      {"pooling",
       [](Graph& g, ValueId x) {
         return g.add(Op::WindowMax, PoolAttrs{{3, 1}, {2, 1}, {1, 1}, {1, 0}, {1, 0}, false}, {x});
       },
       [&](int64_t n) { return least(2 * n); }},
      {"transposed",
       [](Graph& g, ValueId x) {
         const ConvAttrs attrs{{2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
         return g.add(Op::ConvTranspose, attrs, {x, numbers(g, {2, 3, 4, 4}, 1)});
       },
       [&](int64_t n) { return least((n - 1 + 1) / 2 + 1); }},
      {"every second",
       [](Graph& g, ValueId x) {
         return g.add(Op::Slice, SliceAttrs{{0, 0, 1, 0}, {1, 2, 5, 6}, {1, 1, 2, 1}}, {x});
       },
       [&](int64_t n) { return 2 * n; }},
      {"padded",
       [](Graph& g, ValueId x) {
         return g.add(Op::Pad, PadAttrs{{0, 0, 2, 0}, {0, 0, 3, 0}, PadMode::constant, 0}, {x});
       },
       [&](int64_t n) { return least(std::max<int64_t>(n - 2, 0)); }},
      {"behind others",
       [](Graph& g, ValueId x) {
         return g.add(Op::Concat, AxisAttrs{2}, {numbers(g, {1, 2, 3, 6}, 1), x});
       },
       [&](int64_t n) { return least(std::max<int64_t>(n - 3, 0)); }},
      {"each twice", gather({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}), [&](int64_t n) { return (n + 1) / 2; }},
  };
  for (const Rows& rows : all) expect_rows_needed(rows);
}

// Tiles of four rows are computed as a whole, wherever the extent cuts them.
TEST(NeededPart, RowsOfWinogradsTiles) {
  const auto tiled = [](Graph& g, ValueId x) {
    WinogradAttrs attrs;
    attrs.tile = 4;
    attrs.pads_before = attrs.pads_after = {1, 1};
    attrs.shape = {1, 3, 12, 6};
    const ValueId v = g.add(Op::WinogradInput, attrs, {x});
    const ValueId products = g.add(Op::WinogradProduct, attrs, {v, numbers(g, {3, 2, 3, 3}, 1)});
    return g.add(Op::WinogradOutput, attrs, {products});
  };
  expect_rows_needed({"tiles", tiled, [](int64_t n) { return std::min<int64_t>(n + 6, 12); }});
}

// Kernels check indices, also those behind what counts.
TEST(NeededPart, AllIndices) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {9, 2}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  const ValueId at = g.add_input({DType::i64, {6}}, "at");
  const ValueId twice = g.add(Op::Add, NoAttrs{}, {at, at});
  g.set_outputs({g.add(Op::Gather, AxisAttrs{0}, {x, twice}), n}, {"y", "n"}, {{0, 0}});
  const auto parts = needed_parts(g, g.topological_order());
  EXPECT_FALSE(parts.contains(twice));
}

// A mask ends what windows need: one row behind each mask, not one per convolution.
TEST(NeededPart, MasksBetweenConvolutions) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 2, 12, 6}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  const ValueId inside = g.add(Op::Less, NoAttrs{}, {positions(g, {1, 1, 12, 1}), n});
  const ConvAttrs same{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}, 1};
  std::vector<ValueId> maps = {x};
  for (uint64_t layer = 0; layer < 3; ++layer) {
    const ValueId zero = g.add_constant(HostTensor::of<float>(DType::f32, {}, {0}));
    maps.push_back(g.add(Op::Where, NoAttrs{}, {inside, maps.back(), zero}));
    maps.push_back(g.add(Op::Conv, same, {maps.back(), numbers(g, {2, 2, 3, 3}, layer)}));
  }
  g.set_outputs({maps.back(), n}, {"y", "n"}, {{0, 2}});
  const auto parts = needed_parts(g, g.topological_order());
  for (size_t i = 0; i < maps.size(); ++i)
    EXPECT_EQ(parts.at(maps[i])[2], (NeededExtent{n, 1, i % 2 == 1 ? 1 : 0, 1})) << i;
}

// A cache of p of 5 rows and n of 4 new ones, joined at their bounds: place i, or i - p + `behind`.
struct JoinedRows {
  Graph g;
  ValueId cache, rows, made, p, n;

  explicit JoinedRows(int64_t behind, bool follows = false) {
    cache = g.add_input({DType::f32, {5, 2}}, "cache");
    rows = g.add_input({DType::f32, {4, 2}}, "rows");
    p = g.add_input({DType::i64, {}}, "p");
    n = g.add_input({DType::i64, {}}, "n");
    made = g.add(Op::Relu, NoAttrs{}, {rows});
    const ValueId all = g.add(Op::Concat, AxisAttrs{0}, {cache, made}), places = positions(g, {9});
    const auto number = [&](int64_t value) {
      return g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {value}));
    };
    const ValueId moved = g.add(Op::Add, NoAttrs{}, {g.add(Op::Sub, NoAttrs{}, {places, p}), number(behind)});
    const ValueId which =
        g.add(Op::Where, NoAttrs{}, {g.add(Op::GreaterOrEqual, NoAttrs{}, {places, p}), moved, places});
    const ValueId y = g.add(Op::Gather, AxisAttrs{0}, {all, g.add(Op::Min, NoAttrs{}, {which, number(8)})});
    if (follows) {
      g.set_outputs({y, g.add_input({DType::i64, {}}, "total")}, {"y", "total"}, {{0, 0}});
      g.set_open_dimensions({{"p", 0, 5, {{0, 0}}},
                             {"n", 1, 4, {{1, 0}}},
                             {"total", 1, 9, {{0, 0}}, ExtentSum{0, {{0, 1}, {1, 1}}}}});
    } else {
      g.set_outputs({y, g.add(Op::Add, NoAttrs{}, {p, n})}, {"y", "total"}, {{0, 0}});
      g.set_open_dimensions({{"p", 0, 5, {{0, 0}}}, {"n", 1, 4, {{1, 0}}}});
    }
  }
};

TEST(NeededPart, RowsBehindACache) {
  for (const bool follows : {false, true}) {
    const JoinedRows joined(5, follows);
    const auto parts = needed_parts(joined.g, joined.g.topological_order());
    EXPECT_EQ(parts.at(joined.made), (NeededPart{NeededExtent{joined.n, 1, 0, 1}, std::nullopt}));
    EXPECT_EQ(parts.at(joined.rows), (NeededPart{NeededExtent{joined.n, 1, 0, 1}, std::nullopt}));
  }
  // Places that are not where the second tensor is.
  const JoinedRows other(4);
  EXPECT_FALSE(needed_parts(other.g, other.g.topological_order()).contains(other.made));
}

TEST(NeededPart, NothingElseOfThemMatters) {
  const JoinedRows joined(5);
  for (int64_t p = 0; p <= 5; ++p)
    for (int64_t n = 1; n <= 4; ++n) {
      HostTensor cache(TensorType{DType::f32, {5, 2}}), rows(TensorType{DType::f32, {4, 2}});
      for (int64_t i = 0; i < 10; ++i)
        cache.mutable_data<float>()[i] = i / 2 < p ? static_cast<float>(i) : NAN;
      for (int64_t i = 0; i < 8; ++i)
        rows.mutable_data<float>()[i] = i / 2 < n ? static_cast<float>(i + 10) : NAN;
      const std::vector<HostTensor> all =
          interpret(joined.g, {cache, rows, HostTensor::of<int64_t>(DType::i64, {}, {p}),
                               HostTensor::of<int64_t>(DType::i64, {}, {n})});
      const HostTensor y = all[0].cropped(output_shapes(joined.g, all)[0]);
      ASSERT_EQ(y.shape(), (Shape{p + n, 2}));
      for (int64_t i = 0; i < y.elements(); ++i)
        EXPECT_EQ(element_as_double(y, i), static_cast<double>(i / 2 < p ? i : i - 2 * p + 10))
            << p << " " << n;
    }
}

TEST(NeededPart, MultiplesOfExtents) {
  const NeededExtent n{7, 1, 0, 1};
  EXPECT_EQ(affine(n, 6, 3, 4), (NeededExtent{7, 3, 1, 2}));
  EXPECT_EQ(affine({7, 6, 0, 1}, 1, 5, 6), n);
  EXPECT_EQ(affine({7, 1, -3, 2}, 2, 0, 1), (NeededExtent{7, 1, -3, 1}));
  EXPECT_EQ(affine(n, 2, -3, 2), (NeededExtent{7, 1, -2, 1}));  // rounded down
  EXPECT_EQ(affine({7, INT64_MAX, 0, 1}, 2, 0, 1), std::nullopt);
}

}  // namespace
}  // namespace korch
