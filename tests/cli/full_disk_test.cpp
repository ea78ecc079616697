// A disk that is full, as a small file system of its own (where this process may mount one) and as a limit on
// file sizes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cli.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

constexpr const char* kFileLimit = "ulimit -f 64";  // blocks of 512 bytes, in the shells that follow POSIX

// exp(x) * w with weights that do not compress: an executable of more than 4 MB.
ModelBuilder large_model() {
  ModelBuilder b;
  b.input("x", {1 << 20}).output("y");
  std::vector<float> weights(1 << 20);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  b.floats("w", {1 << 20}, weights);
  b.node("Exp", {"x"}, {"e"});
  b.node("Mul", {"e", "w"}, {"y"});
  return b;
}

class FileSizeLimit : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_model("large.onnx", large_model());
    write_file(path("m.so"), "the old one");
  }
};

TEST_F(FileSizeLimit, Output) {
  expect_refused(
      "compile " + path("large.onnx") + " -o " + path("m.so") + " --no-profile-db --no-measure --no-verify",
      6, {"File too large"}, kFileLimit);
  EXPECT_EQ(read_file(path("m.so")), "the old one");
}

TEST_F(FileSizeLimit, DatabaseIsNoObstacle) {
  // The program's text of the plan is small, its database is not.
  EXPECT_EQ(run(compile_arguments("m.onnx", "--stop-after plan"), "ulimit -f 8"), 0) << err_;
  EXPECT_TRUE(says("korch: warning: kernel database")) << err_;
}

TEST_F(FileSizeLimit, OutputsOfARun) {
  ASSERT_EQ(run("compile " + path("large.onnx") + " -o " + path("m.so") +
                " --no-profile-db --no-measure --no-verify"),
            0)
      << err_;
  expect_refused("run " + path("m.so") + " --output-dir " + path("out"), 6, {"y.npy", "File too large"},
                 kFileLimit);
  EXPECT_FALSE(file_exists(path("out/y.npy")));
}

// A folder on a file system of 128 KiB, most of them taken, that only the command sees.
class SmallDisk : public FileSizeLimit {
 protected:
  void SetUp() override {
    FileSizeLimit::SetUp();
    make_directories(path("disk"));
    if (std::system((mount() + " 'true' >/dev/null 2>&1").c_str()) != 0)
      GTEST_SKIP() << "cannot mount a file system here (needs root, or user namespaces)";
  }
  std::string mount() const {
    return std::string(::geteuid() == 0 ? "unshare -m" : "unshare -rm") +
           " sh -c 'mount -t tmpfs -o size=128k none " + path("disk") + " && eval \"$1\"' sh";
  }
  // What is left on the disk is listed behind the program's own output.
  int run_there(const std::string& arguments) {
    const std::string inner = std::string("export TMPDIR=") + temporary_folder() + "; echo old >" +
                              path("disk/m.so") + "; head -c 100000 /dev/zero >" + path("disk/filler") +
                              "; " + KORCH_PROGRAM + " " + arguments +
                              "; code=$?; echo; echo left: $(ls -A " + path("disk") + ") $(cat " +
                              path("disk/m.so") + "); exit $code";
    const int status = std::system(
        (mount() + " '" + inner + "' >" + path("log.out") + " 2>" + path("log.err") + " </dev/null").c_str());
    out_ = read_file(path("log.out"));
    err_ = read_file(path("log.err"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
};

TEST_F(SmallDisk, Output) {
  EXPECT_EQ(run_there("compile " + path("large.onnx") + " -o " + path("disk/m.so") +
                      " --no-profile-db --no-measure --no-verify"),
            6)
      << err_;
  EXPECT_TRUE(says("No space left")) << err_;
  EXPECT_TRUE(says("left: filler m.so old\n")) << out_;
}

TEST_F(SmallDisk, Dumps) {
  // The source of one kernel is a few KiB; the plan of so many is larger than the disk.
  ModelBuilder b;
  b.input("x0", {4, 64}).output("x2000");
  for (int i = 0; i < 2000; ++i)
    b.node(i % 2 == 0 ? "Exp" : "Sin", {"x" + std::to_string(i)}, {"x" + std::to_string(i + 1)});
  write_model("long.onnx", b);
  EXPECT_EQ(run_there("compile " + path("long.onnx") + " --stop-after fission --no-profile-db --dump-dir " +
                      path("disk")),
            6)
      << err_;
  EXPECT_TRUE(says("No space left")) << err_;
}

TEST_F(SmallDisk, DatabaseIsNoObstacle) {
  EXPECT_EQ(run_there("compile " + path("large.onnx") + " --stop-after plan --threads 1 --profile-db " +
                      path("disk/k.db")),
            0)
      << err_;
  EXPECT_TRUE(says("korch: warning: kernel database")) << err_;
}

}  // namespace
}  // namespace korch
