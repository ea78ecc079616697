// Inputs, outputs and networks that do not belong to the executable.
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

class BadRun : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ASSERT_EQ(compile("m.onnx", "--no-verify"), 0) << err_;
  }
  void expect_input_refused(const std::string& input, int code, const std::vector<std::string>& words) {
    expect_refused("run " + path("m.so") + " --input " + input + " --output-dir " + path("out"), code, words);
    EXPECT_FALSE(file_exists(path("out/out_y.npy")));
  }
};

TEST_F(BadRun, Inputs) {
  write_npy(path("short.npy"), HostTensor::of<float>(DType::f32, {3}, {0, 1, 2}));
  expect_input_refused("x=" + path("short.npy"), 3, {"'x'", "f32[2x5]", "f32[3]", "short.npy"});
  write_npy(path("double.npy"), HostTensor(TensorType{DType::f64, {2, 5}}));
  expect_input_refused("x=" + path("double.npy"), 3, {"'x'", "f32[2x5]", "f64[2x5]"});
  expect_input_refused("z=" + path("short.npy"), 3, {"'z'", "'x' f32[2x5]"});
  expect_input_refused("x=" + path("none.npy"), 7, {"none.npy", "No such file"});
  expect_input_refused("x=" + path("m.onnx"), 3, {"m.onnx", "not an npy file"});
  expect_input_refused("x=" + path("tmp"), 7, {"not a regular file"});
  write_npy(path("x.npy"), HostTensor(TensorType{DType::f32, {2, 5}}));
  const std::string whole = read_file(path("x.npy"));
  write_file(path("cut.npy"), whole.substr(0, whole.size() - 1));
  expect_input_refused("x=" + path("cut.npy"), 3, {"cut.npy", "40 bytes", "has 39"});
  expect_refused("run " + path("m.so") + " --shape n=2", 2, {"no open dimension 'n'", "shapes are fixed"});
  expect_input_refused("x", 2, {"NAME=FILE.npy"});
  expect_input_refused("x=" + path("x.npy") + " --input x=" + path("x.npy"), 2, {"twice"});
}

TEST_F(BadRun, OutputFolders) {
  write_file(path("file"), "");
  expect_refused("run " + path("m.so") + " --output-dir " + path("file"), 7, {path("file")});
  expect_refused("run " + path("m.so") + " --output-dir " + path("file/below"), 7, {path("file/below")});
  expect_refused("run " + path("m.so") + " --output-dir /proc/no-such-folder", 7, {"/proc/no-such-folder"});
}

TEST_F(BadRun, OutputFiles) {
  expect_refused("compile " + path("m.onnx") + " -o " + path("no/such/n.so") + " --no-profile-db", 7,
                 {path("no/such/n.so")});
  expect_refused("compile " + path("m.onnx") + " -o " + path("tmp") + " --no-profile-db", 2,
                 {path("tmp"), "folder"});
  expect_refused("compile " + path("m.onnx") + " -o /proc/n.so --no-profile-db", 7, {"/proc/n.so"});
  expect_refused("fission " + path("m.onnx") + " -o " + path("no/such/n.onnx"), 7, {path("no/such/n.onnx")});
  expect_refused("model unet_like_32 -o " + path("no/such/n.onnx"), 7, {path("no/such/n.onnx")});
  expect_refused(
      "compile " + path("m.onnx") + " -o " + path("n.so") + " --no-profile-db --dump-dir /proc/dump", 7,
      {"/proc/dump"});
  expect_refused("explain " + path("m.so") + " >/dev/full", 6, {"output", "No space left"});
  EXPECT_FALSE(file_exists(path("n.so")));
}

TEST_F(BadRun, OutputsOfOneFile) {
  ModelBuilder b;
  b.input("x", {2, 5}).output("a/b").output("a_b");
  b.node("Sin", {"x"}, {"a/b"}, "sine");
  b.node("Cos", {"x"}, {"a_b"}, "cosine");
  write_model("two.onnx", b);
  ASSERT_EQ(compile("two.onnx", "--no-verify"), 0) << err_;
  expect_refused("run " + path("m.so") + " --output-dir " + path("out"), 2, {"'a/b'", "'a_b'", "a_b.npy"});
  EXPECT_FALSE(file_exists(path("out")));
  EXPECT_EQ(run("run " + path("m.so")), 0) << err_;
}

