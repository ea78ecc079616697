// Extents that depend on the data: what lies beyond them changes nothing, and results tell how long they are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "own_extents.h"

namespace korch {
namespace {

HostTensor flags(const std::vector<bool>& values) {
  HostTensor result(TensorType{DType::bool_, {static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) result.mutable_data<uint8_t>()[i] = values[i] ? 1 : 0;
  return result;
}

// %y: the elements of %x, f32[6], where %c holds; then one node of it, and what else it reads.
ModelBuilder of_selected(const std::string& op_type, const std::vector<std::string>& operands,
                         const Shape& shape = {6}) {
  ModelBuilder b(21);
  b.input("x", shape).input("c", {shape[0]}, 9).output("z");
  set_attribute(b.node("Compress", {"x", "c"}, {"y"}), "axis", 0);
  b.node(op_type, operands, {"z"}, "it");
  return b;
}
onnx::proto::NodeProto& last(ModelBuilder& b) {
  return *b.model.mutable_graph()->mutable_node(b.model.graph().node_size() - 1);
}
const HostTensor kSix = f32({6}, {5, -7, 6, 8, -9, 4});
const HostTensor kFour = flags({true, false, true, true, false, true});  // 5 6 8 4
const HostTensor kNone = flags(std::vector<bool>(6, false));

TEST(Bounded, NonZero) {
  ModelBuilder b(21);
  b.input("x", {2, 3}).output("y");
  b.node("NonZero", {"x"}, {"y"});
  expect(run_cropped(b, {f32({2, 3}, {0, 1, 2, 3, 0, -1})})[0], {2, 4}, {0, 0, 1, 1, 1, 2, 0, 2});
  expect(run_cropped(b, {f32({2, 3}, {0, 0, 0, 0, 0, 0})})[0], {2, 0}, {});
}

TEST(Bounded, Unique) {
  OneNode node("Unique", {f32({6}, {2, 1, 1, 3, 4, 3})}, "");
  for (const char* name : {"i", "v", "n"}) {
    node.node().add_output(name);
    node.model.output(name);
  }
  std::vector<HostTensor> results = run_cropped(node.model, node.inputs);
  expect(results[0], {4}, {1, 2, 3, 4});
  expect(results[1], {4}, {1, 0, 3, 4});
  expect(results[2], {6}, {1, 0, 0, 2, 3, 2});
  expect(results[3], {4}, {2, 1, 2, 1});
  set_attribute(node.node(), "sorted", 0);
  results = run_cropped(node.model, node.inputs);
  expect(results[0], {4}, {2, 1, 3, 4});
  expect(results[1], {4}, {0, 1, 3, 4});
  expect(results[2], {6}, {0, 1, 1, 2, 3, 2});
  expect(results[3], {4}, {1, 2, 2, 1});
}

TEST(Bounded, UniqueRows) {
  OneNode node("Unique", {f32({4, 2}, {1, 0, 0, 5, 1, 0, 0, 4})}, "");
  set_attribute(node.node(), "axis", 0);
  expect(run_cropped(node.model, node.inputs)[0], {3, 2}, {0, 4, 0, 5, 1, 0});
}

TEST(Bounded, ElementsAndReductions) {
  const auto value = [](ModelBuilder b, const HostTensor& which = kFour) {
    return run_cropped(b, {kSix, which})[0];
  };
  expect(value(of_selected("Neg", {"y"})), {4}, {-5, -6, -8, -4});
  for (const auto& [op, all, none] :
       std::vector<std::tuple<std::string, double, double>>{{"ReduceSum", 23, 0},
                                                            {"ReduceProd", 960, 1},
                                                            {"ReduceMean", 5.75, NAN},
                                                            {"ReduceMin", 4, INFINITY}}) {
    expect(value(of_selected(op, {"y"})), {1}, {all});
    const Values got = {element_as_double(value(of_selected(op, {"y"}), kNone), 0)};
    EXPECT_TRUE(got[0] == none || (std::isnan(got[0]) && std::isnan(none))) << op << got[0];
  }
  ModelBuilder most = of_selected("ArgMax", {"y"});
  expect(value(most), {1}, {2});
  ModelBuilder softmax = of_selected("Softmax", {"y"});
  const HostTensor shares = value(softmax);
  EXPECT_EQ(shares.shape(), Shape{4});
  double sum = 0;
  for (int64_t i = 0; i < 4; ++i) sum += element_as_double(shares, i);
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Bounded, Layouts) {
  const HostTensor rows = f32({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto value = [&](const ModelBuilder& b) { return run_cropped(b, {rows, kFour})[0]; };
  const Values taken = {1, 2, 5, 6, 7, 8, 11, 12}, turned = {1, 5, 7, 11, 2, 6, 8, 12};
  expect(value(of_selected("Transpose", {"y"}, {6, 2})), {2, 4}, turned);
  ModelBuilder flat = of_selected("Reshape", {"y", "shape"}, {6, 2});
  flat.ints("shape", {-1});
  expect(value(flat), {8}, taken);
  ModelBuilder pairs = of_selected("Reshape", {"y", "shape"}, {6, 2});
  pairs.ints("shape", {1, -1, 1, 2});
  expect(value(pairs), {1, 4, 1, 2}, taken);
  ModelBuilder twice = of_selected("Concat", {"y", "x", "y"}, {6, 2});
  set_attribute(last(twice), "axis", 0);
  expect(value(twice), {14, 2},
         {1, 2, 5, 6, 7, 8, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 5, 6, 7, 8, 11, 12});
  ModelBuilder behind = of_selected("Slice", {"y", "from", "to"}, {6, 2});
  behind.ints("from", {1});
  behind.ints("to", {1 << 30});
  expect(value(behind), {3, 2}, {5, 6, 7, 8, 11, 12});
  ModelBuilder each_second = of_selected("Slice", {"y", "from", "to", "axes", "steps"}, {6, 2});
  each_second.ints("from", {1});
  each_second.ints("to", {1 << 30});
  each_second.ints("axes", {0});
  each_second.ints("steps", {2});
  expect(value(each_second), {2, 2}, {5, 6, 11, 12});
  ModelBuilder ends = of_selected("Gather", {"y", "which"}, {6, 2});
  ends.ints("which", {-1, 0});
  expect(value(ends), {2, 2}, {11, 12, 1, 2});
  ModelBuilder last_row = of_selected("Slice", {"y", "from", "to"}, {6, 2});
  last_row.ints("from", {-1});
  last_row.ints("to", {1 << 30});
  expect(value(last_row), {1, 2}, {11, 12});
}

// What goes where something was found, and elements of what was found, from its end too.
TEST(Bounded, Scatter) {
  for (const std::string op : {"ScatterElements", "ScatterND"}) {
    ModelBuilder b(21);
    b.input("x", {6}).input("c", {6}, 9).output("back").output("changed").output("none");
    b.node("Compress", {"x", "c"}, {"y"});
    b.node("NonZero", {"c"}, {"found"});
    b.ints("column", {-1, 1});
    b.ints("list", {-1});
    b.node("Transpose", {"found"}, {"tuples"});
    b.node("Reshape", {"tuples", "list"}, {"places"});
    b.floats("zeros", {6}, std::vector<float>(6));
    const bool by_tuples = op == "ScatterND";
    b.node(op, {"zeros", by_tuples ? "tuples" : "places", "y"}, {"back"});
    b.initializer("ends", by_tuples ? i64({2, 1}, {-1, 0}) : i64({2}, {-1, 0}));
    b.floats("new", {2}, {100, 200});
    b.node(op, {"y", "ends", "new"}, {"changed"});
    b.initializer("nowhere", i64(by_tuples ? Shape{0, 1} : Shape{0}, {}));
    b.floats("nothing", {0}, {});
    b.node(op, {"y", "nowhere", "nothing"}, {"none"});
    const std::vector<HostTensor> four = run_cropped(b, {kSix, kFour});
    expect(four[0], {6}, {5, 0, 6, 8, 0, 4});
    expect(four[1], {4}, {200, 6, 8, 100});
    expect(four[2], {4}, {5, 6, 8, 4});
    const std::vector<HostTensor> two =
        run_cropped(b, {kSix, flags({false, true, false, true, false, false})});
    expect(two[0], {6}, {0, -7, 0, 8, 0, 0});
    expect(two[1], {2}, {200, 100});
  }
}

// Of what was found, each element is added at half its position: what lies beyond is added nowhere.
TEST(Bounded, ScatterWithAReduction) {
  for (const bool by_tuples : {false, true}) {
    ModelBuilder b(21);
    b.input("x", {6}).input("c", {6}, 9).output("sums");
    b.node("Compress", {"x", "c"}, {"y"});
    b.node("NonZero", {"c"}, {"found"});
    b.ints("two", {2});
    b.ints("list", {-1});
    b.node("Div", {"found", "two"}, {"halves"});
    b.node("Transpose", {"halves"}, {"tuples"});
    b.node("Reshape", {"tuples", "list"}, {"places"});
    b.floats("tens", {3}, {10, 10, 10});
    auto& scatter = b.node(by_tuples ? "ScatterND" : "ScatterElements",
                           {"tens", by_tuples ? "tuples" : "places", "y"}, {"sums"});
    set_attribute(scatter, "reduction", std::string("add"));
    expect(run_cropped(b, {kSix, kFour})[0], {3}, {15, 24, 14});
    expect(run_cropped(b, {kSix, kNone})[0], {3}, {10, 10, 10});
  }
}

TEST(Bounded, SlicesBackwards) {
  ModelBuilder b = of_selected("Slice", {"y", "from", "to", "axes", "steps"});
  for (const char* name : {"from", "to", "axes"}) b.ints(name, {std::string(name) == "from" ? 9 : 0});
  b.ints("steps", {-1});
  expect(run_cropped(b, {kSix, kFour})[0], {3}, {4, 8, 6});
  expect(run_cropped(b, {kSix, kNone})[0], {0}, {});
}

TEST(Bounded, Padding) {
  ModelBuilder b = of_selected("Pad", {"y", "pads", "value"});
  b.ints("pads", {1, 2});
  b.floats("value", {}, {9});
  expect(run_cropped(b, {kSix, kFour})[0], {7}, {9, 5, 6, 8, 4, 9, 9});
  expect(run_cropped(b, {kSix, kNone})[0], {3}, {9, 9, 9});
  ModelBuilder beside = of_selected("Pad", {"y", "pads"}, {6, 2});
  beside.ints("pads", {0, 1, 0, 0});
  set_attribute(last(beside), "mode", std::string("edge"));
  const HostTensor rows = f32({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  expect(run_cropped(beside, {rows, flags({false, true, false, false, false, true})})[0], {2, 3},
         {3, 3, 4, 11, 11, 12});
  for (const bool cuts : {false, true}) {
    ModelBuilder refused = of_selected("Pad", {"y", "pads"});
    refused.ints("pads", {cuts ? -1 : 1, 0});
    if (!cuts) set_attribute(last(refused), "mode", std::string("edge"));
    expect_error([&] { import_onnx_bytes(refused.bytes()); }, ErrorKind::unsupported,
                 {cuts ? "negative pads cut 1, may be less" : "reflects or repeats"});
  }
}

TEST(Bounded, ResizedImages) {
  ModelBuilder b = of_selected("Resize", {"y", "", "scales"}, {3, 1, 1, 2});
  b.floats("scales", {4}, {1, 1, 1, 2});
  set_attribute(last(b), "coordinate_transformation_mode", std::string("asymmetric"));
  set_attribute(last(b), "nearest_mode", std::string("floor"));
  const HostTensor images = f32({3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  expect(run_cropped(b, {images, flags({true, false, true})})[0], {2, 1, 1, 4}, {1, 1, 2, 2, 5, 5, 6, 6});
  ModelBuilder batch = of_selected("Resize", {"y", "", "scales"}, {3, 1, 1, 2});
  batch.floats("scales", {4}, {2, 1, 1, 1});
  expect_error([&] { import_onnx_bytes(batch.bytes()); }, ErrorKind::unsupported, {"the resized axis"});
  ModelBuilder sizes = of_selected("Resize", {"y", "", "", "sizes"}, {3, 1, 1, 2});
  sizes.ints("sizes", {3, 1, 1, 4});  // nearest: of two images the first, the first and the second
  expect(run_cropped(sizes, {images, flags({true, false, true})})[0], {3, 1, 1, 4},
         {1, 1, 2, 2, 1, 1, 2, 2, 5, 5, 6, 6});
}

// Each region as if it were alone, whatever stands beyond them.
TEST(Bounded, Regions) {
  const HostTensor rows = f32({4, 5}, {0, 0, 0, 3, 3, 7, NAN, 1e30f, 2, 2, 1, 1, 0, 3, 2, -9, 0, 0, 1, 2});
  HostTensor image(TensorType{DType::f32, {2, 2, 4, 4}});
  for (int i = 0; i < 64; ++i) image.mutable_data<float>()[i] = static_cast<float>(i * 37 % 64);
  for (const std::string op : {"RoiAlign", "MaxRoiPool"}) {
    const auto model = [&](bool some) {
      ModelBuilder b(21);
      b.input("image", {2, 2, 4, 4}).input("r", {4, 5}).input("c", {4}, 9).output("z");
      const std::string regions = some ? "some" : "r";
      if (some) set_attribute(b.node("Compress", {"r", "c"}, {regions}), "axis", 0);
      if (op == "MaxRoiPool") {
        set_attribute(b.node(op, {"image", regions}, {"z"}), "pooled_shape", std::vector<int64_t>{2, 2});
        return b;
      }
      b.ints("second", {1});
      b.ints("many", {1 << 20});
      b.node("Slice", {regions, "second", "many", "second"}, {"boxes"});
      b.initializer("image_at", i64({}, {0}));
      set_attribute(b.node("Gather", {regions, "image_at"}, {"images"}), "axis", 1);
      set_attribute(b.node("Cast", {"images"}, {"batch"}), "to", 7);
      auto& node = b.node(op, {"image", "boxes", "batch"}, {"z"});
      for (const char* name : {"output_height", "output_width", "sampling_ratio"})
        set_attribute(node, name, 2);
      return b;
    };
    HostTensor whole_rows(rows.type());  // a copy would share its bytes
    std::memcpy(whole_rows.mutable_raw(), rows.raw(), static_cast<size_t>(rows.bytes()));
    whole_rows.mutable_data<float>()[5] = whole_rows.mutable_data<float>()[15] = 0;  // images that exist
    const HostTensor all = run_cropped(model(false), {image, whole_rows, flags({true, true, true, true})})[0];
    const HostTensor chosen = run_cropped(model(true), {image, rows, flags({true, false, true, false})})[0];
    ASSERT_EQ(chosen.shape(), (Shape{2, 2, 2, 2}));
    for (int64_t i = 0; i < 16; ++i)
      EXPECT_EQ(element_as_double(chosen, i), element_as_double(all, i < 8 ? i : i + 8)) << op << i;
  }
}

// What a shape says goes on into shapes.
TEST(Bounded, ExtentsAreValues) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9);
  b.node("Compress", {"x", "c"}, {"y"});
  b.node("Shape", {"y"}, {"shape"});
  b.node("ConstantOfShape", {"shape"}, {"zeros"});
  b.node("Squeeze", {"shape"}, {"count"});
  b.initializer("nought", i64({}, {0}));
  b.initializer("one", i64({}, {1}));
  b.ints("three", {3});
  b.node("Range", {"nought", "count", "one"}, {"places"});
  b.node("Min", {"shape", "three"}, {"k"});
  b.node("TopK", {"y", "k"}, {"best", "where"});
  b.node("Concat", {"shape", "three"}, {"wide"});
  set_attribute(last(b), "axis", 0);
  b.node("Size", {"y"}, {"size"});
  b.ints("column", {1});
  b.node("Unsqueeze", {"y", "column"}, {"tall"});
  b.node("Expand", {"tall", "wide"}, {"repeated"});
  // As PyTorch writes index_copy: the shape of the data, and of the indices on one axis.
  b.ints("data_shape", {9, 3});
  b.ints("first", {-2});
  b.node("ScatterElements", {"data_shape", "first", "shape"}, {"index_shape"});
  b.node("Expand", {"tall", "index_shape"}, {"spread"});
  // As causal masks are written: what is there, and none of before.
  b.node("Sub", {"shape", "shape"}, {"nobody"});
  b.node("Add", {"shape", "nobody"}, {"shape_again"});
  b.node("Expand", {"one", "shape_again"}, {"ones"});
  for (const char* name : {"shape", "zeros", "places", "best", "where", "size", "repeated", "spread", "ones"})
    b.output(name);
  const std::vector<HostTensor> four = run_cropped(b, {kSix, kFour});
  expect(four[0], {1}, {4});
  expect(four[1], {4}, {0, 0, 0, 0});
  expect(four[2], {4}, {0, 1, 2, 3});
  expect(four[3], {3}, {8, 6, 5});
  expect(four[4], {3}, {2, 1, 0});
  expect(four[5], {}, {4});
  expect(four[8], {4}, {1, 1, 1, 1});
  for (const size_t wide : {6, 7}) expect(four[wide], {4, 3}, {5, 5, 5, 6, 6, 6, 8, 8, 8, 4, 4, 4});
  const std::vector<HostTensor> two = run_cropped(b, {kSix, flags({false, true, false, false, false, true})});
  expect(two[3], {2}, {4, -7});
  expect(two[6], {2, 3}, {-7, -7, -7, 4, 4, 4});
}

// Two extents become one, and come back from it.
TEST(Bounded, ReshapesByExtents) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9).input("d", {6}, 9);
  b.node("Compress", {"x", "c"}, {"y"});
  b.node("Compress", {"x", "d"}, {"z"});
  b.node("Shape", {"y"}, {"rows"});
  b.node("Shape", {"z"}, {"columns"});
  b.ints("one", {1});
  b.ints("two", {2});
  b.ints("last", {2});
  b.ints("rest", {-1});
  b.node("Unsqueeze", {"y", "one"}, {"tall"});
  b.node("Add", {"tall", "z"}, {"sums"});
  b.node("Unsqueeze", {"sums", "last"}, {"thin"});
  b.node("Neg", {"thin"}, {"negative"});
  b.node("Concat", {"thin", "negative"}, {"pairs"});
  set_attribute(last(b), "axis", 2);
  const auto shape = [&](const std::vector<std::string>& parts, const std::string& name) {
    b.node("Concat", parts, {name});
    set_attribute(last(b), "axis", 0);
  };
  shape({"rest", "two"}, "flat_shape");
  b.node("Reshape", {"pairs", "flat_shape"}, {"flat"});
  b.node("Shape", {"pairs"}, {"whole_shape"});
  b.node("Reshape", {"flat", "whole_shape"}, {"back"});
  shape({"rows", "rest", "two"}, "rows_shape");
  b.node("Reshape", {"flat", "rows_shape"}, {"by_rows"});
  shape({"columns", "rest", "two"}, "columns_shape");
  b.node("Reshape", {"pairs", "columns_shape"}, {"by_columns"});
  for (const char* name : {"flat", "back", "by_rows", "by_columns"}) b.output(name);
  // 2 rows of 3: 5 and 6 plus 5, 8 and 4.
  const HostTensor rows = flags({true, false, true, false, false, false}),
                   columns = flags({true, false, false, true, false, true});
  const std::vector<HostTensor> got = run_cropped(b, {kSix, rows, columns});
  const Values numbers = {10, -10, 13, -13, 9, -9, 11, -11, 14, -14, 10, -10};
  expect(got[0], {6, 2}, numbers);
  expect(got[1], {2, 3, 2}, numbers);
  expect(got[2], {2, 3, 2}, numbers);
  expect(got[3], {3, 2, 2}, numbers);
}

TEST(Bounded, TilesAndTriangles) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9);
  b.node("Compress", {"x", "c"}, {"y"});
  b.node("Shape", {"y"}, {"shape"});
  b.ints("two", {2});
  b.ints("three", {3});
  b.node("Tile", {"y", "two"}, {"twice"});
  b.floats("pair", {2}, {1, 2});
  b.node("Tile", {"pair", "shape"}, {"often"});
  b.node("Tile", {"y", "shape"}, {"both"});
  b.ints("column", {1});
  b.node("Unsqueeze", {"y", "column"}, {"tall"});
  b.node("Concat", {"shape", "three"}, {"wide"});
  set_attribute(last(b), "axis", 0);
  b.node("Expand", {"tall", "wide"}, {"repeated"});
  b.node("Trilu", {"repeated"}, {"lower"});
  set_attribute(last(b), "upper", 0);
  for (const char* name : {"twice", "often", "both", "lower"}) b.output(name);
  const std::vector<HostTensor> two = run_cropped(b, {kSix, flags({false, true, false, false, false, true})});
  expect(two[0], {4}, {-7, 4, -7, 4});
  expect(two[1], {4}, {1, 2, 1, 2});
  expect(two[2], {4}, {-7, 4, -7, 4});
  expect(two[3], {2, 3}, {-7, 0, 0, 4, 4, 0});
  const std::vector<HostTensor> four = run_cropped(b, {kSix, kFour});
  expect(four[0], {8}, {5, 6, 8, 4, 5, 6, 8, 4});
  expect(four[3], {4, 3}, {5, 0, 0, 6, 6, 0, 8, 8, 8, 4, 4, 4});
  const std::vector<HostTensor> none =
      run_cropped(b, {kSix, flags({false, false, false, false, false, false})});
  expect(none[0], {0}, {});
  expect(none[1], {0}, {});
}

// All but the last of what was found, which one number tells in two ways, with two bounds.
TEST(Bounded, ExtentsOfTwoBoundsMeet) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9).output("sum");
  b.node("Compress", {"x", "c"}, {"y"});
  b.ints("nought", {0});
  b.ints("one", {1});
  b.ints("before_last", {-1});
  b.node("Slice", {"y", "nought", "before_last"}, {"but_last"});
  b.node("Shape", {"y"}, {"all"});
  b.node("Sub", {"all", "one"}, {"fewer"});
  b.node("Max", {"fewer", "nought"}, {"end"});
  b.node("Slice", {"y", "nought", "end"}, {"again"});
  b.node("Add", {"but_last", "again"}, {"sum"});
  const std::vector<HostTensor> four = run_cropped(b, {kSix, kFour});
  expect(four[0], {3}, {10, 12, 16});
  const std::vector<HostTensor> two = run_cropped(b, {kSix, flags({false, true, false, false, false, true})});
  expect(two[0], {1}, {-14});
}

TEST(Bounded, Products) {
  ModelBuilder b(21);
  b.input("x", {6, 2}).input("c", {6}, 9).output("gram").output("outer");
  set_attribute(b.node("Compress", {"x", "c"}, {"y"}), "axis", 0);
  b.node("Transpose", {"y"}, {"t"});
  b.node("MatMul", {"t", "y"}, {"gram"});
  b.node("MatMul", {"y", "t"}, {"outer"});
  const HostTensor rows = f32({6, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::vector<HostTensor> two = run_cropped(b, {rows, flags({true, false, true, false, false, false})});
  expect(two[0], {2, 2}, {26, 32, 32, 40});
  expect(two[1], {2, 2}, {5, 17, 17, 61});
}

TEST(Bounded, BranchesOfOtherLengths) {
  ModelBuilder b(21);
  b.input("x", {6}).input("c", {6}, 9).input("which", {}, 9).output("z");
  b.node("Compress", {"x", "c"}, {"y"});
  auto& node = b.node("If", {"which"}, {"z"});
  for (const auto& [name, value] : {std::pair("then_branch", "y"), std::pair("else_branch", "x")}) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::proto::AttributeProto::GRAPH);
    auto* same = attribute->mutable_g()->add_node();
    same->set_op_type("Neg");
    same->add_input(value);
    same->add_output("r");
    attribute->mutable_g()->add_output()->set_name("r");
  }
  const auto flag = [](bool value) { return HostTensor::of<bool>(DType::bool_, {}, {value}); };
  expect(run_cropped(b, {kSix, kFour, flag(true)})[0], {4}, {-5, -6, -8, -4});
  expect(run_cropped(b, {kSix, kFour, flag(false)})[0], {6}, {-5, 7, -6, -8, 9, -4});
}

// Rules that look at shapes themselves are not asked.
TEST(Bounded, RefusedByName) {
  expect_error(
      [] {
        run_cropped(of_selected("SplitToSequence", {"y"}), {kSix, kFour});
      },
      ErrorKind::unsupported, {"\"it\" (SplitToSequence): ", "as long as the data say"});
  // How many elements count would depend on what an input says.
  ModelBuilder shaped(21);
  shaped.input("x", {6}).input("n", {1}, 7).output("z");
  shaped.ints("none", {0});
  shaped.ints("most", {6});
  shaped.node("Max", {"n", "none"}, {"above"});
  shaped.node("Min", {"above", "most"}, {"within"});
  shaped.node("Reshape", {"x", "within"}, {"z"}, "it");
  expect_error([&] { import_onnx_bytes(shaped.bytes()); }, ErrorKind::unsupported,
               {"it", "target extents", "depend on the data"});
}

// y = [0, 1, ... n) of an n that the data say.
TEST(Bounded, ByTheUsersWord) {
  ModelBuilder b(21);
  b.input("x", {1}).output("y");
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.initializer("one", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  set_attribute(b.node("ReduceMax", {"x"}, {"most"}), "keepdims", 0);
  set_attribute(b.node("Cast", {"most"}, {"length"}), "to", 7);
  b.node("Range", {"zero", "length", "one"}, {"y"}, "it");
  expect_refused(b, ErrorKind::unsupported, {"it", "--bound length=N"});
  ImportOptions options;
  options.value_bounds["length"] = 4;
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  for (int64_t length : {0, 3, 4}) {
    const std::vector<HostTensor> got = interpret(graph, {f32({1}, {static_cast<float>(length)})});
    EXPECT_EQ(output_shapes(graph, got)[0], Shape{length});
    for (int64_t i = 0; i < length; ++i) EXPECT_EQ(element_as_int(got[0], i), i);
  }
  for (float length : {5.0f, -1.0f})
    expect_error([&] { interpret(graph, {f32({1}, {length})}); }, ErrorKind::invalid,
                 {"'length' is more than the bound of 4"});
  options.value_bounds["most"] = 4;
  expect_refused(b, ErrorKind::usage, {"\"most\"", "no integer"}, options);
  options.value_bounds = {{"length", 4}, {"nowhere", 4}};
  expect_refused(b, ErrorKind::usage, {"\"nowhere\"", "no node"}, options);
}

// The bound of each number bounds their sums, and what is as long as these.
TEST(Bounded, ByTheUsersWordOfEachNumber) {
  ModelBuilder b(17);
  b.input("x", {2, 2}).output("y");
  b.ints("axis", {1});
  b.ints("one", {1});
  set_attribute(b.node("Cast", {"x"}, {"lengths"}), "to", 7);
  set_attribute(b.node("ReduceSum", {"lengths", "axis"}, {"sums"}), "keepdims", 0);
  set_attribute(b.node("ReduceMax", {"sums"}, {"most"}), "keepdims", 0);
  b.node("Reshape", {"most", "one"}, {"shape"});
  b.node("ConstantOfShape", {"shape"}, {"y"}, "it");
  expect_refused(b, ErrorKind::unsupported, {"it", "--bound shape=N"});
  ImportOptions options;
  options.value_bounds["lengths"] = 3;
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  const std::vector<HostTensor> got = interpret(graph, {f32({2, 2}, {1, 0, 3, 2})});
  EXPECT_EQ(output_shapes(graph, got)[0], Shape{5});
  expect_error(
      [&] {
        interpret(graph, {f32({2, 2}, {1, 0, 4, 0})});
      },
      ErrorKind::invalid, {"'lengths' is more than the bound of 3"});
}

// As networks that speak do: as long as the data say, through convolutions and reshapes.
ModelBuilder as_long_as_the_data_say(int64_t columns) {
  ModelBuilder b(17);
  b.input("x", {3}).output("y");
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.initializer("step", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  b.floats("w", {2, 1, 3}, {1, 1, 1, 0, 1, 0});
  b.ints("places", {0, 1});
  b.ints("columns", {columns});
  b.ints("axis", {2});
  set_attribute(b.node("Cast", {"x"}, {"lengths"}), "to", 7);
  set_attribute(b.node("ReduceSum", {"lengths"}, {"total"}), "keepdims", 0);
  b.node("Range", {"zero", "total", "step"}, {"at"});
  set_attribute(b.node("Cast", {"at"}, {"numbers"}), "to", 1);
  b.node("Unsqueeze", {"numbers", "places"}, {"row"});
  set_attribute(b.node("Conv", {"row", "w"}, {"sums"}), "pads", std::vector<int64_t>{1, 1});
  b.node("Shape", {"sums"}, {"shape"});
  b.node("Gather", {"shape", "axis"}, {"length"});
  set_attribute(b.node("Concat", {"length", "columns"}, {"to"}), "axis", 0);
  b.node("Reshape", {"sums", "to"}, {"y"}, "it");
  return b;
}

TEST(Bounded, SequencesAsLongAsTheDataSay) {
  ImportOptions options;
  options.value_bounds["lengths"] = 3;
  const Graph graph = import_onnx_bytes(as_long_as_the_data_say(2).bytes(), options);
  for (int64_t total : {0, 1, 2, 5, 9}) {
    const auto part = [&](int64_t i) { return static_cast<float>(std::clamp<int64_t>(total - 3 * i, 0, 3)); };
    const std::vector<HostTensor> got = interpret(graph, {f32({3}, {part(0), part(1), part(2)})});
    ASSERT_EQ(output_shapes(graph, got)[0], (Shape{total, 2}));
    const HostTensor y = got[0].cropped({total, 2});
    for (int64_t i = 0; i < 2 * total; ++i) {
      const int64_t at = i % total;
      const int64_t around = (at > 0 ? at - 1 : 0) + at + (at + 1 < total ? at + 1 : 0);
      EXPECT_EQ(element_as_double(y, i), static_cast<double>(i < total ? around : at)) << total << ", " << i;
    }
  }
  // As many elements only where there are none.
  expect_refused(as_long_as_the_data_say(3), ErrorKind::unsupported, {"it"}, options);
}

TEST(Bounded, RanksAreCheckedAsWithoutBounds) {
  ModelBuilder product = of_selected("Gemm", {"y", "y"}, {12});
  expect_error([&] { import_onnx_bytes(product.bytes()); }, ErrorKind::invalid, {"Gemm", "rank"});
}

ModelBuilder suppression(int64_t boxes, int64_t most, float overlap, float least) {
  ModelBuilder b(21);
  b.input("boxes", {1, boxes, 4}).input("scores", {1, 2, boxes}).output("y");
  b.ints("most", {most});
  b.floats("overlap", {1}, {overlap});
  b.floats("least", {1}, {least});
  b.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"y"}, "boxes");
  return b;
}

TEST(Bounded, NonMaxSuppression) {
  // The second overlaps the first by 9/11; the corners of the third are the other way round.
  const HostTensor boxes = f32({1, 4, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 1, 11, 0, 10, 0, 100, 1, 101});
  const HostTensor scores = f32({1, 2, 4}, {0.9f, 0.75f, 0.6f, 0.95f, 0.1f, 0.5f, 0.3f, 0});
  expect(run_cropped(suppression(4, 10, 0.5f, 0), {boxes, scores})[0], {5, 3},
         {0, 0, 3, 0, 0, 0, 0, 0, 2, 0, 1, 1, 0, 1, 2});
  expect(run_cropped(suppression(4, 1, 0.5f, 0.2f), {boxes, scores})[0], {2, 3}, {0, 0, 3, 0, 1, 1});
  expect(run_cropped(suppression(4, 10, 0.9f, 0.55f), {boxes, scores})[0], {4, 3},
         {0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 2});
  expect(run_cropped(suppression(4, 10, 0.5f, 2), {boxes, scores})[0], {0, 3}, {});
  expect(run_cropped(suppression(4, 0, 0.5f, 0), {boxes, scores})[0], {0, 3}, {});
  expect_error([] { import_onnx_bytes(suppression(4, 1, 0.5f, NAN).bytes()); }, ErrorKind::invalid,
               {"a threshold is no number"});
  expect_error([] { import_onnx_bytes(suppression(4, 1, 1.5f, 0).bytes()); }, ErrorKind::invalid,
               {"iou_threshold"});
}

}  // namespace
}  // namespace korch
