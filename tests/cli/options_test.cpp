// The table of options on the command line.
#include "cli.h"
#include "korch/options/option_table.h"

namespace korch {
namespace {

class OptionsOfCompile : public Cli {};

TEST_F(OptionsOfCompile, HelpHasEveryRow) {
  ASSERT_EQ(run("compile --help"), 0);
  for (const OptionRow& row : option_rows(kProgram)) {
    EXPECT_NE(out_.find("  " + row.program_name + " "), std::string::npos) << row.program_name;
    for (const std::string& word : row.words) EXPECT_NE(out_.find(word), std::string::npos) << word;
  }
}

TEST_F(OptionsOfCompile, WrongValuesAreRefusedInTheTablesWords) {
  for (const OptionRow& row : option_rows(kProgram)) {
    if (row.kind == OptionKind::truth || row.kind == OptionKind::text || row.kind == OptionKind::texts ||
        row.kind == OptionKind::place)
      continue;
    EXPECT_EQ(run("compile m.onnx -o " + path("m.so") + " " + row.program_name + "=-7"), 2) << row.name;
    std::string words;
    try {
      UserOptions options;
      set_option(options, kProgram, row.name, "-7");
    } catch (const std::exception& error) {
      words = error.what();
    }
    EXPECT_EQ(err_, "korch: " + words + "\n");
  }
}

TEST_F(OptionsOfCompile, UnknownVerbsAreNamed) {
  EXPECT_EQ(run("compil m.onnx"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no verb 'compil'; is it 'compile'? There are model, compile, run, "))
      << err_;
  EXPECT_EQ(run("benhc m.so --rounds 5"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no verb 'benhc'; is it 'bench'?")) << err_;
  EXPECT_EQ(run("m.onnx"), 2);  // near to none
  EXPECT_TRUE(err_.starts_with("korch: no verb 'm.onnx'; there are model, ")) << err_;
  EXPECT_EQ(err_.find("worker"), std::string::npos) << err_;
  EXPECT_EQ(run("--treads 2"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no option '--treads'; there are ")) << err_;
  EXPECT_EQ(run(""), 2);
}

TEST_F(OptionsOfCompile, UnknownOnesAreRefusedInTheTablesWords) {
  EXPECT_EQ(run("compile m.onnx -o " + path("m.so") + " --treads 2"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no option '--treads'; there are ")) << err_;
  EXPECT_NE(err_.find("--threads, "), std::string::npos) << err_;
  EXPECT_EQ(run("run m.so --treads=2"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no option '--treads")) << err_;
  EXPECT_EQ(run("compile m.onnx another.onnx"), 2);  // no option at all
  EXPECT_EQ(err_.find("no option"), std::string::npos) << err_;
}

class Usage : public Cli {};

TEST_F(Usage, FaultsNameTheVerbAndWhatIsWanted) {
  expect_refused("", 2, {"no verb is given", "korch --help tells more"});
  expect_refused("compile", 2,
                 {"compile: 'model' is missing: the network", "korch compile --help tells more"});
  expect_refused("diff a.so", 2, {"diff: 'second' is missing: another one"});
  expect_refused("fission m.onnx", 2, {"fission: '--output' is missing"});
  expect_refused("run m.so --threads", 2, {"run: --threads wants a value"});
  expect_refused("run m.so --seed abc", 2, {"run: --seed: a number, not 'abc'"});
  expect_refused("run m.so other.so", 2, {"run: takes no further argument, but there is 'other.so'"});
  expect_refused("bench m.so --schedule static", 2, {"--schedule: barrier or dynamic, not 'static'"});
  expect_refused("bench m.so --schedule 1", 2, {"not '1'"});  // a word's number is no word
  expect_refused("bench m.so --max-seconds -1", 2, {"--max-seconds: a number above 0, not '-1'"});
  expect_refused("bench m.so --rounds x\x1b", 2, {"--rounds: a whole number from 5", "not 'x\\x1b'"});
  expect_refused("explain m.so --kernel -5", 2, {"--kernel: a whole number of at least 0, not '-5'"});
  expect_refused("kernel print", 2, {"kernel: 'files' is missing"});
  expect_refused("kernel show m.tile", 2, {"action: diff, print, resources or run, not 'show'"});
  expect_refused(compile_arguments("m.onnx", "--rule magic --no-measure --stop-after plan"), 2,
                 {"no rewrite rule \"magic\"; there are", "layouts_cancel"});
}

}  // namespace
}  // namespace korch
