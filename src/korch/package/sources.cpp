#include "korch/package/sources.h"

#include <optional>

#include "korch/base/error.h"
#include "korch/package/executable.h"
#include "korch/package/packed_json.h"

namespace korch {

std::string pack_sources(const Plan& plan) {
  nlohmann::json sources = nlohmann::json::array();
  for (const Kernel& kernel : plan.kernels) sources.push_back(kernel.source);
  return pack_json(sources);
}

std::vector<std::string> read_sources(const std::string& path) {
  const std::optional<nlohmann::json> sources = read_packed_json(path, kSourcesSection, "sources");
  if (!sources) return {};
  try {
    return *sources;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::io,
                "'" + path + "' is not an executable written by korch: its sources are damaged");
  }
}

}  // namespace korch
