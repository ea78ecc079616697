#include "korch/tensor/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "korch/base/files.h"
#include "korch/tensor/npz.h"

namespace korch {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::to_string(error.exit_code()) + " " + error.what();
  }
  return "no error";
}

std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string npy(const std::string& dictionary, const std::string& data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little_endian(dictionary.size(), 2) + dictionary + data;
}

const std::string kThreeFloats =
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n",
        little_endian(0x3f800000, 4) + little_endian(0x40000000, 4) + little_endian(0xc0400000, 4));

class Npy : public testing::Test {
 protected:
  std::string file(const std::string& content) {
    write_file(path(), content);
    return path();
  }
  std::string path() const { return folder_.path() + "/t"; }
  TempDir folder_;
};

TEST_F(Npy, EveryTypeAndRankRoundTrips) {
  for (int d = 0; d < kDTypeCount; ++d) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 4}, Shape{2, 1, 3}}) {
      HostTensor tensor(TensorType{static_cast<DType>(d), shape});
      for (int64_t i = 0; i < tensor.bytes(); ++i)
        tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i % 2);
      write_npy(path(), tensor);
      const HostTensor back = read_npy(path());
      EXPECT_TRUE(as_type(back, tensor.type()))
          << to_string(back.type()) << " is no " << to_string(tensor.type());
      EXPECT_EQ(std::memcmp(back.raw(), tensor.raw(), static_cast<size_t>(tensor.bytes())), 0);
    }
  }
}

TEST_F(Npy, HeaderIsWhatNumpyWrites) {
  write_npy(path(), HostTensor::of<float>(DType::f32, {1, 2}, {1, 2}));
  const std::string content = read_file(path());
  EXPECT_EQ(content.substr(10, 58), "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), ");
  EXPECT_EQ(content.size(), 128u + 8);  // the data starts at a multiple of 64
  EXPECT_EQ(content[127], '\n');
}

TEST_F(Npy, ReadsValues) {
  const HostTensor tensor = read_npy(file(kThreeFloats));
  EXPECT_EQ(tensor.shape(), Shape{3});
  EXPECT_EQ(tensor.data<float>()[2], -3.0f);
}

TEST_F(Npy, RefusesMalformedFiles) {
  const auto error = [&](const std::string& content) {
    const std::string text = error_of([&] { read_npy(file(content)); });
    return text.substr(0, 2) + text.substr(text.find("':") + 2);
  };
  EXPECT_EQ(error("hello"), "3  not an npy file");
  EXPECT_EQ(error(""), "3  not an npy file");
  EXPECT_EQ(error(kThreeFloats.substr(0, 40)), "3  npy header is truncated");
  EXPECT_EQ(error(kThreeFloats.substr(0, kThreeFloats.size() - 1)),
            "3  f32[3] needs 12 bytes of data, the file has 11");
  EXPECT_EQ(error(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (), }", "1234")),
            "3  npy element type '>f4' is not supported");
  EXPECT_EQ(error(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", "12345678")),
            "3  npy in Fortran order is not supported");
  EXPECT_EQ(error(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "")),
            "3  npy header has a malformed 'shape'");
  EXPECT_EQ(error(npy("{'descr': '<f4', 'shape': (), }", "1234")), "3  npy header has no 'fortran_order'");
  EXPECT_NE(error(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ""))
                .find("too many"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { read_npy(folder_.path() + "/missing"); }).substr(0, 1), "7");
}

TEST_F(Npy, ReadsArchivesThatNumpyWrote) {
  const auto tensors = read_npz(KORCH_SOURCE_DIR "/models/candy_224.ref.npz");
  EXPECT_FALSE(tensors.empty());
  for (const auto& [name, tensor] : tensors) EXPECT_GT(tensor.elements(), 0) << name;
}

std::map<std::string, HostTensor> two_tensors() {
  HostTensor x(TensorType{DType::f32, {2, 3}}), n(TensorType{DType::i64, {}});
  for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) - 2.5f;
  n.mutable_data<int64_t>()[0] = -7;
  return {{"in/x", x}, {"n", n}};
}

TEST_F(Npy, ArchivesComeBack) {
  const auto tensors = two_tensors();
  const std::string archive = npz_of(tensors);
  const auto again = parse_npz(archive, "a.npz");
  ASSERT_EQ(again.size(), 2u);
  for (const auto& [name, tensor] : tensors) {
    ASSERT_EQ(again.at(name).type(), tensor.type());
    EXPECT_EQ(npy_of(again.at(name)), npy_of(tensor)) << name;
  }
  EXPECT_TRUE(parse_npz(npz_of({}), "empty.npz").empty());
}

TEST_F(Npy, DamagedArchivesAreRefused) {
  const std::string archive = npz_of(two_tensors());
  for (size_t bytes = 0; bytes < archive.size(); ++bytes)
    EXPECT_EQ(error_of([&] { parse_npz(archive.substr(0, bytes), "a.npz"); }).substr(0, 1), "3") << bytes;
  // Any byte: an error, or one that says nothing of the tensors (a date, say).
  for (size_t at = 0; at < archive.size(); ++at) {
    std::string damaged = archive;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const std::string error = error_of([&] {
      const auto was = two_tensors();
      for (const auto& [name, tensor] : parse_npz(damaged, "a.npz"))
        EXPECT_TRUE(!was.contains(name) || npy_of(tensor) == npy_of(was.at(name))) << at;
    });
    EXPECT_TRUE(error == "no error" || error[0] == '3') << at << ": " << error;
  }
  // Deflated to less than is possible.
  std::string bomb = archive;
  const size_t entry = bomb.find("PK\1\2");
  bomb[entry + 10] = 8;
  EXPECT_EQ(error_of([&] { parse_npz(bomb, "a.npz"); }).substr(0, 1), "3");
}

}  // namespace
}  // namespace korch
