#include "korch/package/packed_json.h"

#include <fmt/format.h>

#include <charconv>

#include "korch/base/deflate.h"
#include "korch/package/elf_file.h"
#include "korch/package/seal.h"

namespace korch {
namespace {

constexpr size_t kMostTextBytes = 1 << 30;  // a thousand kernels have a hundredth of it

}  // namespace

std::string pack_json(const nlohmann::json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return std::to_string(text.size()) + '\n' + deflated(text);
}

std::optional<nlohmann::json> read_packed_json(const std::string& path, const char* section,
                                               const char* what) {
  const ElfFile file(path);
  require_intact(file);
  const Elf64_Shdr* header = file.find(section);
  if (header == nullptr) return std::nullopt;
  const std::string_view content = file.content(*header);
  size_t size_bytes = 0;
  const auto [end, error] = std::from_chars(content.data(), content.data() + content.size(), size_bytes);
  if (error != std::errc() || end == content.data() + content.size() || *end != '\n' ||
      size_bytes > kMostTextBytes)
    file.refuse(fmt::format("its {} are damaged", what));
  const auto text = static_cast<size_t>(end + 1 - content.data());
  try {
    return nlohmann::json::parse(inflated(content.substr(text), size_bytes));
  } catch (const nlohmann::json::exception&) {
    file.refuse(fmt::format("its {} are damaged", what));
  }
}

}  // namespace korch
