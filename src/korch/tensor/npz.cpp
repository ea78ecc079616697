#include "korch/tensor/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>
#include <vector>

#include "korch/base/files.h"
#include "korch/base/printable.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

// Of a zip archive (APPNOTE.TXT, 4.3): the end of its directory, an entry there, what stands before a member.
constexpr std::string_view kEnd = "PK\5\6", kEntry = "PK\1\2", kLocal = "PK\3\4";
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kLongestComment = 65535;
constexpr uint16_t kZip64 = 1;  // an extra field with numbers of 8 bytes
constexpr uint64_t kInZip64 = 0xffffffff;
constexpr uint64_t kMostRatio = 1032;  // of deflated data; more is a lie

// Numbers and texts of the file, whose bounds are checked.
class ZipBytes {
 public:
  ZipBytes(std::string_view data, const std::string& where) : data_(data), where_(where) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::invalid, fmt::format("'{}': {}", where_, what));
  }
  std::string_view text(uint64_t at, uint64_t bytes) const {
    if (at > data_.size() || bytes > data_.size() - at) refuse("the npz archive is truncated");
    return data_.substr(at, bytes);
  }
  uint64_t number(uint64_t at, size_t bytes) const {
    const std::string_view digits = text(at, bytes);
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(digits[i]);
    return value;
  }
  // Where the record with the end of the directory begins.
  uint64_t end() const {
    const size_t least =
        data_.size() < kEndBytes + kLongestComment ? 0 : data_.size() - kEndBytes - kLongestComment;
    const size_t at = data_.rfind(kEnd);
    if (at == data_.npos || at < least || data_.size() - at < kEndBytes) refuse("not an npz archive");
    return at;
  }

 private:
  std::string_view data_;
  const std::string& where_;
};

struct Member {
  std::string name;
  uint64_t method = 0, packed = 0, bytes = 0, local = 0, checksum = 0;
  uint64_t entry_bytes = 0;
};

// Numbers that need 8 bytes stand in an extra field, those that do not are left out there.
void read_zip64(const ZipBytes& zip, uint64_t at, uint64_t end, Member& member) {
  while (at + 4 <= end) {
    const uint64_t kind = zip.number(at, 2), bytes = zip.number(at + 2, 2);
    at += 4;
    uint64_t field = at;
    if (kind == kZip64)
      for (uint64_t* value : {&member.bytes, &member.packed, &member.local})
        if (*value == kInZip64) {
          *value = zip.number(field, 8);
          field += 8;
        }
    at += bytes;
  }
}

Member read_entry(const ZipBytes& zip, uint64_t at) {
  if (zip.text(at, 4) != kEntry) zip.refuse("the directory of the npz archive is malformed");
  const uint64_t name_bytes = zip.number(at + 28, 2), extra_bytes = zip.number(at + 30, 2);
  Member member{std::string(zip.text(at + kEntryBytes, name_bytes)),
                zip.number(at + 10, 2),
                zip.number(at + 20, 4),
                zip.number(at + 24, 4),
                zip.number(at + 42, 4),
                zip.number(at + 16, 4),
                kEntryBytes + name_bytes + extra_bytes + zip.number(at + 32, 2)};
  if ((zip.number(at + 8, 2) & 1) != 0) zip.refuse("the npz archive is encrypted");
  read_zip64(zip, at + kEntryBytes + name_bytes, at + kEntryBytes + name_bytes + extra_bytes, member);
  return member;
}

