// Text tests: every *.kt file here holds cases of the form
//
//   // RUN: <stage> [family] [--option [value]]... [case name]        (stages.h)
//   graph { ... }          the input, comments included
//   block { ... }          where the family lowers block graphs: that of the kernel
//   // EXPECT:
//   ...                    what the stage prints; "error: <message>" when it throws
//
// `test_text --update [FOLDER/FILE.kt]` rewrites the expectations, of all files or of the one named; read the
// diff.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/rewrite/rule.h"
#include "stages.h"

namespace korch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "// RUN: ", kExpect = "// EXPECT:\n";
const fs::path kFolder = fs::path(KORCH_SOURCE_DIR) / "tests/text";
const char* program = "test_text";

struct Case {
  std::string run_text;  // as it stands in the file
  RunLine line;
  std::string input, expected;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \n") - begin + 1) + "\n";
}

// The cases of a file; what stands before the first run line is its head comment.
std::vector<Case> split_cases(const std::string& text, std::string* head) {
  std::vector<Case> cases;
  size_t at = text.find(kRun);
  *head = text.substr(0, at);
  while (at != std::string::npos) {
    const size_t next = text.find(kRun, at + 1);
    const size_t line_end = text.find('\n', at);
    Case c;
    c.run_text = text.substr(at + kRun.size(), line_end - at - kRun.size());
    c.line = parse_run_line(c.run_text);
    const std::string body =
        text.substr(line_end + 1, next == std::string::npos ? next : next - line_end - 1);
    const size_t expect = body.find(kExpect);
    c.input = trimmed(body.substr(0, expect));
    if (expect != std::string::npos) c.expected = trimmed(body.substr(expect + kExpect.size()));
    cases.push_back(std::move(c));
    at = next;
  }
  return cases;
}

std::string run_case(const Case& c) {
  try {
    return trimmed(run_stage(c.line, c.input));
  } catch (const Error& error) {
    return trimmed(std::string("error: ") + error.what());
  }
}

// Below the folder of all: files of several folders have the same name.
std::string short_name(const fs::path& path) {
  return fs::relative(path, kFolder).string();
}

std::string test_name(const fs::path& path, const Case& c) {
  const std::string file = short_name(path);
  return file.substr(0, file.size() - path.extension().string().size()) +
         (c.line.name.empty() ? "" : "/" + c.line.name);
}

void update_file(const fs::path& path) {
  std::string text;
  for (const Case& c : split_cases(read_file(path), &text)) {
    if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
    text += std::string(kRun) + c.run_text + "\n" + c.input + std::string(kExpect) + run_case(c);
  }
  write_file(path, text);
}

class TextTest : public ::testing::Test {
 public:
  TextTest(fs::path path, Case c) : path_(std::move(path)), case_(std::move(c)) {}
  void TestBody() override {
    if (!case_.line.family.empty()) check_kernels(case_.input, case_.line);
    EXPECT_EQ(run_case(case_), case_.expected)
        << "rerun:  " << program << " --gtest_filter='Text." << test_name(path_, case_) << "'\n"
        << "accept: " << program << " --update " << short_name(path_) << "   (in " << kFolder.string() << ")";
  }

 private:
  fs::path path_;
  Case case_;
};

// Every rewrite rule has a case in which no other is applied.
class RulesTest : public ::testing::Test {
 public:
  explicit RulesTest(std::set<std::string> tried) : tried_(std::move(tried)) {}
  void TestBody() override {
    for (const RewriteRule& rule : rewrite_rules())
      EXPECT_TRUE(tried_.contains(rule.name)) << "no case: alternatives --only " << rule.name;
  }

 private:
  std::set<std::string> tried_;
};

// The text tests' files, sorted; of `only` that one alone.
std::vector<fs::path> files_of(const std::string& only) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".kt" && (only.empty() || short_name(entry.path()) == only))
      files.push_back(entry.path());
  if (files.empty()) throw Error(ErrorKind::usage, "no file '" + only + "' in " + kFolder.string());
  std::sort(files.begin(), files.end());
  return files;
}

struct Known {
  std::set<std::string> cases, rules;  // rules: that cases apply alone
};

void register_cases(const fs::path& path, Known& known) {
  std::string head;
  for (const Case& c : split_cases(read_file(path), &head)) {
    const std::string name = test_name(path, c);
    if (c.line.only.size() == 1) known.rules.insert(c.line.only[0]);
    if (!known.cases.insert(name).second) throw Error(ErrorKind::usage, "two cases have one name: " + name);
    ::testing::RegisterTest("Text", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path, c]() -> ::testing::Test* { return new TextTest(path, c); });
  }
}

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  program = argv[0];
  const bool update = argc > 1 && std::string_view(argv[1]) == "--update";
  const std::string only = update && argc > 2 ? argv[2] : "";
  Known known;
  for (const fs::path& path : files_of(only)) {
    try {
      if (update) update_file(path);
      register_cases(path, known);
    } catch (const Error& error) {
      throw Error(error.kind(), short_name(path) + ": " + error.what());
    }
  }
  if (only.empty())
    ::testing::RegisterTest("Text", "every_rule", nullptr, nullptr, __FILE__, __LINE__,
                            [rules = known.rules]() -> ::testing::Test* { return new RulesTest(rules); });
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  try {
    return korch::run(argc, argv);
  } catch (const korch::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