TEST_F(BadRun, IndicesOutOfRange) {
  ModelBuilder b;
  b.input("data", {5, 4}).input("at", {3}, 7).output("y");
  b.node("Gather", {"data", "at"}, {"y"}, "pick");
  write_model("gather.onnx", b);
  ASSERT_EQ(compile("gather.onnx"), 0) << err_;
  for (int64_t wrong : {5, -6, 1 << 30}) {
    write_npy(path("at.npy"), HostTensor::of<int64_t>(DType::i64, {3}, {0, wrong, 1}));
    expect_input_refused("at=" + path("at.npy"), 3, {"gather", "outside its axis"});
  }
  write_npy(path("at.npy"), HostTensor::of<int64_t>(DType::i64, {3}, {0, -5, 4}));
  EXPECT_EQ(run("run " + path("m.so") + " --input at=" + path("at.npy")), 0) << err_;
}

TEST_F(BadRun, ANumberBeyondItsBound) {
  ModelBuilder b(21);
  b.input("x", {1}).output("y");
  b.initializer("zero", HostTensor::of<int64_t>(DType::i64, {}, {0}));
  b.initializer("one", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  set_attribute(b.node("ReduceMax", {"x"}, {"most"}), "keepdims", 0);
  set_attribute(b.node("Cast", {"most"}, {"length"}), "to", 7);
  b.node("Range", {"zero", "length", "one"}, {"y"});
  write_model("range.onnx", b);
  ASSERT_EQ(compile("range.onnx", "--no-verify --bound length=4"), 0) << err_;
  for (const float length : {5.0f, -1.0f}) {
    write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {1}, {length}));
    expect_input_refused("x=" + path("x.npy"), 3, {"'length' is more than the bound of 4"});
    EXPECT_EQ(err_.find("gather"), std::string::npos) << err_;
  }
  write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {1}, {4}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy")), 0) << err_;
}

TEST_F(BadRun, ABranchThatDoesNotFit) {
  ModelBuilder yes, no, b(17);
  yes.output("relu").node("Relu", {"x"}, {"relu"});
  no.output("sum").node("Add", {"x", "wide"}, {"sum"}, "too wide");
  b.input("x", {2, 5}).input("flag", {}, 9).output("y");
  b.floats("wide", {2, 7}, std::vector<float>(14, 1));
  auto& node = b.node("If", {"flag"}, {"y"}, "which");
  for (const auto& [name, branch] : {std::pair("then_branch", &yes), std::pair("else_branch", &no)}) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::proto::AttributeProto::GRAPH);
    *attribute->mutable_g() = branch->model.graph();
  }
  write_model("if.onnx", b);
  ASSERT_EQ(compile("if.onnx", "--no-verify"), 0) << err_;
  write_npy(path("flag.npy"), HostTensor(TensorType{DType::bool_, {}}));
  expect_input_refused("flag=" + path("flag.npy"), 3, {"\"which\" takes its else branch", "too wide"});
  EXPECT_EQ(err_.find("gather"), std::string::npos) << err_;
}

