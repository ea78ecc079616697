// A kernel is proposed in one place, so that no tile graph is built twice: whoever needs it asks the bank.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace korch {
namespace {

namespace fs = std::filesystem;

TEST(Proposals, AreMadeByTheBankAlone) {
  static const std::regex call(R"(\b(propose|propose_reorder|reorder_tile_graph)\()");
  const fs::path sources = fs::path(KORCH_SOURCE_DIR) / "src/korch";
  int callers = 0;
  for (const auto& entry : fs::recursive_directory_iterator(sources)) {
    const std::string path = fs::relative(entry.path(), sources).string();
    if (path.starts_with("codegen/") || entry.path().extension() != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (!std::regex_search(text.str(), call)) continue;
    EXPECT_EQ(path, "profile/kernel_bank.cpp");
    ++callers;
  }
  EXPECT_EQ(callers, 1);
}

}  // namespace
}  // namespace korch
