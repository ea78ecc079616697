#include "npz.h"

#include <zlib.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

// Of a zip archive (APPNOTE.TXT, 4.3): the end of its directory, an entry there, what stands before a member.
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;

size_t number(const std::string& file, size_t at, size_t bytes) {
  size_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(file.at(at + i));
  return value;
}

std::string inflated(const std::string& packed, size_t bytes) {
  std::string content(bytes, 0);
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(bytes);
  KORCH_ASSERT(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib");
  KORCH_ASSERT(inflate(&stream, Z_FINISH) == Z_STREAM_END && inflateEnd(&stream) == Z_OK, "deflated data");
  return content;
}

}  // namespace

std::map<std::string, HostTensor> read_npz(const std::string& path) {
  const std::string file = read_file(path);
  const size_t end = file.size() - kEndBytes;  // NumPy writes no comment behind it
  KORCH_ASSERT(file.substr(end, 4) == "PK\5\6", path);
  std::map<std::string, HostTensor> tensors;
  for (size_t at = number(file, end + 16, 4); at < end && file.substr(at, 4) == "PK\1\2";) {
    const size_t method = number(file, at + 10, 2), packed = number(file, at + 20, 4),
                 bytes = number(file, at + 24, 4), name_bytes = number(file, at + 28, 2),
                 local = number(file, at + 42, 4);
    const size_t begin = local + kLocalBytes + number(file, local + 26, 2) + number(file, local + 28, 2);
    const std::string name = file.substr(at + kEntryBytes, name_bytes), content = file.substr(begin, packed);
    tensors.emplace(name.substr(0, name.rfind(".npy")),
                    parse_npy(method == 0 ? content : inflated(content, bytes), name));
    at += kEntryBytes + name_bytes + number(file, at + 30, 2) + number(file, at + 32, 2);
  }
  return tensors;
}

}  // namespace korch
