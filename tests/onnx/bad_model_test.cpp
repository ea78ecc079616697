// Every malformed, hostile or unsupported model ends in one Error of the right kind that says where and what.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>

#include "expect_error.h"
#include "korch/base/files.h"

namespace korch {
namespace {

TEST(BadFile, MissingEmptyOrNoFile) {
  const TempDir dir;
  expect_error([&] { import_onnx(dir.path() + "/none.onnx"); }, ErrorKind::io, {"none.onnx"});
  expect_error([&] { import_onnx(dir.path()); }, ErrorKind::io, {"not a regular file"});
  write_file(dir.path() + "/empty.onnx", "");
  expect_error([&] { import_onnx(dir.path() + "/empty.onnx"); }, ErrorKind::invalid, {"not an ONNX model"});
  ASSERT_EQ(mkfifo((dir.path() + "/pipe.onnx").c_str(), 0600), 0);
  expect_error([&] { import_onnx(dir.path() + "/pipe.onnx"); }, ErrorKind::io, {"not a regular file"});
}

TEST(BadFile, RandomBytes) {
  std::string bytes;
  uint32_t state = 1;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  expect_error([&] { import_onnx_bytes(bytes); }, ErrorKind::invalid, {"ONNX model"});
}

// A prefix may happen to be a valid message; then something must be missing from the model.
TEST(BadFile, EveryTruncation) {
  ModelBuilder b = relu_model();
  b.floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  b.node("Add", {"y", "w"}, {"z"});
  b.output("z");
  const std::string whole = b.bytes();
  EXPECT_NO_THROW(import_onnx_bytes(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      import_onnx_bytes(whole.substr(0, size));
      ADD_FAILURE() << "imported the first " << size << " bytes";
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
    }
  }
}

// Changed bytes may give another valid model; anything else must be an Error that blames the file.
TEST(BadFile, ChangedBytes) {
  ModelBuilder b = relu_model();
  b.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  b.ints("pads", {0, 1, 1, 0});
  b.ints("starts", {-1});
  b.ints("ends", {-9});
  b.node("MatMul", {"y", "w"}, {"product"});
  b.node("Pad", {"product", "pads"}, {"padded"});
  b.node("Slice", {"padded", "starts", "ends", "starts", "starts"}, {"z"});
  set_attribute(b.node("ReduceSum", {"z", "starts"}, {"sum"}), "keepdims", int64_t{0});
  b.output("sum");
  const std::string whole = b.bytes();
  uint32_t state = 7;
  const auto random = [&state](size_t below) { return (state = state * 1664525 + 1013904223) / 256 % below; };
  int imported = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string changed = whole;
    for (size_t i = random(4) + 1; i-- > 0;) changed[random(changed.size())] = static_cast<char>(random(256));
    try {
      import_onnx_bytes(changed);
      ++imported;
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::internal) << error.what();
    }
  }
  EXPECT_GT(imported, 0);
}

TEST(BadFile, LargerThanProtobufHolds) {
  const TempDir dir;
  const std::string path = dir.path() + "/large.onnx";
  write_file(path, "x");
  std::filesystem::resize_file(path, size_t{3} << 30);  // sparse
  expect_error([&] { import_onnx(path); }, ErrorKind::invalid, {"2 GiB", "external data"});
}

TEST(BadGraph, CycleNamesItsNodes) {
  ModelBuilder b;
  b.input("x", {2}).output("c");
  b.node("Add", {"x", "c"}, {"a"}, "first");
  b.node("Relu", {"a"}, {"c"}, "second");
  expect_refused(b, ErrorKind::invalid, {"cycle", "\"first\" (Add)", "\"second\" (Relu)"});
}

TEST(BadGraph, UnsortedNodesAreFine) {
  ModelBuilder b;
  b.input("x", {2}).output("c");
  b.node("Relu", {"a"}, {"c"});
  b.node("Neg", {"x"}, {"a"});
  EXPECT_EQ(import_onnx_bytes(b.bytes()).live_node_count(), 2u);
}

