#include "korch/tensor/npy.h"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "korch/base/files.h"

namespace korch {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;  // the format asks the data to start at a multiple of it

struct Descriptor {
  const char* text;  // numpy's type string
  DType dtype;
};
// numpy has no bfloat16: it is written as two raw bytes, as ml_dtypes does.
constexpr Descriptor kDescriptors[] = {
    {"<f4", DType::f32}, {"<f8", DType::f64}, {"<f2", DType::f16}, {"|V2", DType::bf16}, {"<V2", DType::bf16},
    {"|i1", DType::i8},  {"<i2", DType::i16}, {"<i4", DType::i32}, {"<i8", DType::i64},  {"|u1", DType::u8},
    {"<u2", DType::u16}, {"<u4", DType::u32}, {"<u8", DType::u64}, {"|b1", DType::bool_}};

[[noreturn]] void malformed(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::invalid, fmt::format("'{}': {}", where, what));
}

// An unsigned little-endian number of `bytes` bytes; the caller has checked the bounds.
uint64_t little_endian(std::string_view data, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(data[at + i]);
  return value;
}

// The text after `'key':` in the header's dictionary, without leading blanks.
std::string_view field(std::string_view header, std::string_view key, const std::string& where) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) malformed(where, fmt::format("npy header has no '{}'", key));
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

DType parse_descriptor(std::string_view header, const std::string& where) {
  const std::string_view text = field(header, "descr", where);
  const size_t end = text.find('\'', 1);
  if (text.empty() || text.front() != '\'' || end == std::string_view::npos)
    malformed(where, "npy header has a structured or malformed 'descr'");
  const std::string_view descriptor = text.substr(1, end - 1);
  for (const Descriptor& known : kDescriptors)
    if (descriptor == known.text) return known.dtype;
  malformed(where, fmt::format("npy element type '{}' is not supported", descriptor));
}

Shape parse_shape(std::string_view header, const std::string& where) {
  std::string_view text = field(header, "shape", where);
  const size_t end = text.find(')');
  if (text.empty() || text.front() != '(' || end == std::string_view::npos)
    malformed(where, "npy header has a malformed 'shape'");
  text = text.substr(1, end - 1);
  Shape shape;
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    int64_t extent = 0;
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (code != std::errc() || extent < 0) malformed(where, "npy header has a malformed 'shape'");
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    shape.push_back(extent);
  }
  return shape;
}

HostTensor parse_npy(std::string_view data, const std::string& where) {
  constexpr size_t kVersionEnd = 8;
  if (data.substr(0, kMagic.size()) != kMagic || data.size() < kVersionEnd + 2)
    malformed(where, "not an npy file");
  const int version = data[kMagic.size()];
  if (version < 1 || version > 3) malformed(where, fmt::format("npy version {} is not supported", version));
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (data.size() < kVersionEnd + length_bytes) malformed(where, "npy header is truncated");
  const uint64_t length = little_endian(data, kVersionEnd, length_bytes);
  const size_t header_begin = kVersionEnd + length_bytes;
  if (length > data.size() - header_begin) malformed(where, "npy header is truncated");
  const std::string_view header = data.substr(header_begin, length);
  const std::string_view content = data.substr(header_begin + length);

  const TensorType type{parse_descriptor(header, where), parse_shape(header, where)};
  const bool fortran_order = field(header, "fortran_order", where).substr(0, 4) == "True";
  if (fortran_order && type.shape.size() > 1) malformed(where, "npy in Fortran order is not supported");
  if (static_cast<uint64_t>(type.bytes()) != content.size())
    malformed(where, fmt::format("{} needs {} bytes of data, the file has {}", to_string(type), type.bytes(),
                                 content.size()));
  HostTensor tensor(type);
  if (!content.empty()) std::memcpy(tensor.mutable_raw(), content.data(), content.size());
  return tensor;
}

// --- zip, as in APPNOTE.TXT 4.3: end record, central directory, local headers

constexpr uint64_t kEndSignature = 0x06054b50, kCentralSignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30, kMaxCommentBytes = 65535;
constexpr uint64_t kZip64Marker = 0xffffffff;
constexpr uint64_t kMaxDeflateRatio = 1032;  // of the deflate format itself: anything beyond is a lie

struct Member {
  std::string name;
  uint64_t method, crc, packed_bytes, bytes, local_offset;
};

size_t find_end_record(std::string_view data, const std::string& path) {
  if (data.size() < kEndBytes) malformed(path, "not an npz file");
  const size_t last = data.size() - kEndBytes;
  const size_t first = last > kMaxCommentBytes ? last - kMaxCommentBytes : 0;
  for (size_t at = last + 1; at-- > first;)
    if (little_endian(data, at, 4) == kEndSignature) return at;
  malformed(path, "not an npz file (no zip directory; truncated?)");
}

