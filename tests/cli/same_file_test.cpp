// What a command writes never lands on what it reads, on another output, or on anything but a regular file.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "cli.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

namespace fs = std::filesystem;

class SameFile : public Cli {
 protected:
  std::string quick(const std::string& output) const {
    return "compile " + path("m.onnx") + " -o " + path(output) + " --threads 1 --no-measure --no-verify";
  }
  // Refused, with the bytes of `kept` as they were.
  void expect_kept(const std::string& kept, const std::string& arguments,
                   const std::vector<std::string>& words) {
    const std::string before = read_file(path(kept));
    expect_refused(arguments, 2, words);
    EXPECT_EQ(read_file(path(kept)), before) << arguments;
  }
};

TEST_F(SameFile, OutputIsTheModel) {
  fs::create_symlink(path("m.onnx"), path("link.so"));
  fs::create_hard_link(path("m.onnx"), path("hard.so"));
  for (const char* output : {"m.onnx", "link.so", "hard.so", "tmp/../m.onnx"}) {
    expect_kept("m.onnx", quick(output) + " --no-profile-db", {"the model", "the output", "same file"});
    expect_kept("m.onnx", "fission " + path("m.onnx") + " -o " + path(output), {"the model", "the output"});
  }
}

TEST_F(SameFile, OutputIsExternalData) {
  ModelBuilder b;
  b.input("x", {2, 5}).output("y");
  auto& w = b.initializer("w", HostTensor(TensorType{DType::f32, {5}}));
  w.clear_raw_data();
  w.set_data_location(onnx::proto::TensorProto::EXTERNAL);
  auto* entry = w.add_external_data();
  entry->set_key("location");
  entry->set_value("weights.bin");
  b.node("Add", {"x", "w"}, {"y"});
  write_model("m.onnx", b);
  write_file(path("weights.bin"), std::string(20, '\0'));
  expect_kept("weights.bin", quick("weights.bin") + " --no-profile-db", {"external data", "the output"});
  expect_kept("weights.bin", "fission " + path("m.onnx") + " -o " + path("weights.bin"), {"external data"});
  EXPECT_EQ(run(quick("m.so") + " --no-profile-db"), 0) << err_;
}

TEST_F(SameFile, DatabaseIsAnother) {
  expect_kept("m.onnx", quick("m.so") + " --profile-db " + path("m.onnx"),
              {"m.onnx", "not a kernel database"});
  expect_refused(quick("k.db") + " --profile-db " + path("k.db"), 2, {"the output", "the kernel database"});
  expect_refused(quick("k.db-wal") + " --profile-db " + path("k.db"), 2,
                 {"the output", "the kernel database"});
  EXPECT_EQ(files().count("k.db") + files().count("k.db-wal"), 0u);
}

TEST_F(SameFile, DumpsAreOthers) {
  make_directories(path("dump"));
  fs::create_hard_link(path("m.onnx"), path("dump/3-candidates.txt"));
  expect_kept("m.onnx", quick("m.so") + " --no-profile-db --dump-dir " + path("dump"),
              {"the model", "3-candidates"});
  fs::remove(path("dump/3-candidates.txt"));
  expect_refused(quick("dump/5-plan.json") + " --no-profile-db --dump-dir " + path("dump"), 2,
                 {"the output", "5-plan.json"});
  expect_refused(quick("dump/kernel-000.cpp") + " --no-profile-db --dump-dir " + path("dump"), 2,
                 {"the output", "kernel-000.cpp"});
}

TEST_F(SameFile, OutputsOfARun) {
  ASSERT_EQ(run(quick("m.so") + " --no-profile-db"), 0) << err_;
  make_directories(path("out"));
  write_npy(path("x.npy"), HostTensor(TensorType{DType::f32, {2, 5}}));
  fs::create_symlink(path("x.npy"), path("out/out_y.npy"));
  expect_kept("x.npy", "run " + path("m.so") + " --input x=" + path("x.npy") + " --output-dir " + path("out"),
              {"the input 'x'", "the output 'out/y'"});
  fs::remove(path("out/out_y.npy"));
  fs::create_hard_link(path("m.so"), path("out/out_y.npy"));
  expect_kept("m.so", "run " + path("m.so") + " --output-dir " + path("out"),
              {"the executable", "the output"});
}

TEST_F(SameFile, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string socket_path = path("socket");
  ASSERT_LT(socket_path.size(), sizeof address.sun_path);
  socket_path.copy(address.sun_path, socket_path.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  fs::create_symlink("/dev/null", path("null"));
  fs::create_symlink(path("round"), path("round"));
  make_directories(path("folder"));
  for (const auto& [name, kind] : std::vector<std::pair<std::string, std::string>>{{"pipe", "a pipe"},
                                                                                   {"socket", "a socket"},
                                                                                   {"null", "a device"},
                                                                                   {"folder", "a folder"},
                                                                                   {"round", "nowhere"}}) {
    const fs::file_status before = fs::symlink_status(path(name));
    expect_refused(quick(name) + " --no-profile-db", 2, {path(name), kind});
    expect_refused("fission " + path("m.onnx") + " -o " + path(name), 2, {path(name), kind});
    expect_refused("model unet_like_32 -o " + path(name), 2, {path(name), kind});
    EXPECT_EQ(fs::symlink_status(path(name)).type(), before.type()) << name;
  }
  expect_refused(quick("m.so") + " --profile-db " + path("pipe"), 2, {path("pipe"), "not a kernel database"});
  expect_refused("compile " + path("pipe") + " -o " + path("m.so"), 7, {path("pipe"), "not a regular file"});
  EXPECT_EQ(files().count("m.so"), 0u);
}

TEST_F(SameFile, LinksAreFollowed) {
  make_directories(path("real"));
  write_file(path("real/m.so"), "the old one");
  fs::create_symlink("real/m.so", path("link.so"));
  fs::create_symlink("real/new.so", path("new-link.so"));
  for (const char* link : {"link.so", "new-link.so"}) {
    ASSERT_EQ(run(quick(link) + " --no-profile-db"), 0) << err_;
    EXPECT_TRUE(fs::is_symlink(path(link)));
    EXPECT_EQ(run("run " + path(link)), 0) << err_;
  }
  EXPECT_NE(read_file(path("real/m.so")), "the old one");
  EXPECT_TRUE(fs::is_regular_file(path("real/new.so")));
}

TEST_F(SameFile, NumbersOfThreadsOutOfRange) {
  ASSERT_EQ(run(quick("m.so") + " --no-profile-db"), 0) << err_;
  for (const std::string& verb :
       {"run " + path("m.so"), "bench " + path("m.so"), std::string("doctor"), quick("n.so")})
    for (const char* count : {"-5", "2000000000"})
      EXPECT_EQ(run(verb + " --threads=" + count), 2) << verb << ": " << err_;
}

}  // namespace
}  // namespace korch
