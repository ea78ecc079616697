// What a damaged executable is refused with: by korch before it is loaded, and by itself.
#include "korch/package/seal.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "korch/base/error.h"
#include "korch/package/executable.h"
#include "korch/package/loaded.h"
#include "korch/runtime/check.h"
#include "korch/runtime/checksum.h"
#include "test_plan.h"

namespace korch {
namespace {

class SealTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempDir;
    const Plan plan = test_plan();
    write_executable(test_package(plan, Isa::portable), folder_->path() + "/good.so");
    good_ = new std::string(read_file(folder_->path() + "/good.so"));
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete good_;
  }
  static std::string path() { return folder_->path() + "/copy.so"; }

  // What the reader says to the copy; "" when it takes it.
  static std::string complaint() {
    try {
      read_executable(path());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      EXPECT_NE(std::string(error.what()).find(path()), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }
  static std::string complaint(const std::string& bytes) {
    write_file(path(), bytes);
    return complaint();
  }
  static void expect_complaint(const std::string& bytes, const std::vector<std::string>& words) {
    const std::string text = complaint(bytes);
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
  }
  static Elf64_Shdr section(const std::string& name) {
    write_file(path(), *good_);
    return *ElfFile(path()).find(name);
  }
  // A copy with one bit changed in the middle of a section.
  static std::string with_flip_in(const std::string& name) {
    const Elf64_Shdr header = section(name);
    std::string bytes = *good_;
    bytes[header.sh_offset + header.sh_size / 2] ^= 1;
    return bytes;
  }
  static std::string with_record(const std::function<void(rt::CheckRecord&)>& change) {
    const uint64_t offset = section(kCheckSection).sh_offset;
    std::string bytes = *good_;
    rt::CheckRecord record;
    std::memcpy(&record, bytes.data() + offset, sizeof record);
    change(record);
    record.record_sum = 0;
    record.record_sum = rt::checksum(&record, sizeof record);
    std::memcpy(bytes.data() + offset, &record, sizeof record);
    return bytes;
  }

  // Sealed again.
  static std::string with_tables(const std::function<void(rt::Model&)>& change) {
    const uint64_t offset = section(kTablesSection).sh_offset;
    std::vector<uint64_t> bytes(good_->size() / sizeof(uint64_t) + 1);
    std::memcpy(bytes.data(), good_->data(), good_->size());
    change(*reinterpret_cast<rt::Model*>(reinterpret_cast<char*>(bytes.data()) + offset));
    write_file(path(), {reinterpret_cast<const char*>(bytes.data()), good_->size()});
    seal_executable(path());
    return read_file(path());
  }

  static inline TempDir* folder_;
  static inline std::string* good_;
};

TEST_F(SealTest, NoByteMayChange) {
  std::mt19937 random(1);
  ASSERT_EQ(complaint(*good_), "");
  for (size_t i = 0; i < good_->size(); ++i) {
    const char flipped = static_cast<char>((*good_)[i] ^ 1 << random() % 8);
    write_into_file(path(), i, {&flipped, 1});
    ASSERT_NE(complaint(), "") << i;
    write_into_file(path(), i, {&(*good_)[i], 1});
  }
  EXPECT_EQ(complaint(), "");
}

TEST_F(SealTest, SeveralFlippedBits) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = *good_;
    for (int flips = 1 + round % 8; flips > 0; --flips)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (bytes != *good_) {
      ASSERT_NE(complaint(bytes), "") << round;
    }
  }
}

TEST_F(SealTest, TheDamagedPartIsNamed) {
  expect_complaint(with_flip_in(kWeightsSection), {"is damaged: its weights"});
  expect_complaint(with_flip_in(".text"), {"is damaged: its code"});
  expect_complaint(with_flip_in(".rodata"), {"is damaged: its tables"});
  expect_complaint(with_flip_in(kTablesSection), {"is damaged: its tables"});
  expect_complaint(with_flip_in(".data.rel.ro"), {"is damaged: its tables"});
  expect_complaint(with_flip_in(kPlanSection), {"is damaged: its plan"});
  expect_complaint(with_flip_in(kTargetSection), {"is damaged: its plan"});
  expect_complaint(with_flip_in(kCheckSection), {"is damaged: its checksums"});
  std::string names = *good_;
  names[names.find(".korch.check")] ^= 1;
  expect_complaint(names, {"is damaged: its headers"});
}

TEST_F(SealTest, TruncatedAndExtended) {
  for (size_t size = 0; size < good_->size(); size += 991) EXPECT_NE(complaint(good_->substr(0, size)), "");
  EXPECT_NE(complaint(good_->substr(0, good_->size() - 1)), "");
  expect_complaint(*good_ + '\0', {"is damaged", std::to_string(good_->size())});
  expect_complaint(*good_ + *good_, {"is damaged"});
}

