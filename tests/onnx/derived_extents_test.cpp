// Dimensions that no option gives, since they follow from others.
#include "korch/onnx/derived_extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "open_extents.h"

namespace korch {
namespace {

using Ranges = std::map<std::string, std::pair<int64_t, int64_t>>;

ImportOptions given(const Ranges& ranges) {
  ImportOptions options;
  for (const auto& [name, range] : ranges) {
    options.least_shapes[name] = {range.first};
    options.shapes[name] = {range.second};
  }
  return options;
}

// "total 1..40 = past + seq", one after the other.
std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> names, result;
  for (const OpenDimension& dimension : graph.open_dimensions()) names.push_back(dimension.name);
  for (const OpenDimension& dimension : graph.open_dimensions())
    result.push_back(dimension.name + " " + std::to_string(dimension.least) + ".." +
                     std::to_string(dimension.most) +
                     (dimension.sum ? " = " + to_string(*dimension.sum, names) : ""));
  return result;
}
using Described = std::vector<std::string>;

constexpr int64_t kHeads = 2, kSize = 4;

// A cache per layer, a name of its own for each of its dimensions, and a mask of all keys.
ModelBuilder decoder(const std::vector<std::string>& pasts, const std::string& total, int32_t mask_type = 9) {
  ModelBuilder b(17);
  b.input("x", {1, kHeads, -1, kSize}, 1, {"", "", "seq", ""});
  b.floats("low", {}, {-1e9F});
  b.ints("axes", {1, 2});
  std::string x = "x";
  for (size_t i = 0; i < pasts.size(); ++i) {
    const std::string n = std::to_string(i);
    b.input("cache" + n, {1, kHeads, -1, kSize}, 1, {"", "", pasts[i], ""});
    set_attribute(b.node("Concat", {"cache" + n, x}, {"keys" + n}), "axis", 2);
    set_attribute(b.node("Transpose", {"keys" + n}, {"turned" + n}), "perm",
                  std::vector<int64_t>{0, 1, 3, 2});
    b.node("MatMul", {x, "turned" + n}, {"scores" + n});
    b.node("Where", {"mask4", "scores" + n, "low"}, {"masked" + n});
    set_attribute(b.node("Softmax", {"masked" + n}, {"weights" + n}), "axis", -1);
    b.node("MatMul", {"weights" + n, "keys" + n}, {"y" + n});
    b.output("keys" + n);
    x = "y" + n;
  }
  b.input("mask", {1, -1}, mask_type, {"", total});
  b.node("Unsqueeze", {"mask", "axes"}, {"mask4"});
  b.output(x);
  return b;
}

TEST(NamesOfExtents, AreSumsOfOthers) {
  const std::set<std::string> known = {"past", "seq", "s15", "s70", "a-b", "past_seq"};
  const auto text = [&](const char* name) -> std::string {
    const auto sum = onnx::sum_of_name(name, known);
    if (!sum) return "";
    std::string result = std::to_string(sum->plus);
    for (const auto& [term, factor] : sum->terms) result += " " + std::to_string(factor) + "*" + term;
    return result;
  };
  EXPECT_EQ(text("past + 1"), "1 1*past");
  EXPECT_EQ(text("s15+s70"), "0 1*s15 1*s70");
  EXPECT_EQ(text("2*past + (seq - 1)*3"), "-3 2*past 3*seq");
  EXPECT_EQ(text("past + seq - past"), "0 1*seq");
  for (const char* other : {"past", "a-b", "total", "total + 1", "past * seq", "past +", "(past + 1",
                            "past // 2", "floor(past/2)", "3", "past + past_seq2",
                            "past + 99999999999999999999", "", "past + (1048576*1048576)*(1048576*1048576)"})
    EXPECT_EQ(text(other), "") << other;
  std::string deep = "past";
  for (int i = 0; i < 1000; ++i) deep = "(" + deep + ")*1048576";
  EXPECT_EQ(text(deep.c_str()), "");
}

TEST(DerivedExtents, FollowFromWhatIsJoined) {
  const Ranges two = {{"past", {0, 31}}, {"seq", {1, 8}}};
  EXPECT_EQ(described(import_onnx_bytes(decoder({"past"}, "total").bytes(), given(two))),
            (Described{"seq 1..8", "past 0..31", "total 1..39 = seq + past"}));
  // Every cache named by itself, as PyTorch's newer exporter does.
  EXPECT_EQ(
      described(import_onnx_bytes(decoder({"past", "s1", "s2"}, "s3").bytes(), given(two))),
      (Described{"seq 1..8", "past 0..31", "s1 0..31 = past", "s2 0..31 = past", "s3 1..39 = seq + past"}));
  // The one that is given need not be the first.
  EXPECT_EQ(described(import_onnx_bytes(decoder({"s1", "past"}, "").bytes(), given(two))),
            (Described{"seq 1..8", "s1 0..31 = past", "past 0..31", "mask:1 1..39 = seq + past"}));
}

TEST(DerivedExtents, AreNumbersWhereTheOthersAre) {
  const Graph graph =
      import_onnx_bytes(decoder({"past", "s1"}, "total").bytes(), given({{"past", {7, 7}}, {"seq", {1, 1}}}));
  EXPECT_TRUE(graph.open_dimensions().empty());
  EXPECT_EQ(graph.value(graph.inputs()[3]).type.shape, (Shape{1, 8}));
  EXPECT_EQ(described(import_onnx_bytes(decoder({"past"}, "total").bytes(),
                                        given({{"past", {0, 7}}, {"seq", {1, 1}}}))),
            (Described{"past 0..7", "total 1..8 = past + 1"}));
}

// A mask that is read at the places of all keys, as PyTorch's exporters do.
TEST(DerivedExtents, OfWhatIsLookedUpAtEveryPlace) {
  ModelBuilder b(17);
  b.input("cache", {-1, 2}, 1, {"past", ""})
      .input("x", {-1, 2}, 1, {"seq", ""})
      .input("mask", {-1}, 1, {"s53"});
  set_attribute(b.node("Concat", {"cache", "x"}, {"keys"}), "axis", 0);
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.initializer("one", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  b.ints("last", {1});
  b.node("Shape", {"keys"}, {"shape"});
  b.node("Gather", {"shape", "zero"}, {"count"});
  b.node("Range", {"zero", "count", "one"}, {"places"});
  b.node("Unsqueeze", {"places", "last"}, {"tuples"});
  b.node("GatherND", {"mask", "tuples"}, {"seen"});
  b.node("Unsqueeze", {"seen", "last"}, {"column"});
  b.node("Mul", {"keys", "column"}, {"y"});
  b.output("y");
  Ranges ranges = {{"past", {0, 31}}, {"seq", {1, 8}}};
  EXPECT_EQ(described(import_onnx_bytes(b.bytes(), given(ranges))),
            (Described{"past 0..31", "seq 1..8", "s53 1..39 = past + seq"}));
  // There may be more, by the user's word.
  ranges["s53"] = {1, 64};
  EXPECT_EQ(described(import_onnx_bytes(b.bytes(), given(ranges))),
            (Described{"past 0..31", "seq 1..8", "s53 1..64"}));
  // The first elements of an axis are not all of it.
  ModelBuilder first(17);
  first.input("x", {-1, 2}, 1, {"n", ""}).output("y");
  first.ints("places", {0, 1});
  first.node("Gather", {"x", "places"}, {"y"});
  expect_refused(first, ErrorKind::invalid, {"leaves shapes open"});
}

// A mask that is summed over says nothing of its length, its name does.
ModelBuilder named(const std::string& total) {
  ModelBuilder b(17);
  b.input("x", {1, -1}, 1, {"", "past"})
      .input("s", {1, -1}, 1, {"", "seq"})
      .input("mask", {1, -1}, 1, {"", total});
  b.ints("axis", {1});
  for (const char* each : {"x", "s", "mask"})
    b.node("ReduceSum", {each, "axis"}, {std::string("sum_") + each});
  b.node("Sum", {"sum_x", "sum_s", "sum_mask"}, {"y"});
  b.output("y");
  return b;
}

TEST(DerivedExtents, FollowFromNames) {
  const Ranges two = {{"past", {0, 31}}, {"seq", {1, 8}}};
  EXPECT_EQ(described(import_onnx_bytes(named("past + seq").bytes(), given(two))),
            (Described{"past 0..31", "seq 1..8", "past + seq 1..39 = past + seq"}));
  // Whoever gives it knows better than the name.
  Ranges three = two;
  three["past + seq"] = {1, 50};
  EXPECT_EQ(described(import_onnx_bytes(named("past + seq").bytes(), given(three))),
            (Described{"past 0..31", "seq 1..8", "past + seq 1..50"}));
  // So does what the network joins.
  EXPECT_EQ(described(import_onnx_bytes(decoder({"past"}, "past + 1").bytes(), given(two))),
            (Described{"seq 1..8", "past 0..31", "past + 1 1..39 = seq + past"}));
}

std::string error_of(const ModelBuilder& b, const Ranges& ranges) {
  try {
    import_onnx_bytes(b.bytes(), given(ranges));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DerivedExtents, OthersAreAskedFor) {
  EXPECT_EQ(error_of(decoder({"past", "s1"}, "total"), {{"seq", {1, 8}}}),
            "the model leaves shapes open, of the graph input \"cache0\" [1 x 2 x past x 4]; give them, e.g. "
            "--shape past=128");
  EXPECT_EQ(error_of(named("total"), {{"past", {0, 31}}, {"seq", {1, 8}}}),
            "the model leaves shapes open, of the graph input \"mask\" [1 x total]; give them, e.g. --shape "
            "total=128");
  // It would be less than nothing.
  EXPECT_NE(error_of(named("past - 5"), {{"past", {0, 4}}, {"seq", {1, 8}}}).find("leaves shapes open"),
            std::string::npos);
}

TEST(DerivedExtents, ComputeWhatFixedOnesDo) {
  const ModelBuilder b = decoder({"past", "s1"}, "total");
  constexpr int64_t kMostPast = 3, kMostSeq = 2;
  const Graph graph = import_onnx_bytes(b.bytes(), given({{"past", {0, kMostPast}}, {"seq", {1, kMostSeq}}}));
  const auto mask = [](int64_t keys, int64_t within) {
    HostTensor result(TensorType{DType::bool_, {1, keys}});
    for (int64_t i = 0; i < keys; ++i) result.mutable_data<bool>()[i] = i >= within || i % 3 != 1;
    return result;
  };
  for (int64_t past = 0; past <= kMostPast; ++past)
    for (int64_t seq = 1; seq <= kMostSeq; ++seq) {
      const HostTensor x = random_tensor({1, kHeads, seq, kSize}, 1),
                       first = random_tensor({1, kHeads, past, kSize}, 2),
                       second = random_tensor({1, kHeads, past, kSize}, 3);
      const std::vector<HostTensor> wanted =
          interpret(import_onnx_bytes(b.bytes(), given({{"past", {past, past}},
                                                        {"s1", {past, past}},
                                                        {"seq", {seq, seq}},
                                                        {"total", {past + seq, past + seq}}})),
                    {x, first, second, mask(past + seq, past + seq)});
      std::vector<HostTensor> inputs = {
          at_bounds(x, {1, kHeads, kMostSeq, kSize}), at_bounds(first, {1, kHeads, kMostPast, kSize}),
          at_bounds(second, {1, kHeads, kMostPast, kSize}), mask(kMostPast + kMostSeq, past + seq)};
      const std::map<std::string, int64_t> extents = {
          {"past", past}, {"s1", past}, {"seq", seq}, {"total", past + seq}};
      for (const OpenDimension& dimension : graph.open_dimensions())
        inputs.push_back(HostTensor::of<int64_t>(DType::i64, {}, {extents.at(dimension.name)}));
      const std::vector<HostTensor> got = interpret(graph, inputs);
      const std::vector<Shape> shapes = output_shapes(graph, got);
      for (size_t i = 0; i < wanted.size(); ++i) {
        const HostTensor result = got[i].cropped(shapes[i]);
        ASSERT_EQ(result.shape(), wanted[i].shape());
        for (int64_t e = 0; e < result.elements(); ++e)
          ASSERT_NEAR(element_as_double(result, e), element_as_double(wanted[i], e), 1e-5)
              << "past " << past << ", seq " << seq << ", output " << i << ", element " << e;
      }
    }
}

// Grouped queries over a cache, as exporters of decoders write them: lengths and total come from a mask.
// `size`: a name for that of the cache's heads.
ModelBuilder grouped_queries(const std::string& size = "") {
  ModelBuilder b(17);
  auto& domain = *b.model.add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  b.input("q", {1, -1, 4}, 1, {"", "seq", ""}).input("kv", {1, -1, 2}, 1, {"", "seq", ""});
  b.input("cache", {1, 1, -1, size.empty() ? 2 : -1}, 1, {"", "", "past", size})
      .input("mask", {1, -1}, 7, {"", "total"});
  b.ints("one", {1});
  b.initializer("place", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  b.node("ReduceSum", {"mask", "one"}, {"count"});
  b.node("Sub", {"count", "one"}, {"less"});
  set_attribute(b.node("Cast", {"less"}, {"lengths"}), "to", 6);
  b.node("Shape", {"mask"}, {"shape"});
  b.node("Gather", {"shape", "place"}, {"keys"});
  set_attribute(b.node("Cast", {"keys"}, {"total"}), "to", 6);
  auto& node =
      b.node("GroupQueryAttention", {"q", "kv", "kv", "cache", "cache", "lengths", "total"}, {"y", "k", "v"});
  node.set_domain("com.microsoft");
  set_attribute(node, "num_heads", 2);
  set_attribute(node, "kv_num_heads", 1);
  b.output("y").output("k");
  return b;
}

TEST(DerivedExtents, OfGroupedQueriesCount) {
  const ModelBuilder b = grouped_queries();
  Ranges ranges = {{"past", {0, 5}}, {"seq", {1, 3}}};
  const Graph graph = import_onnx_bytes(b.bytes(), given(ranges));
  EXPECT_EQ(described(graph), (Described{"seq 1..3", "past 0..5", "total 1..8 = seq + past"}));
  for (int64_t past = 0; past <= 5; ++past)
    for (int64_t seq = 1; seq <= 3; ++seq) {
      const HostTensor q = random_tensor({1, seq, 4}, 1), kv = random_tensor({1, seq, 2}, 2),
                       cache = random_tensor({1, 1, past, 2}, 3);
      const auto mask = [&](int64_t bound) {
        std::vector<int64_t> ones(static_cast<size_t>(bound), 77);
        std::fill_n(ones.begin(), past + seq, 1);
        return HostTensor::of<int64_t>(DType::i64, {1, bound}, ones);
      };
      const std::vector<HostTensor> wanted =
          interpret(import_onnx_bytes(b.bytes(), given({{"past", {past, past}}, {"seq", {seq, seq}}})),
                    {q, kv, cache, mask(past + seq)});
      const std::vector<HostTensor> got =
          interpret(graph, {at_bounds(q, {1, 3, 4}), at_bounds(kv, {1, 3, 2}), at_bounds(cache, {1, 1, 5, 2}),
                            mask(8), HostTensor::of<int64_t>(DType::i64, {}, {seq}),
                            HostTensor::of<int64_t>(DType::i64, {}, {past}),
                            HostTensor::of<int64_t>(DType::i64, {}, {past + seq})});
      const std::vector<Shape> shapes = output_shapes(graph, got);
      for (size_t i = 0; i < wanted.size(); ++i) {
        const HostTensor result = got[i].cropped(shapes[i]);
        ASSERT_EQ(result.shape(), wanted[i].shape()) << "past " << past << ", seq " << seq;
        for (int64_t e = 0; e < result.elements(); ++e)
          ASSERT_NEAR(element_as_double(result, e), element_as_double(wanted[i], e), 1e-5)
              << "past " << past << ", seq " << seq << ", output " << i << ", element " << e;
      }
    }
  // A cache of a fixed size, by the user's word.
  ranges["total"] = {1, 5};
  EXPECT_EQ(described(import_onnx_bytes(b.bytes(), given(ranges))),
            (Described{"seq 1..3", "past 0..5", "total 1..5"}));
}

// Exporters name the size of a cache's heads, too.
TEST(DerivedExtents, OfACachesHeads) {
  const ModelBuilder b = grouped_queries("size");
  const Graph graph = import_onnx_bytes(b.bytes(), given({{"past", {0, 5}}, {"seq", {1, 3}}}));
  EXPECT_EQ(described(graph), (Described{"seq 1..3", "past 0..5", "total 1..8 = seq + past"}));
  for (ValueId input : graph.inputs())
    if (graph.value(input).name == "cache") {
      EXPECT_EQ(graph.value(input).type.shape, (Shape{1, 1, 5, 2}));
    }
}

}  // namespace
}  // namespace korch
