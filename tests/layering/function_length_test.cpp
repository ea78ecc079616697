// Functions that make, change and print kernels fit on a screen.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace korch {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = KORCH_SOURCE_DIR;
constexpr int kMostLines = 60;

struct Function {
  std::string head;         // as far as its opening brace
  int line = 0, lines = 0;  // from the first of the head to the closing brace
};

// Takes raw texts and comments out of a source, line by line.
class CodeLines {
 public:
  std::string operator()(std::string line) {
    std::smatch match;
    if (!raw_end_.empty()) {
      const size_t end = line.find(raw_end_);
      if (end == std::string::npos) return "";
      line = line.substr(end + raw_end_.size());
      raw_end_.clear();
    } else if (static const std::regex raw(R"re(R"(\w*)\()re"); std::regex_search(line, match, raw)) {
      const std::string end = ")" + match[1].str() + "\"";
      if (line.find(end, match.position() + match.length()) == std::string::npos) raw_end_ = end;
    }
    static const std::regex comment(R"(\s*//.*$)");
    return std::regex_replace(line, comment, "");
  }

 private:
  std::string raw_end_;
};

// The functions of a source as clang-format indents it: a body ends with the first brace in its own column.
// Lambdas are part of the function that they stand in.
std::vector<Function> functions(std::istream& source) {
  static const std::regex scope(R"(^\s*(namespace\b[^(]*|extern "C" )\{$)");
  static const std::regex type(R"(^\s*(template <.*> )?(class|struct|union|enum)\b[^(=]*\{$)");
  static const std::regex value(R"(=\s*\{$|^[^(]*\{$)");
  std::vector<Function> found;
  std::vector<size_t> columns = {0};  // of what may begin: of the scope, and of each type that is open
  Function next;                      // lines: 0 until its body is open
  CodeLines code;
  bool in_directive = false;
  int number = 0;
  for (std::string text; std::getline(source, text);) {
    ++number;
    const std::string line = code(text);
    const size_t column = line.find_first_not_of(' ');
    const bool directive = in_directive || (column != std::string::npos && line[column] == '#');
    in_directive = directive && line.ends_with('\\');
    if (column == std::string::npos || directive) continue;
    const bool closes = line[column] == '}';
    if (next.lines > 0) {
      if (!closes || column != columns.back()) continue;
      next.lines = number - next.line + 1;
      if (!std::regex_search(next.head, value)) found.push_back(next);
      next = {};
    } else if (closes) {
      if (column < columns.back()) columns.pop_back();
      next = {};
    } else if (column >= columns.back()) {
      if (next.head.empty()) next.line = number;
      next.head += (next.head.empty() ? "" : " ") + line.substr(column);
      if (std::regex_search(next.head, scope)) {
        next = {};
      } else if (std::regex_search(next.head, type)) {
        columns.push_back(columns.back() + 2);
        next = {};
      } else if (line.ends_with('{')) {
        next.lines = 1;
      } else if (line.ends_with(';') || line.ends_with('}')) {
        next = {};
      }
    }
  }
  return found;
}

TEST(FunctionLength, IsCountedFromHeadToBrace) {
  std::istringstream source(R"source(#define X(a) \
  f(a) {
namespace korch {
constexpr int kTable[] = {
    1,
};
int one() { return 1; }
class Made : public Base {
 public:
  Made(int a,
       int b)
      : a_(a) {
    const auto inner = [&] {
      one();
    };
  }

  int size() const { return 2; }
};
std::string text() {
  return R"(
}
)";
}
}  // namespace korch
)source");
  const std::vector<Function> found = functions(source);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].head, "Made(int a, int b) : a_(a) {");
  EXPECT_EQ(found[0].line, 10);
  EXPECT_EQ(found[0].lines, 7);
  EXPECT_EQ(found[1].head, "std::string text() {");
  EXPECT_EQ(found[1].lines, 5);
}

TEST(FunctionLength, OfKernelsIsBounded) {
  int seen = 0;
  for (const char* folder : {"kernel", "codegen", "backend"})
    for (const auto& entry : fs::recursive_directory_iterator(kSource / "src/korch" / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream file(entry.path());
      for (const Function& function : functions(file)) {
        ++seen;
        EXPECT_LE(function.lines, kMostLines)
            << entry.path().string() << ":" << function.line << ": " << function.head;
      }
    }
  EXPECT_GT(seen, 500);
}

}  // namespace
}  // namespace korch
