#include "korch/package/data_object.h"

#include <elf.h>

#include <cstring>

#include "korch/base/files.h"

namespace korch {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLargeSection =
    0x10000000;  // SHF_X86_64_LARGE: placed where 32-bit distances do not pass over it

uint64_t total_bytes(const DataSection& section) {
  uint64_t bytes = 0;
  for (std::string_view part : section.parts) bytes += part.size();
  return bytes;
}

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
std::string bytes_of(const std::vector<T>& records) {
  return std::string(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(T));
}

}  // namespace

// Layout of the file: header, section contents, symbols, strings, section names, section headers.
void write_data_object(const std::string& path, const std::vector<DataSection>& sections) {
  StringTable names, section_names;
  std::vector<Elf64_Sym> symbols(1, Elf64_Sym{});
  std::vector<Elf64_Shdr> headers(1, Elf64_Shdr{});
  const std::string page(kPageBytes, '\0');
  std::vector<std::string_view> parts(1);  // the header, filled in below
  uint64_t offset = sizeof(Elf64_Ehdr);
  auto append = [&](std::string_view part) {
    parts.push_back(part);
    offset += part.size();
  };
  auto align = [&](uint64_t alignment) {
    if (offset % alignment != 0) append(std::string_view(page).substr(0, alignment - offset % alignment));
  };

  for (const DataSection& section : sections) {
    const bool loaded = !section.symbol.empty();
    align(loaded ? kPageBytes : 1);
    Elf64_Shdr header{};
    header.sh_name = section_names.add(section.name);
    header.sh_type = SHT_PROGBITS;
    header.sh_flags = loaded ? SHF_ALLOC | kLargeSection : 0;
    header.sh_offset = offset;
    header.sh_size = total_bytes(section);
    header.sh_addralign = loaded ? kPageBytes : 1;
    if (loaded) {
      Elf64_Sym symbol{};
      symbol.st_name = names.add(section.symbol);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
      symbol.st_other = STV_HIDDEN;
      symbol.st_shndx = static_cast<uint16_t>(headers.size());
      symbol.st_size = header.sh_size;
      symbols.push_back(symbol);
    }
    headers.push_back(header);
    for (std::string_view part : section.parts) append(part);
  }

  auto add_table = [&](const char* name, uint32_t type, std::string_view content) -> Elf64_Shdr& {
    align(8);
    Elf64_Shdr header{};
    header.sh_name = section_names.add(name);
    header.sh_type = type;
    header.sh_offset = offset;
    header.sh_size = content.size();
    header.sh_addralign = 8;
    append(content);
    return headers.emplace_back(header);
  };
  const std::string symbol_bytes = bytes_of(symbols);
  Elf64_Shdr& symbol_header = add_table(".symtab", SHT_SYMTAB, symbol_bytes);
  symbol_header.sh_entsize = sizeof(Elf64_Sym);
  symbol_header.sh_info = 1;  // the first symbol that is not local
  symbol_header.sh_link = static_cast<uint32_t>(headers.size());
  add_table(".strtab", SHT_STRTAB, names.text());
  add_table(".note.GNU-stack", SHT_PROGBITS, "");
  section_names.add(".shstrtab");
  const std::string section_name_bytes = section_names.text();
  add_table(".shstrtab", SHT_STRTAB, section_name_bytes);
  headers.back().sh_name = static_cast<uint32_t>(section_name_bytes.size() - sizeof ".shstrtab");
  align(8);

  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_VERSION] = EV_CURRENT;
  elf.e_type = ET_REL;
  elf.e_machine = EM_X86_64;
  elf.e_version = EV_CURRENT;
  elf.e_shoff = offset;
  elf.e_ehsize = sizeof(Elf64_Ehdr);
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shnum = static_cast<uint16_t>(headers.size());
  elf.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
  parts[0] = {reinterpret_cast<const char*>(&elf), sizeof elf};
  const std::string header_bytes = bytes_of(headers);
  parts.push_back(header_bytes);
  write_file_parts(path, parts);
}

}  // namespace korch
