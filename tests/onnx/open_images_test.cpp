// One graph for images of any size within a range: it computes what the graph for that size alone computes.
#include <gtest/gtest.h>

#include <functional>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "open_extents.h"

namespace korch {
namespace {

constexpr int64_t kChannels = 4;
const Shape kMost = {9, 8};  // of the spatial axes

using Ints = std::vector<int64_t>;
using Build = std::function<void(ModelBuilder&)>;

// Of one input x[1, kChannels, h, w] to y.
struct ImageNetwork {
  std::string name;
  Build build;
  int64_t least = 3, step = 1;  // extents
  int64_t masks = -1;           // of both axes together, where that is what is looked at
};

ModelBuilder model_of(const ImageNetwork& network) {
  ModelBuilder b(21);
  b.input("x", {1, kChannels, -1, -1}, 1, {"", "", "h", "w"}).output("y");
  network.build(b);
  return b;
}

ImportOptions open_from(int64_t least) {
  ImportOptions open;
  open.shapes = {{"h", {kMost[0]}}, {"w", {kMost[1]}}};
  open.least_shapes = {{"h", {least}}, {"w", {least}}};
  return open;
}

int64_t masks_in(const Graph& graph) {
  int64_t masks = 0;
  for (NodeId id : graph.topological_order()) masks += graph.node(id).op == Op::Where ? 1 : 0;
  return masks;
}

void expect_same_at_all_sizes(const ImageNetwork& network) {
  const ModelBuilder b = model_of(network);
  const Graph graph = import_onnx_bytes(b.bytes(), open_from(network.least));
  if (network.masks >= 0) {
    EXPECT_EQ(masks_in(graph), network.masks) << network.name;
  }
  for (int64_t h = network.least; h <= kMost[0]; h += network.step)
    for (int64_t w = network.least; w <= kMost[1]; w += network.step) {
      const HostTensor x = random_tensor({1, kChannels, h, w}, static_cast<uint64_t>(10 * h + w));
      ImportOptions fixed;
      fixed.shapes = {{"h", {h}}, {"w", {w}}};
      const HostTensor wanted = interpret(import_onnx_bytes(b.bytes(), fixed), {x})[0];
      const std::vector<HostTensor> got = interpret(graph, {at_bounds(x, {1, kChannels, kMost[0], kMost[1]}),
                                                            HostTensor::of<int64_t>(DType::i64, {}, {h}),
                                                            HostTensor::of<int64_t>(DType::i64, {}, {w})});
      const HostTensor result = got[0].cropped(output_shapes(graph, got)[0]);
      ASSERT_EQ(result.shape(), wanted.shape()) << network.name << " of " << h << " x " << w;
      for (int64_t i = 0; i < result.elements(); ++i)
        ASSERT_NEAR(element_as_double(result, i), element_as_double(wanted, i), 2e-6)
            << network.name << " of " << h << " x " << w << ", element " << i;
    }
}

onnx::proto::NodeProto& windows(ModelBuilder& b, const std::string& op, const Ints& kernel,
                                const Ints& strides, const Ints& pads, const Ints& dilations = {1, 1}) {
  std::vector<std::string> inputs = {"x"};
  if (op == "Conv" || op == "ConvTranspose") {
    b.initializer("weights", random_tensor({kChannels, kChannels, kernel[0], kernel[1]}, 5));
    b.initializer("bias", random_tensor({kChannels}, 6));
    inputs.insert(inputs.end(), {"weights", "bias"});
  }
  auto& node = b.node(op, inputs, {"y"}, "it");
  set_attribute(node, "kernel_shape", kernel);
  set_attribute(node, "strides", strides);
  if (!pads.empty()) set_attribute(node, "pads", pads);
  set_attribute(node, "dilations", dilations);
  return node;
}

Build of_windows(const std::string& op, const Ints& kernel, const Ints& strides, const Ints& pads,
                 const Ints& dilations = {1, 1}) {
  return [=](ModelBuilder& b) { windows(b, op, kernel, strides, pads, dilations); };
}

TEST(OpenImages, Convolutions) {
  const std::vector<ImageNetwork> networks = {
      {"pointwise", of_windows("Conv", {1, 1}, {1, 1}, {0, 0, 0, 0}), 1, 1, 0},
      {"without padding", of_windows("Conv", {3, 2}, {1, 2}, {0, 0, 0, 0}), 3, 1, 0},
      {"padding before", of_windows("Conv", {3, 3}, {1, 1}, {2, 1, 0, 0}), 3, 1, 0},
      {"padding behind one axis", of_windows("Conv", {3, 3}, {1, 1}, {1, 1, 1, 0}), 3, 1, 1},
      {"same", of_windows("Conv", {3, 3}, {1, 1}, {1, 1, 1, 1}), 1, 1, 2},
      {"strides", of_windows("Conv", {3, 5}, {2, 3}, {1, 2, 1, 2}), 1, 1, 2},
      {"dilations", of_windows("Conv", {3, 3}, {1, 1}, {2, 1, 2, 3}, {2, 3}), 3},
  };
  for (const ImageNetwork& network : networks) expect_same_at_all_sizes(network);
}

TEST(OpenImages, AutoPad) {
  const auto build = [](const std::string& mode, const Ints& kernel, int64_t stride) {
    return [=](ModelBuilder& b) {
      set_attribute(windows(b, "Conv", kernel, {stride, stride}, {}), "auto_pad", mode);
    };
  };
  for (const std::string mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    expect_same_at_all_sizes({mode, build(mode, {3, 4}, 1), 4});
  // All of it is behind, as long as an extent takes any.
  expect_same_at_all_sizes({"pairs", build("SAME_UPPER", {2, 2}, 2), 1});
  expect_same_at_all_sizes({"every third", build("SAME_LOWER", {1, 1}, 3), 1});
  // As many in front as the extent says.
  for (const std::string mode : {"SAME_UPPER", "SAME_LOWER"})
    for (int64_t stride : {2, 3})
      expect_same_at_all_sizes({mode + " by steps", build(mode, {3, 4}, stride), 1});
}

TEST(OpenImages, AutoPadOfPooling) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    for (const std::string mode : {"SAME_UPPER", "SAME_LOWER"}) {
      const auto build = [=](ModelBuilder& b) {
        set_attribute(windows(b, op, {3, 4}, {2, 3}, {}), "auto_pad", mode);
      };
      expect_same_at_all_sizes({op + mode, build, 1});
    }
}

TEST(OpenImages, TransposedConvolutions) {
  const std::vector<ImageNetwork> networks = {
      {"doubled", of_windows("ConvTranspose", {2, 2}, {2, 2}, {0, 0, 0, 0}), 1, 1, 0},
      {"overlapping", of_windows("ConvTranspose", {4, 3}, {2, 2}, {1, 1, 1, 0}), 1, 1, 2},
      {"with output padding",
       [](ModelBuilder& b) {
         set_attribute(windows(b, "ConvTranspose", {3, 3}, {2, 2}, {1, 1, 1, 1}), "output_padding",
                       Ints{1, 1});
       },
       1},
      {"same",
       [](ModelBuilder& b) {
         set_attribute(windows(b, "ConvTranspose", {3, 3}, {2, 2}, {}), "auto_pad",
                       std::string("SAME_UPPER"));
       },
       1},
  };
  for (const ImageNetwork& network : networks) expect_same_at_all_sizes(network);
  const ImageNetwork stated{
      "it", [](ModelBuilder& b) {
        set_attribute(windows(b, "ConvTranspose", {3, 3}, {2, 2}, {}), "output_shape", Ints{9, 9});
      }};
  expect_error([&] { import_onnx_bytes(model_of(stated).bytes(), open_from(3)); }, ErrorKind::unsupported,
               {"output_shape", "output_padding"});
}

TEST(OpenImages, Pooling) {
  std::vector<ImageNetwork> networks;
  for (const std::string op : {"MaxPool", "AveragePool", "LpPool"})
    for (const int64_t ceil : {0, 1})
      for (const bool counts : {false, true})
        for (const Ints& pads : {Ints{0, 0, 0, 0}, Ints{1, 1, 1, 1}, Ints{0, 1, 1, 0}})
          for (const Ints& kernel : {Ints{3, 2}, Ints{2, 3}})
            for (const Ints& dilations : {Ints{1, 1}, Ints{2, 1}}) {
              if (counts && op != "AveragePool") continue;
              networks.push_back({"pooling",
                                  [=](ModelBuilder& b) {
                                    auto& node = windows(b, op, kernel, {2, 3}, pads, dilations);
                                    set_attribute(node, "ceil_mode", ceil);
                                    if (counts) set_attribute(node, "count_include_pad", 1);
                                  },
                                  5});
            }
  networks.push_back({"few",
                      [](ModelBuilder& b) {
                        set_attribute(windows(b, "MaxPool", {1, 2}, {3, 2}, {0, 0, 0, 0}), "ceil_mode", 1);
                      },
                      2});
  networks.push_back({"mean", [](ModelBuilder& b) { b.node("GlobalAveragePool", {"x"}, {"y"}); }, 1});
  networks.push_back({"greatest", [](ModelBuilder& b) { b.node("GlobalMaxPool", {"x"}, {"y"}); }, 1});
  networks.push_back({"norm", [](ModelBuilder& b) { b.node("GlobalLpPool", {"x"}, {"y"}); }, 1});
  for (const ImageNetwork& network : networks) expect_same_at_all_sizes(network);
  const ImageNetwork places{"it", [](ModelBuilder& b) {
                              b.output("places");
                              windows(b, "MaxPool", {2, 2}, {2, 2}, {0, 0, 0, 0}).add_output("places");
                            }};
  expect_error([&] { import_onnx_bytes(model_of(places).bytes(), open_from(3)); }, ErrorKind::unsupported,
               {"\"it\" (MaxPool)", "places in an image"});
}

TEST(OpenImages, Normalizations) {
  const auto parameters = [](ModelBuilder& b, const std::string& op) -> onnx::proto::NodeProto& {
    b.initializer("scale", random_tensor({kChannels}, 1));
    b.initializer("shift", random_tensor({kChannels}, 2));
    return b.node(op, {"x", "scale", "shift"}, {"y"});
  };
  const std::vector<ImageNetwork> networks = {
      {"instance", [&](ModelBuilder& b) { parameters(b, "InstanceNormalization"); }, 2},
      {"group", [&](ModelBuilder& b) { set_attribute(parameters(b, "GroupNormalization"), "num_groups", 2); },
       2},
      {"batch",
       [&](ModelBuilder& b) {
         auto& node = parameters(b, "BatchNormalization");
         node.add_input("shift");
         node.add_input("spread");
         b.floats("spread", {kChannels}, {1, 2, 3, 4});
       },
       1, 1, 0},
      {"local", [](ModelBuilder& b) { set_attribute(b.node("LRN", {"x"}, {"y"}), "size", 3); }, 1, 1, 0},
  };
  for (const ImageNetwork& network : networks) expect_same_at_all_sizes(network);
}

// In front by the height's last bits, or one less, behind up to a multiple of four.
Build padded_by_extents(const std::string& mode, bool cuts = false) {
  return [=](ModelBuilder& b) {
    for (const auto& [name, value] :
         std::vector<std::pair<std::string, int64_t>>{{"two", 2}, {"three", 3}, {"four", 4}})
      b.ints(name, {value});
    b.ints("none", {0, 0});
    b.node("Shape", {"x"}, {"size"});
    b.node("Slice", {"size", "two", "three"}, {"h"});
    b.ints("less", {-1});
    b.node("Mod", {"h", "three"}, {"more"});
    b.node("Add", {"h", "three"}, {"further"});
    b.node("Div", {"further", "four"}, {"fours"});
    b.node("Mul", {"fours", "four"}, {"whole"});
    b.node("Sub", {"whole", "h"}, {"behind"});
    const std::string in_front = cuts ? "less" : "more";
    set_attribute(b.node("Concat", {"none", in_front, "two", "none", "behind", "three"}, {"pads"}), "axis",
                  0);
    set_attribute(b.node("Pad", {"x", "pads"}, {"y"}), "mode", mode);
  };
}

// Where the nearest element is a matter of rounding (of 7 to 1: element 3 exactly) executables choose the one
// that the network of that size alone has, too.
TEST(OpenImages, NearestElementsInNativePrecision) {
  constexpr int64_t kLongest = 24;
  InterpretOptions native;
  native.precision = Precision::native;
  for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners"})
    for (const std::string mode : {"floor", "ceil", "round_prefer_floor"}) {
      ModelBuilder b(21);
      b.input("x", {1, 1, -1}, 1, {"", "", "n"}).output("y");
      b.ints("sizes", {1, 1, 6});
      auto& node = b.node("Resize", {"x", "", "", "sizes"}, {"y"});
      set_attribute(node, "nearest_mode", mode);
      set_attribute(node, "coordinate_transformation_mode", std::string(coordinates));
      ImportOptions open, fixed;
      open.shapes["n"] = {kLongest};
      open.least_shapes["n"] = {1};
      const Graph graph = import_onnx_bytes(b.bytes(), open);
      for (int64_t n = 1; n <= kLongest; ++n) {
        fixed.shapes["n"] = {n};
        const HostTensor x = random_tensor({1, 1, n}, static_cast<uint64_t>(n));
        const HostTensor wanted = interpret(import_onnx_bytes(b.bytes(), fixed), {x}, native)[0];
        const HostTensor got = interpret(
            graph, {at_bounds(x, {1, 1, kLongest}), HostTensor::of<int64_t>(DType::i64, {}, {n})}, native)[0];
        for (int64_t i = 0; i < wanted.elements(); ++i)
          EXPECT_EQ(element_as_double(got, i), element_as_double(wanted, i))
              << coordinates << ", " << mode << ", " << n;
      }
    }
}

TEST(OpenImages, Layouts) {
  const auto padded = [](const std::string& mode) {
    return [=](ModelBuilder& b) {
      b.ints("pads", {0, 0, 2, 1, 0, 0, 1, 3});
      set_attribute(b.node("Pad", {"x", "pads"}, {"y"}), "mode", mode);
    };
  };
  const std::vector<ImageNetwork> networks = {
      {"edge by extents", padded_by_extents("edge"), 1},
      {"reflect by extents", padded_by_extents("reflect"), 4},
      {"constant by extents", padded_by_extents("constant"), 1},
      {"cut and edge", padded_by_extents("edge", true), 4},
      {"cut and reflect", padded_by_extents("reflect", true), 5},
      {"cut and constant", padded_by_extents("constant", true), 4},
      {"constant", padded("constant"), 1},
      {"edge", padded("edge"), 1},
      {"reflect", padded("reflect"), 4},
      {"depth to space",
       [](ModelBuilder& b) { set_attribute(b.node("DepthToSpace", {"x"}, {"y"}), "blocksize", 2); }, 1},
      {"space to depth",
       [](ModelBuilder& b) { set_attribute(b.node("SpaceToDepth", {"x"}, {"y"}), "blocksize", 2); }, 2, 2},
      {"every second",
       [](ModelBuilder& b) {
         b.ints("from", {1, 0});
         b.ints("to", {1 << 30, 7});
         b.ints("axes", {2, 3});
         b.ints("steps", {2, 3});
         b.node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"});
       },
       1},
      {"to a multiple of four",
       [](ModelBuilder& b) {
         for (const auto& [name, value] : std::vector<std::pair<std::string, int64_t>>{
                  {"two", 2}, {"three", 3}, {"four", 4}, {"zero", 0}})
           b.ints(name, {value});
         b.ints("before", {0, 0, 0, 1, 0, 0});
         b.node("Shape", {"x"}, {"size"});
         b.node("Slice", {"size", "two", "three"}, {"h"});
         b.node("Add", {"h", "three"}, {"more"});
         b.node("Div", {"more", "four"}, {"fours"});
         b.node("Mul", {"fours", "four"}, {"whole"});
         b.node("Sub", {"whole", "h"}, {"behind"});
         set_attribute(b.node("Concat", {"before", "behind", "two"}, {"pads"}), "axis", 0);
         b.node("Pad", {"x", "pads"}, {"padded"});
         set_attribute(windows(b, "MaxPool", {2, 2}, {2, 2}, {}), "ceil_mode", 0);
         auto& pool = *b.model.mutable_graph()->mutable_node(b.model.graph().node_size() - 1);
         pool.set_input(0, "padded");
       },
       1},
      {"regions",
       [](ModelBuilder& b) {
         b.floats("rois", {3, 4}, {0, 0, 4, 5, 1.5f, 2.25f, 9, 9, -2, 3, 2, 30});
         b.ints("image", {0, 0, 0});
         auto& node = b.node("RoiAlign", {"x", "rois", "image"}, {"y"});
         set_attribute(node, "output_height", 2);
         set_attribute(node, "output_width", 3);
         set_attribute(node, "sampling_ratio", 2);
       },
       1},
      {"boxes of two maps",
       [](ModelBuilder& b) {
         set_attribute(b.node("MaxPool", {"x"}, {"small"}), "kernel_shape", Ints{2, 2});
         b.ints("rows", {1, -1, 2});
         for (const std::string map : {"x", "small"}) {
           set_attribute(b.node("Transpose", {map}, {map + " last"}), "perm", Ints{0, 2, 3, 1});
           b.node("Reshape", {map + " last", "rows"}, {map + " rows"});
         }
         set_attribute(b.node("Concat", {"x rows", "small rows"}, {"y"}), "axis", 1);
       },
       2},
  };
  // A bound that blocks of two divide.
  for (const ImageNetwork& network : networks)
    if (network.step == 1) expect_same_at_all_sizes(network);
  const ImageNetwork blocks = networks[4];
  expect_same_at_all_sizes({blocks.name,
                            [&](ModelBuilder& b) {
                              b.ints("from", {0});
                              b.ints("to", {8});
                              b.ints("axis", {2});
                              b.node("Slice", {"x", "from", "to", "axis"}, {"even"});
                              set_attribute(b.node("SpaceToDepth", {"even"}, {"y"}), "blocksize", 2);
                            },
                            2, 2});
}

TEST(OpenImages, Resized) {
  const auto scaled = [](float scale, const std::string& mode, const std::string& coordinates,
                         const std::string& nearest = "floor") {
    return [=](ModelBuilder& b) {
      b.floats("scales", {4}, {1, 1, scale, 2});
      auto& node = b.node("Resize", {"x", "", "scales"}, {"y"}, "it");
      set_attribute(node, "mode", mode);
      set_attribute(node, "coordinate_transformation_mode", coordinates);
      if (mode == "nearest") set_attribute(node, "nearest_mode", nearest);
    };
  };
  std::vector<ImageNetwork> networks;
  for (const float scale : {0.5f, 1.0f, 1.7f, 3.0f})
    for (const std::string coordinates :
         {"half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners"}) {
      if (scale < 1 && coordinates == "pytorch_half_pixel") continue;
      for (const std::string mode : {"linear", "cubic"})
        networks.push_back({mode + " " + coordinates, scaled(scale, mode, coordinates), 2});
      for (const std::string nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})
        networks.push_back({nearest + " " + coordinates, scaled(scale, "nearest", coordinates, nearest), 2});
    }
  networks.push_back({"to the size of another",
                      [](ModelBuilder& b) {
                        auto& pool = b.node("AveragePool", {"x"}, {"small"});
                        set_attribute(pool, "kernel_shape", Ints{2, 2});
                        set_attribute(pool, "strides", Ints{2, 2});
                        b.node("Shape", {"x"}, {"size"});
                        auto& node = b.node("Resize", {"small", "", "", "size"}, {"y"});
                        set_attribute(node, "mode", std::string("linear"));
                      },
                      2});
  for (const ImageNetwork& network : networks) expect_same_at_all_sizes(network);
  const ImageNetwork refused{"it", scaled(0.5f, "linear", "pytorch_half_pixel")};
  expect_error([&] { import_onnx_bytes(model_of(refused).bytes(), open_from(3)); }, ErrorKind::unsupported,
               {"\"it\" (Resize)", "pytorch_half_pixel", "give sizes"});
}

TEST(OpenImages, TooSmallForAWindow) {
  const ImageNetwork network{"it", of_windows("Conv", {3, 3}, {1, 1}, {0, 0, 0, 0})};
  expect_error([&] { import_onnx_bytes(model_of(network).bytes(), open_from(2)); }, ErrorKind::usage,
               {"\"it\" (Conv)", "as short as 2", "window of 3", "begins higher"});
  const ImageNetwork transposed{"it", of_windows("ConvTranspose", {2, 2}, {1, 1}, {1, 1, 1, 1})};
  expect_error([&] { import_onnx_bytes(model_of(transposed).bytes(), open_from(1)); }, ErrorKind::usage,
               {"as short as 1, not 2", "begins higher"});
  const ImageNetwork reflected{
      "it", [](ModelBuilder& b) {
        b.ints("pads", {0, 0, 3, 0, 0, 0, 1, 0});
        set_attribute(b.node("Pad", {"x", "pads"}, {"y"}), "mode", std::string("reflect"));
      }};
  expect_error([&] { import_onnx_bytes(model_of(reflected).bytes(), open_from(3)); }, ErrorKind::usage,
               {"reflects", "axis 2", "as short as 3, not 4", "begins higher"});
}

// What was halved and doubled again is as long as before where that was even.
TEST(OpenImages, ExtentsThatDoNotFitTogether) {
  const auto warnings = [](int64_t kernel) {
    const ImageNetwork network{"it", [=](ModelBuilder& b) {
                                 auto& pool = b.node("MaxPool", {"x"}, {"half"});
                                 set_attribute(pool, "kernel_shape", Ints{kernel, 1});
                                 set_attribute(pool, "strides", Ints{kernel, 1});
                                 b.floats("scales", {4}, {1, 1, static_cast<float>(kernel), 1});
                                 b.node("Resize", {"half", "", "scales"}, {"again"});
                                 b.node("Add", {"x", "again"}, {"y"}, "sum");
                               }};
    std::vector<std::string> result;
    ImportOptions open = open_from(2);
    open.shapes["h"] = {8};
    open.on_warning = [&](const std::string& text) { result.push_back(text); };
    import_onnx_bytes(model_of(network).bytes(), open);
    return result;
  };
  EXPECT_TRUE(warnings(1).empty());
  const std::vector<std::string> halved = warnings(2);
  ASSERT_EQ(halved.size(), 1u);
  for (const char* words : {"2, 4, 6, 8 of \"h\"", "2..8", "of 3, 3 and 2 meet at sum"})
    EXPECT_NE(halved[0].find(words), std::string::npos) << halved[0];
}

}  // namespace
}  // namespace korch
