// What an element reads is said once, by index maps (ir/index_map.h); and the compiler names every place that
// a new enumerator must visit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace korch {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = fs::path(KORCH_SOURCE_DIR) / "src/korch";

// The sources, named from src/korch on, in which the pattern occurs.
std::set<std::string> files_with(const std::string& pattern) {
  const std::regex wanted(pattern, std::regex::multiline);
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSources)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (std::regex_search(text.str(), wanted)) found.insert(fs::relative(entry.path(), kSources).string());
  }
  return found;
}

// Graphs are made and rewritten in terms of attributes; they are understood by index maps.
TEST(IndexMaps, StandForAttributes) {
  std::set<std::string> readers;
  for (const std::string& file : files_with(R"(\b(Perm|Slice|Pad)Attrs\b)"))
    if (!std::regex_search(file, std::regex("^(ir|onnx|fission|rewrite)/"))) readers.insert(file);
  // The value of padding, and the layouts in which a transposition is a view.
  const std::set<std::string> expected = {"codegen/loop/compose.cpp", "inspect/intervals.cpp",
                                          "interp/evaluate_layout.cpp", "search/columns.cpp"};
  EXPECT_EQ(readers, expected);
}

TEST(Switches, OverEnumsHaveNoDefault) {
  const std::set<std::string> over_numbers = {"codegen/cpu/micro_kernel.cpp", "onnx/rules_bits.cpp"};
  EXPECT_EQ(files_with(R"(^ *default:)"), over_numbers);
}

}  // namespace
}  // namespace korch
