#include "korch/runtime/check.h"

#include <elf.h>

#include "korch/runtime/checksum.h"

namespace korch::rt {
namespace {

constexpr uint64_t kPieceBytes = 4096;
static_assert(kPieceBytes % Checksum::kStripeBytes == 0);

struct Relocations {
  const Elf64_Rela* next;      // the first by rising address that no earlier range has used
  const Elf64_Rela* unsorted;  // the first of those that are in no order: few
  const Elf64_Rela* end;
};

// A piece of the image, copied to where it can be changed.
struct Piece {
  uint64_t address, size_bytes;
  unsigned char bytes[kPieceBytes];
  void undo(const Elf64_Rela& relocation) {
    constexpr uint64_t kWordBytes = 8;
    if (relocation.r_offset >= address && relocation.r_offset + kWordBytes <= address + size_bytes)
      memset(bytes + (relocation.r_offset - address), 0, kWordBytes);
  }
};

// The sum of the range as it was before the dynamic loader wrote addresses into it.
uint64_t sum_before_relocation(const CheckedRange& range, const unsigned char* image,
                               Relocations& relocations) {
  Checksum sum;
  for (uint64_t done = 0; done < range.size_bytes; done += kPieceBytes) {
    Piece piece;
    piece.address = range.address + done;
    piece.size_bytes = range.size_bytes - done < kPieceBytes ? range.size_bytes - done : kPieceBytes;
    memcpy(piece.bytes, image + piece.address, piece.size_bytes);
    const Elf64_Rela*& next = relocations.next;
    for (; next != relocations.unsorted && next->r_offset < piece.address + piece.size_bytes; ++next)
      piece.undo(*next);
    for (const Elf64_Rela* r = relocations.unsorted; r != relocations.end; ++r) piece.undo(*r);
    sum.add(piece.bytes, piece.size_bytes);
  }
  return sum.value();
}

}  // namespace

bool intact(const CheckRecord& record, const unsigned char* image, bool weights) {
  CheckRecord zeroed = record;
  zeroed.record_sum = 0;
  if (record.format != kExecutableFormat || checksum(&zeroed, sizeof zeroed) != record.record_sum)
    return false;
  // The relocations lie in a range that is mapped as it is in the file: compared before they are used.
  for (uint64_t i = 0; i < record.range_count; ++i) {
    const CheckedRange& range = record.ranges[i];
    if (range.mapped == Mapped::same && (weights || range.part != Part::weights) &&
        checksum(image + range.address, range.size_bytes) != range.sum)
      return false;
  }
  const auto* first = reinterpret_cast<const Elf64_Rela*>(image + record.relocations);
  Relocations relocations = {first, first + record.rising_relocations, first + record.relocation_count};
  for (uint64_t i = 0; i < record.range_count; ++i) {
    const CheckedRange& range = record.ranges[i];
    if (range.mapped == Mapped::relocated && sum_before_relocation(range, image, relocations) != range.sum)
      return false;
  }
  return true;
}

}  // namespace korch::rt
