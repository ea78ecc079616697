// Bounds-checked reading of an executable as an ELF file. The file is untrusted: nothing in it is followed
// without a check.
#pragma once

#include <elf.h>

#include <string>
#include <string_view>
#include <vector>

#include "korch/base/files.h"

namespace korch {

class ElfFile {
 public:
  // Error{io} when it is not a shared library for this kind of CPU, or its headers lead outside of it; so do
  // all members.
  explicit ElfFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::string_view all() const { return file_.view(); }
  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view bytes(uint64_t offset, uint64_t size_bytes) const;

  std::string_view name(const Elf64_Shdr& section) const;
  // Empty for a section without bytes in the file.
  std::string_view content(const Elf64_Shdr& section) const;
  const Elf64_Shdr* find(std::string_view name) const;  // null when there is none
  std::string_view section(std::string_view name) const;
  std::vector<std::string> needed() const;  // sonames

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  template <typename T>
  T record(uint64_t table, uint64_t index = 0) const;
  std::string_view text(const Elf64_Shdr& table, uint64_t offset) const;

  std::string path_;
  MappedFile file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace korch