std::vector<Member> read_directory(std::string_view data, const std::string& path) {
  const size_t end = find_end_record(data, path);
  const uint64_t count = little_endian(data, end + 10, 2);
  uint64_t at = little_endian(data, end + 16, 4);
  std::vector<Member> members;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > end || end - at < kCentralBytes || little_endian(data, at, 4) != kCentralSignature)
      malformed(path, "damaged zip directory");
    const uint64_t name_bytes = little_endian(data, at + 28, 2);
    const uint64_t tail_bytes = little_endian(data, at + 30, 2) + little_endian(data, at + 32, 2);
    if (end - at - kCentralBytes < name_bytes + tail_bytes) malformed(path, "damaged zip directory");
    Member member;
    member.method = little_endian(data, at + 10, 2);
    member.crc = little_endian(data, at + 16, 4);
    member.packed_bytes = little_endian(data, at + 20, 4);
    member.bytes = little_endian(data, at + 24, 4);
    member.local_offset = little_endian(data, at + 42, 4);
    member.name = std::string(data.substr(at + kCentralBytes, name_bytes));
    const bool encrypted = (little_endian(data, at + 8, 2) & 1) != 0;
    if (encrypted) malformed(path, fmt::format("member '{}' is encrypted", member.name));
    for (uint64_t number : {member.packed_bytes, member.bytes, member.local_offset})
      if (number == kZip64Marker)
        malformed(path, "zip64 is not supported (member or offset of 4 GiB or more)");
    members.push_back(std::move(member));
    at += kCentralBytes + name_bytes + tail_bytes;
  }
  return members;
}

std::string inflate_member(std::string_view packed, const Member& member, const std::string& where) {
  if (member.bytes / kMaxDeflateRatio > packed.size()) malformed(where, "impossible uncompressed size");
  std::string content(member.bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error(ErrorKind::resource, "zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool complete = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!complete) malformed(where, "damaged deflated data");
  return content;
}

std::string member_content(std::string_view data, const Member& member, const std::string& where) {
  const uint64_t at = member.local_offset;
  if (at > data.size() || data.size() - at < kLocalBytes || little_endian(data, at, 4) != kLocalSignature)
    malformed(where, "damaged zip member");
  const uint64_t skip = kLocalBytes + little_endian(data, at + 26, 2) + little_endian(data, at + 28, 2);
  if (data.size() - at < skip || data.size() - at - skip < member.packed_bytes)
    malformed(where, "truncated zip member");
  const std::string_view packed = data.substr(at + skip, member.packed_bytes);
  std::string content;
  if (member.method == 0) {
    content = std::string(packed);
  } else if (member.method == 8) {
    content = inflate_member(packed, member, where);
  } else {
    malformed(where, fmt::format("zip compression method {} is not supported", member.method));
  }
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  if (crc != member.crc) malformed(where, "checksum differs: the file is damaged");
  return content;
}

std::string npy_header(const TensorType& type) {
  const Descriptor* descriptor = kDescriptors;
  const DType dtype = is_storage(type.dtype) ? carrier(type.dtype) : type.dtype;
  while (descriptor->dtype != dtype) ++descriptor;
  std::string extents;
  for (int64_t extent : type.shape) extents += fmt::format("{}, ", extent);
  if (type.shape.size() > 1) extents.resize(extents.size() - 2);
  if (type.shape.size() == 1) extents.pop_back();
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descriptor->text, extents);
  const bool short_header = dictionary.size() + kHeaderAlignment < 65536;
  const size_t prefix = kMagic.size() + 2 + (short_header ? 2 : 4);
  const size_t total =
      (prefix + dictionary.size() + 1 + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment;
  dictionary.append(total - prefix - dictionary.size() - 1, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += short_header ? '\1' : '\2';
  header += '\0';
  for (size_t i = 0; i < (short_header ? 2u : 4u); ++i)
    header += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return header + dictionary;
}

}  // namespace

HostTensor read_npy(const std::string& path) {
  return parse_npy(MappedFile(path).view(), path);
}

void write_npy(const std::string& path, const HostTensor& tensor) {
  const std::string header = npy_header(tensor.type());
  write_file_parts(path,
                   {header, {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())}});
}

std::map<std::string, HostTensor> read_npz(const std::string& path) {
  const MappedFile file(path);
  std::map<std::string, HostTensor> tensors;
  for (const Member& member : read_directory(file.view(), path)) {
    const std::string where = path + ":" + member.name;
    constexpr std::string_view kSuffix = ".npy";
    std::string name = member.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    HostTensor tensor = parse_npy(member_content(file.view(), member, where), where);
    if (!tensors.emplace(name, std::move(tensor)).second)
      malformed(path, fmt::format("two members '{}'", name));
  }
  return tensors;
}

}  // namespace korch