uint32_t checksum_of(std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string inflated_member(const ZipBytes& zip, std::string_view packed, uint64_t bytes) {
  constexpr uint64_t kMost = std::numeric_limits<uInt>::max();  // zlib counts by these
  if (bytes / kMostRatio > packed.size() || bytes > kMost || packed.size() > kMost)
    zip.refuse("a member of the npz archive has a size that is not possible");
  std::string content(bytes, 0);
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(bytes);
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const int code = ::inflate(&stream, Z_FINISH);
  ::inflateEnd(&stream);
  if (code != Z_STREAM_END || stream.avail_out != 0) zip.refuse("a member of the npz archive is damaged");
  return content;
}

HostTensor read_member(const ZipBytes& zip, const Member& member, const std::string& where) {
  if (zip.text(member.local, 4) != kLocal)
    zip.refuse("a member of the npz archive is not where it should be");
  const uint64_t begin =
      member.local + kLocalBytes + zip.number(member.local + 26, 2) + zip.number(member.local + 28, 2);
  std::string_view content = zip.text(begin, member.packed);
  std::string inflated;
  if (member.method == Z_DEFLATED)
    content = inflated = inflated_member(zip, content, member.bytes);
  else if (member.method != 0)
    zip.refuse("a member of the npz archive is packed in an unknown way");
  if (checksum_of(content) != member.checksum) zip.refuse("a member of the npz archive is damaged");
  return parse_npy(content, where);
}

// Little-endian.
void append(std::string& text, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
}

// What the entry in the directory and the record before the member have in common, from the version on. Sizes
// stand in a field of 8 bytes each.
std::string common_record(const std::string& name, uint32_t checksum) {
  constexpr uint16_t kVersion = 45, kUtf8 = 1 << 11, kFirstDay = 1 << 5 | 1;  // 1980-01-01
  std::string record;
  append(record, kVersion, 2);
  append(record, kUtf8, 2);
  append(record, 0, 2);  // stored
  append(record, 0, 2);
  append(record, kFirstDay, 2);
  append(record, checksum, 4);
  append(record, kInZip64, 4);
  append(record, kInZip64, 4);
  append(record, name.size(), 2);
  return record;
}

std::string zip64_field(const std::vector<uint64_t>& values) {
  std::string field;
  append(field, kZip64, 2);
  append(field, 8 * values.size(), 2);
  for (uint64_t value : values) append(field, value, 8);
  return field;
}

// Behind the directory: its place, in numbers of 8 bytes and in the old record.
std::string end_records(uint64_t count, uint64_t begin, uint64_t end) {
  std::string text = "PK\6\6";
  append(text, 44, 8);
  append(text, 45, 2);
  append(text, 45, 2);
  append(text, 0, 8);
  for (uint64_t value : {count, count, end - begin, begin}) append(text, value, 8);
  text += "PK\6\7";
  append(text, 0, 4);
  append(text, end, 8);
  append(text, 1, 4);
  text += kEnd;
  append(text, 0, 4);
  const bool fits = count < 0xffff && end < kInZip64;
  for (int i = 0; i < 2; ++i) append(text, fits ? count : 0xffff, 2);
  append(text, fits ? end - begin : kInZip64, 4);
  append(text, fits ? begin : kInZip64, 4);
  append(text, 0, 2);
  return text;
}

}  // namespace

std::map<std::string, HostTensor> parse_npz(std::string_view data, const std::string& where) {
  const ZipBytes zip(data, where);
  const uint64_t end = zip.end();
  uint64_t at = zip.number(end + 16, 4), count = zip.number(end + 10, 2);
  if (at == kInZip64 || count == 0xffff) {
    constexpr uint64_t kLocatorBytes = 20;
    if (end < kLocatorBytes || zip.text(end - kLocatorBytes, 4) != "PK\6\7") zip.refuse("not an npz archive");
    const uint64_t record = zip.number(end - kLocatorBytes + 8, 8);
    count = zip.number(record + 32, 8);
    at = zip.number(record + 48, 8);
  }
  std::map<std::string, HostTensor> tensors;
  for (uint64_t i = 0; i < count; ++i) {
    const Member member = read_entry(zip, at);
    at += member.entry_bytes;
    if (!member.name.ends_with(".npy"))
      zip.refuse(fmt::format("'{}' in the npz archive is no .npy file", printable(member.name)));
    const std::string name = member.name.substr(0, member.name.size() - 4);
    const std::string member_where = fmt::format("{}' in '{}", printable(member.name), where);
    if (!tensors.emplace(name, read_member(zip, member, member_where)).second)
      zip.refuse(fmt::format("the npz archive has two members '{}'", printable(member.name)));
  }
  return tensors;
}

std::map<std::string, HostTensor> read_npz(const std::string& path) {
  return parse_npz(MappedFile(path).view(), path);
}

std::string npz_of(const std::map<std::string, HostTensor>& tensors) {
  std::string file, directory;
  for (const auto& [tensor, value] : tensors) {
    const std::string name = tensor + ".npy", content = npy_of(value);
    const std::string common = common_record(name, checksum_of(content));
    const uint64_t begin = file.size(), bytes = content.size();
    const std::string sizes = zip64_field({bytes, bytes}), place = zip64_field({bytes, bytes, begin});
    file.append(kLocal).append(common);
    append(file, sizes.size(), 2);
    file.append(name).append(sizes).append(content);
    directory.append(kEntry);
    append(directory, 45, 2);
    directory.append(common);
    append(directory, place.size(), 2);
    directory.append(10, '\0');  // no comment, disk 0, no attributes
    append(directory, kInZip64, 4);
    directory.append(name).append(place);
  }
  const uint64_t begin = file.size();
  file += directory;
  return file += end_records(tensors.size(), begin, file.size());
}

}  // namespace korch
