#include "korch/package/data_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "korch/base/files.h"

namespace korch {
namespace {

constexpr uint64_t kPageBytes = 4096, kWordBytes = 8;
constexpr uint64_t kLargeSection =
    0x10000000;  // SHF_X86_64_LARGE: placed where 32-bit distances do not pass over it

// Names of an ELF string table, collected.
class StringTable {
 public:
  StringTable() : text_(1, '\0') {}
  uint32_t add(const std::string& name) {
    const auto offset = static_cast<uint32_t>(text_.size());
    text_ += name + '\0';
    return offset;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <typename T>
std::string_view bytes_of(const std::vector<T>& records) {
  return {reinterpret_cast<const char*>(records.data()), records.size() * sizeof(T)};
}

struct KindRow {
  uint64_t flags, alignment;
};
KindRow row_of(DataSection::Kind kind) {
  switch (kind) {
    case DataSection::unloaded:
      break;
    case DataSection::tables:
      return {SHF_ALLOC, kWordBytes};
    case DataSection::addresses:
      return {SHF_ALLOC | SHF_WRITE, kWordBytes};
    case DataSection::large:
      return {SHF_ALLOC | kLargeSection, kPageBytes};
  }
  return {0, 1};
}

// Header, section contents, links, symbols, strings, section names, section headers.
class ObjectWriter {
 public:
  explicit ObjectWriter(const std::vector<DataSection>& sections) : sections_(sections) {}

  void write(const std::string& path) {
    for (const DataSection& section : sections_) add_content(section);
    for (const DataSection& section : sections_)
      for (const DataLink& link : section.links) symbol_number(link.symbol);
    const auto linked = std::count_if(sections_.begin(), sections_.end(),
                                      [](const DataSection& section) { return !section.links.empty(); });
    const auto symbol_table = static_cast<uint32_t>(headers_.size() + static_cast<size_t>(linked));
    std::vector<std::vector<Elf64_Rela>> relocations;  // until they are written
    for (size_t s = 0; s < sections_.size(); ++s) {
      if (sections_[s].links.empty()) continue;
      relocations.push_back(relocations_of(sections_[s]));
      Elf64_Shdr& header = add_table(".rela" + sections_[s].name, SHT_RELA, bytes_of(relocations.back()));
      header.sh_entsize = sizeof(Elf64_Rela);
      header.sh_flags = SHF_INFO_LINK;
      header.sh_info = static_cast<uint32_t>(s + 1);
      header.sh_link = symbol_table;
    }
    Elf64_Shdr& symbols = add_table(".symtab", SHT_SYMTAB, bytes_of(symbols_));
    symbols.sh_entsize = sizeof(Elf64_Sym);
    symbols.sh_info = 1;  // the first symbol that is not local
    symbols.sh_link = static_cast<uint32_t>(headers_.size());
    add_table(".strtab", SHT_STRTAB, names_.text());
    add_table(".note.GNU-stack", SHT_PROGBITS, "");
    const uint32_t name = section_names_.add(".shstrtab");
    const std::string section_names = section_names_.text();
    add_table("", SHT_STRTAB, section_names).sh_name = name;
    align(kWordBytes);
    const Elf64_Ehdr header = file_header();
    parts_[0] = {reinterpret_cast<const char*>(&header), sizeof header};
    parts_.push_back(bytes_of(headers_));
    write_file_parts(path, parts_);
  }

 private:
  void append(std::string_view part) {
    parts_.push_back(part);
    offset_ += part.size();
  }
  void align(uint64_t alignment) {
    if (offset_ % alignment != 0) append(std::string_view(page_).substr(0, alignment - offset_ % alignment));
  }

  void add_content(const DataSection& section) {
    const auto [flags, alignment] = row_of(section.kind);
    align(alignment);
    Elf64_Shdr header{};
    header.sh_name = section_names_.add(section.name);
    header.sh_type = SHT_PROGBITS;
    header.sh_flags = flags;
    header.sh_offset = offset_;
    for (std::string_view part : section.parts) header.sh_size += part.size();
    header.sh_addralign = alignment;
    if (section.kind != DataSection::unloaded) {
      Elf64_Sym& symbol = symbols_[symbol_number(section.symbol)];
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      symbol.st_other = STV_HIDDEN;
      symbol.st_shndx = static_cast<uint16_t>(headers_.size());
      symbol.st_size = header.sh_size;
    }
    headers_.push_back(header);
    for (std::string_view part : section.parts) append(part);
  }

  // Of a symbol that others define, unless a section does.
  uint32_t symbol_number(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, static_cast<uint32_t>(symbols_.size()));
    if (is_new) {
      Elf64_Sym symbol{};
      symbol.st_name = names_.add(name);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      symbols_.push_back(symbol);
    }
    return found->second;
  }

  std::vector<Elf64_Rela> relocations_of(const DataSection& section) {
    std::vector<Elf64_Rela> relocations;
    for (const DataLink& link : section.links) {
      const uint64_t type = link.kind == DataLink::address ? R_X86_64_64 : R_X86_64_PC64;
      relocations.push_back({link.offset, ELF64_R_INFO(uint64_t{symbol_number(link.symbol)}, type),
                             static_cast<int64_t>(link.addend)});
    }
    return relocations;
  }

  Elf64_Shdr& add_table(const std::string& name, uint32_t type, std::string_view content) {
    align(kWordBytes);
    Elf64_Shdr header{};
    header.sh_name = section_names_.add(name);
    header.sh_type = type;
    header.sh_offset = offset_;
    header.sh_size = content.size();
    header.sh_addralign = kWordBytes;
    append(content);
    return headers_.emplace_back(header);
  }

  Elf64_Ehdr file_header() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_shoff = offset_;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(headers_.size() - 1);
    return header;
  }

  const std::vector<DataSection>& sections_;
  StringTable names_, section_names_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<Elf64_Sym> symbols_{Elf64_Sym{}};
  std::vector<Elf64_Shdr> headers_{Elf64_Shdr{}};
  std::vector<std::string_view> parts_{{}};  // first the file's header
  uint64_t offset_ = sizeof(Elf64_Ehdr);
  const std::string page_ = std::string(kPageBytes, '\0');
};

}  // namespace

void write_data_object(const std::string& path, const std::vector<DataSection>& sections) {
  ObjectWriter(sections).write(path);
}

}  // namespace korch
