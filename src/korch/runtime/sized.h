// Structs of options that begin with their size (`struct_size`), from callers of any version.
#pragma once

#include <stdint.h>
#include <string.h>

namespace korch::rt {

// A size beyond this was never set: no version's options come near it.
constexpr uint64_t kMostOptionsBytes = 4096;

enum class Sized {
  known,
  no_size,  // struct_size is not that of any version
  newer     // says what this version does not know
};

// `options`: as this version has them. Of a shorter struct what lies behind its end is 0; a longer one is
// taken when it has nothing but 0 behind this version's end.
template <typename Options>
Sized read_sized(const Options& given, Options* options) {
  *options = {};
  const uint64_t size = given.struct_size;
  if (size < sizeof given.struct_size || size > kMostOptionsBytes) return Sized::no_size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  for (uint64_t i = sizeof(Options); i < size; ++i)
    if (bytes[i] != 0) return Sized::newer;
  memcpy(options, bytes, size < sizeof(Options) ? size : sizeof(Options));
  return Sized::known;
}

}  // namespace korch::rt
