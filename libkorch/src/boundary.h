// Where C++ ends: errors as the C interface tells them.
#pragma once

#include <cxxabi.h>
#include <korch/compile.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "korch/base/error.h"
#include "korch/runtime/sized.h"

namespace korch {

static_assert(static_cast<int>(ErrorKind::internal) == KORCH_ERROR_INTERNAL);
static_assert(static_cast<int>(ErrorKind::usage) == KORCH_ERROR_USAGE);
static_assert(static_cast<int>(ErrorKind::invalid) == KORCH_ERROR_INVALID);
static_assert(static_cast<int>(ErrorKind::unsupported) == KORCH_ERROR_UNSUPPORTED);
static_assert(static_cast<int>(ErrorKind::accuracy) == KORCH_ERROR_ACCURACY);
static_assert(static_cast<int>(ErrorKind::resource) == KORCH_ERROR_RESOURCE);
static_assert(static_cast<int>(ErrorKind::io) == KORCH_ERROR_IO);
static_assert(static_cast<int>(ErrorKind::interrupted) == KORCH_ERROR_INTERRUPTED);

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
  } catch (const abi::__forced_unwind&) {  // the thread ends: pthread_cancel, pthread_exit
    throw;
  } catch (...) {
    return report(ErrorKind::internal, "a callback threw", message, message_bytes);
  }
}

// The caller's struct, of any version. Throws Error{usage} where it says what this one does not know.
template <typename Options>
Options read_options(const Options* given) {
  Options options{};
  switch (given == nullptr ? rt::Sized::no_size : rt::read_sized(*given, &options)) {
    case rt::Sized::known:
      break;
    case rt::Sized::no_size:
      throw Error(ErrorKind::usage, "struct_size is not set");
    case rt::Sized::newer:
      throw Error(ErrorKind::usage,
                  "options that this version of libkorch does not know; it is older than the program");
  }
  return options;
}

}  // namespace korch