// Tools leave out what nobody loads, and write the headers anew.
TEST_F(SealTest, StripDoesNoHarm) {
  int tried = 0;
  for (const std::string tool : {"strip", "strip --strip-debug"}) {
    write_file(path(), *good_);
    if (std::system((tool + " '" + path() + "' 2>/dev/null").c_str()) != 0) continue;
    ++tried;
    SCOPED_TRACE(tool);
    const std::string stripped = read_file(path());
    EXPECT_EQ(complaint(), "");
    LoadedExecutable loaded(path());
    if (stripped == *good_) continue;
    // What is loaded or read still may not change.
    for (const char* name : {kWeightsSection, kTablesSection, ".text", ".rodata", ".data.rel.ro", ".dynamic",
                             kPlanSection, kTargetSection, kSourcesSection, kGraphsSection, kCheckSection}) {
      write_file(path(), stripped);
      const Elf64_Shdr header = *ElfFile(path()).find(name);
      std::string bytes = stripped;
      bytes[header.sh_offset + header.sh_size / 2] ^= 1;
      EXPECT_NE(complaint(bytes), "") << name;
    }
    write_file(path(), stripped);
    const Elf64_Ehdr header = ElfFile(path()).header();
    for (size_t i = 0; i < header.e_phnum * sizeof(Elf64_Phdr); ++i) {
      std::string bytes = stripped;
      bytes[header.e_phoff + i] ^= 1;
      EXPECT_NE(complaint(bytes), "") << "program headers, byte " << i;
    }
    EXPECT_NE(complaint(stripped + '\0'), "");
    EXPECT_NE(complaint(stripped.substr(0, stripped.size() - 1)), "");
  }
  if (tried == 0) GTEST_SKIP() << "there is no strip";
}

TEST_F(SealTest, WhatAToolChangedIsSaid) {
  int tried = 0;
  for (const std::string tool : {"objcopy --remove-section .korch.sources", "llvm-strip-19"}) {
    write_file(path(), *good_);
    if (std::system((tool + " '" + path() + "' 2>/dev/null").c_str()) != 0) continue;
    ++tried;
    const std::string text = complaint();
    EXPECT_NE(text.find("its plan are not what korch wrote: it was cut off, or changed by a tool"),
              std::string::npos)
        << tool << ": " << text;
  }
  if (tried == 0) GTEST_SKIP() << "there is no such tool";
}

TEST_F(SealTest, MovedBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = *good_;
    const size_t length = 64 << round % 4, a = random() % (bytes.size() / 64) * 64,
                 b = random() % (bytes.size() / 64) * 64;
    if (std::max(a, b) + length > bytes.size() || std::max(a, b) - std::min(a, b) < length) continue;
    std::swap_ranges(bytes.begin() + a, bytes.begin() + a + length, bytes.begin() + b);
    if (bytes != *good_) {
      EXPECT_NE(complaint(bytes), "") << round;
    }
  }
}

TEST_F(SealTest, AnotherFormatIsNamed) {
  const std::string next = std::to_string(rt::kExecutableFormat + 1);
  expect_complaint(with_record([](rt::CheckRecord& record) { ++record.format; }),
                   {"written in format " + next, "reads format " + std::to_string(rt::kExecutableFormat)});
}

// As executables were before they had checksums.
TEST_F(SealTest, WithoutChecksumsItIsFormatZero) {
  std::string bytes = with_record([](rt::CheckRecord& record) { record = {}; });
  bytes.replace(bytes.find(".korch.check"), 12, ".korch.chick");
  expect_complaint(bytes, {"written in format 0"});
}

// A record of ranges that lead outside of the file.
TEST_F(SealTest, ARecordThatLies) {
  EXPECT_NE(complaint(with_record([](rt::CheckRecord& r) { r.range_count = UINT64_MAX; })), "");
  EXPECT_NE(complaint(with_record([](rt::CheckRecord& r) { r.ranges[1].offset = UINT64_MAX - 8; })), "");
  EXPECT_NE(complaint(with_record([](rt::CheckRecord& r) { r.ranges[1].size_bytes = UINT64_MAX; })), "");
}

