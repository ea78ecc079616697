#include "korch/package/elf_file.h"

#include <fmt/format.h>

#include <cstring>

#include "korch/base/error.h"
#include "korch/base/file_kind.h"

namespace korch {

ElfFile::ElfFile(const std::string& path) : path_(path), file_(path) {
  if (!file_.view().starts_with(ELFMAG)) {
    const std::string kind = kind_of_file(file_.view());
    if (!kind.empty()) refuse(kind);
    // Of a model in protobuf's encoding the version comes first: field 1, a small number.
    const std::string_view head = file_.view().substr(0, 2);
    const bool is_model = head.size() == 2 && head[0] == 8 && head[1] > 0 && head[1] < 32;
    refuse(is_model ? "it looks like an ONNX model, of which korch compile makes an executable"
                    : "it is not a shared library");
  }
  header_ = record<Elf64_Ehdr>(0);
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
    refuse("it is not a 64-bit ELF file");
  if (header_.e_machine != EM_X86_64) refuse("it is for another kind of CPU");
  if (header_.e_type != ET_DYN) refuse("it is not a shared library");
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_phentsize != sizeof(Elf64_Phdr))
    refuse("its headers are damaged");
  for (uint16_t i = 0; i < header_.e_phnum; ++i) {
    const auto segment = record<Elf64_Phdr>(header_.e_phoff, i);
    if (segment.p_type == PT_LOAD) bytes(segment.p_offset, segment.p_filesz);
    segments_.push_back(segment);
  }
  for (uint16_t i = 0; i < header_.e_shnum; ++i) sections_.push_back(record<Elf64_Shdr>(header_.e_shoff, i));
  if (header_.e_shstrndx >= sections_.size()) refuse("its headers are damaged");
}

std::string_view ElfFile::bytes(uint64_t offset, uint64_t size_bytes) const {
  if (offset > file_.size_bytes() || size_bytes > file_.size_bytes() - offset)
    refuse("it is truncated or damaged");
  return file_.view().substr(offset, size_bytes);
}

template <typename T>
T ElfFile::record(uint64_t table, uint64_t index) const {
  if (table > file_.size_bytes() || index > file_.size_bytes() / sizeof(T))
    refuse("it is truncated or damaged");
  T value;
  std::memcpy(&value, bytes(table + index * sizeof(T), sizeof(T)).data(), sizeof(T));
  return value;
}

std::string_view ElfFile::name(const Elf64_Shdr& section) const {
  return text(sections_[header_.e_shstrndx], section.sh_name);
}

std::string_view ElfFile::content(const Elf64_Shdr& section) const {
  return section.sh_type == SHT_NOBITS ? std::string_view() : bytes(section.sh_offset, section.sh_size);
}

const Elf64_Shdr* ElfFile::find(std::string_view wanted) const {
  for (const Elf64_Shdr& section : sections_)
    if (name(section) == wanted) return &section;
  return nullptr;
}

std::string_view ElfFile::section(std::string_view name) const {
  const Elf64_Shdr* found = find(name);
  if (found == nullptr) refuse(fmt::format("it has no section {}", name));
  return content(*found);
}

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> result;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_DYNAMIC) continue;
    if (section.sh_link >= sections_.size()) refuse("its headers are damaged");
    for (uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Dyn); ++i) {
      const auto entry = record<Elf64_Dyn>(section.sh_offset, i);
      if (entry.d_tag == DT_NEEDED) result.emplace_back(text(sections_[section.sh_link], entry.d_un.d_val));
    }
  }
  return result;
}

void ElfFile::refuse(const std::string& reason) const {
  throw Error(ErrorKind::io, fmt::format("'{}' is not an executable written by korch: {}", path_, reason));
}

std::string_view ElfFile::text(const Elf64_Shdr& table, uint64_t offset) const {
  const std::string_view all = content(table);
  if (offset >= all.size()) refuse("its names are damaged");
  const size_t end = all.find('\0', offset);
  if (end == std::string_view::npos) refuse("its names are damaged");
  return all.substr(offset, end - offset);
}

}  // namespace korch
