#include "korch/backend/cuda/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

namespace korch {
namespace {

// Attributes of `.nv.info` and `.nv.info.FUNCTION`: a byte for the form, one for the attribute, two for the
// bytes that follow or, of other forms, the value.
constexpr unsigned char kSizedForm = 4;
constexpr unsigned char kRegisterCount = 0x2f, kStackSize = 0x12;  // (symbol, value) each
constexpr unsigned char kMostThreads = 0x05;                       // along each axis of a block
// Operation codes, and the width of what is moved (bits 73 to 75).
constexpr uint64_t kOperationMask = 0xfff, kStoreLocal = 0x387, kLoadLocal = 0x983;
constexpr int64_t kWidths[] = {1, 1, 2, 2, 4, 8, 16, 16};
constexpr size_t kInstructionBytes = 16;
constexpr int64_t kSystemShared_bytes = 1 << 10;

// Nothing in the file is followed without a check: what lies outside is empty.
class Cubin {
 public:
  explicit Cubin(std::string_view file) : file_(file) {
    const auto header = record<Elf64_Ehdr>(file_, 0);
    constexpr unsigned kMachineCuda = 190;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kMachineCuda) return;
    for (size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(record<Elf64_Shdr>(file_, header.e_shoff + i * sizeof(Elf64_Shdr)));
    if (header.e_shstrndx < sections_.size()) names_ = content(sections_[header.e_shstrndx]);
    read_symbols();
    read_attributes(content(find(".nv.info")));
  }

  std::optional<FunctionResources> resources(const std::string& function) const {
    const std::string_view code = content(find(".text." + function));
    const auto symbol = symbols_.find(function);
    if (code.empty() || symbol == symbols_.end()) return std::nullopt;
    FunctionResources result;
    const auto value = [&](const std::map<uint32_t, uint32_t>& values) {
      const auto found = values.find(symbol->second);
      return found == values.end() ? 0 : found->second;
    };
    result.threads = most_threads(content(find(".nv.info." + function)));
    result.registers = static_cast<int>(value(registers_));
    result.stack_bytes = value(stack_);
    result.shared_bytes = static_cast<int64_t>(find(".nv.shared." + function).sh_size);
    // From 9.0 on a function's section begins with what the system has of each block.
    const bool counts_systems =
        text(names_, find(".nv.shared.reserved.0").sh_name) == ".nv.shared.reserved.0";
    if (counts_systems && result.shared_bytes > 0) result.shared_bytes -= kSystemShared_bytes;
    for (size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes)
      count(record<uint64_t>(code, at), record<uint64_t>(code, at + 8), result);
    return result;
  }

 private:
  template <typename T>
  static T record(std::string_view bytes, uint64_t at) {
    T value{};
    if (at <= bytes.size() && sizeof value <= bytes.size() - at)
      std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }

  static std::string_view text(std::string_view table, uint64_t at) {
    return at < table.size() ? table.substr(at, table.find('\0', at) - at) : std::string_view();
  }

  static void count(uint64_t low, uint64_t high, FunctionResources& function) {
    ++function.instructions;
    const uint64_t operation = low & kOperationMask;
    if (operation != kStoreLocal && operation != kLoadLocal) return;
    ++function.local_instructions;
    (operation == kStoreLocal ? function.local_store_bytes : function.local_load_bytes) +=
        kWidths[high >> 9 & 7];
  }

  std::string_view content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > file_.size()) return {};
    return file_.substr(section.sh_offset, section.sh_size);
  }

  Elf64_Shdr find(std::string_view name) const {
    for (const Elf64_Shdr& section : sections_)
      if (text(names_, section.sh_name) == name) return section;
    return {};
  }

  void read_symbols() {
    const Elf64_Shdr table = find(".symtab");
    const std::string_view symbols = content(table);
    if (table.sh_link >= sections_.size()) return;
    const std::string_view names = content(sections_[table.sh_link]);
    for (size_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= symbols.size(); ++i) {
      const auto symbol = record<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        symbols_.emplace(text(names, symbol.st_name), static_cast<uint32_t>(i));
    }
  }

  // Calls `visit` with each attribute that has words behind it, and the first two of these.
  template <typename Visit>
  static void each_attribute(std::string_view info, const Visit& visit) {
    constexpr size_t kHead = 4;
    for (size_t at = 0; at + kHead <= info.size();) {
      const bool sized = static_cast<unsigned char>(info[at]) == kSizedForm;
      const size_t bytes = sized ? record<uint16_t>(info, at + 2) : 0;
      if (sized)
        visit(static_cast<unsigned char>(info[at + 1]), record<uint32_t>(info, at + kHead),
              record<uint32_t>(info, at + kHead + 4));
      at += kHead + bytes;
    }
  }

  void read_attributes(std::string_view info) {
    each_attribute(info, [&](unsigned char attribute, uint32_t first, uint32_t second) {
      if (attribute == kRegisterCount) registers_[first] = second;
      if (attribute == kStackSize) stack_[first] = second;
    });
  }

  // Of a block along its first axis, as __launch_bounds__ says; 1: it says nothing.
  static int most_threads(std::string_view info) {
    int threads = 1;
    each_attribute(info, [&](unsigned char attribute, uint32_t first, uint32_t) {
      if (attribute == kMostThreads) threads = static_cast<int>(std::min<uint32_t>(first, 1024));
    });
    return threads;
  }

  std::string_view file_, names_;
  std::vector<Elf64_Shdr> sections_;
  std::map<std::string, uint32_t, std::less<>> symbols_;  // of functions: their numbers
  std::map<uint32_t, uint32_t> registers_, stack_;        // by symbol
};

}  // namespace

Result<std::vector<FunctionResources>> cubin_resources(std::string_view cubin,
                                                       const std::vector<std::string>& functions) {
  const Cubin file(cubin);
  std::vector<FunctionResources> result;
  for (const std::string& function : functions) {
    const std::optional<FunctionResources> found = file.resources(function);
    if (!found) return Refusal{RefusalReason::compile_failed, "the machine code has no function " + function};
    result.push_back(*found);
  }
  return result;
}

}  // namespace korch