TEST(BadGraph, DuplicateNames) {
  ModelBuilder twice = relu_model();
  twice.node("Neg", {"x"}, {"y"}, "again");
  expect_refused(twice, ErrorKind::invalid, {"\"y\" is made twice", "\"Relu_0\"", "\"again\""});
  ModelBuilder shadow = relu_model();
  shadow.node("Neg", {"y"}, {"x"});
  expect_refused(shadow, ErrorKind::invalid, {"\"x\" is made twice", "graph input"});
  ModelBuilder inputs = relu_model();
  inputs.input("x", {2, 3});
  expect_refused(inputs, ErrorKind::invalid, {"two graph inputs", "\"x\""});
  ModelBuilder weights = relu_model();
  weights.floats("w", {1}, {1});
  weights.floats("w", {1}, {2});
  expect_refused(weights, ErrorKind::invalid, {"\"w\""});
}

TEST(BadGraph, UnknownNames) {
  ModelBuilder b = relu_model();
  b.node("Add", {"y", "nowhere"}, {"z"}, "sum");
  expect_refused(b, ErrorKind::invalid, {"\"sum\" (Add)", "\"nowhere\""});
  ModelBuilder output = relu_model();
  output.output("z");
  expect_refused(output, ErrorKind::invalid, {"output", "\"z\""});
  ModelBuilder none;
  none.input("x", {1});
  expect_refused(none, ErrorKind::invalid, {"no outputs"});
}

TEST(BadGraph, ControlCharactersOfNamesAreEscaped) {
  ModelBuilder b = relu_model();
  b.node("Neg", {"bad\x1b[31m\n"}, {"z"});
  expect_refused(b, ErrorKind::invalid, {"\"bad\\x1b[31m\\x0a\""});
}

// Whatever a name holds, terminals, dumps and plans get it as text.
TEST(BadGraph, NamesInTheGraphArePrintable) {
  const std::string name("a\0\x1b[2J\n\xc2\x9b\xff\xc3\xa9\\n", 14);
  ModelBuilder b;
  b.input(name, {2}).output("y" + name);
  b.node("Relu", {name}, {"y" + name}, "n" + name);
  const Graph graph = import_onnx_bytes(b.bytes());
  const std::string shown = "a\\x00\\x1b[2J\\x0a\\xc2\\x9b\\xff\xc3\xa9\\n";
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, shown);
  EXPECT_EQ(graph.output_names()[0], "y" + shown);
  EXPECT_EQ(graph.node(0).origins, (std::vector<std::string>{"n" + shown}));
}

TEST(BadGraph, Opset) {
  ModelBuilder twice = relu_model();
  twice.model.add_opset_import()->set_version(12);
  expect_refused(twice, ErrorKind::invalid, {"two opsets"});
  twice.model.mutable_opset_import(1)->set_domain("ai.onnx");
  expect_refused(twice, ErrorKind::invalid, {"two opsets"});
  twice.model.mutable_opset_import(1)->set_version(13);  // the same one, as skl2onnx writes it
  EXPECT_EQ(import_onnx_bytes(twice.bytes()).live_node_count(), 1u);
  twice.model.mutable_opset_import(1)->set_domain("com.example");
  EXPECT_EQ(import_onnx_bytes(twice.bytes()).live_node_count(), 1u);
  ModelBuilder none = relu_model();
  none.model.clear_opset_import();
  expect_refused(none, ErrorKind::invalid, {"opset"});
  none.model.add_opset_import()->set_domain("com.example");
  expect_refused(none, ErrorKind::invalid, {"(Relu)", "opset"});
  expect_refused(ModelBuilder(5), ErrorKind::unsupported, {"opset 5"});
}

// What korch knows of an operator may be all there is to know; the file says more than that.
TEST(BadGraph, OpsetsToCome) {
  ModelBuilder b(99);
  b.input("x", {2}).output("y");
  b.node("Relu", {"x"}, {"y"});
  std::vector<std::string> warnings;
  ImportOptions options;
  options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  EXPECT_EQ(import_onnx_bytes(b.bytes(), options).live_node_count(), 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("opset 99"), std::string::npos);
  b.node("NewIn99", {"y"}, {"z"});
  b.output("z");
  expect_refused(b, ErrorKind::unsupported, {"NewIn99"});
}

