// Who lists targets lists all of them: texts that cannot be made from the table (docs, comments that people
// read) fall behind it.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "korch/base/files.h"
#include "korch/device/device.h"

namespace korch {
namespace {

namespace fs = std::filesystem;

bool names(const std::string& text, const std::string& target) {
  return std::regex_search(text, std::regex(target + "(?![-\\w])"));
}

// Targets that the text does not name, where it names two or more.
std::vector<std::string> left_out(const std::string& text) {
  std::vector<std::string> missing;
  size_t named = 0;
  for (const std::string& target : target_names()) {
    if (!isa_named(target)) continue;  // GPUs are named one by one, too
    if (names(text, target))
      ++named;
    else
      missing.push_back(target);
  }
  return named >= 2 ? missing : std::vector<std::string>();
}

TEST(Targets, AreListedWhole) {
  const fs::path source = KORCH_SOURCE_DIR;
  std::vector<fs::path> files = {source / "README.md", source / "CONTRIBUTING.md"};
  for (const char* folder : {"src", "tools", "libkorch", "python/korch", "docs", "ort"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source / folder))
      if (const std::string kind = entry.path().extension();
          kind == ".cpp" || kind == ".h" || kind == ".py" || kind == ".md" || kind == ".c")
        files.push_back(entry.path());
  ASSERT_GT(files.size(), 300u);
  int lists = 0;
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    for (const std::string& target : left_out(text)) ADD_FAILURE() << file << " does not name " << target;
    lists += names(text, "x86-64-v3") && names(text, "x86-64-v4");
  }
  EXPECT_GE(lists, 4);  // the table, the C interfaces, Python's
}

TEST(Targets, ALeftOutOneIsSeen) {
  EXPECT_EQ(left_out("x86-64-v3 (AVX2) or x86-64-v4"),
            (std::vector<std::string>{"x86-64-v4-vnni", "x86-64-v4-bf16", "x86-64-v4-amx"}));
  EXPECT_EQ(left_out("x86-64-v3 or x86-64-v4-vnni."),
            (std::vector<std::string>{"x86-64-v4", "x86-64-v4-bf16", "x86-64-v4-amx"}));
  EXPECT_TRUE(left_out("x86-64-v3 alone").empty());
}

}  // namespace
}  // namespace korch
