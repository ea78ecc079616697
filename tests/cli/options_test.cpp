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

TEST_F(OptionsOfCompile, UnknownOnesAreRefusedInTheTablesWords) {
  EXPECT_EQ(run("compile m.onnx -o " + path("m.so") + " --treads 2"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no option '--treads'; there are ")) << err_;
  EXPECT_NE(err_.find("--threads, "), std::string::npos) << err_;
  EXPECT_EQ(run("run m.so --treads=2"), 2);
  EXPECT_TRUE(err_.starts_with("korch: no option '--treads")) << err_;
  EXPECT_EQ(run("compile m.onnx another.onnx"), 2);  // no option at all
  EXPECT_EQ(err_.find("no option"), std::string::npos) << err_;
}

}  // namespace
}  // namespace korch
