// Text tests: every *.kt file here holds cases of the form
//
//   // RUN: <stage> [case name]
//   graph { ... }          the input, comments included
//   // EXPECT:
//   ...                    what the stage prints; "error: <message>" when it throws
//
// `test_text --update [file]` rewrites the expectations, of all files or of the one named; read the diff.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <iostream>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "stages.h"

namespace korch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRun = "// RUN: ", kExpect = "// EXPECT:\n";
const char* program = "test_text";

struct Case {
  std::string stage, name, input, expected;
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
    std::istringstream run(text.substr(at + kRun.size(), line_end - at - kRun.size()));
    Case c;
    run >> c.stage >> c.name;
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
    return trimmed(run_stage(c.stage, c.input));
  } catch (const Error& error) {
    return trimmed(std::string("error: ") + error.what());
  }
}

std::string test_name(const fs::path& path, const Case& c) {
  return path.stem().string() + (c.name.empty() ? "" : "/" + c.name);
}

void update_file(const fs::path& path) {
  std::string text;
  for (const Case& c : split_cases(read_file(path), &text)) {
    if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
    text += std::string(kRun) + c.stage + (c.name.empty() ? "" : " ") + c.name + "\n" + c.input +
            std::string(kExpect) + run_case(c);
  }
  write_file(path, text);
}

class TextTest : public testing::Test {
 public:
  TextTest(fs::path path, Case c) : path_(std::move(path)), case_(std::move(c)) {}
  void TestBody() override {
    EXPECT_EQ(run_case(case_), case_.expected)
        << "rerun:  " << program << " --gtest_filter='Text." << test_name(path_, case_) << "'\n"
        << "accept: " << program << " --update " << path_.filename().string() << "   (in "
        << path_.parent_path().string() << ")";
  }

 private:
  fs::path path_;
  Case case_;
};

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  program = argv[0];
  const bool update = argc > 1 && std::string_view(argv[1]) == "--update";
  const std::string only = argc > 2 ? argv[2] : "";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KORCH_SOURCE_DIR) / "tests/text")) {
    if (entry.path().extension() == ".kt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    if (update && (only.empty() || path.filename() == only)) update_file(path);
    std::string head;
    for (const Case& c : split_cases(read_file(path), &head))
      testing::RegisterTest("Text", test_name(path, c).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path, c]() -> testing::Test* { return new TextTest(path, c); });
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  return korch::run(argc, argv);
}