TEST(Unsupported, AllOperatorsAndTypesAreNamedAtOnce) {
  ModelBuilder b;
  b.input("x", {2, 3}).input("s", {2}, 8).output("d").output("u").output("r");
  b.node("RegexFullMatch", {"x"}, {"a"}, "words");
  b.node("Relu", {"a"}, {"b"});
  b.node("Softplus", {"b"}, {"d"});
  b.node("StringNormalizer", {"s"}, {"u"}, "strings");
  b.node("FancyOp", {"x"}, {"r"}, "fancy").set_domain("com.example");
  b.node("ImageDecoder", {"x"}, {"dead"}, "dead");
  try {
    import_onnx_bytes(b.bytes());
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    for (const char* word : {"\"words\" (RegexFullMatch)", "\"strings\" (StringNormalizer)",
                             "\"fancy\" (com.example::FancyOp)", "graph input \"s\": element type STRING"})
      EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(message.find("dead"), std::string::npos) << message;
    EXPECT_EQ(message.find("Softplus"), std::string::npos) << message;
  }
}

TEST(Unsupported, DataDependentShapesSayWhatToDo) {
  ModelBuilder b;
  b.input("x", {2, 3}).input("shape", {2}, 7).output("y").output("z");
  b.node("Reshape", {"x", "shape"}, {"y"}, "to_data");
  b.node("Expand", {"x", "shape"}, {"z"}, "wide");
  expect_refused(b, ErrorKind::unsupported,
                 {"\"to_data\" (Reshape)", "--bound shape=N", "\"wide\" (Expand): its target extents"});
}

TEST(Unsupported, ManyNodesAreCountedPerOperator) {
  ModelBuilder b;
  b.input("x", {2, 3});
  for (int i = 0; i < 40; ++i) {
    const std::string q = "q" + std::to_string(i), d = "d" + std::to_string(i);
    b.node("RegexFullMatch", {"x"}, {q}, q);
    if (i < 30) b.node("ImageDecoder", {"x"}, {d}, d);
    b.output(q);
    if (i < 30) b.output(d);
  }
  try {
    import_onnx_bytes(b.bytes());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "the model uses what korch does not support:\n  40 times RegexFullMatch\n  30 times ImageDecoder\n"
        "for example:\n  node \"q0\" (RegexFullMatch)\n  node \"d0\" (ImageDecoder)");
  }
}

TEST(BadInput, DynamicDimensionsNeedAShape) {
  ModelBuilder b;
  b.input("x", {-1, 3, -1}, 1, {"batch", "", ""}).output("y");
  b.node("Relu", {"x"}, {"y"});
  expect_refused(b, ErrorKind::invalid, {"\"x\" [batch x 3 x ?]", "--shape x=1x3x128"});
  EXPECT_EQ(import_onnx_bytes(b.bytes(), {{{"x", {4, 3, 5}}}}).value(0).type.shape, (Shape{4, 3, 5}));
  expect_refused(b, ErrorKind::invalid, {"\"x\" [7 x 3 x ?]", "--shape x=7x3x128"}, {{{"batch", {7}}}});
  expect_refused(b, ErrorKind::invalid, {"extent 3 on axis 1"}, {{{"x", {4, 2, 5}}}});
  expect_refused(b, ErrorKind::invalid, {"rank 3", "rank 2"}, {{{"x", {4, 3}}}});
  expect_refused(b, ErrorKind::invalid, {"negative"}, {{{"x", {-4, 3, 1}}}});
  expect_refused(b, ErrorKind::usage, {"\"typo\""}, {{{"x", {4, 3, 5}}, {"typo", {1}}}});
  expect_refused(b, ErrorKind::usage, {"contradicts", "\"batch\"=7"}, {{{"x", {4, 3, 5}}, {"batch", {7}}}});
}

