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
  EXPECT_EQ(complete("korch compile m.onnx --accuracy ''"), "standard strict tf32 f16 bf16 relaxed:ERROR\n");
  EXPECT_EQ(complete("korch compile --accuracy = st"), "standard strict\n");
  EXPECT_EQ(complete("korch compile --stop-after fi"), "fission\n");
  EXPECT_EQ(complete("korch compile --strategy gr"), "greedy\n");
  EXPECT_EQ(complete("korch completion ''"), "bash fish zsh\n");
  EXPECT_EQ(complete("korch completion --help ''"), "bash fish zsh\n");  // a flag takes no value
  EXPECT_EQ(complete("korch compile ''"), "\n");                         // bash's own: files
  EXPECT_EQ(complete("korch compile -o ''"), "\n");
  EXPECT_EQ(complete("korch bench --export-"), "--export-json\n");
  EXPECT_EQ(complete("korch work"), "\n");  // hidden
  EXPECT_EQ(run("completion tcl"), 2);
}

// Zsh's completion system needs a terminal: here stand its words, and what it is told to offer is printed.
TEST_F(Description, ZshCompletesVerbsOptionsAndChoices) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "zsh is not installed";
  ASSERT_EQ(run("completion zsh"), 0) << err_;
  write_file(path("_korch"), out_);
  const auto offers = [&](const std::string& words) {
    write_file(
        path("ask.sh"),
        "compdef() { :; }; compset() { :; }; compadd() { shift; echo \"$*\"; }; _files() { echo files; }\n"
        "source " +
            path("_korch") + "\nwords=(" + words + ")\nCURRENT=$#words\n_korch\n");
    const std::string command =
        "zsh -f -eu " + path("ask.sh") + " >" + path("offers") + " 2>" + path("complaints");
    EXPECT_EQ(std::system(command.c_str()), 0) << words << ": " << read_file(path("complaints"));
    return read_file(path("offers"));
  };
  EXPECT_TRUE(offers("korch comp").starts_with("model compile run ")) << offers("korch comp");
  EXPECT_EQ(offers("korch --ver"), "-h --help --version\n");
  EXPECT_NE(offers("korch compile --no-a").find(" --no-alternatives "), std::string::npos);
  EXPECT_EQ(offers("korch compile m.onnx --accuracy ''"), "standard strict tf32 f16 bf16 relaxed:ERROR\n");
  EXPECT_EQ(offers("korch compile --accuracy=st"), "standard strict tf32 f16 bf16 relaxed:ERROR\n");
  EXPECT_EQ(offers("korch completion ''"), "bash fish zsh\n");
  EXPECT_EQ(offers("korch compile ''"), "files\n");
  EXPECT_EQ(offers("korch compile -o ''"), "files\n");
}

TEST_F(Description, FishCompletesVerbsOptionsAndChoices) {
  if (std::system("command -v fish >/dev/null") != 0) GTEST_SKIP() << "fish is not installed";
  ASSERT_EQ(run("completion fish"), 0) << err_;
  write_file(path("korch.fish"), out_);
  write_file(path("a-file"), "");
  const auto offers = [&](const std::string& line) {
    const std::string command = "cd " + folder_.path() + " && HOME=" + folder_.path() +
                                " fish --no-config -c 'source " + path("korch.fish") + "; complete -C \"" +
                                line + "\"' >" + path("offers") + " 2>" + path("complaints");
    EXPECT_EQ(std::system(command.c_str()), 0) << line << ": " << read_file(path("complaints"));
    EXPECT_EQ(read_file(path("complaints")), "") << line;
    return std::regex_replace(read_file(path("offers")), std::regex("\t[^\n]*"), "");
  };
  EXPECT_EQ(offers("korch comp"), "compile\ncompletion\n");
  EXPECT_EQ(offers("korch --ver"), "--version\n");
  EXPECT_EQ(offers("korch compile --no-a"), "--no-alternatives\n");
  EXPECT_EQ(offers("korch compile m.onnx --accuracy s"), "standard\nstrict\n");
  EXPECT_EQ(offers("korch completion "), "bash\nfish\nzsh\n");
  EXPECT_EQ(offers("korch compile a-f"), "a-file\n");
  EXPECT_EQ(offers("korch compile -o a-f"), "a-file\n");
  EXPECT_EQ(offers("korch work"), "");  // hidden
}

TEST_F(Description, OptionsForExpertsStandApart) {
  ASSERT_EQ(run("compile --help"), 0);
  const size_t experts = out_.find("\nOptions for experts:\n");
  ASSERT_NE(experts, std::string::npos) << out_;
  for (const char* option : {"--output", "--accuracy", "--budget", "--json", "--no-measure"})
    EXPECT_LT(out_.find(option), experts) << option;
  for (const char* option : {"--strategy", "--rule", "--no-heal", "--dump-dir", "--stop-after"})
    EXPECT_GT(out_.find(option), experts) << option;
  ASSERT_EQ(run("manual"), 0) << err_;
  const size_t heading = out_.find("Options for experts:");
  EXPECT_LT(out_.find("\\-\\-budget"), heading);
  EXPECT_GT(out_.find("\\-\\-stop\\-after"), heading);
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
  for (const char* part : {"KORCH(1)", "--accuracy {standard,strict,tf32,f16,bf16,relaxed:ERROR}",
                           "-o, --output TEXT", "EXIT STATUS", "  korch verify candy_224.onnx candy_224.so"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in:\n" << page;
}

}  // namespace
}  // namespace korch
