#include "korch/tensor/npy.h"

#include <fmt/format.h>

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

HostTensor read_npy(const std::string& path) {
  return parse_npy(MappedFile(path).view(), path);
}

std::string npy_of(const HostTensor& tensor) {
  return npy_header(tensor.type())
      .append(static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes()));
}

void write_npy(const std::string& path, const HostTensor& tensor) {
  const std::string header = npy_header(tensor.type());
  write_file_parts(path,
                   {header, {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())}});
}

}  // namespace korch
