// An executable's record of its own bytes, in its section .korch.check, written after linking
// (package/seal.h). korch reads it before it loads a file; the executable compares it with the mapped bytes.
#pragma once

#include <stdint.h>

namespace korch::rt {

// Raised when an older executable would be misread: by another record, section, table or C interface.
constexpr uint32_t kExecutableFormat = 2;
constexpr uint64_t kCheckMagic = 0x4b48434843524f4b;  // "KORCHCHK"

enum class Part : uint32_t { headers, code, tables, weights, plan };

// How a range of the file appears in memory.
enum class Mapped : uint32_t {
  no,        // not at all, or changed by the dynamic loader
  same,      // byte for byte
  relocated  // with addresses where the file has zeros
};

struct CheckedRange {
  uint64_t offset, size_bytes;  // in the file
  uint64_t address;             // in the image; nothing when not mapped
  uint64_t sum;                 // Checksum of the file's bytes
  Part part;
  Mapped mapped;
};

constexpr uint64_t kMostCheckedRanges = 64;

struct CheckRecord {
  // These four stand here in every format.
  uint64_t magic;
  uint32_t format;
  uint32_t record_bytes;
  uint64_t record_sum;  // of the record, with zero in this place

  uint64_t file_bytes;
  uint64_t relocations, relocation_count;  // Elf64_Rela at this address of the image
  uint64_t rising_relocations;             // so many of the first are by rising address
  uint64_t range_count;                    // the ranges and the record make up the whole file
  CheckedRange ranges[kMostCheckedRanges];
};

// Whether the bytes mapped at `image` are those that were written; with `weights` or without.
bool intact(const CheckRecord& record, const unsigned char* image, bool weights);

}  // namespace korch::rt

extern "C" const korch::rt::CheckRecord korch_check_record;
