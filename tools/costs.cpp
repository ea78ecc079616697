#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/options/option_table.h"
#include "korch/profile/costs_file.h"
#include "verbs.h"

namespace korch {
namespace {

struct CostsArguments {
  std::string action, file, database = place_in_cache("kernels.db");
};

std::string counted(int number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void require_database(const CostsArguments& arguments) {
  if (arguments.database.empty())
    throw Error(ErrorKind::usage, "no kernel database is known here; give --profile-db FILE");
}

void print_warnings(Database& database) {
  for (const std::string& warning : database.take_warnings()) fmt::print(stderr, "korch: {}\n", warning);
}

void run_export(const CostsArguments& arguments) {
  require_database(arguments);
  if (!file_exists(arguments.database))
    throw Error(ErrorKind::io, "there is no kernel database '" + arguments.database + "'");
  FileRoles files;
  for (const std::string& file : Database::files(arguments.database))
    files.reads("the kernel database", file);
  files.writes("the costs", arguments.file);
  require_writable(arguments.file);
  Database database(arguments.database);
  std::string text;
  const CostsCount count = export_costs(database, [&](std::string_view line) { text += line; });
  print_warnings(database);
  write_file(arguments.file, text);
  fmt::print("{}: {} of {}, measured on {}\n", arguments.file, counted(count.rows, "cost"),
             counted(count.kernels, "kernel"), counted(count.devices, "device"));
}

void run_import(const CostsArguments& arguments) {
  require_database(arguments);
  Database database(arguments.database);
  const CostsImported count = import_costs(database, arguments.file);
  print_warnings(database);
  fmt::print("{}: {} added, {} replaced by ones measured with more care, {} known\n", arguments.database,
             counted(count.added, "cost"), count.replaced, count.known);
}

}  // namespace

void add_costs_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<CostsArguments>();
  Options verb = command_line.verb(
      "costs", "measured costs of kernels as a text file that models learn from and other machines read");
  verb.option("action", arguments->action, "export: write the database's costs; import: add those of a file")
      .required()
      .one_of({"export", "import"});
  verb.option("file", arguments->file, "the file of costs (JSON, one object per line)").required();
  verb.option("--profile-db", arguments->database, "kernel database [" + place_in_cache("kernels.db") + "]");
  verb.runs([arguments] {
    if (arguments->action == "export")
      run_export(*arguments);
    else
      run_import(*arguments);
  });
}

}  // namespace korch
