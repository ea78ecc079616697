// Every kind of bad model ends in one message, the right exit code, and the old output file.
#include <unistd.h>

#include <filesystem>

#include "cli.h"

namespace korch {
namespace {

class BadModel : public CliWithOldOutput {
 protected:
  void expect_model_refused(const std::string& model, int code, const std::vector<std::string>& words,
                            const std::string& more = "") {
    expect_refused(compile_arguments(model, more), code, words);
  }
  void expect_model_refused(const ModelBuilder& model, int code, const std::vector<std::string>& words,
                            const std::string& more = "") {
    write_model("bad.onnx", model);
    expect_model_refused("bad.onnx", code, words, more);
  }
};

TEST_F(BadModel, Files) {
  write_file(path("random.onnx"), std::string(1000, 'x'));
  expect_model_refused("random.onnx", 3, {"random.onnx", "not an ONNX model"});
  const std::string good = read_file(path("m.onnx"));
  write_file(path("cut.onnx"), good.substr(0, good.size() / 2));
  expect_model_refused("cut.onnx", 3, {});
  expect_model_refused("absent.onnx", 7, {"absent.onnx", "No such file"});
  expect_model_refused("tmp", 7, {"not a regular file"});
  const std::pair<std::string, std::string> others[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
      {"\n<!DOCTYPE html><html><body>404</body></html>", "web page"},
      {std::string("PK\3\4") + std::string(100, '\0'), "torch.onnx.export"},
      {std::string("\x1c\0\0\0TFL3", 8) + std::string(100, '\0'), "tf2onnx"},
      {"\x7f"
       "ELF" +
           std::string(100, '\0'),
       "shared library"},
      {"", "it is empty"}};
  for (const auto& [bytes, words] : others) {
    write_file(path("other.onnx"), bytes);
    expect_model_refused("other.onnx", 3, {"other.onnx", "not an ONNX model", words});
  }
  write_file(path("huge.onnx"), "x");
  std::filesystem::resize_file(path("huge.onnx"), size_t{3} << 30);  // sparse
  expect_model_refused("huge.onnx", 3, {"2 GiB", "external data"});
  std::filesystem::remove(path("huge.onnx"));
}

TEST_F(BadModel, Graphs) {
  ModelBuilder cycle;
  cycle.input("x", {2}).output("c");
  cycle.node("Add", {"x", "c"}, {"a"}, "first");
  cycle.node("Relu", {"a"}, {"c"}, "second");
  expect_model_refused(cycle, 3, {"cycle", "first", "second"});
  ModelBuilder twice;
  twice.input("x", {2}).output("y");
  twice.node("Relu", {"x"}, {"y"}, "one");
  twice.node("Neg", {"x"}, {"y"}, "two");
  expect_model_refused(twice, 3, {"\"y\" is made twice", "one", "two"});
  ModelBuilder unknown;
  unknown.input("x", {2}).output("y").output("z");
  unknown.node("Frobnicate", {"x"}, {"y"}, "first");
  unknown.node("Whatever", {"x"}, {"z"}, "second");
  expect_model_refused(unknown, 4, {"\"first\" (Frobnicate)", "\"second\" (Whatever)"});
}

TEST_F(BadModel, Weights) {
  ModelBuilder raw;
  raw.input("x", {2}).output("y");
  raw.initializer("w", HostTensor::of<float>(DType::f32, {2}, {1, 2})).set_raw_data("12345");
  raw.node("Add", {"x", "w"}, {"y"});
  expect_model_refused(raw, 3, {"\"w\"", "8 bytes", "has 5"});
  for (const auto& [location, code] :
       std::map<std::string, int>{{"none.bin", 7}, {"../escape.bin", 3}, {"/etc/passwd", 3}}) {
    ModelBuilder external;
    external.input("x", {2}).output("y");
    auto& tensor = external.initializer("w", HostTensor::of<float>(DType::f32, {2}, {1, 2}));
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::proto::TensorProto::EXTERNAL);
    auto* entry = tensor.add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    external.node("Add", {"x", "w"}, {"y"});
    expect_model_refused(external, code, {"\"w\"", location});
  }
}

// A tensor that fits the memory while what its operator needs besides does not.
TEST_F(BadModel, ShapesThatNeedMoreMemoryThanThereIs) {
  const int64_t memory = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
  ModelBuilder exp;
  exp.input("x", {memory / 4 * 6 / 10}).output("y");
  exp.node("Exp", {"x"}, {"y"}, "large");
  expect_model_refused(exp, 6, {"memory"});
  ModelBuilder open;
  open.input("x", {-1, -1}).output("y");
  open.node("Exp", {"x"}, {"y"}, "large");
  expect_model_refused(open, 6, {"\"x\"", "memory"}, "--shape x=1048576x1048576");
  expect_model_refused(open, 6, {"\"x\"", "memory"}, "--shape x=9223372036854775807x9223372036854775807");
  expect_model_refused(open, 3, {"\"x\"", "--shape x="});
  ModelBuilder tile;
  tile.input("x", {1 << 20}).output("y");
  tile.ints("repeats", {1 << 20});
  tile.node("Tile", {"x", "repeats"}, {"y"}, "tile");
  expect_model_refused(tile, 6, {"\"tile\" (Tile)", "memory"});
}

TEST_F(BadModel, ShapesOnTheCommandLine) {
  for (const char* shape : {"-1x5", "nanx5", "2x", "x", "", "1e3x5", "99999999999999999999x5", "2x5x"}) {
    EXPECT_EQ(compile("m.onnx", std::string("--shape x=") + shape), 2) << shape;
    EXPECT_TRUE(says("is not a shape")) << shape << ": " << err_;
  }
  expect_refused(compile_arguments("m.onnx", "--shape x=4..2x5"), 2, {"4..2", "ends before it begins"});
  expect_refused(compile_arguments("m.onnx", "--shape z=2x5"), 2, {"\"z\""});
  expect_refused(compile_arguments("m.onnx", "--shape x=2x6"), 3, {"\"x\"", "extent 5"});
}

class Growth : public Cli {};

// Many nodes, many readers of one value, many outputs of one node: nothing of it grows beyond all bounds.
TEST_F(Growth, OfCandidatesIsBounded) {
  ModelBuilder chain;
  chain.input("v0", {4, 64}).output("v1000");
  for (int i = 0; i < 1000; ++i)
    chain.node(i % 2 == 0 ? "Relu" : "Neg", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  ModelBuilder fan;
  fan.input("x", {1, 64});
  std::vector<std::string> parts;
  for (int i = 0; i < 200; ++i) {
    parts.push_back("p" + std::to_string(i));
    fan.node(i % 2 == 0 ? "Exp" : "Tanh", {"x"}, {parts.back()});
  }
  set_attribute(fan.node("Concat", parts, {"all"}, "join"), "axis", int64_t{0});
  fan.output("all");
  ModelBuilder split;
  split.input("x", {256, 4});
  std::vector<std::string> pieces;
  for (int i = 0; i < 256; ++i) pieces.push_back("p" + std::to_string(i));
  set_attribute(split.node("Split", {"x"}, pieces, "cut"), "axis", int64_t{0});
  set_attribute(split.node("Concat", pieces, {"y"}, "join"), "axis", int64_t{1});
  split.output("y");
  for (const auto& [name, model] :
       std::map<std::string, ModelBuilder>{{"chain", chain}, {"fan", fan}, {"split", split}}) {
    write_model(name + ".onnx", model);
    EXPECT_EQ(compile(name + ".onnx", "--stop-after columns"), 0) << name << ": " << err_;
  }
}

class ZeroExtents : public Cli {};

TEST_F(ZeroExtents, AreTensorsWithoutElements) {
  ModelBuilder b;
  b.input("x", {-1, 5}).output("y");
  b.node("Exp", {"x"}, {"y"});
  write_model("open.onnx", b);
  EXPECT_EQ(compile("open.onnx", "--shape x=0x5"), 0) << err_;
  EXPECT_EQ(run("run " + path("m.so")), 0) << err_;
}

}  // namespace
}  // namespace korch
