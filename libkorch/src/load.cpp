#include <korch/load.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "boundary.h"
#include "korch/package/library.h"

namespace korch {
namespace {

korch_executable load(const std::string& path) {
  const ExecutableInfo info = read_executable(path);
  Library library = open_library(info);
  const auto require = [&](const char* symbol, auto* function) {
    *function =
        reinterpret_cast<std::remove_pointer_t<decltype(function)>>(require_symbol(library, symbol, info));
  };
  const auto find = [&](const char* symbol, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(find_symbol(library, symbol));
  };
  const korch_model_info* (*describe)(void) = nullptr;
  korch_executable made{};
  require("korch_describe", &describe);
  require("korch_check", &made.check);
  require("korch_create", &made.create);
  require("korch_run", &made.run);
  require("korch_last_error", &made.last_error);
  require("korch_status_text", &made.status_text);
  require("korch_free", &made.free);
  find("korch_create_with", &made.create_with);
  find("korch_run_with", &made.run_with);
  find("korch_output_dims", &made.output_dims);
  find("korch_pool_create", &made.pool_create);
  find("korch_pool_free", &made.pool_free);
  find("korch_state_create", &made.state_create);
  find("korch_state_reset", &made.state_reset);
  find("korch_state_copy", &made.state_copy);
  find("korch_state_rewind", &made.state_rewind);
  find("korch_state_length", &made.state_length);
  find("korch_state_free", &made.state_free);
  made.model = describe();
  made.library = library.release();
  return made;
}

}  // namespace
}  // namespace korch

extern "C" {

korch_error korch_load(const char* path, korch_executable* executable, char* message, size_t message_bytes) {
  const auto work = [&] {
    if (path == nullptr || executable == nullptr)
      throw korch::Error(korch::ErrorKind::usage, "a null pointer");
    const uint64_t size = executable->struct_size;
    if (size < offsetof(korch_executable, check) || size > korch::rt::kMostOptionsBytes)
      throw korch::Error(korch::ErrorKind::usage, "struct_size is not set");
    executable->library = nullptr;
    korch_executable made = korch::load(path);
    made.struct_size = size;
    std::memset(executable, 0, size);
    std::memcpy(executable, &made, std::min<uint64_t>(size, sizeof made));
  };
  return korch::guarded(work, message, message_bytes);
}

void korch_unload(korch_executable* executable) {
  if (executable == nullptr || executable->library == nullptr) return;
  korch::CloseLibrary()(executable->library);
  executable->library = nullptr;
}

}  // extern "C"
