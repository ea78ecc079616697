#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/options/option_table.h"
#include "korch/profile/cost_model.h"
#include "korch/profile/cost_training.h"
#include "korch/profile/costs_file.h"
#include "korch/profile/costs_table.h"
#include "verbs.h"

namespace korch {
namespace {

struct CostsArguments {
  std::string action, file, database = place_in_cache("kernels.db");
  CompileOptions measure;
  std::vector<std::string> shapes, without;
  std::string lightgbm, from;
  double share = 1;
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

// Of a database that exists, to a file that is not one of the database's.
void require_files(const CostsArguments& arguments, const char* written) {
  require_database(arguments);
  if (!file_exists(arguments.database))
    throw Error(ErrorKind::io, "there is no kernel database '" + arguments.database + "'");
  FileRoles files;
  for (const std::string& file : Database::files(arguments.database))
    files.reads("the kernel database", file);
  files.writes(written, arguments.file);
  require_writable(arguments.file);
}

void run_export(CostsArguments& arguments) {
  require_files(arguments, "the costs");
  Database database(arguments.database);
  std::string text;
  const CostsCount count = export_costs(database, [&](std::string_view line) { text += line; });
  print_warnings(database);
  write_file(arguments.file, text);
  fmt::print("{}: {} of {}, measured on {}\n", arguments.file, counted(count.rows, "cost"),
             counted(count.kernels, "kernel"), counted(count.devices, "device"));
}

void run_import(CostsArguments& arguments) {
  require_database(arguments);
  Database database(arguments.database);
  const CostsImported count = import_costs(database, arguments.file);
  print_warnings(database);
  fmt::print("{}: {} added, {} replaced by ones measured with more care, {} known\n", arguments.database,
             counted(count.added, "cost"), count.replaced, count.known);
}

void run_measure(CostsArguments& arguments) {
  require_database(arguments);
  CompileOptions& options = arguments.measure;
  options.database_path = arguments.database;
  parse_shapes(arguments.shapes, &options.shapes, &options.least_shapes);
  const ModelFile model(arguments.file);
  const CompileResult result = compile_model(model.path(), "", options);
  for (const std::string& warning : result.warnings) fmt::print(stderr, "korch: warning: {}\n", warning);
  fmt::print("{}: {} measured\n", arguments.file, counted(result.measured, "kernel"));
}

void print_score(const CostScore& score) {
  const auto share = [](int part, int all) { return all > 0 ? 100.0 * part / all : 0; };
  fmt::print(
      "{} of {}\n"
      "ln(cost / bound): RMSE {:.3f}, R2 {:.3f}; |ln(cost / estimate)|: {:.3f} in the middle; all but 5 % of "
      "ln(cost / estimate) exceed {:.3f}\n"
      "kernels of one candidate: {:.1f} % of {} pairs that differ by 5 % in order; the cheapest of {:.1f} % "
      "of {}; "
      "regret {:.1f} % in the mean\n",
      counted(score.rows, "cost"), counted(score.networks, "network"), score.rmse, score.r2,
      score.middle_error, score.least, share(score.right_pairs, score.pairs), score.pairs,
      share(score.right_choices, score.choices), score.choices, 100 * score.regret);
  for (const FamilyScore& family : score.families)
    fmt::print("{:>16}  {:5} rows, {:.3f} in the middle\n", family.family, family.rows, family.middle_error);
}

CostSet known_costs(const CostsArguments& arguments, bool only) {
  require_database(arguments);
  if (!file_exists(arguments.database))
    throw Error(ErrorKind::io, "there is no kernel database '" + arguments.database + "'");
  Database database(arguments.database);
  CostSet costs = costs_to_learn_from(database, arguments.without, only);
  print_warnings(database);
  if (costs.left_out > 0)
    fmt::print(stderr, "korch: {} have no features of this korch, or are of parts of kernels: left out\n",
               counted(costs.left_out, "cost"));
  return costs;
}

void run_table(CostsArguments& arguments) {
  require_files(arguments, "the table");
  const CostSet costs = known_costs(arguments, !arguments.without.empty());
  std::string text;
  write_costs_table(costs, [&](std::string_view line) { text += line; });
  write_file(arguments.file, text);
  fmt::print("{}: {}\n", arguments.file, counted(static_cast<int>(costs.rows.size()), "cost"));
}

// Of each network, how many costs came out below the quantile that one in twenty should be below.
void print_audits(const std::vector<NetworkAudit>& audits) {
  constexpr double kLeast = 0.02, kMost = 0.08;
  int within = 0, possible = 0;
  for (const NetworkAudit& audit : audits) {
    const ShareInterval is = interval_of(audit);
    within += audit.share() >= kLeast && audit.share() <= kMost;
    possible += is.least <= kMost && is.most >= kLeast;
    fmt::print("{:>32}  {:4} of {:5} below their 5 % quantile: {:4.1f} % ({:.1f} to {:.1f} %)\n",
               audit.network, audit.below, audit.rows, 100 * audit.share(), 100 * is.least, 100 * is.most);
  }
  fmt::print(
      "5 % quantiles: 2 to 8 % below on {} of {} networks; on {} the interval (95 %, of so few costs) "
      "reaches "
      "these\n",
      within, audits.size(), possible);
}

CostModel learned_model(const std::string& file) {
  std::string warning;
  CostModel model = cost_model_named(file, warning);
  if (!model.is_learned())
    throw Error(ErrorKind::usage, warning.empty() ? file + ": a model that learned is wanted" : warning);
  return model;
}

void run_train(CostsArguments& arguments) {
  require_files(arguments, "the model of costs");
  if (!(arguments.share > 0 && arguments.share <= 1) || (arguments.share != 1 && arguments.from.empty()))
    throw Error(ErrorKind::usage, "--share: more than 0, at most 1, and with --from alone");
  std::optional<Beginning> beginning;
  if (!arguments.from.empty()) beginning = {learned_model(arguments.from).trees(), arguments.share};
  const Trained trained = train(known_costs(arguments, false), arguments.lightgbm, beginning);
  write_file(arguments.file, to_text(trained.model));
  fmt::print("{}: {} trees. Of networks held out, a fifth at a time:\n", arguments.file,
             trained.model.trees.size());
  print_score(trained.held_out);
  print_audits(trained.audits);
}

void run_calibrate(CostsArguments& arguments) {
  const CostModel model = learned_model(arguments.file);
  require_writable(arguments.file);
  const Trained trained = calibrate(model.trees(), known_costs(arguments, false), arguments.lightgbm);
  write_file(arguments.file, to_text(trained.model));
  fmt::print("{}: its estimates are as they were, its 5 % quantiles by the costs of the database\n",
             arguments.file);
  print_score(trained.held_out);
  fmt::print("quantiles, of networks held out, a fifth at a time:\n");
  print_audits(trained.audits);
}

void run_score(CostsArguments& arguments) {
  const CostModel model = learned_model(arguments.file);
  const CostSet costs = known_costs(arguments, !arguments.without.empty());
  print_score(score_of(model.trees(), costs));
  std::vector<double> log_lows;
  for (const CostRow& row : costs.rows) log_lows.push_back(model.trees().log_low(row.conditions.features));
  print_audits(audits_of(residuals_of(model.trees(), costs), log_lows));
}

}  // namespace

void add_costs_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<CostsArguments>();
  Options verb = command_line.verb(
      "costs",
      "measured costs of kernels: as a file that other machines read, and models that learn from them");
  verb.option(
          "action", arguments->action,
          "export: write the database's costs; import: add those of a file; measure: some kernels of a "
          "network; table: the database's costs with their features, for other programs that learn; train: a "
          "model of costs, from the database; calibrate: only its 5 % quantiles; score: how well a model "
          "agrees with the database")
      .required()
      .one_of({"export", "import", "measure", "table", "train", "calibrate", "score"});
  verb.option("file", arguments->file,
              "the file of costs (JSON, one object per line); measure: the network; table: CSV; train, "
              "calibrate, score: the model of costs, score also 'shipped', the program's own")
      .required();
  verb.option("--profile-db", arguments->database, "kernel database [" + place_in_cache("kernels.db") + "]");
  arguments->measure.sampled_kernels = 100;
  verb.option("--kernels", arguments->measure.sampled_kernels,
              "measure: so many of the network's kernels [100]")
      .between(1, 100'000);
  verb.option("--seed", arguments->measure.sample_seed, "measure: of the choice of these [0]");
  verb.option("--target", arguments->measure.target, "measure: as for compile [native]");
  verb.option("--threads", arguments->measure.threads, "measure: as for compile [all cores]");
  verb.option("--shape", arguments->shapes, "measure: as for compile");
  verb.option("--network", arguments->without,
              "train, calibrate: leave out this network's costs; score, table: only this network's "
              "(repeatable)");
  verb.option("--lightgbm", arguments->lightgbm,
              "train, calibrate: the library of LightGBM [lib_lightgbm.so]");
  verb.option("--from", arguments->from,
              "train: begin with this model ('shipped': the program's own), and learn what it misses");
  verb.option("--share", arguments->share,
              "train --from: so much of what it misses, 0.5 for a model halfway between the machines [1]");
  verb.runs([arguments] {
    const std::map<std::string, void (*)(CostsArguments&)> actions = {
        {"export", run_export}, {"import", run_import},       {"measure", run_measure}, {"table", run_table},
        {"train", run_train},   {"calibrate", run_calibrate}, {"score", run_score}};
    actions.at(arguments->action)(*arguments);
  });
}

}  // namespace korch
