// Names that are not given, archives, and the standard input and output.
#include <filesystem>

#include "cli.h"
#include "korch/tensor/npy.h"
#include "korch/tensor/npz.h"

namespace korch {
namespace {

class Streams : public Cli {
 protected:
  // In the test's folder.
  int run_here(const std::string& arguments) { return run(arguments, "cd " + folder_.path()); }
  std::string quick(const std::string& model) const {
    return "compile " + model + " --threads 1 --no-measure --no-verify --no-profile-db --quiet";
  }
  static HostTensor tenths(float first) {
    HostTensor x(TensorType{DType::f32, {2, 5}});
    for (int i = 0; i < 10; ++i) x.mutable_data<float>()[i] = first + 0.1f * static_cast<float>(i);
    return x;
  }
};

TEST_F(Streams, TheOutputHasTheNetworksName) {
  make_directories(path("models"));
  std::filesystem::rename(path("m.onnx"), path("models/net.v2.onnx"));
  ASSERT_EQ(run_here(quick("models/net.v2.onnx")), 0) << err_;
  EXPECT_TRUE(says("wrote net.v2.so")) << out_;
  EXPECT_TRUE(file_exists(path("net.v2.so")));
  ASSERT_EQ(run_here(quick("models/net.v2.onnx")), 0) << err_;  // its own may be replaced
  write_file(path("net.v2.so"), "somebody else's");
  EXPECT_EQ(run_here(quick("models/net.v2.onnx")), 2);
  EXPECT_TRUE(says("'net.v2.so' is there and no executable of korch")) << err_;
  EXPECT_EQ(read_file(path("net.v2.so")), "somebody else's");
  EXPECT_EQ(run_here(quick("models/net.v2.onnx") + " -o net.v2.so"), 0) << err_;  // who names it means it
  ASSERT_EQ(run_here("model unet_like_32"), 0) << err_;
  EXPECT_TRUE(file_exists(path("unet_like_32.onnx")));
}

TEST_F(Streams, AModelCalledLikeItsOutputIsKept) {
  std::filesystem::rename(path("m.onnx"), path("net.so"));
  const std::string before = read_file(path("net.so"));
  EXPECT_EQ(run_here(quick("net.so")), 2);
  EXPECT_EQ(read_file(path("net.so")), before);
}

TEST_F(Streams, TheNetworkComesFromTheStandardInput) {
  ASSERT_EQ(run_here(quick("-") + " -o m.so <m.onnx"), 0) << err_;
  EXPECT_EQ(run_here("verify - m.so <m.onnx"), 0) << err_;
  EXPECT_EQ(run_here("fission - -o f.onnx <m.onnx"), 0) << err_;
  EXPECT_EQ(run_here(quick("-") + " <m.onnx"), 2);
  EXPECT_TRUE(says("-o FILE.so")) << err_;
  EXPECT_EQ(run_here(quick("-") + " -o n.so </dev/null"), 3);
  EXPECT_FALSE(file_exists(path("n.so")));
}

TEST_F(Streams, ArchivesOfInputsAndOutputs) {
  ASSERT_EQ(run_here(quick("m.onnx") + " -o m.so"), 0) << err_;
  write_npy(path("x.npy"), tenths(0));
  write_file(path("x.npz"), npz_of({{"x", tenths(0)}}));
  ASSERT_EQ(run_here("run m.so --input x=x.npy --output-dir out"), 0) << err_;
  const HostTensor y = read_npy(path("out/out_y.npy"));
  const auto expect_same = [&](const std::string& arguments, const std::string& file) {
    ASSERT_EQ(run_here(arguments), 0) << arguments << ": " << err_;
    const auto outputs = read_npz(path(file));
    ASSERT_EQ(outputs.size(), 1u);
    const HostTensor& other = outputs.at("out/y");
    ASSERT_EQ(other.type(), y.type());
    EXPECT_EQ(std::string(static_cast<const char*>(other.raw()), 40),
              std::string(static_cast<const char*>(y.raw()), 40))
        << arguments;
  };
  expect_same("run m.so --input x.npz -o y.npz", "y.npz");
  expect_same("run m.so --input x=x.npz --output z.npz", "z.npz");
  expect_same("run m.so --input - --output - <x.npz >streamed.npz", "streamed.npz");
  EXPECT_EQ(run_here("bench m.so --rounds 5 --input x.npz"), 0) << err_;
}

TEST_F(Streams, ArchivesThatDoNotFitAreRefused) {
  ASSERT_EQ(run_here(quick("m.onnx") + " -o m.so"), 0) << err_;
  write_file(path("x.npz"), npz_of({{"x", tenths(0)}}));
  write_file(path("other.npz"), npz_of({{"z", tenths(0)}}));
  const std::string archive = read_file(path("x.npz"));
  for (const auto& [arguments, code, words] : std::vector<std::tuple<std::string, int, std::string>>{
           {"--input other.npz", 3, "no input named 'z'"},
           {"--input x=other.npz", 3, "holds no 'x.npy'"},
           {"--input x.npz --input x=x.npz", 2, "'x' twice"},
           {"--input - --input - <x.npz", 2, "standard input twice"},
           {"--input x.npy", 2, "NAME=FILE.npy"},
           {"--input none.npz", 7, "none.npz"},
           {"--input x.npz -o x.npz", 2, "the same file"},
           {"--input x.npz -o m.so", 2, "the same file"},
           {"--input - </dev/null", 3, "not an npz archive"}}) {
    EXPECT_EQ(run_here("run m.so " + arguments), code) << arguments << ": " << err_;
    EXPECT_TRUE(says(words)) << arguments << ": " << err_;
  }
  EXPECT_EQ(read_file(path("x.npz")), archive);
}

}  // namespace
}  // namespace korch