TEST(BadInput, AllOpenInputsAreNamedAndASymbolIsGivenOnce) {
  ModelBuilder b;
  b.input("ids", {-1, -1}, 1, {"batch", "seq"})
      .input("mask", {-1, 1, -1}, 1, {"batch", "", "seq"})
      .output("y");
  b.node("Add", {"ids", "mask"}, {"y"});
  expect_refused(
      b, ErrorKind::invalid,
      {"\"ids\" [batch x seq], \"mask\" [batch x 1 x seq]", "e.g. --shape batch=1 --shape seq=128"});
  expect_refused(b, ErrorKind::invalid, {"\"ids\" [2 x seq]", "e.g. --shape seq=128"}, {{{"batch", {2}}}});
  const Graph graph = import_onnx_bytes(b.bytes(), {{{"batch", {2}}, {"seq", {5}}}});
  EXPECT_EQ(graph.value(graph.inputs()[0]).type.shape, (Shape{2, 5}));
  EXPECT_EQ(graph.value(graph.inputs()[1]).type.shape, (Shape{2, 1, 5}));
  EXPECT_EQ(import_onnx_bytes(b.bytes(), {{{"ids", {3, 4}}, {"mask", {3, 1, 4}}}}).value(0).type.shape,
            (Shape{3, 4}));
  expect_refused(b, ErrorKind::usage, {"\"seq\" is a symbolic dimension", "one extent"}, {{{"seq", {2, 3}}}});
}

TEST(BadInput, InputsAndDimensionsOfOneNameAreToldApart) {
  ModelBuilder same;
  same.input("n", {-1}, 1, {"n"}).output("y");
  same.node("Relu", {"n"}, {"y"});
  EXPECT_EQ(import_onnx_bytes(same.bytes(), {{{"n", {3}}}}).value(0).type.shape, (Shape{3}));
  ModelBuilder apart;
  apart.input("past", {-1, 2}, 1, {"past", ""}).output("y");
  apart.node("Relu", {"past"}, {"y"});
  EXPECT_EQ(import_onnx_bytes(apart.bytes(), {{{"past", {3}}}}).value(0).type.shape, (Shape{3, 2}));
  EXPECT_EQ(import_onnx_bytes(apart.bytes(), {{{"past", {4, 2}}}}).value(0).type.shape, (Shape{4, 2}));
  ModelBuilder both;
  both.input("n", {-1}, 1, {"m"}).input("x", {-1}, 1, {"n"}).output("y");
  set_attribute(both.node("Concat", {"n", "x"}, {"y"}), "axis", 0);
  expect_refused(both, ErrorKind::usage, {"\"n\" is both"}, {{{"n", {3}}}});
  // Where the input's axis is known, the dimension is what is left to give.
  const Graph known = import_onnx_bytes(both.bytes(), {{{"n", {3}}, {"m", {2}}}});
  EXPECT_EQ(known.value(0).type.shape, (Shape{2}));
  EXPECT_EQ(known.value(1).type.shape, (Shape{3}));
  // What may have been meant.
  ModelBuilder cache;
  cache.input("past", {1, -1, 2}, 1, {"", "n_past", ""}).output("y");
  cache.node("Relu", {"past"}, {"y"});
  expect_refused(cache, ErrorKind::invalid, {"has rank 3", "its symbolic dimension is \"n_past\""},
                 {{{"past", {3}}}});
}

// A range that a fixed shape of an input would hide.
TEST(BadInput, ARangeAndAShapeThatContradictEachOther) {
  ModelBuilder b;
  b.input("ids", {-1, -1}, 1, {"batch", "seq"}).output("y");
  b.node("Relu", {"ids"}, {"y"});
  ImportOptions options;
  options.shapes = {{"ids", {1, 4}}, {"seq", {4}}};
  options.least_shapes = {{"seq", {1}}};
  expect_error([&] { import_onnx_bytes(b.bytes(), options); }, ErrorKind::usage,
               {"\"ids\"", "4 on axis 1", "\"seq\"=1..4"});
}

