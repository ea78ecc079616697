// Every #include "korch/..." under src/korch goes to the file's own folder or to a lower floor of
// docs/design/floors.txt.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace korch {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = KORCH_SOURCE_DIR;

std::map<std::string, int> read_floors() {
  std::ifstream file(kRoot / "docs/design/floors.txt");
  std::map<std::string, int> floors;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    int floor;
    std::string folder;
    if (words >> floor >> folder) floors[folder] = floor;
  }
  return floors;
}

// "" when the include is allowed, else the complaint.
std::string complaint(const std::map<std::string, int>& floors, const std::string& from,
                      const std::string& to) {
  if (from == to) return "";
  if (!floors.contains(from)) return "folder " + from + " stands on no floor";
  if (!floors.contains(to)) return "folder " + to + " stands on no floor";
  if (floors.at(to) < floors.at(from)) return "";
  return from + " (floor " + std::to_string(floors.at(from)) + ") includes " + to + " (floor " +
         std::to_string(floors.at(to)) + ")";
}

TEST(Layering, RulesAreStrict) {
  const std::map<std::string, int> floors = {{"base", 0}, {"ir", 2}, {"target", 2}};
  EXPECT_EQ(complaint(floors, "ir", "base"), "");
  EXPECT_EQ(complaint(floors, "ir", "ir"), "");
  EXPECT_NE(complaint(floors, "ir", "target"), "");
  EXPECT_NE(complaint(floors, "base", "ir"), "");
  EXPECT_NE(complaint(floors, "ir", "attic"), "");
}

// Libraries whose headers cost as much as ten of our files, and who may include them: one file each, or those
// that are made of the library. (JSON's serializer of integers must be one in the whole program, too.)
TEST(Layering, HeavyHeadersAreIncludedOnce) {
  const std::map<std::string, std::set<std::string>> owners = {
      {"nlohmann", {"src/korch/base/json.h"}},
      {"CLI", {"tools/command_line/command_line.cpp"}},
      {"llvm",
       {"src/korch/backend/cpu/compiler.cpp", "src/korch/backend/cpu/loaded_kernels.cpp",
        "src/korch/backend/cpu/link.cpp", "tests/cuda/checked_object.cpp", "tests/model_kernels/trace.cpp"}},
      {"clang", {"src/korch/backend/cpu/compiler.cpp"}},
      {"lld", {"src/korch/backend/cpu/link.cpp"}}};
  const std::regex include(R"re(^\s*#\s*include\s*<([A-Za-z]+)/)re");
  int files = 0;
  for (const char* folder : {"src", "tools", "tests", "bench"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      const std::string path = fs::relative(entry.path(), kRoot);
      std::ifstream file(entry.path());
      std::smatch match;
      for (std::string line; std::getline(file, line);)
        if (line.starts_with('#') && std::regex_search(line, match, include)) {
          const auto found = owners.find(match[1]);
          EXPECT_TRUE(found == owners.end() || found->second.contains(path)) << path << ": " << line;
        }
      ++files;
    }
  EXPECT_GT(files, 100);
}

// What executables hold needs no library, and of other folders plain headers.
TEST(Layering, TheRuntimeKnowsNoCompiler) {
  const std::set<std::string> shared = {"base/usable_cpus.h", "plan/model_fault.h", "plan/program.h",
                                        "plan/ref.h", "plan/task_fault.h"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "src/korch/runtime"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  for (const std::string& header : shared)
    for (const char* extension : {".h", ".cpp"})
      files.push_back((kSource / "src/korch" / header).replace_extension(extension));
  const std::regex include(R"re(^\s*#\s*include\s*"korch/([^"]+)")re");
  int seen = 0;
  for (const fs::path& path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      ++seen;
      const std::string header = match[1];
      EXPECT_TRUE(header.starts_with("runtime/") || shared.contains(header)) << path << ": " << header;
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(Layering, PackagingCompilesNothing) {
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "src/korch/package")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      EXPECT_FALSE(line.starts_with("#include \"korch/codegen/")) << entry.path();
  }
}

// What in the line of a source is a backend's own matter; "" where nothing is.
std::string backends_own(const std::string& line) {
  static const std::regex own(
      R"re("korch/((backend/\w+|codegen/(cpu|cuda|passes)|runtime/cpu)/[^"]+)"|\b([Ii]sa|kIsas|isa_named|Isa::\w+)\b)re");
  std::smatch match;
  const std::string code = line.substr(0, line.find("//"));
  return std::regex_search(code, match, own) ? match.str() : "";
}

TEST(Layering, BackendsOwnMattersAreFound) {
  EXPECT_EQ(backends_own("#include \"korch/backend/backend.h\""), "");
  EXPECT_EQ(backends_own("  return 1;  // of an Isa"), "");
  for (const char* header : {"backend/cpu/compiler.h", "backend/stub/stub_backend.h",
                             "codegen/passes/passes.h", "codegen/cuda/print_cuda.h"})
    EXPECT_NE(backends_own("#include \"korch/" + std::string(header) + "\""), "") << header;
  EXPECT_NE(backends_own("const Isa isa = *isa_named(device.code);"), "");
}

// Above it neither a compiler nor a library nor an instruction set is known.
TEST(Layering, NobodyAboveTheBackendKnowsOne) {
  const std::map<std::string, int> floors = read_floors();
  std::vector<fs::path> folders = {kRoot / "tools"};
  for (const auto& [folder, floor] : floors)
    if (floor > floors.at("backend")) folders.push_back(kRoot / "src/korch" / folder);
  int files = 0;
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) EXPECT_EQ(backends_own(line), "") << entry.path();
      ++files;
    }
  EXPECT_GT(files, 100);
}

TEST(Layering, EachFolderHasAFloorAndAPage) {
  const std::map<std::string, int> floors = read_floors();
  size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "src/korch")) {
    if (!entry.is_directory()) continue;
    const std::string folder = entry.path().filename();
    EXPECT_TRUE(floors.contains(folder)) << folder;
    EXPECT_TRUE(fs::exists(kRoot / "docs/design" / (folder + ".md"))) << folder;
    ++folders;
  }
  EXPECT_EQ(folders, floors.size());
}

TEST(Layering, IncludesGoDown) {
  const std::map<std::string, int> floors = read_floors();
  ASSERT_GE(floors.size(), 10u);
  const std::regex include(R"re(^\s*#\s*include\s*"korch/([^/"]+)/)re");
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src/korch")) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const std::string from = *fs::relative(entry.path(), kRoot / "src/korch").begin();
    std::ifstream file(entry.path());
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      ++seen;
      EXPECT_EQ(complaint(floors, from, match[1]), "") << entry.path().string() << ":" << number;
    }
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace korch
