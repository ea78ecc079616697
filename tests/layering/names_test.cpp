// What stands above or beside the kernel families knows primitives by their rows of the operator table, and
// families not at all: neither name occurs there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "korch/ir/op.h"

namespace korch {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kTree = KORCH_SOURCE_DIR;
const std::vector<std::string> kFolders = {"candidate", "search", "solve", "profile", "variants", "driver"};

// Operators that kernels treat each in its own way: of a category whose members have little in common, or
// with a property of their own.
Names operators() {
  Names names;
  const auto add = [&](Op op) {
    const OpInfo& row = info(op);
    const Fusing& fusing = row.fusing;
    if (row.category == Category::linear || row.category == Category::window ||
        row.category == Category::opaque || fusing.part != LinearPart::whole || fusing.weighs_window)
      names.insert(row.name);
  };
#define X(name, ...) add(Op::name);
  KORCH_OPS(X)
#undef X
  return names;
}

// Without those that are a category's name.
Names families() {
  std::ifstream file(kTree / "src/korch/codegen/implementation.cpp");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const size_t begin = all.find("families() {"), end = all.find("return table;", begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::string table = all.substr(begin, end - begin);
  const std::regex literal(R"re("([^"]+)")re");
  Names names;
  for (std::sregex_iterator match(table.begin(), table.end(), literal), none; match != none; ++match)
    names.insert((*match)[1]);
#define X(name, category, ...) names.erase(#category);
  KORCH_OPS(X)
#undef X
  return names;
}

// The first of the operators that the line names, or of the families that a text in it names; else "".
std::string name_in(const std::string& line, const Names& operators, const Names& families) {
  static const std::regex word(R"(\w+)"), literal(R"re("([^"\\]|\\.)*")re");
  const auto first = [](const std::string& text, const Names& names) -> std::string {
    for (std::sregex_iterator match(text.begin(), text.end(), word), none; match != none; ++match)
      if (names.contains(match->str())) return match->str();
    return "";
  };
  const std::string op = first(line, operators);
  if (!op.empty()) return op;
  for (std::sregex_iterator match(line.begin(), line.end(), literal), none; match != none; ++match) {
    const std::string family = first(match->str(), families);
    if (!family.empty()) return family;
  }
  return "";
}

TEST(Names, AreFoundInALine) {
  const Names ops = operators(), known = families();
  EXPECT_EQ(name_in("if (node.op == Op::WindowDot) return;", ops, known), "WindowDot");
  EXPECT_EQ(name_in("// The kernel of TopK reads", ops, known), "TopK");
  EXPECT_EQ(name_in(R"(way.family == "conv_direct")", ops, known), "conv_direct");
  EXPECT_EQ(name_in(R"(return {"no matmul for \"x\""};)", ops, known), "matmul");
  EXPECT_EQ(name_in(R"(if (node.op == Op::Reshape) matmul(attention, "opaque");)", ops, known), "");
  EXPECT_EQ(name_in(R"(#include "korch/codegen/implementation.h")", ops, known), "");
}

TEST(Names, OfPrimitivesAndFamiliesStayBelow) {
  const Names ops = operators(), known = families();
  for (const char* name : {"WindowDot", "WinogradInput", "WinogradProduct", "WinogradOutput"})
    EXPECT_TRUE(ops.contains(name)) << name;
  ASSERT_GE(known.size(), 10u);
  int files = 0;
  for (const std::string& folder : kFolders)
    for (const auto& entry : fs::recursive_directory_iterator(kTree / "src/korch" / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      std::ifstream file(entry.path());
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        EXPECT_EQ(name_in(line, ops, known), "")
            << entry.path().string() << ":" << number << ": ask info(op).fusing or codegen/implementation.h";
      }
    }
  EXPECT_GT(files, 50);
}

// Reports say what each does.
TEST(Families, EachIsInWords) {
  std::stringstream words;
  words << std::ifstream(kTree / "src/korch/codegen/family_words.cpp").rdbuf();
  for (const std::string& family : families())
    EXPECT_NE(words.str().find("{\"" + family + "\","), std::string::npos)
        << family << ": codegen/family_words.cpp";
}

// What each builds is in a golden (tests/text/tiles), but of calls, which build nothing.
TEST(Families, EachHasAGolden) {
  const Names calls = {"append", "loop_end"};
  std::string cases;
  for (const auto& entry : fs::directory_iterator(kTree / "tests/text/tiles")) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    cases += text.str();
  }
  for (const std::string& family : families())
    EXPECT_NE(calls.contains(family), cases.find("// RUN: tiles " + family + " ") != std::string::npos)
        << family << ": a case in tests/text/tiles";
}

}  // namespace
}  // namespace korch
