#include "korch/package/seal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/package/executable.h"
#include "korch/package/tables.h"
#include "korch/runtime/check.h"
#include "korch/runtime/checksum.h"

namespace korch {
namespace {

using rt::CheckedRange;
using rt::CheckRecord;
using rt::Mapped;
using rt::Part;

uint64_t sum_of(std::string_view bytes) {
  return rt::checksum(bytes.data(), bytes.size());
}

uint64_t sum_of_record(CheckRecord record) {
  record.record_sum = 0;
  return rt::checksum(&record, sizeof record);
}

Part part_of(const ElfFile& file, const Elf64_Shdr& section) {
  const std::string_view name = file.name(section);
  if (name == kWeightsSection) return Part::weights;
  if (name == kPlanSection || name == kTargetSection || name == kSourcesSection || name == kGraphsSection)
    return Part::plan;
  if (name == ".shstrtab") return Part::headers;
  return (section.sh_flags & SHF_EXECINSTR) != 0 ? Part::code : Part::tables;
}

// What the dynamic loader, and nobody else, changes: tables that hold addresses.
Mapped mapped(const ElfFile& file, const Elf64_Shdr& section) {
  if (file.name(section) == kLinkedInfoSection) return Mapped::relocated;
  const uint64_t flags = section.sh_flags & (SHF_ALLOC | SHF_WRITE);
  return flags == SHF_ALLOC ? Mapped::same : Mapped::no;
}

// Where the table of program headers, which the dynamic loader obeys, lies in the file and in the image.
CheckedRange program_headers(const ElfFile& file) {
  const Elf64_Ehdr& header = file.header();
  const auto& segments = file.segments();
  const auto table = std::find_if(segments.begin(), segments.end(),
                                  [](const Elf64_Phdr& segment) { return segment.p_type == PT_PHDR; });
  KORCH_ASSERT(table != segments.end(), "the linker maps the program headers");
  return {header.e_phoff, segments.size() * sizeof(Elf64_Phdr), table->p_vaddr, 0, Part::headers,
          Mapped::same};
}

// The file cut into program headers, sections and what lies between them, by offset, without the record.
std::vector<CheckedRange> cut(const ElfFile& file, const Elf64_Shdr& record) {
  std::vector<CheckedRange> contents = {program_headers(file)};
  for (const Elf64_Shdr& section : file.sections())
    if (!file.content(section).empty())
      contents.push_back({section.sh_offset, section.sh_size, section.sh_addr, 0, part_of(file, section),
                          mapped(file, section)});
  std::sort(contents.begin(), contents.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<CheckedRange> ranges;
  uint64_t end = 0;
  const auto add_gap = [&](uint64_t until) {
    // Before the first section and behind the last one there are headers; else, filling.
    const Part part = ranges.size() < 2 || until == file.all().size() ? Part::headers : Part::tables;
    if (until > end) ranges.push_back({end, until - end, 0, 0, part, Mapped::no});
    end = until;
  };
  for (const CheckedRange& content : contents) {
    KORCH_ASSERT(content.offset >= end, "sections of a linked file overlap");
    add_gap(content.offset);
    if (content.offset != record.sh_offset) ranges.push_back(content);
    end = content.offset + content.size_bytes;
  }
  add_gap(file.all().size());
  return ranges;
}

CheckRecord record_of(const ElfFile& file) {
  const Elf64_Shdr* section = file.find(kCheckSection);
  KORCH_ASSERT(section != nullptr && section->sh_size == sizeof(CheckRecord), "no room for checksums");
  CheckRecord record{};
  record.magic = rt::kCheckMagic;
  record.format = rt::kExecutableFormat;
  record.record_bytes = sizeof(CheckRecord);
  record.file_bytes = file.all().size();
  if (const Elf64_Shdr* relocations = file.find(".rela.dyn")) {
    std::vector<Elf64_Rela> all(relocations->sh_size / sizeof(Elf64_Rela));
    std::memcpy(all.data(), file.content(*relocations).data(), all.size() * sizeof(Elf64_Rela));
    const auto rising = std::is_sorted_until(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.r_offset < b.r_offset; });
    record.relocations = relocations->sh_addr;
    record.relocation_count = all.size();
    record.rising_relocations = static_cast<uint64_t>(rising - all.begin());
  }
  const std::vector<CheckedRange> ranges = cut(file, *section);
  KORCH_ASSERT(ranges.size() <= rt::kMostCheckedRanges, "too many sections for the checksums");
  record.range_count = ranges.size();
  std::copy(ranges.begin(), ranges.end(), record.ranges);
  for (CheckedRange& range : record.ranges) range.sum = sum_of(file.bytes(range.offset, range.size_bytes));
  record.record_sum = sum_of_record(record);
  return record;
}

const char* name(Part part) {
  static constexpr const char* kNames[] = {"headers", "code", "tables", "weights", "plan"};
  const auto number = static_cast<size_t>(part);  // as the file says
  return number < std::size(kNames) ? kNames[number] : "bytes";
}

[[noreturn]] void refuse_damaged(const ElfFile& file, const std::string& what) {
  throw Error(ErrorKind::io, fmt::format("'{}' is damaged: {}; copy it again or compile the model again",
                                         file.path(), what));
}

[[noreturn]] void refuse_format(const ElfFile& file, uint32_t format) {
  throw Error(
      ErrorKind::io,
      fmt::format("'{}' was written in format {}, this korch reads format {}: compile the model again",
                  file.path(), format, rt::kExecutableFormat));
}

// The record, which is what was written: its own sum says so.
CheckRecord read_record(const ElfFile& file) {
  const Elf64_Shdr* section = file.find(kCheckSection);
  if (section == nullptr) {
    constexpr uint64_t kMagic = rt::kCheckMagic;
    if (file.all().find({reinterpret_cast<const char*>(&kMagic), sizeof kMagic}) != std::string_view::npos)
      refuse_damaged(file, "its headers are not what korch wrote");
    file.section(kPlanSection);
    refuse_format(file, 0);  // before there were checksums
  }
  std::string bytes(file.content(*section));
  constexpr size_t kHead = offsetof(CheckRecord, file_bytes);
  CheckRecord record{};
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  bool good = bytes.size() >= kHead && record.magic == rt::kCheckMagic && record.record_bytes == bytes.size();
  if (good) {
    std::memset(bytes.data() + offsetof(CheckRecord, record_sum), 0, sizeof record.record_sum);
    good = sum_of(bytes) == record.record_sum;
  }
  if (!good) refuse_damaged(file, "its checksums are not what korch wrote");
  if (record.format != rt::kExecutableFormat) refuse_format(file, record.format);
  if (bytes.size() != sizeof record || record.range_count > rt::kMostCheckedRanges)
    refuse_damaged(file, "its checksums are not what korch wrote");
  return record;
}

// Whether the dynamic loader puts the section where it says, and from where it lies in the file.
bool is_mapped(const ElfFile& file, const Elf64_Shdr& section) {
  return std::any_of(file.segments().begin(), file.segments().end(), [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && section.sh_addr >= segment.p_vaddr &&
           section.sh_addr - segment.p_vaddr <= segment.p_filesz &&
           section.sh_size <= segment.p_filesz - (section.sh_addr - segment.p_vaddr) &&
           section.sh_addr - segment.p_vaddr == section.sh_offset - segment.p_offset;
  });
}

// The range among the program headers and sections of a file that was written anew.
bool has_range(const ElfFile& file, const CheckedRange& range) {
  if (range.part == Part::headers)
    return range.offset == file.header().e_phoff &&
           range.size_bytes == file.segments().size() * sizeof(Elf64_Phdr) &&
           sum_of(file.bytes(range.offset, range.size_bytes)) == range.sum;
  return std::any_of(file.sections().begin(), file.sections().end(), [&](const Elf64_Shdr& section) {
    const bool is_it = section.sh_addr == range.address && section.sh_size == range.size_bytes &&
                       part_of(file, section) == range.part;
    return is_it && (range.address == 0 || is_mapped(file, section)) &&
           sum_of(file.content(section)) == range.sum;
  });
}

// Behind the last byte of all that headers tell of.
uint64_t end_of_content(const ElfFile& file) {
  const Elf64_Ehdr& header = file.header();
  uint64_t end = header.e_shoff + file.sections().size() * sizeof(Elf64_Shdr);
  for (const Elf64_Shdr& section : file.sections())
    if (!file.content(section).empty()) end = std::max(end, section.sh_offset + section.sh_size);
  return end;
}

// A tool such as strip leaves out what nobody loads and writes anew the headers that tell of sections. What
// is loaded, what tells the dynamic loader so and what korch reads must be there, and nothing behind it.
void require_contents(const ElfFile& file, const CheckRecord& record) {
  const std::string sizes =
      fmt::format("it has {} bytes instead of {}", file.all().size(), record.file_bytes);
  if (end_of_content(file) != file.all().size()) refuse_damaged(file, sizes);
  for (uint64_t i = 0; i < record.range_count; ++i) {
    const CheckedRange& range = record.ranges[i];
    const bool is_needed = range.address != 0 || range.part == Part::plan;
    if (is_needed && !has_range(file, range))
      refuse_damaged(file, fmt::format("{}, and its {} are not what korch wrote: it was cut off, or changed "
                                       "by a tool (patchelf, llvm-strip; GNU strip does no harm)",
                                       sizes, name(range.part)));
  }
}

}  // namespace

void seal_executable(const std::string& path) {
  CheckRecord record;
  uint64_t offset = 0;
  {
    const ElfFile file(path);
    record = record_of(file);
    offset = file.find(kCheckSection)->sh_offset;
  }
  write_into_file(path, offset, {reinterpret_cast<const char*>(&record), sizeof record});
}

void require_intact(const ElfFile& file) {
  const CheckRecord record = read_record(file);
  if (record.file_bytes != file.all().size()) return require_contents(file, record);
  for (uint64_t i = 0; i < record.range_count; ++i) {
    const CheckedRange& range = record.ranges[i];
    if (sum_of(file.bytes(range.offset, range.size_bytes)) != range.sum)
      refuse_damaged(file, fmt::format("its {} are not what korch wrote", name(range.part)));
  }
}

}  // namespace korch
