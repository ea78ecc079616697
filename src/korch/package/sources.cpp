#include "korch/package/sources.h"

#include <charconv>

#include "korch/base/deflate.h"
#include "korch/base/json.h"
#include "korch/package/elf_file.h"
#include "korch/package/executable.h"
#include "korch/package/seal.h"

namespace korch {
namespace {

constexpr size_t kMostSourceBytes = 1 << 30;  // a thousand kernels have a hundredth of it

}  // namespace

std::string pack_sources(const Plan& plan) {
  nlohmann::json sources = nlohmann::json::array();
  for (const Kernel& kernel : plan.kernels) sources.push_back(kernel.source);
  const std::string text = sources.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return std::to_string(text.size()) + '\n' + deflated(text);
}

std::vector<std::string> read_sources(const std::string& path) {
  const ElfFile file(path);
  require_intact(file);
  const Elf64_Shdr* section = file.find(kSourcesSection);
  if (section == nullptr) return {};
  const std::string_view content = file.content(*section);
  size_t size_bytes = 0;
  const auto [end, error] = std::from_chars(content.data(), content.data() + content.size(), size_bytes);
  if (error != std::errc() || end == content.data() + content.size() || *end != '\n' ||
      size_bytes > kMostSourceBytes)
    file.refuse("its sources are damaged");
  const auto text = static_cast<size_t>(end + 1 - content.data());
  try {
    return nlohmann::json::parse(inflated(content.substr(text), size_bytes));
  } catch (const nlohmann::json::exception&) {
    file.refuse("its sources are damaged");
  }
}

}  // namespace korch