TEST_F(BadRun, ExtentsWithWhichTheNetworkDoesNotFitTogether) {
  ModelBuilder b(13);
  b.input("x", {-1, 5}, 1, {"n"}).output("y").node("Split", {"x"}, {"y", "z"}, "halves");
  write_model("halves.onnx", b);
  ASSERT_EQ(compile("halves.onnx", "--shape n=1..9"), 0) << err_;
  write_npy(path("x.npy"), HostTensor(TensorType{DType::f32, {3, 5}}));
  expect_input_refused("x=" + path("x.npy"), 3, {"n is 3", "fits together only where it is 2, 4, 6, 8"});
  write_npy(path("x.npy"), HostTensor(TensorType{DType::f32, {6, 5}}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy")), 0) << err_;
  EXPECT_EQ(run("bench " + path("m.so") + " --rounds 5"), 0) << err_;
  EXPECT_EQ(run("verify " + path("halves.onnx") + " " + path("m.so")), 0) << err_;
  // Of several dimensions.
  ModelBuilder two(13);
  two.input("x", {2, -1}, 1, {"", "n"}).input("z", {-1}, 1, {"m"}).output("y");
  two.node("Shape", {"z"}, {"k"});
  two.node("TopK", {"x", "k"}, {"y", "at"}, "some");
  write_model("some.onnx", two);
  ASSERT_EQ(compile("some.onnx", "--shape n=1..8 --shape m=1..8"), 0) << err_;
  write_npy(path("x.npy"), HostTensor(TensorType{DType::f32, {2, 3}}));
  write_npy(path("z.npy"), HostTensor(TensorType{DType::f32, {5}}));
  expect_input_refused("x=" + path("x.npy") + " --input z=" + path("z.npy"), 3,
                       {"node \"some\"", "needs more elements than there are"});
}

// A mask of past + 1 keys, which no option says.
TEST_F(BadRun, AnExtentThatFollowsFromOthers) {
  ModelBuilder b(17);
  b.input("cache", {-1, 4}, 1, {"past", ""}).input("row", {1, 4}).input("mask", {-1, 1}, 1, {"total", ""});
  set_attribute(b.node("Concat", {"cache", "row"}, {"rows"}), "axis", 0);
  b.node("Mul", {"rows", "mask"}, {"y"});
  b.output("y");
  write_model("cache.onnx", b);
  ASSERT_EQ(compile("cache.onnx", "--shape past=0..7"), 0) << err_;
  EXPECT_FALSE(says("fits together only")) << err_;  // its range is what it must be
  write_npy(path("cache.npy"), HostTensor(TensorType{DType::f32, {3, 4}}));
  write_npy(path("mask.npy"), HostTensor(TensorType{DType::f32, {5, 1}}));
  const std::string cache = "cache=" + path("cache.npy") + " --input mask=";
  expect_input_refused(cache + path("mask.npy"), 3,
                       {"input 'mask', axis 0", "total is past + 1, which is 4 here, not 5"});
  write_npy(path("mask.npy"), HostTensor(TensorType{DType::f32, {4, 1}}));
  EXPECT_EQ(run("run " + path("m.so") + " --input " + cache + path("mask.npy")), 0) << err_;
  EXPECT_EQ(run("verify " + path("cache.onnx") + " " + path("m.so")), 0) << err_;
  EXPECT_EQ(run("bench " + path("m.so") + " --rounds 5 --shape past=2"), 0) << err_;
  ASSERT_EQ(compile("cache.onnx", "--shape past=7"), 0) << err_;
  EXPECT_EQ(run("verify " + path("cache.onnx") + " " + path("m.so")), 0) << err_;
}

TEST_F(BadRun, ShapesThatTheModelLeavesOpenAreTheExecutables) {
  ModelBuilder open;
  open.input("x", {-1, 5}, 1, {"n"}).output("y").node("Exp", {"x"}, {"y"});
  write_model("open.onnx", open);
  ASSERT_EQ(compile("open.onnx", "--no-verify --shape n=1..4"), 0) << err_;
  EXPECT_EQ(run("verify " + path("open.onnx") + " " + path("m.so")), 0) << err_;
  expect_refused("verify " + path("open.onnx") + " " + path("m.so") + " --shape n=1..8", 3,
                 {"f32[4x5]", "f32[8x5]"});
  ASSERT_EQ(compile("open.onnx", "--no-verify --shape n=3"), 0) << err_;
  EXPECT_EQ(run("verify " + path("open.onnx") + " " + path("m.so")), 0) << err_;
  ModelBuilder other;
  other.input("z", {-1, 5}, 1, {"n"}).output("y").node("Exp", {"z"}, {"y"});
  write_model("other.onnx", other);
  expect_refused("verify " + path("other.onnx") + " " + path("m.so"), 3,
                 {"not made from this network", "no input 'z'"});
}

TEST_F(BadRun, AnotherNetwork) {
  ModelBuilder sine;
  sine.input("x", {2, 5}).output("out/y");
  sine.node("Sin", {"x"}, {"out/y"});
  write_model("sine.onnx", sine);
  expect_refused("verify " + path("sine.onnx") + " " + path("m.so"), 5,
                 {"differs from the network", "first wrong kernel"});
  ModelBuilder shape;
  shape.input("x", {3, 5}).output("out/y");
  shape.node("Exp", {"x"}, {"out/y"});
  write_model("shape.onnx", shape);
  expect_refused("verify " + path("shape.onnx") + " " + path("m.so"), 3, {"f32[2x5]", "f32[3x5]"});
  ModelBuilder inputs;
  inputs.input("x", {2, 5}).input("z", {2, 5}).output("out/y");
  inputs.node("Add", {"x", "z"}, {"out/y"});
  write_model("inputs.onnx", inputs);
  expect_refused("verify " + path("inputs.onnx") + " " + path("m.so"), 3, {"inputs"});
  ModelBuilder outputs;
  outputs.input("x", {2, 5}).output("out/y").output("more");
  outputs.node("Exp", {"x"}, {"out/y"});
  outputs.node("Sin", {"x"}, {"more"});
  write_model("outputs.onnx", outputs);
  expect_refused("verify " + path("outputs.onnx") + " " + path("m.so"), 3, {"outputs"});
  ModelBuilder reduced;
  reduced.input("x", {2, 5}).output("out/y");
  set_attribute(reduced.node("ReduceMax", {"x"}, {"out/y"}), "axes", std::vector<int64_t>{1});
  write_model("reduced.onnx", reduced);
  expect_refused("verify " + path("reduced.onnx") + " " + path("m.so"), 3, {"out/y", "f32[2x5]"});
}

}  // namespace
}  // namespace korch
