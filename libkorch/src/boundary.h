// Where C++ ends: errors as the C interface tells them.
#pragma once

#include <korch/compile.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "korch/base/error.h"

namespace korch {

inline korch_error report(ErrorKind kind, std::string_view text, char* message, size_t message_bytes) {
  if (message != nullptr && message_bytes > 0) {
    const size_t length = std::min(text.size(), message_bytes - 1);
    std::memcpy(message, text.data(), length);
    message[length] = '\0';
  }
  return static_cast<korch_error>(kind);
}

// What `work` throws, as the C interface tells it.
template <typename F>
korch_error guarded(const F& work, char* message, size_t message_bytes) {
  try {
    if (message != nullptr && message_bytes > 0) message[0] = '\0';
    work();
    return KORCH_ERROR_NONE;
  } catch (const Error& error) {
    return report(error.kind(), error.what(), message, message_bytes);
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::resource, "out of memory", message, message_bytes);
  } catch (const std::exception& error) {
    return report(ErrorKind::internal, error.what(), message, message_bytes);
  }
}

// The caller's struct, which may be shorter than this version's. Throws Error{usage} where it says what this
// version does not know.
template <typename Options>
Options read_options(const Options* given) {
  if (given == nullptr || given->struct_size < sizeof given->struct_size)
    throw Error(ErrorKind::usage, "struct_size is not set");
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (uint64_t i = sizeof(Options); i < given->struct_size; ++i)
    if (bytes[i] != 0)
      throw Error(ErrorKind::usage,
                  "options that this version of libkorch does not know; it is older than the program");
  Options options{};
  std::memcpy(&options, bytes, std::min<uint64_t>(given->struct_size, sizeof options));
  return options;
}

}  // namespace korch
