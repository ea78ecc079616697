#include "korch/runtime/check.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "korch/runtime/checksum.h"

namespace korch::rt {
namespace {

TEST(Checksum, EveryBitAndEveryLengthCounts) {
  std::string bytes(200, '\0');
  std::set<uint64_t> sums;
  for (size_t size = 0; size <= bytes.size(); ++size) sums.insert(checksum(bytes.data(), size));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(1 << bit % 8);
    sums.insert(checksum(bytes.data(), bytes.size()));
    bytes[bit / 8] = 0;
  }
  EXPECT_EQ(sums.size(), 201 + 8 * bytes.size());
}

// Flips of the same bit in two words of one lane must not cancel, whichever bit it is.
TEST(Checksum, PairsOfFlipsDoNotCancel) {
  std::string bytes(512, '\x5a');
  const uint64_t before = checksum(bytes.data(), bytes.size());
  for (size_t bit = 0; bit < 64; ++bit)
    for (size_t stripe = 1; stripe < 8; ++stripe) {
      std::string changed = bytes;
      changed[bit / 8] ^= static_cast<char>(1 << bit % 8);
      changed[64 * stripe + bit / 8] ^= static_cast<char>(1 << bit % 8);
      EXPECT_NE(checksum(changed.data(), changed.size()), before) << bit << " " << stripe;
    }
}

TEST(Checksum, PiecesOfWholeStripes) {
  std::string bytes(1000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
  for (size_t cut = 0; cut < bytes.size(); cut += 64) {
    Checksum sum;
    sum.add(bytes.data(), cut);
    sum.add(bytes.data() + cut, bytes.size() - cut);
    EXPECT_EQ(sum.value(), checksum(bytes.data(), bytes.size())) << cut;
  }
}

// An image as the dynamic loader leaves it: weights, the relocations, and two tables of which some words are
// addresses.
struct Image {
  static constexpr uint64_t kWeights = 0, kRelocations = 1024, kTables = 2048, kBytes = 20000;
  static constexpr uint64_t kSecondTable = kTables + 9000;

  Image() : bytes(kBytes, 1), record{} {
    auto* relocations = reinterpret_cast<Elf64_Rela*>(&bytes[kRelocations]);
    const uint64_t offsets[] = {kTables,           kTables + 4088, kTables + 4096,
                                kSecondTable + 16, kTables + 8992, kTables + 16};
    for (uint64_t offset : offsets) {
      *relocations++ = {offset, R_X86_64_RELATIVE, 0};
      std::memset(&bytes[offset], 0, 8);
    }
    record.magic = kCheckMagic;
    record.format = kExecutableFormat;
    record.record_bytes = sizeof record;
    record.relocations = kRelocations;
    record.relocation_count = 6;
    record.rising_relocations = 4;
    add(kWeights, 1024, Part::weights, Mapped::same);
    add(kRelocations, 6 * sizeof(Elf64_Rela), Part::tables, Mapped::same);
    add(kTables, 9000, Part::tables, Mapped::relocated);
    add(kSecondTable, 64, Part::tables, Mapped::relocated);
    record.ranges[record.range_count++] = {0, kBytes, 0, 0, Part::plan, Mapped::no};
    record.record_sum = checksum(&record, sizeof record);
    for (uint64_t offset : offsets) std::memset(&bytes[offset], 0xee, 8);
  }
  void add(uint64_t address, uint64_t size_bytes, Part part, Mapped mapped) {
    record.ranges[record.range_count++] = {0,    size_bytes, address, checksum(&bytes[address], size_bytes),
                                           part, mapped};
  }
  bool is_intact(bool weights) const { return intact(record, bytes.data(), weights); }
  std::vector<unsigned char> bytes;
  CheckRecord record;
};

TEST(Intact, ComparesWhatIsMapped) {
  Image image;
  ASSERT_TRUE(image.is_intact(true));
  for (uint64_t place : {Image::kRelocations + 3, Image::kTables + 8, Image::kTables + 4087,
                         Image::kTables + 4104, Image::kSecondTable + 8, Image::kSecondTable + 63}) {
    image.bytes[place] ^= 4;
    EXPECT_FALSE(image.is_intact(false)) << place;
    image.bytes[place] ^= 4;
  }
  image.bytes[Image::kWeights + 1023] ^= 1;
  EXPECT_TRUE(image.is_intact(false));
  EXPECT_FALSE(image.is_intact(true));
}

TEST(Intact, ComparesTheRecordItself) {
  Image image;
  image.record.ranges[0].size_bytes ^= 1;
  EXPECT_FALSE(image.is_intact(false));
  image = Image();
  ++image.record.format;
  image.record.record_sum = 0;
  image.record.record_sum = checksum(&image.record, sizeof image.record);
  EXPECT_FALSE(image.is_intact(false));
}

}  // namespace
}  // namespace korch::rt
