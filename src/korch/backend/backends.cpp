#include "korch/backend/backend.h"
#include "korch/base/error.h"

namespace korch {
namespace {

struct Row {
  const char* kind;  // Device::kind
  const Backend& (*backend)();
};
// A new kind of target is a folder and a row here.
constexpr Row kBackends[] = {
    {"cpu", cpu_backend},
};

}  // namespace

const Backend& backend_of(const Device& device) {
  for (const Row& row : kBackends)
    if (device.kind == row.kind) return row.backend();
  throw Error(ErrorKind::unsupported, "no backend makes code for devices of the kind '" + device.kind + "'");
}

bool is_here(const Device& device) {
  return backend_of(device).obstacle(device).empty();
}

PackageReport write_executable(const PackageInput& input, const std::string& path) {
  return backend_of(input.target).write(input, path, [] {});
}

PackageReport write_executable(PackageInput&& input, const std::string& path) {
  return backend_of(input.target).write(input, path, [&] {
    std::vector<std::string>().swap(input.constant_bytes);
  });
}

}  // namespace korch
