#include "checked_object.h"

#include <elf.h>
#include <llvm/Support/CommandLine.h>

#include <cstring>
#include <iterator>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/error.h"
#include "korch/codegen/cuda/emulated_text.h"
#include "korch/device/device.h"

namespace korch::testing {
namespace {

// A call for every access. Nothing else reads these options: no other code is instrumented.
void tell_of_every_access() {
  static const bool done = [] {
    const char* options[] = {"korch", "-tsan-instrument-read-before-write=1",
                             "-tsan-instrument-func-entry-exit=0"};
    return llvm::cl::ParseCommandLineOptions(std::size(options), options);
  }();
  KORCH_ASSERT(done, "LLVM has other options");
}

template <class T>
T read_at(const std::string& object, size_t at) {
  KORCH_ASSERT(at + sizeof(T) <= object.size(), "an object that ends early");
  T value;
  std::memcpy(&value, object.data() + at, sizeof value);
  return value;
}

std::string text_at(const std::string& object, const Elf64_Shdr& texts, size_t at) {
  return object.c_str() + texts.sh_offset + at;
}

}  // namespace

Result<std::string> compile_checked(const std::string& source, const std::string& symbol) {
  tell_of_every_access();
  return compile_object(tile::emulated_text(source, {symbol}, tile::EmulatedAccesses::told),
                        name(Isa::portable),
                        {"-fsanitize=thread", "-fsanitize=array-bounds", "-ftrivial-auto-var-init=pattern"});
}

std::vector<MemoryRange> shared_arrays(const std::string& object, uintptr_t no_array) {
  const auto header = read_at<Elf64_Ehdr>(object, 0);
  const auto section_header = [&](size_t number) {
    return read_at<Elf64_Shdr>(object, header.e_shoff + number * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section_header(header.e_shstrndx);
  std::vector<MemoryRange> arrays;
  uintptr_t section = 0;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section_header(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    for (size_t s = 0; s < table.sh_size / sizeof(Elf64_Sym); ++s) {
      const auto symbol = read_at<Elf64_Sym>(object, table.sh_offset + s * sizeof(Elf64_Sym));
      if (symbol.st_shndx >= header.e_shnum || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
          text_at(object, names, section_header(symbol.st_shndx).sh_name) != "emulated_shared")
        continue;
      const std::string name = text_at(object, section_header(table.sh_link), symbol.st_name);
      if (name == "emulated_no_array")
        section = no_array - symbol.st_value;
      else
        arrays.push_back({symbol.st_value, symbol.st_size, "shared array " + name});
    }
  }
  for (MemoryRange& array : arrays) array.begin += section;
  return arrays;
}

}  // namespace korch::testing