// What an exporter writes for a dimension that it knows nothing of.
TEST(BadInput, NamesThatNameNothingAreNoNames) {
  for (const char* name : {"?", "None", "-1", "*", "unknown"}) {
    ModelBuilder b;
    b.input("x", {1, 3, -1, -1}, 1, {"", "", name, name}).output("y");
    b.node("Relu", {"x"}, {"y"});
    ImportOptions options;
    options.shapes = {{"x", {1, 3, 8, 6}}};
    options.least_shapes = {{"x", {1, 3, 2, 3}}};
    const std::vector<OpenDimension> open = import_onnx_bytes(b.bytes(), options).open_dimensions();
    ASSERT_EQ(open.size(), 2u);
    EXPECT_EQ(open[0].most, 8);
    EXPECT_EQ(open[1].most, 6);
    expect_refused(b, ErrorKind::usage, {"no such input or symbolic dimension", "it has the input"},
                   {{{name, {8}}}});
    expect_refused(b, ErrorKind::invalid, {"--shape x=1x3x128x128"});
  }
}

// The example that a message gives is one that works.
TEST(BadInput, ShapesOfAMessageFitTheNetwork) {
  ModelBuilder b;
  b.input("input", {-1, -1}).input("state", {2, -1, 128}).output("y");
  b.ints("axes", {0});
  b.node("Unsqueeze", {"input", "axes"}, {"u"});
  b.node("Add", {"u", "state"}, {"y"});
  expect_refused(b, ErrorKind::invalid, {"--shape input=1x128"});
  // Beside an extent of 1 others may be anything.
  expect_refused(b, ErrorKind::invalid, {"--shape state=2x1x128"}, {{{"input", {1, 128}}}});
  const Graph graph = import_onnx_bytes(b.bytes(), {{{"input", {1, 128}}, {"state", {2, 1, 128}}}});
  EXPECT_EQ(graph.inputs().size(), 2u);
}

TEST(BadInput, NoShapeAtAll) {
  ModelBuilder b = relu_model();
  b.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  expect_refused(b, ErrorKind::invalid, {"\"x\" of unknown rank", "--shape x="});
  EXPECT_EQ(import_onnx_bytes(b.bytes(), {{{"x", {7}}}}).value(0).type.shape, (Shape{7}));
  b.model.mutable_graph()->mutable_input(0)->mutable_type()->clear_tensor_type();
  expect_refused(b, ErrorKind::unsupported, {"\"x\"", "not a tensor"});
}

TEST(ShapeBomb, IsRefusedBeforeAnythingIsAllocated) {
  const int64_t large = std::numeric_limits<int64_t>::max();
  for (const Shape& shape :
       {Shape{large}, Shape{1 << 30, 1 << 30, 1 << 30}, Shape{0, large}, Shape{1 << 20, 1 << 20}}) {
    ModelBuilder input;
    input.input("x", shape).output("y");
    input.node("Relu", {"x"}, {"y"});
    expect_refused(input, ErrorKind::resource, {"graph input \"x\""});

    ModelBuilder made;
    made.input("x", {1}).output("y");
    made.ints("shape", shape);
    made.node("ConstantOfShape", {"shape"}, {"c"}, "bomb");
    made.node("Add", {"x", "c"}, {"y"});
    try {
      import_onnx_bytes(made.bytes());
      ADD_FAILURE() << to_string(shape);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("\"bomb\""), std::string::npos) << error.what();
      EXPECT_TRUE(error.kind() == ErrorKind::resource || error.kind() == ErrorKind::invalid) << error.what();
    }

    ModelBuilder weights = relu_model();
    auto& tensor = weights.initializer("w", HostTensor::of<float>(DType::f32, {1}, {1}));
    tensor.clear_dims();
    for (int64_t extent : shape) tensor.add_dims(extent);
    weights.node("Add", {"y", "w"}, {"z"});
    expect_refused(weights, ErrorKind::resource, {"initializer \"w\""});
  }
}

