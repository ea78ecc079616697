// Runs that ONNX Runtime refuses for their extents: here they are refused too, and give no numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/known_values.h"
#include "korch/ir/refusal.h"
#include "open_extents.h"
#include "own_extents.h"

namespace korch {
namespace {

using Extents = std::map<std::string, int64_t>;

ImportOptions ranges(const std::map<std::string, std::pair<int64_t, int64_t>>& leasts_and_mosts) {
  ImportOptions options;
  for (const auto& [name, range] : leasts_and_mosts) {
    options.least_shapes[name] = {range.first};
    options.shapes[name] = {range.second};
  }
  return options;
}

// Before it begins, or by a node that the outputs need.
bool refuses(const Graph& graph, const Extents& extents) {
  std::vector<int64_t> given;
  std::map<ValueId, int64_t> known;
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  for (size_t d = 0; d < open.size(); ++d) {
    given.push_back(extents.at(open[d].name));
    known[graph.extent_input(d)] = given.back();
  }
  for (size_t d = 0; d < open.size(); ++d)
    if (!fits(open[d], given[d]) || (open[d].sum && open[d].sum->of(given) != given[d])) return true;
  return KnownValues(graph, known).are_refused();
}

struct Meeting {
  const char* name;
  std::function<void(ModelBuilder&)> build;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  std::vector<Extents> right, wrong;
};

void recurrent(ModelBuilder& b, const char* op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, int64_t gates) {
  b.input("x", {2, -1, 3}, 1, {"", "n", ""});
  b.initializer("w", random_tensor({1, gates * 4, 3}, 1));
  b.initializer("r", random_tensor({1, gates * 4, 4}, 2));
  set_attribute(b.node(op, inputs, outputs), "hidden_size", int64_t{4});
  b.output("y");
}

void index_by_rows(ModelBuilder& b, const char* op, const std::vector<std::string>& inputs) {
  b.input("x", {-1, 4}, 1, {"n", ""}).input("at", {-1, 1}, 7, {"m", ""}).input("u", {-1, 1}, 1, {"m", ""});
  set_attribute(b.node(op, inputs, {"y"}), "axis", int64_t{1});
  b.output("y");
}

std::vector<Meeting> meetings() {
  const std::pair<int64_t, int64_t> to_eight = {1, 8};
  const std::map<std::string, std::pair<int64_t, int64_t>> n = {{"n", to_eight}},
                                                           n_and_m = {{"n", to_eight}, {"m", to_eight}};
  const std::vector<Extents> equal = {{{"n", 3}, {"m", 3}}, {{"n", 8}, {"m", 8}}},
                             other = {{{"n", 5}, {"m", 1}}, {{"n", 3}, {"m", 5}}};
  std::vector<Meeting> all;
  // Whichever result is read.
  for (const std::vector<std::string>& outputs : {std::vector<std::string>{"y"}, {"", "y"}, {"", "", "y"}}) {
    all.push_back({"initial state",
                   [=](ModelBuilder& b) {
                     recurrent(b, "LSTM", {"x", "w", "r", "", "", "h"}, outputs, 4);
                     b.input("h", {1, -1, 4}, 1, {"", "m", ""});
                   },
                   n_and_m, equal, other});
    all.push_back({"cell state",
                   [=](ModelBuilder& b) {
                     recurrent(b, "LSTM", {"x", "w", "r", "", "", "", "c"}, outputs, 4);
                     b.input("c", {1, -1, 4}, 1, {"", "m", ""});
                   },
                   n_and_m, equal, other});
  }
  for (const char* op : {"GRU", "RNN"})
    all.push_back({op,
                   [=](ModelBuilder& b) {
                     recurrent(b, op, {"x", "w", "r", "", "lengths"}, {"", "y"}, op[0] == 'G' ? 3 : 1);
                     b.input("lengths", {-1}, 6, {"m"});
                   },
                   n_and_m, equal, other});
  all.push_back({"a state of a known batch",
                 [](ModelBuilder& b) {
                   recurrent(b, "GRU", {"x", "w", "r", "", "", "h"}, {"", "y"}, 3);
                   b.input("h", {1, 8, 4});
                 },
                 n,
                 {{{"n", 8}}},
                 {{{"n", 1}}, {{"n", 7}}}});
  for (const std::vector<std::string>& outputs : {std::vector<std::string>{"y"}, {"", "y"}})
    all.push_back({"TopK of as many as another input has",
                   [=](ModelBuilder& b) {
                     b.input("x", {2, -1}, 1, {"", "n"}).input("z", {-1}, 1, {"m"});
                     b.node("Shape", {"z"}, {"k"});
                     b.node("TopK", {"x", "k"}, outputs);
                     b.output("y");
                   },
                   n_and_m,
                   {{{"n", 3}, {"m", 3}}, {{"n", 8}, {"m", 1}}, {{"n", 8}, {"m", 8}}},
                   {{{"n", 3}, {"m", 5}}, {{"n", 7}, {"m", 8}}, {{"n", 1}, {"m", 2}}}});
  for (const std::vector<std::string>& outputs : {std::vector<std::string>{"y", "z"}, {"z", "y"}}) {
    all.push_back({"Split into parts of given sizes",
                   [=](ModelBuilder& b) {
                     b.input("x", {-1, 3}, 1, {"n", ""}).output("y");
                     b.ints("sizes", {2, 3});
                     b.node("Split", {"x", "sizes"}, outputs);
                   },
                   n,
                   {{{"n", 5}}},
                   {{{"n", 3}}, {{"n", 4}}, {{"n", 8}}}});
    all.push_back({"Split into equal parts",
                   [=](ModelBuilder& b) {
                     b.input("x", {-1, 3}, 1, {"n", ""}).output("y");
                     b.node("Split", {"x"}, outputs);
                   },
                   n,
                   {{{"n", 2}}, {{"n", 8}}},
                   {{{"n", 1}}, {{"n", 7}}}});
  }
  all.push_back({"GatherElements",
                 [](ModelBuilder& b) {
                   index_by_rows(b, "GatherElements", {"x", "at"});
                 },
                 n_and_m,
                 {{{"n", 3}, {"m", 2}}, {{"n", 8}, {"m", 8}}},
                 {{{"n", 2}, {"m", 4}}, {{"n", 7}, {"m", 8}}}});
  all.push_back({"ScatterElements",
                 [](ModelBuilder& b) {
                   index_by_rows(b, "ScatterElements", {"x", "at", "u"});
                 },
                 n_and_m,
                 {{{"n", 3}, {"m", 2}}},
                 {{{"n", 2}, {"m", 4}}}});
  all.push_back({"ScatterElements that adds",
                 [](ModelBuilder& b) {
                   index_by_rows(b, "ScatterElements", {"x", "at", "u"});
                   set_attribute(*b.model.mutable_graph()->mutable_node(0), "reduction", "add");
                 },
                 n_and_m,
                 {{{"n", 3}, {"m", 2}}},
                 {{{"n", 2}, {"m", 4}}}});
  all.push_back({"Squeeze without axes",
                 [](ModelBuilder& b) {
                   b.input("x", {1, -1, 1}, 1, {"", "n", ""}).output("y");
                   b.node("Squeeze", {"x"}, {"y"});
                 },
                 n,
                 {{{"n", 2}}, {{"n", 8}}},
                 {{{"n", 1}}}});
  all.push_back({"Expand to a number",
                 [](ModelBuilder& b) {
                   b.input("x", {-1}, 1, {"n"}).output("y");
                   b.ints("target", {8});
                   b.node("Expand", {"x", "target"}, {"y"});
                 },
                 n,
                 {{{"n", 1}}, {{"n", 8}}},
                 {{{"n", 2}}, {{"n", 7}}}});
  all.push_back({"a sum beside a number",
                 [](ModelBuilder& b) {
                   b.input("x", {-1, 2}, 1, {"n", ""}).input("z", {8, 2}).output("y");
                   b.node("Add", {"x", "z"}, {"y"});
                 },
                 n,
                 {{{"n", 1}}, {{"n", 8}}},
                 {{{"n", 2}}, {{"n", 7}}}});
  all.push_back({"a sum whose range is not that of what it is a sum of",
                 [](ModelBuilder& b) {
                   b.input("x", {-1, 2}, 1, {"n", ""}).input("one", {1, 2}).input("z", {-1, 2}, 1, {"m", ""});
                   set_attribute(b.node("Concat", {"x", "one"}, {"longer"}), "axis", int64_t{0});
                   b.node("Add", {"longer", "z"}, {"y"});
                   b.output("y");
                 },
                 n_and_m,
                 {{{"n", 1}, {"m", 2}}, {{"n", 7}, {"m", 8}}},
                 {{{"n", 1}, {"m", 1}}, {{"n", 8}, {"m", 8}}, {{"n", 3}, {"m", 8}}}});
  all.push_back({"half of an extent beside another one",
                 [](ModelBuilder& b) {
                   b.input("x", {-1, 2}, 1, {"n", ""}).input("z", {-1, 2}, 1, {"m", ""}).output("y");
                   b.ints("starts", {0});
                   b.ints("ends", {100});
                   b.ints("axes", {0});
                   b.ints("steps", {2});
                   b.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"half"});
                   b.node("Add", {"half", "z"}, {"y"});
                 },
                 {{"n", to_eight}, {"m", {1, 4}}},
                 {{{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 4}}, {{"n", 8}, {"m", 4}}},
                 {{{"n", 3}, {"m", 1}}, {{"n", 3}, {"m", 3}}, {{"n", 8}, {"m", 3}}}});
  return all;
}

