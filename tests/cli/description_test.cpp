// What follows from the description of the command line: a shell's completion, the manual page.
#include <cstdlib>
#include <regex>

#include "cli.h"

namespace korch {
namespace {

class Description : public Cli {
 protected:
  // What bash offers for the last of these words.
  std::string complete(const std::string& words) {
    write_file(path("ask.sh"),
               "source " + path("completion.sh") + "\nCOMP_WORDS=(" + words +
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_korch\necho \"${COMPREPLY[*]}\"\n");
    const std::string command =
        "bash -eu " + path("ask.sh") + " >" + path("offers") + " 2>" + path("complaints");
    EXPECT_EQ(std::system(command.c_str()), 0) << words << ": " << read_file(path("complaints"));
    EXPECT_EQ(read_file(path("complaints")), "") << words;
    return read_file(path("offers"));
  }
};

TEST_F(Description, BashCompletesVerbsOptionsAndChoices) {
  ASSERT_EQ(run("completion bash"), 0) << err_;
  write_file(path("completion.sh"), out_);
  EXPECT_EQ(complete("korch comp"), "compile completion\n");
  EXPECT_EQ(complete("korch --ver"), "--version\n");
  EXPECT_EQ(complete("korch compile --no-a"), "--no-alternatives\n");
  EXPECT_EQ(complete("korch compile m.onnx --accuracy ''"), "standard strict tf32 f16 bf16\n");
  EXPECT_EQ(complete("korch compile --accuracy = st"), "standard strict\n");
  EXPECT_EQ(complete("korch compile --stop-after fi"), "fission\n");
  EXPECT_EQ(complete("korch compile --strategy gr"), "greedy\n");
  EXPECT_EQ(complete("korch completion ''"), "bash\n");
  EXPECT_EQ(complete("korch completion --help ''"), "bash\n");  // a flag takes no value
  EXPECT_EQ(complete("korch compile ''"), "\n");                // bash's own: files
  EXPECT_EQ(complete("korch compile -o ''"), "\n");
  EXPECT_EQ(complete("korch bench --export-"), "--export-json\n");
  EXPECT_EQ(complete("korch work"), "\n");  // hidden
  EXPECT_EQ(run("completion tcl"), 2);
}

TEST_F(Description, TheManualHasEveryVerbAndOption) {
  ASSERT_EQ(run("manual"), 0) << err_;
  const std::string manual = std::regex_replace(out_, std::regex(R"(\\-)"), "-");
  write_file(path("korch.1"), out_);
  ASSERT_EQ(run("--help"), 0);
  const std::string help = out_;
  size_t verbs = 0;
  const std::string subcommands = help.substr(help.find("Subcommands:"));
  const std::regex verb_line(R"(\n  ([a-z]+) )"), option(R"(\n  (?:-[a-z],)?(--[a-z-]+))");
  for (std::sregex_iterator verb(subcommands.begin(), subcommands.end(), verb_line), end; verb != end;
       ++verb) {
    const std::string name = (*verb)[1];
    if (name == "korch") continue;  // the first session
    ++verbs;
    const size_t start = manual.find(".SS " + name + "\n");
    ASSERT_NE(start, std::string::npos) << name << " in:\n" << manual;
    const std::string part = manual.substr(start, manual.find("\n.S", start + 1) - start);
    ASSERT_EQ(run(name + " --help"), 0);
    for (std::sregex_iterator o(out_.begin(), out_.end(), option); o != end; ++o)
      EXPECT_NE(part.find("\\fB" + (*o)[1].str() + "\\fR"), std::string::npos)
          << (*o)[1] << " of " << name << " in:\n"
          << part;
  }
  EXPECT_GE(verbs, 12u);
}

TEST_F(Description, TheManualIsRoff) {
  if (std::system("command -v mandoc >/dev/null") != 0) GTEST_SKIP() << "mandoc is not installed";
  ASSERT_EQ(run("manual"), 0) << err_;
  write_file(path("korch.1"), out_);
  // The page has no date: it would change with every build.
  const std::string lint =
      "mandoc -T lint -W warning " + path("korch.1") + " | grep -v 'missing date' >" + path("lint");
  EXPECT_NE(std::system(lint.c_str()), 0);  // grep finds nothing else
  EXPECT_EQ(read_file(path("lint")), "");
  const std::string render = "mandoc -T ascii " + path("korch.1") + " | sed 's/.\\x08//g' >" + path("page");
  ASSERT_EQ(std::system(render.c_str()), 0);
  const std::string page = read_file(path("page"));
  for (const char* part : {"KORCH(1)", "--accuracy {standard,strict,tf32,f16,bf16}", "-o, --output TEXT", "EXIT STATUS",
                           "  korch verify candy.onnx candy.so"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in:\n" << page;
}

}  // namespace
}  // namespace korch