TEST(ShapeBomb, ByRepetitionAndRanges) {
  ModelBuilder tile;
  tile.input("x", {1 << 20}).output("y");
  tile.ints("repeats", {1 << 20});
  tile.node("Tile", {"x", "repeats"}, {"y"}, "tile");
  expect_refused(tile, ErrorKind::resource, {"\"tile\" (Tile)", "memory"});

  ModelBuilder range;
  range.output("y");
  range.floats("zero", {}, {0});
  range.floats("limit", {}, {1e30f});
  range.floats("one", {}, {1});
  range.node("Range", {"zero", "limit", "one"}, {"y"}, "range");
  expect_refused(range, ErrorKind::resource, {"\"range\" (Range)"});

  ModelBuilder eye;
  eye.input("x", {1 << 15, 1 << 15}).output("y");
  eye.node("EyeLike", {"x"}, {"y"}, "eye");
  expect_refused(eye, ErrorKind::resource, {"\"eye\" (EyeLike)"});

  ModelBuilder empty;
  empty.input("x", {1, 0}).output("y");
  empty.ints("shape", {1LL << 35, 0});
  empty.node("Expand", {"x", "shape"}, {"y"}, "expand");
  expect_refused(empty, ErrorKind::resource, {"\"expand\" (Expand)"});
}

TEST(BadWeights, DataThatDoNotFitTheExtents) {
  ModelBuilder raw = relu_model();
  raw.initializer("w", HostTensor::of<float>(DType::f32, {2}, {1, 2})).set_raw_data("12345");
  expect_refused(raw, ErrorKind::invalid, {"\"w\"", "8 bytes", "has 5"});

  ModelBuilder typed = relu_model();
  auto& tensor = typed.initializer("w", HostTensor::of<float>(DType::f32, {2}, {1, 2}));
  tensor.clear_raw_data();
  expect_refused(typed, ErrorKind::invalid, {"\"w\"", "2 elements", "has 0"});
  tensor.add_int32_data(1);
  tensor.add_int32_data(2);
  expect_refused(typed, ErrorKind::invalid, {"\"w\""});  // of the wrong field

  ModelBuilder narrow = relu_model();
  auto& bytes = narrow.initializer("w", HostTensor::of<int8_t>(DType::i8, {1}, {1}));
  bytes.clear_raw_data();
  bytes.add_int32_data(200);
  expect_refused(narrow, ErrorKind::invalid, {"\"w\"", "200 does not fit i8"});

  ModelBuilder negative = relu_model();
  negative.initializer("w", HostTensor::of<float>(DType::f32, {1}, {1})).set_dims(0, -1);
  expect_refused(negative, ErrorKind::invalid, {"\"w\"", "negative"});
}

class ExternalWeights : public testing::Test {
 protected:
  // A model in <dir>/model whose weight w (4 floats) lies at `location`.
  std::string write_model(const std::string& location, const std::string& offset = {},
                          const std::string& length = {}) {
    ModelBuilder b;
    b.input("x", {4}).output("y");
    auto& tensor = b.initializer("w", HostTensor::of<float>(DType::f32, {4}, {1, 2, 3, 4}));
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::proto::TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& value) {
      auto* place = tensor.add_external_data();
      place->set_key(key);
      place->set_value(value);
    };
    entry("location", location);
    if (!offset.empty()) entry("offset", offset);
    if (!length.empty()) entry("length", length);
    b.node("Add", {"x", "w"}, {"y"}, "add");
    const std::string folder = dir_.path() + "/model";
    make_directories(folder + "/sub");
    const std::string path = folder + "/m.onnx";
    write_file(path, b.bytes());
    return path;
  }
  void write_floats(const std::string& path, const std::vector<float>& values) {
    write_file(dir_.path() + "/" + path,
               std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  void expect_refused(const std::string& model, ErrorKind kind, const std::vector<std::string>& words) {
    expect_error([&] { import_onnx(model); }, kind, words);
  }
  TempDir dir_;
};

TEST_F(ExternalWeights, AreReadAtTheirOffset) {
  const std::string model = write_model("sub/w.bin", "8", "16");
  write_floats("model/sub/w.bin", {0, 0, 5, 6, 7, 8});
  const Graph graph = import_onnx(model);
  const HostTensor* w = nullptr;
  for (ValueId id = 0; id < graph.value_count(); ++id) w = w != nullptr ? w : graph.constant(id);
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->data<float>()[0], 5);
  EXPECT_EQ(w->data<float>()[3], 8);
}