TEST(ExtentsThatFit, OthersAreRefused) {
  for (const Meeting& meeting : meetings()) {
    ModelBuilder b(18);
    meeting.build(b);
    if (std::string(meeting.name).starts_with("Split into equal"))
      b.model.mutable_opset_import(0)->set_version(13);  // since 18 the last part may be shorter
    const Graph graph = import_onnx_bytes(b.bytes(), ranges(meeting.ranges));
    for (const Extents& extents : meeting.right) EXPECT_FALSE(refuses(graph, extents)) << meeting.name;
    for (const Extents& extents : meeting.wrong) EXPECT_TRUE(refuses(graph, extents)) << meeting.name;
    // What is drawn fits.
    std::vector<int64_t> wanted;
    for (const OpenDimension& dimension : graph.open_dimensions()) wanted.push_back(dimension.most);
    const std::vector<int64_t> drawn = fitting_extents(graph.open_dimensions(), wanted);
    Extents named;
    for (size_t d = 0; d < drawn.size(); ++d) named[graph.open_dimensions()[d].name] = drawn[d];
    EXPECT_FALSE(refuses(graph, named)) << meeting.name;
  }
}

TEST(ExtentsThatFit, AreListedAndSaid) {
  ModelBuilder b(13);
  b.input("x", {-1, 3}, 1, {"n", ""}).output("y");
  b.node("Split", {"x"}, {"y", "z"}, "halves");
  ImportOptions options = ranges({{"n", {1, 9}}});
  std::vector<std::string> warnings;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  const Graph graph = import_onnx_bytes(b.bytes(), options);
  EXPECT_EQ(graph.open_dimensions()[0].fitting, (std::vector<ExtentSteps>{{2, 8, 2}}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("for 2, 4, 6, 8 of \"n\", not for all of 1..9"), std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("halves; other runs are refused"), std::string::npos) << warnings[0];
  // No run would be right.
  expect_error(
      [&] {
        import_onnx_bytes(b.bytes(), ranges({{"n", {3, 3}}}));
      },
      ErrorKind::invalid, {"halves"});
  ModelBuilder sizes(13);
  sizes.input("x", {-1, 3}, 1, {"n", ""}).output("y");
  sizes.ints("sizes", {4, 5});
  sizes.node("Split", {"x", "sizes"}, {"y", "z"}, "it");
  expect_error(
      [&] {
        import_onnx_bytes(sizes.bytes(), ranges({{"n", {1, 8}}}));
      },
      ErrorKind::invalid, {"for none of the extents of \"n\"", "it; no run would be right"});
}

// An index of a reduction that is outside of the run's extent, or of a bound.
TEST(ExtentsThatFit, IndicesOfReductionsLieWithin) {
  for (const char* reduction : {"add", "mul", "min", "max"})
    for (const bool open : {false, true}) {
      ModelBuilder elements(18), slices(18);
      for (ModelBuilder* b : {&elements, &slices}) {
        b->input("x", {-1}, 1, {"n"}).input("at", b == &slices ? Shape{1, 1} : Shape{1}, 7).output("y");
        b->floats("u", {1}, {9});
        set_attribute(b->node(b == &slices ? "ScatterND" : "ScatterElements", {"x", "at", "u"}, {"y"}, "it"),
                      "reduction", reduction);
        ImportOptions options = ranges({{"n", {open ? 1 : 3, open ? 5 : 3}}});
        if (!open) options.least_shapes.clear();
        const Graph graph = import_onnx_bytes(b->bytes(), options);
        const auto run = [&](int64_t index) {
          std::vector<HostTensor> inputs = {
              at_bounds(HostTensor::of<float>(DType::f32, {3}, {1, 2, 3}), {open ? 5 : 3}),
              HostTensor::of<int64_t>(DType::i64, b == &slices ? Shape{1, 1} : Shape{1}, {index})};
          if (open) inputs.push_back(HostTensor::of<int64_t>(DType::i64, {}, {3}));
          return interpret(graph, inputs)[0];
        };
        for (const int64_t index : {-3, 0, 2}) EXPECT_NO_THROW(run(index)) << reduction << " at " << index;
        for (const int64_t index : {-4, 3, 4})
          expect_error([&] { run(index); }, ErrorKind::invalid, {"\"it\"", "outside of its axis"});
      }
    }
}

// Extents that depend on data: of two counts each run checks, of one, however it was computed, none needs to.
TEST(ExtentsThatFit, OfDataAreEqual) {
  ModelBuilder b(21);
  b.input("x", {4}).input("c", {4}, 9).input("d", {4}, 9).output("sum");
  b.node("Compress", {"x", "c"}, {"some"});
  b.node("Compress", {"x", "d"}, {"others"});
  b.node("Add", {"some", "others"}, {"sum"}, "meeting");
  const auto flags = [](const std::vector<uint8_t>& values) {
    HostTensor result(TensorType{DType::bool_, {4}});
    std::copy(values.begin(), values.end(), result.mutable_data<uint8_t>());
    return result;
  };
  const HostTensor x = f32({4}, {5, -7, 6, 8}), two = flags({1, 0, 1, 0});
  expect(run_cropped(b, {x, two, flags({0, 0, 1, 1})})[0], {2}, {11, 14});
  for (const HostTensor& fewer : {flags({1, 0, 0, 0}), flags({0, 0, 0, 0})})
    expect_error(
        [&] {
          run_cropped(b, {x, two, fewer});
        },
        ErrorKind::invalid, {"\"meeting\"", "extents that it joins differ"});
  const auto refusals = [&] {
    const Graph graph = import_onnx_bytes(b.bytes());
    int64_t result = 0;
    for (NodeId id = 0; id < graph.node_count(); ++id)
      for (const std::string& origin : graph.node(id).origins) result += origin.starts_with(kRefusal);
    return result;
  };
  EXPECT_EQ(refusals(), 1);
  b.model.mutable_graph()->mutable_node(1)->set_input(1, "c");
  EXPECT_EQ(refusals(), 0);
}

}  // namespace
}  // namespace korch
