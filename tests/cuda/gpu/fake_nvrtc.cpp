// A compiler for GPUs that makes no code: for tests that run kernels on the emulator alone, where NVRTC would
// take most of the time. Its images have the functions of the text, each of one instruction. It refuses a
// text that has what KORCH_FAKE_NVRTC_REFUSES says, and is 12.N for KORCH_FAKE_NVRTC_VERSION=N.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Of `__global__ void __launch_bounds__(256) NAME(`.
std::vector<std::string> functions_of(const std::string& text) {
  std::vector<std::string> names;
  constexpr std::string_view kHead = "__global__ void __launch_bounds__(";
  for (size_t at = text.find(kHead); at != std::string::npos; at = text.find(kHead, at + 1)) {
    const size_t begin = text.find(") ", at) + 2;
    names.push_back(text.substr(begin, text.find('(', begin) - begin));
  }
  return names;
}

class Image {
 public:
  explicit Image(const std::vector<std::string>& functions) {
    add("", SHT_NULL, "");
    std::string symbol_names(1, '\0'), symbols(sizeof(Elf64_Sym), '\0');
    for (const std::string& function : functions) {
      Elf64_Sym symbol{};
      symbol.st_name = static_cast<Elf64_Word>(symbol_names.size());
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = static_cast<Elf64_Section>(sections_.size());
      symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
      symbol_names += function + '\0';
      add(".text." + function, SHT_PROGBITS, std::string(16, '\0'));
    }
    add(".strtab", SHT_STRTAB, symbol_names);
    add(".symtab", SHT_SYMTAB, symbols);
    sections_.back().sh_link = static_cast<Elf64_Word>(sections_.size() - 2);
    names_ += ".shstrtab";
    names_ += '\0';
    add("", SHT_STRTAB, names_);
  }

  std::string bytes() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    constexpr Elf64_Half kMachineCuda = 190;
    header.e_machine = kMachineCuda;
    header.e_shoff = sizeof header + content_.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(sections_.size() - 1);
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += content_;
    return bytes.append(reinterpret_cast<const char*>(sections_.data()),
                        sections_.size() * sizeof(Elf64_Shdr));
  }

 private:
  void add(const std::string& name, Elf64_Word type, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names_.size());
    section.sh_type = type;
    section.sh_offset = sizeof(Elf64_Ehdr) + content_.size();
    section.sh_size = content.size();
    sections_.push_back(section);
    content_ += content;
    names_ += name + '\0';
  }

  std::vector<Elf64_Shdr> sections_;
  std::string content_, names_;
};

struct Program {
  std::string image;
  bool is_refused = false;
};

constexpr char kRefusal[] = "kernel.cu(1): error: refused by the test";

Program& program_of(void* program) {
  return *static_cast<Program*>(program);
}
std::string& image_of(void* program) {
  return program_of(program).image;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  const char* version = std::getenv("KORCH_FAKE_NVRTC_VERSION");
  *minor = version == nullptr ? 9 : std::atoi(version);
  return 0;
}
int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*,
                       const char* const*) {
  const char* refused = std::getenv("KORCH_FAKE_NVRTC_REFUSES");
  *program = new Program{Image(functions_of(text)).bytes(),
                         refused != nullptr && std::strstr(text, refused) != nullptr};
  return 0;
}
int nvrtcCompileProgram(void* program, int, const char* const*) {
  return program_of(program).is_refused ? 6 : 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}
int nvrtcGetProgramLogSize(void* program, size_t* size) {
  *size = program_of(program).is_refused ? sizeof kRefusal : 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  std::memcpy(log, program_of(program).is_refused ? kRefusal : "",
              program_of(program).is_refused ? sizeof kRefusal : 1);
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) {
  *size = image_of(program).size();
  return 0;
}
int nvrtcGetCUBIN(void* program, char* image) {
  std::memcpy(image, image_of(program).data(), image_of(program).size());
  return 0;
}
int nvrtcGetPTXSize(void*, size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetPTX(void*, char* text) {
  *text = 0;
  return 0;
}

}  // extern "C"