TEST_F(ExternalWeights, MissingOrShortFiles) {
  expect_refused(write_model("w.bin"), ErrorKind::io, {"\"w\"", "w.bin"});
  write_floats("model/w.bin", {1, 2, 3});
  expect_refused(write_model("w.bin"), ErrorKind::invalid, {"\"w\"", "12 bytes", "16 from offset 0"});
  write_floats("model/w.bin", {1, 2, 3, 4});
  expect_refused(write_model("w.bin", "4"), ErrorKind::invalid, {"\"w\"", "offset 4"});
  expect_refused(write_model("w.bin", "18446744073709551615"), ErrorKind::invalid, {"\"w\"", "offset"});
  expect_refused(write_model("w.bin", "-4"), ErrorKind::invalid, {"\"w\"", "offset"});
  expect_refused(write_model("w.bin", "0", "12"), ErrorKind::invalid, {"\"w\"", "12 bytes"});
  expect_refused(write_model("sub"), ErrorKind::invalid, {"\"w\"", "regular file"});
}

TEST_F(ExternalWeights, MustStayInsideTheModelsFolder) {
  write_floats("secret.bin", {1, 2, 3, 4});
  write_model("w.bin");
  const std::string folder = dir_.path() + "/model";
  std::filesystem::create_symlink(dir_.path() + "/secret.bin", folder + "/link.bin");
  std::filesystem::create_directory_symlink(dir_.path(), folder + "/out");
  for (const std::string& location :
       {dir_.path() + "/secret.bin", std::string("../secret.bin"), std::string("sub/../../secret.bin"),
        std::string("sub/../m.onnx"), std::string("link.bin"), std::string("out/secret.bin"), std::string(),
        std::string("a\0b", 3)})
    expect_refused(write_model(location), ErrorKind::invalid, {"\"w\"", "inside the model's folder"});
}

// As Hugging Face's cache has it: links of a revision to the repository's blobs, and to nothing else.
TEST_F(ExternalWeights, MayBeLinksToBlobsOfTheSameRepository) {
  namespace fs = std::filesystem;
  const std::string model = write_model("w.bin");
  write_floats("model/w.bin", {1, 2, 3, 4});
  const fs::path own = fs::path(dir_.path()) / "models--a--b", revision = own / "snapshots" / "1f2e" / "onnx";
  const fs::path other = fs::path(dir_.path()) / "models--c--d";
  for (const fs::path& folder : {own / "blobs", other / "blobs", revision}) fs::create_directories(folder);
  fs::copy_file(model, own / "blobs" / "aa");
  fs::create_symlink("../../../blobs/aa", revision / "m.onnx");
  for (const fs::path& folder : {own, other})
    fs::copy_file(dir_.path() + "/model/w.bin", folder / "blobs" / "bb");
  fs::create_symlink("../../../blobs/bb", revision / "w.bin");
  EXPECT_EQ(import_onnx((revision / "m.onnx").string()).inputs().size(), 1U);
  fs::remove(revision / "w.bin");
  fs::create_symlink("../../../../models--c--d/blobs/bb", revision / "w.bin");
  expect_refused((revision / "m.onnx").string(), ErrorKind::invalid, {"\"w\"", "link that leaves"});
  fs::remove(revision / "w.bin");
  fs::copy_file(dir_.path() + "/model/w.bin", own / "secret");
  fs::create_symlink("../../../secret", revision / "w.bin");
  expect_refused((revision / "m.onnx").string(), ErrorKind::invalid, {"\"w\"", "link that leaves"});
}

TEST_F(ExternalWeights, NeedAModelOnDisk) {
  const std::string bytes = read_file(write_model("w.bin"));
  expect_error([&] { import_onnx_bytes(bytes); }, ErrorKind::invalid, {"\"w\"", "no folder"});
}

}  // namespace
}  // namespace korch
