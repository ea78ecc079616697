// Files that are no executables, damaged or not for this machine: refused without running any of their code.
#include <elf.h>

#include <cstring>
#include <random>

#include "cli.h"
#include "korch/package/seal.h"

namespace korch {
namespace {

class BadExecutable : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    ASSERT_EQ(compile("m.onnx", "--no-verify"), 0) << err_;
    good_ = read_file(path("m.so"));
  }
  void expect_refused_by_all(const std::string& bytes, const std::vector<std::string>& words,
                             const std::vector<std::string>& verbs = {"run", "bench --rounds 5", "explain",
                                                                      "verify"}) {
    write_file(path("bad.so"), bytes);
    refuse_bad(words, verbs);
  }
  // Of bytes that have the checksums of an executable, whatever they are.
  void expect_refused_though_sealed(const std::string& bytes, const std::vector<std::string>& words,
                                    const std::vector<std::string>& verbs) {
    write_file(path("bad.so"), bytes);
    seal_executable(path("bad.so"));
    refuse_bad(words, verbs);
  }
  void refuse_bad(const std::vector<std::string>& words, const std::vector<std::string>& verbs) {
    for (const std::string& verb : verbs) {
      const std::string model = verb == "verify" ? path("m.onnx") + " " : "";
      expect_refused(verb + " " + model + path("bad.so"), 7, words);
    }
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string bytes = good_;
    size_t count = 0;
    for (size_t at = bytes.find(from); at != std::string::npos;
         at = bytes.find(from, at + to.size()), ++count)
      bytes.replace(at, from.size(), to);
    EXPECT_GT(count, 0u) << from;
    return bytes;
  }
  std::string good_;
};

TEST_F(BadExecutable, TextAndRandomBytes) {
  expect_refused_by_all("", {"bad.so", "it is empty"});
  expect_refused_by_all("hello", {"bad.so", "not a shared library"});
  std::string random(10000, '\0');
  uint32_t state = 1;
  for (char& c : random) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  expect_refused_by_all(random, {"not a shared library"});
  expect_refused_by_all(read_file(path("m.onnx")), {"looks like an ONNX model", "korch compile"});
  expect_refused_by_all("version https://git-lfs.github.com/spec/v1\n", {"git lfs pull"});
  expect_refused_by_all(good_.substr(0, 64) + random, {"bad.so"});
}

TEST_F(BadExecutable, Truncated) {
  for (size_t part = 1; part < 16; ++part)
    expect_refused_by_all(good_.substr(0, good_.size() * part / 16), {"bad.so"}, {"run", "explain"});
  expect_refused_by_all(good_.substr(0, good_.size() - 1), {"truncated"}, {"run"});
}

TEST_F(BadExecutable, ForAnotherCpu) {
  std::string arm = good_;
  const Elf64_Half machine = EM_AARCH64;
  std::memcpy(arm.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  expect_refused_by_all(arm, {"another kind of CPU"});
  const std::string trespasser = read_file(KORCH_TRESPASSER);
  expect_refused_by_all(trespasser, {"format 0"});
}

// Every verb looks at every byte before any of them is run: the file of m.so, of a network with weights.
TEST_F(BadExecutable, WithFlippedBits) {
  ModelBuilder b;
  b.input("x", {4, 64}).output("y");
  b.floats("w", {64, 32}, std::vector<float>(64 * 32, 0.25f));
  b.node("MatMul", {"x", "w"}, {"product"});
  b.node("Softmax", {"product"}, {"y"});
  write_model("m.onnx", b);
  ASSERT_EQ(compile("m.onnx", "--no-measure"), 0) << err_;
  good_ = read_file(path("m.so"));
  const std::vector<std::string> verbs = {"run", "verify", "explain", "bench --rounds 5"};
  std::mt19937 random(1);
  for (size_t round = 0; round < 160; ++round) {
    std::string bytes = good_;
    for (size_t flips = 1 + round % 8; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (bytes != good_) expect_refused_by_all(bytes, {"bad.so"}, {verbs[round / 8 % 4]});
  }
  expect_refused_by_all(good_ + good_, {"bad.so", "is damaged"});
}

TEST_F(BadExecutable, WhoseDamagedPartIsNamed) {
  std::string bytes = replaced("\"format\":", "\"farmot\":");
  expect_refused_by_all(bytes, {"bad.so", "is damaged", "its plan", "compile the model again"});
}

// For instructions that this CPU lacks, when there are such.
TEST_F(BadExecutable, ForANewerCpu) {
  const int code =
      run("compile " + path("m.onnx") + " -o " + path("new.so") + " --target x86-64-v4-vnni --no-profile-db");
  if (code == 0) GTEST_SKIP() << "this CPU runs every target that korch knows";
  ASSERT_EQ(run("compile " + path("m.onnx") + " -o " + path("new.so") +
                " --target x86-64-v4-vnni --no-measure --no-profile-db"),
            0)
      << err_;
  expect_refused("run " + path("new.so"), 7, {"x86-64-v4-vnni"});
}

TEST_F(BadExecutable, WithADamagedPlan) {
  expect_refused_though_sealed(replaced("\"format\":", "\"farmot\":"), {"plan"}, {"explain"});
  expect_refused_though_sealed(replaced("\"steps\":", "\"stops\":"), {"plan"}, {"explain"});
}

}  // namespace
}  // namespace korch
