// The page that says where a new thing goes names files and tests that there are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace korch {
namespace {

namespace fs = std::filesystem;

const fs::path kTop = KORCH_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What stands between backticks and looks like the pattern, which has one group.
std::set<std::string> named(const std::string& page, const std::string& pattern) {
  const std::regex wanted("`" + pattern + "`");
  std::set<std::string> names;
  for (std::sregex_iterator match(page.begin(), page.end(), wanted), none; match != none; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST(Extending, NamesFilesThatThereAre) {
  const std::string page = text_of(kTop / "docs/design/extending.md");
  const std::set<std::string> files = named(page, R"(([a-z_]+/[a-z_/]+\.(cpp|h)))");
  for (const std::string& file : files)
    EXPECT_TRUE(fs::exists(kTop / "src/korch" / file) || fs::exists(kTop / "src/korch/codegen" / file) ||
                fs::exists(kTop / file))
        << file;
  EXPECT_GT(files.size(), 30u);
}

TEST(Extending, NamesTestsThatThereAre) {
  const std::string page = text_of(kTop / "docs/design/extending.md");
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(kTop / "tests"))
    if (entry.path().extension() == ".cpp") tests += text_of(entry.path());
  const std::set<std::string> names = named(page, R"(([A-Z]\w+\.[A-Z*]\w*))");
  for (const std::string& name : names) {
    const std::string suite = name.substr(0, name.find('.')), one = name.substr(suite.size() + 1);
    const std::string test = "(" + suite + ", " + (one == "*" ? "" : one + ")");
    EXPECT_NE(tests.find(test), std::string::npos) << name;
  }
  EXPECT_GT(names.size(), 10u);
}

}  // namespace
}  // namespace korch
