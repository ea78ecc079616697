// Families build tile graphs; text is the printers' alone. In the families' folders no literal is code: none
// is raw, and none has what statements and expressions of C++ have.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace korch {
namespace {

namespace fs = std::filesystem;

const fs::path kCodegen = fs::path(KORCH_SOURCE_DIR) / "src/korch/codegen";

// Of the printers' headers families include one, for what fits into registers.
const std::set<std::string> kPrinters = {"cpu/", "cuda/"}, kAllowed = {"cpu/micro_kernel.h"};

// The first thing in the file's text that generates text; "" where nothing does.
std::string generated_text(const std::string& text) {
  static const std::regex raw(R"re(\bR"[^(\n]*\()re"), literal(R"re("((?:[^"\\\n]|\\.)*)")re"),
      include(R"re(#include "korch/codegen/([^"]*)")re"), placeholder(R"(\{[^{}]*\})"),
      code(
          R"re([;{}=]|\\n|->|\+\+|<<|\w\(|\w\[|\*\w|\b(for|if|while) \(|\b(return|const|static|float|void|int64_t)\b)re"),
      emitter(R"(\bemit_\w+|\bprint_c\w+|\bSourceText\b|\bNestPrinter\b|\bBodyEmitter\b)");
  std::smatch match;
  if (std::regex_search(text, match, raw)) return "a raw literal";
  if (std::regex_search(text, match, emitter)) return match.str();
  for (std::sregex_iterator at(text.begin(), text.end(), include), none; at != none; ++at) {
    const std::string header = (*at)[1];
    if (kPrinters.contains(header.substr(0, header.find('/') + 1)) && !kAllowed.contains(header))
      return header;
  }
  for (std::sregex_iterator at(text.begin(), text.end(), literal), none; at != none; ++at) {
    const std::string words = std::regex_replace((*at)[1].str(), placeholder, "");
    if (words.size() > 1 && std::regex_search(words, code)) return at->str();  // one character separates
  }
  return "";
}

TEST(FamiliesText, IsFound) {
  EXPECT_EQ(generated_text(R"(fmt::format("r{}", s); "chunks of {} or less" "winograd")"), "");
  EXPECT_EQ(generated_text("#include \"korch/codegen/cpu/micro_kernel.h\"\n"), "");
  EXPECT_EQ(generated_text("#include \"korch/codegen/cpu/source_text.h\"\n"), "cpu/source_text.h");
  EXPECT_EQ(generated_text("emit_micro_kernel(name, kernel)"), "emit_micro_kernel");
  EXPECT_EQ(generated_text("text += R\"(x)\";"), "a raw literal");
  for (const std::string code :
       {"float* {} = {};", "for (int64_t {}", "{} + {}[{}]\\n", "k[i]", "store({})", "if ({} < {})", "}}\\n"})
    EXPECT_EQ(generated_text("x = \"" + code + "\";"), "\"" + code + "\"") << code;
}

TEST(FamiliesText, IsNone) {
  int files = 0;
  for (const char* folder : {"linear", "loop", "opaque"})
    for (const auto& entry : fs::recursive_directory_iterator(kCodegen / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      EXPECT_EQ(generated_text(text.str()), "") << entry.path().string() << ": families build tile graphs";
    }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace korch
