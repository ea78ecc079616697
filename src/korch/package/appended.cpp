#include "korch/package/appended.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "korch/base/error.h"

namespace korch {
namespace {

constexpr uint64_t kPageBytes = 4096, kWordBytes = 8;

uint64_t rounded_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

uint64_t alignment_of(DataSection::Kind kind) {
  return kind == DataSection::large ? kPageBytes : kind == DataSection::unloaded ? 1 : kWordBytes;
}

}  // namespace

// The library's bytes stay where they are, and so do its sections. Behind them come
//
//   program headers, relocations, tables, weights    one segment, read alone
//   sections with addresses                          one segment, which the dynamic loader writes to
//   sections that are not loaded, names, section headers
//
// The library's header, its dynamic section and its anchors tell of the new places.
class LibraryAppender {
 public:
  LibraryAppender(std::string_view library, const std::vector<DataSection>& sections,
                  const std::vector<Anchor>& anchors)
      : bytes_(library), sections_(sections), anchors_(anchors) {
    require(bytes_.size() >= sizeof(Elf64_Ehdr) && bytes_.starts_with(ELFMAG));
    header_ = at<Elf64_Ehdr>(0);
    for (int i = 0; i < header_.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header_.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr)));
    for (int i = 0; i < header_.e_shnum; ++i)
      headers_.push_back(at<Elf64_Shdr>(header_.e_shoff + static_cast<uint64_t>(i) * sizeof(Elf64_Shdr)));
    require(header_.e_shstrndx < headers_.size());
    const Elf64_Shdr& names = headers_[header_.e_shstrndx];
    names_ = bytes_.substr(names.sh_offset, names.sh_size);
  }

  void write(std::deque<std::string>& owned, std::vector<std::string_view>& parts) {
    read_symbols();
    leave_out_what_is_not_loaded();
    place_sections();
    fill_in_links();
    for (const Anchor& anchor : anchors_) {
      const uint64_t word = symbol(anchor.word);
      put(offset_of(word), symbol(anchor.target) - word);
    }
    point_dynamic_section();
    finish(owned, parts);
  }

 private:
  struct Placed {
    const DataSection* section;
    uint64_t offset, address, size_bytes;
    std::string own;  // its bytes with links filled in, where it has links
  };

  static void require(bool condition) {
    KORCH_ASSERT(condition, "the runtime for GPUs is no library that data can be appended to");
  }

  template <typename T>
  T at(uint64_t offset) const {
    require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset);
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  template <typename T>
  void put(uint64_t offset, const T& value) {
    require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset);
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }

  std::string name_of(const Elf64_Shdr& section) const { return names_.c_str() + section.sh_name; }
  Elf64_Shdr* find(const std::string& name) {
    for (Elf64_Shdr& section : headers_)
      if (name_of(section) == name) return &section;
    return nullptr;
  }

  void read_symbols() {
    const Elf64_Shdr* table = find(".symtab");
    require(table != nullptr && table->sh_link < headers_.size());
    const uint64_t texts = headers_[table->sh_link].sh_offset;
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
      const auto known = at<Elf64_Sym>(table->sh_offset + i * sizeof(Elf64_Sym));
      if (known.st_shndx != SHN_UNDEF && known.st_name != 0)
        symbols_.emplace(bytes_.c_str() + texts + known.st_name, known.st_value);
    }
  }

  // Symbols and names of sections, which stand behind all that is loaded: a tool that takes them out of the
  // finished file would move what comes after them.
  void leave_out_what_is_not_loaded() {
    uint64_t end = 0;
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
    const auto rest = std::find_if(headers_.begin() + 1, headers_.end(), [](const Elf64_Shdr& section) {
      return (section.sh_flags & SHF_ALLOC) == 0;
    });
    require(std::none_of(rest, headers_.end(),
                         [](const Elf64_Shdr& section) { return (section.sh_flags & SHF_ALLOC) != 0; }));
    headers_.erase(rest, headers_.end());
    bytes_.resize(end);
    fill_last_page();
  }

  // GNU strip puts the next segment right behind the last one, wherever that ends.
  void fill_last_page() {
    const uint64_t end = bytes_.size(), more = rounded_up(end, kPageBytes) - end;
    for (Elf64_Phdr& segment : segments_) {
      if (segment.p_filesz == 0 || segment.p_offset + segment.p_filesz != end) continue;
      segment.p_filesz += more;
      require(segment.p_memsz <= segment.p_filesz);  // nothing but bytes of the file
      segment.p_memsz = segment.p_filesz;
    }
    for (Elf64_Shdr& section : headers_)
      if (section.sh_type != SHT_NOBITS && section.sh_size > 0 && section.sh_offset + section.sh_size == end)
        section.sh_size += more;
    bytes_.append(more, '\0');
  }

  uint64_t symbol(const std::string& name) const {
    const auto found = symbols_.find(name);
    KORCH_ASSERT(found != symbols_.end(), "the runtime for GPUs lacks " + name);
    return found->second;
  }

  // Where an address of the library lies in its file.
  uint64_t offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address < segment.p_vaddr + segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    require(false);
    return 0;
  }

  void place(const DataSection& section) {
    end_ = rounded_up(end_, alignment_of(section.kind));
    Placed placed{&section, end_, section.kind == DataSection::unloaded ? 0 : end_ + to_address_, 0, {}};
    for (std::string_view part : section.parts) placed.size_bytes += part.size();
    end_ += placed.size_bytes;
    if (!section.symbol.empty()) symbols_[section.symbol] = placed.address;
    placed_.push_back(std::move(placed));
  }

  void place_all(const std::vector<DataSection::Kind>& kinds) {
    for (DataSection::Kind kind : kinds)
      for (const DataSection& section : sections_)
        if (section.kind == kind) place(section);
  }

  void place_sections() {
    constexpr uint16_t kNewSegments = 3;  // two to load, and one that tells of the table of segments
    uint64_t last_address = 0;
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD) last_address = std::max(last_address, segment.p_vaddr + segment.p_memsz);
    begin_ = rounded_up(bytes_.size(), kPageBytes);
    to_address_ = rounded_up(last_address, kPageBytes) + kPageBytes - begin_;
    std::erase_if(segments_, [](const Elf64_Phdr& segment) { return segment.p_type == PT_PHDR; });
    relocations_at_ = begin_ + (segments_.size() + kNewSegments) * sizeof(Elf64_Phdr);
    end_ = relocations_at_ + relocation_bytes();
    place_all({DataSection::tables, DataSection::large});
    read_end_ = end_;
    end_ = addresses_at_ = rounded_up(end_, kPageBytes);
    place_all({DataSection::addresses});
    loaded_end_ = end_;
    place_all({DataSection::unloaded});
  }

  uint64_t relocation_bytes() {
    const Elf64_Shdr* relocations = find(".rela.dyn");
    require(relocations != nullptr);
    uint64_t count = relocations->sh_size / sizeof(Elf64_Rela);
    for (const DataSection& section : sections_)
      for (const DataLink& link : section.links) count += link.kind == DataLink::address ? 1 : 0;
    return count * sizeof(Elf64_Rela);
  }

  void fill_in_links() {
    const Elf64_Shdr* known = find(".rela.dyn");
    relocations_ = bytes_.substr(known->sh_offset, known->sh_size);
    // A linker may leave the address that is to come in its place; checksums count on zeros.
    for (uint64_t i = 0; i < known->sh_size / sizeof(Elf64_Rela); ++i)
      put(offset_of(at<Elf64_Rela>(known->sh_offset + i * sizeof(Elf64_Rela)).r_offset), uint64_t{0});
    std::vector<Elf64_Rela> more;
    for (Placed& placed : placed_) {
      if (placed.section->links.empty()) continue;
      for (std::string_view part : placed.section->parts) placed.own += part;
      for (const DataLink& link : placed.section->links) {
        const uint64_t word = placed.address + link.offset, target = symbol(link.symbol) + link.addend;
        if (link.kind == DataLink::distance) {
          const uint64_t distance = target - word;
          std::memcpy(placed.own.data() + link.offset, &distance, sizeof distance);
        } else {
          more.push_back({word, ELF64_R_INFO(uint64_t{0}, R_X86_64_RELATIVE), static_cast<int64_t>(target)});
        }
      }
    }
    std::sort(more.begin(), more.end(), [](const auto& a, const auto& b) { return a.r_offset < b.r_offset; });
    relocations_.append(reinterpret_cast<const char*>(more.data()), more.size() * sizeof(Elf64_Rela));
  }

  void point_dynamic_section() {
    const auto dynamic = std::find_if(segments_.begin(), segments_.end(),
                                      [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
    require(dynamic != segments_.end());
    int pointed = 0;
    for (uint64_t at_byte = dynamic->p_offset; at_byte < dynamic->p_offset + dynamic->p_filesz;
         at_byte += sizeof(Elf64_Dyn)) {
      auto entry = at<Elf64_Dyn>(at_byte);
      if (entry.d_tag == DT_RELA) entry.d_un.d_ptr = relocations_at_ + to_address_;
      if (entry.d_tag == DT_RELASZ) entry.d_un.d_val = relocations_.size();
      pointed += entry.d_tag == DT_RELA || entry.d_tag == DT_RELASZ ? 1 : 0;
      put(at_byte, entry);
    }
    require(pointed == 2);
  }

  static Elf64_Phdr segment_of(uint32_t type, uint32_t flags, uint64_t offset, uint64_t address,
                               uint64_t size_bytes, uint64_t alignment) {
    return {type, flags, offset, address, address, size_bytes, size_bytes, alignment};
  }

  // In the order that the dynamic loader wants: the table's own first, what is loaded by rising address.
  std::vector<Elf64_Phdr> all_segments() const {
    std::vector<Elf64_Phdr> all = segments_;
    const auto last = std::find_if(all.rbegin(), all.rend(),
                                   [](const Elf64_Phdr& segment) { return segment.p_type == PT_LOAD; });
    all.insert(last.base(),
               {segment_of(PT_LOAD, PF_R, begin_, begin_ + to_address_, read_end_ - begin_, kPageBytes),
                segment_of(PT_LOAD, PF_R | PF_W, addresses_at_, addresses_at_ + to_address_,
                           loaded_end_ - addresses_at_, kPageBytes)});
    all.insert(all.begin(), segment_of(PT_PHDR, PF_R, begin_, begin_ + to_address_,
                                       (all.size() + 1) * sizeof(Elf64_Phdr), kWordBytes));
    return all;
  }

  void finish(std::deque<std::string>& owned, std::vector<std::string_view>& parts) {
    const std::vector<Elf64_Phdr> segments = all_segments();
    require(begin_ + segments.size() * sizeof(Elf64_Phdr) == relocations_at_);
    for (const Placed& placed : placed_) {
      Elf64_Shdr header{};
      header.sh_name = static_cast<uint32_t>(names_.size());
      names_ += placed.section->name + '\0';
      header.sh_type = SHT_PROGBITS;
      header.sh_flags = placed.section->kind == DataSection::unloaded    ? 0
                        : placed.section->kind == DataSection::addresses ? SHF_ALLOC | SHF_WRITE
                                                                         : SHF_ALLOC;
      header.sh_addr = placed.address;
      header.sh_offset = placed.offset;
      header.sh_size = placed.size_bytes;
      header.sh_addralign = alignment_of(placed.section->kind);
      headers_.push_back(header);
    }
    Elf64_Shdr* relocations = find(".rela.dyn");
    relocations->sh_offset = relocations_at_;
    relocations->sh_addr = relocations_at_ + to_address_;
    relocations->sh_size = relocations_.size();
    Elf64_Shdr names{};
    names.sh_name = static_cast<uint32_t>(names_.size());
    names_ += std::string(".shstrtab") + '\0';
    names.sh_type = SHT_STRTAB;
    names.sh_offset = end_;
    names.sh_size = names_.size();
    names.sh_addralign = 1;
    header_.e_shstrndx = static_cast<uint16_t>(headers_.size());
    headers_.push_back(names);
    header_.e_phoff = begin_;
    header_.e_phnum = static_cast<uint16_t>(segments.size());
    header_.e_shoff = rounded_up(end_ + names_.size(), kWordBytes);
    header_.e_shnum = static_cast<uint16_t>(headers_.size());
    put(0, header_);

    uint64_t written = 0;
    const auto add = [&](std::string_view part) {
      parts.push_back(part);
      written += part.size();
    };
    const auto add_own = [&](uint64_t offset, std::string text) {
      KORCH_ASSERT(offset >= written, "parts of an appended library overlap");
      if (offset > written) add(owned.emplace_back(offset - written, '\0'));
      add(owned.emplace_back(std::move(text)));
    };
    add_own(0, bytes_);
    add_own(begin_, {reinterpret_cast<const char*>(segments.data()), segments.size() * sizeof(Elf64_Phdr)});
    add_own(relocations_at_, relocations_);
    for (Placed& placed : placed_) {
      add_own(placed.offset, std::move(placed.own));
      if (placed.section->links.empty())
        for (std::string_view part : placed.section->parts) add(part);
    }
    add_own(end_, names_);
    add_own(header_.e_shoff,
            {reinterpret_cast<const char*>(headers_.data()), headers_.size() * sizeof(Elf64_Shdr)});
  }

  std::string bytes_;  // of the library
  const std::vector<DataSection>& sections_;
  const std::vector<Anchor>& anchors_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> headers_;
  std::string names_;
  std::map<std::string, uint64_t> symbols_;  // their addresses
  std::vector<Placed> placed_;
  std::string relocations_;
  // In the file; loaded ones have their addresses `to_address_` further on.
  uint64_t begin_ = 0, relocations_at_ = 0, read_end_ = 0, addresses_at_ = 0, loaded_end_ = 0, end_ = 0;
  uint64_t to_address_ = 0;
};

AppendedLibrary::AppendedLibrary(std::string_view library, const std::vector<DataSection>& sections,
                                 const std::vector<Anchor>& anchors) {
  LibraryAppender(library, sections, anchors).write(owned_, parts_);
}

}  // namespace korch