// Whole, as if they had been written so.
TEST_F(SealTest, TablesThatCannotBeFollowedAreNamed) {
  expect_complaint(with_tables([](rt::Model& model) { ++model.version; }),
                   {path(), "its tables are of another version", "compile the model again"});
  expect_complaint(with_tables([](rt::Model& model) { model.size_bytes += 8; }), {"are cut off"});
  expect_complaint(with_tables([](rt::Model& model) { ++model.shape_plan_count; }), {"plans", "outside"});
  expect_complaint(
      with_tables([](rt::Model& model) { model.output_ranks = &model.shape_plan_count + (1 << 20); }),
      {"outputs", "outside"});
  EXPECT_EQ(complaint(with_tables([](rt::Model&) {})), "");
}

TEST_F(SealTest, SealingAgainChangesNothing) {
  write_file(path(), *good_);
  seal_executable(path());
  EXPECT_TRUE(read_file(path()) == *good_);
}

// What an executable says of itself to a program that came without korch.
class OwnCheckTest : public SealTest {
 protected:
  void load(const std::string& bytes) {
    const std::string copy = folder_->path() + "/" + std::to_string(++copies_) + ".so";
    write_file(copy, bytes);
    void* library = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    auto* create = reinterpret_cast<decltype(&korch_create)>(::dlsym(library, "korch_create"));
    auto* check = reinterpret_cast<decltype(&korch_check)>(::dlsym(library, "korch_check"));
    auto* free = reinterpret_cast<decltype(&korch_free)>(::dlsym(library, "korch_free"));
    korch_instance* instance = nullptr;
    created_ = create(1, &instance);
    EXPECT_EQ(instance != nullptr, created_ == KORCH_OK);
    checked_ = check();
    free(instance);
    ::dlclose(library);
  }
  // Offset in the file of a function of a kernel, from the table of symbols.
  static uint64_t function(const std::string& name) {
    write_file(path(), *good_);
    const ElfFile file(path());
    const std::string_view symbols = file.section(".symtab"), names = file.section(".strtab");
    const Elf64_Shdr* text = file.find(".text");
    for (size_t at = 0; at < symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (names.substr(symbol.st_name).data() == name)
        return symbol.st_value - text->sh_addr + text->sh_offset;
    }
    ADD_FAILURE() << "no function " << name;
    return 0;
  }
  korch_status created_ = KORCH_INTERNAL, checked_ = KORCH_INTERNAL;
  int copies_ = 0;
};

TEST_F(OwnCheckTest, Whole) {
  load(*good_);
  EXPECT_EQ(created_, KORCH_OK);
  EXPECT_EQ(checked_, KORCH_OK);
}

TEST_F(OwnCheckTest, CodeIsCheckedWhenAnInstanceIsCreated) {
  for (const char* name : {"k0_run", "k1_run", "k1_total"}) {
    std::string bytes = *good_;
    bytes[function(name) + 5] ^= 0x10;
    load(bytes);
    EXPECT_EQ(created_, KORCH_DAMAGED) << name;
    EXPECT_EQ(checked_, KORCH_DAMAGED) << name;
  }
}

TEST_F(OwnCheckTest, TablesAreCheckedWhenAnInstanceIsCreated) {
  const auto created_with_change_of = [&](const char* name, const std::string& words) {
    const Elf64_Shdr tables = section(name);
    const size_t place = good_->find(words, tables.sh_offset);
    EXPECT_LT(place, tables.sh_offset + tables.sh_size) << name;
    std::string bytes = *good_;
    bytes[place] ^= 1;
    load(bytes);
    return created_;
  };
  const int64_t phase[] = {kElements, 8};  // grid and grain of the first kernel
  const uint32_t counts[] = {1, 2};        // inputs and outputs, between relocated words
  EXPECT_EQ(created_with_change_of(kTablesSection, {reinterpret_cast<const char*>(phase), sizeof phase}),
            KORCH_DAMAGED);
  EXPECT_EQ(created_with_change_of(".data.rel.ro", {reinterpret_cast<const char*>(counts), sizeof counts}),
            KORCH_DAMAGED);
  std::string bytes = *good_;
  bytes[bytes.find("Relu+Sub")] ^= 1;
  load(bytes);
  EXPECT_EQ(created_, KORCH_DAMAGED);
}

TEST_F(OwnCheckTest, TablesThatCannotBeFollowedAreRefused) {
  load(with_tables([](rt::Model& model) { ++model.shape_plan_count; }));
  EXPECT_EQ(created_, KORCH_DAMAGED);
  EXPECT_EQ(checked_, KORCH_OK);  // it is what was written
}

TEST_F(OwnCheckTest, WeightsAreCheckedOnDemand) {
  load(with_flip_in(kWeightsSection));
  EXPECT_EQ(created_, KORCH_OK);
  EXPECT_EQ(checked_, KORCH_DAMAGED);
}

}  // namespace
}  // namespace korch
