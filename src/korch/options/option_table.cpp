#include "korch/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <utility>

#include "korch/base/error.h"
#include "korch/base/printable.h"
#include "korch/base/usable_cpus.h"
#include "korch/device/device.h"

namespace korch {
namespace {

template <typename E>
using Words = std::vector<std::pair<const char*, E>>;

// The first is the preset.
const Words<Accuracy> kAccuracies = {{"standard", Accuracy::standard}, {"strict", Accuracy::strict},
                                     {"tf32", Accuracy::tf32},         {"f16", Accuracy::f16},
                                     {"bf16", Accuracy::bf16},         {"relaxed", Accuracy::relaxed}};
const Words<Strategy> kStrategies = {
    {"optimal", Strategy::optimal}, {"greedy", Strategy::greedy}, {"unfused", Strategy::unfused}};
const Words<Bounds> kBounds = {{"learned", Bounds::learned}, {"analytic", Bounds::analytic}};
const Words<Measure> kMeasures = {
    {"plan", Measure::plan}, {"prove", Measure::prove}, {"none", Measure::none}};
const Words<WhichVariants> kWhichVariants = {{"exact", WhichVariants::exact},
                                             {"reassociating", WhichVariants::reassociating},
                                             {"none", WhichVariants::none}};
const Words<rt::Schedule> kScheduleWords = {{"barrier", rt::Schedule::barrier},
                                            {"dynamic", rt::Schedule::dynamic}};
constexpr std::string_view kRandom = "random:", kRelaxed = "relaxed:";

template <typename E>
const char* word_of(const Words<E>& words, E value) {
  for (const auto& [word, known] : words)
    if (known == value) return word;
  return "";
}

template <typename T>
bool read_number(std::string_view text, T* value) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return code == std::errc() && rest == text.data() + text.size();
}

bool read_seconds(std::string_view text, double* value) {
  double factor = 1;
  if (const size_t unit = text.empty() ? std::string_view::npos : std::string_view("smh").find(text.back());
      unit != std::string_view::npos) {
    factor = unit == 0 ? 1 : unit == 1 ? 60 : 3600;
    text.remove_suffix(1);
  }
  if (!read_number(text, value) || !(*value >= 0) || !std::isfinite(*value * factor)) return false;
  *value *= factor;
  return true;
}

// What a row takes, for people.
std::string wanted(const OptionRow& row) {
  switch (row.kind) {
    case OptionKind::truth:
      return "0 or 1";
    case OptionKind::whole:
      return fmt::format("a whole number from {} to {}", row.least, row.most);
    case OptionKind::seconds:
      return "a time as 90, 90s, 5m or 1h, or 0";
    case OptionKind::word: {
      const std::span<const std::string> words = row.words;
      return fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
    }
    case OptionKind::text:
    case OptionKind::texts:
    case OptionKind::place:
      return row.form.empty() ? "a text" : row.form;
  }
  __builtin_unreachable();
}

bool read_state(const std::string& text, CompileOptions& options) {
  if (text == "none") {
    options.find_states = false;
    return true;
  }
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return false;
  options.states.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return true;
}

// A row and where its value goes; `set` is false of a value that it does not take.
struct Slot {
  OptionRow row;
  std::function<bool(const std::string&)> set;
};

class Slots {
 public:
  explicit Slots(UserOptions& options);
  std::vector<Slot> all;

 private:
  static constexpr unsigned kCompiling = kProgram | kPython | kLibrary;  // a network with all its choices
  static constexpr unsigned kEverybody = kCompiling | kProvider | kTorch;

  OptionRow& add(const char* name, unsigned users, OptionKind kind, std::string preset, std::string help,
                 std::function<bool(const std::string&)> set) {
    std::string program_name = name;
    for (char& c : program_name)
      if (c == '_') c = '-';
    program_name = (kind == OptionKind::truth && preset == "1" ? "--no-" : "--") + program_name;
    all.push_back({{name, program_name, users, kind, std::move(preset), std::move(help)}, std::move(set)});
    return all.back().row;
  }

  void truth(const char* name, unsigned users, bool& value, std::string help, std::string otherwise = "") {
    OptionRow& row =
        add(name, users, OptionKind::truth, value ? "1" : "0", std::move(help), [&](const std::string& text) {
          value = text == "1";
          return text == "0" || text == "1";
        });
    row.otherwise = std::move(otherwise);
  }

  template <typename T>
  void whole(const char* name, unsigned users, T& value, T least, T most, std::string help) {
    OptionRow& row = add(name, users, OptionKind::whole, std::to_string(value), std::move(help),
                         [&value, least, most](const std::string& text) {
                           return read_number(text, &value) && least <= value && value <= most;
                         });
    row.least = static_cast<uint64_t>(least);
    row.most = static_cast<uint64_t>(most);
  }

  template <typename E, typename Value>
  OptionRow& word(const char* name, unsigned users, Value& value, const Words<E>& words, std::string help) {
    const std::optional<E> now = value;
    OptionRow& row = add(name, users, OptionKind::word, now ? word_of(words, *now) : "", std::move(help),
                         [&value, &words](const std::string& text) {
                           for (const auto& [known, meaning] : words) {
                             if (text != known) continue;
                             value = meaning;
                             return true;
                           }
                           return false;
                         });
    for (const auto& [known, meaning] : words) row.words.push_back(known);
    return row;
  }

  OptionRow& text(const char* name, unsigned users, std::string& value, std::string help,
                  OptionKind kind = OptionKind::text, std::vector<std::string> words = {}) {
    OptionRow& row =
        add(name, users, kind, value, std::move(help), [&value, words](const std::string& given) {
          value = given;
          return words.empty() || std::find(words.begin(), words.end(), given) != words.end();
        });
    row.words = std::move(words);
    return row;
  }

  // The last one is.
  void for_experts() { all.back().row.is_for_experts = true; }

  void accuracy(CompileOptions& options);
  void strategy(CompileOptions& options);
  void measuring(CompileOptions& options);
  void planning(CompileOptions& options);
  void shapes(CompileOptions& options);
  void making(CompileOptions& options);
  void fleet(CompileOptions& options);
};

Slots::Slots(UserOptions& options) {
  CompileOptions& o = options.compile;
  text("target", kEverybody, o.target, targets_text(), OptionKind::word, target_names());
  text("device", kProgram, o.device,
       "plan for the device of this file, as korch doctor --json wrote it elsewhere");
  for_experts();
  whole("threads", kEverybody, o.threads, 0, kMostWorkers, "workers that run the executable; 0: all cores");
  add("state", kCompiling, OptionKind::texts, "",
      "INPUT=OUTPUT: the input takes what the output gave in the run before, and both are one buffer where "
      "the output appends to the input, as caches of decoders do; such pairs, and those of recurrent layers, "
      "are found without it (repeatable; none: find none)",
      [&o](const std::string& text) { return read_state(text, o); })
      .form = "INPUT=OUTPUT or none";
  shapes(o);
  whole(
      "seed", kEverybody, o.seed, uint64_t{0}, std::numeric_limits<uint64_t>::max(),
      "of random numbers that the model draws, each node without a seed of its own; every run has the same");
  accuracy(o);
  planning(o);
  making(o);
  fleet(o);
  text("cache", kProvider | kTorch, options.cache,
       "folder of executables that were made, for later sessions; empty: none are kept", OptionKind::place);
  text("compiler", kProvider, options.compiler, "the program korch; empty: the one installed with libkorch");
  whole("instances", kPython | kTorch, options.instances, 1, kMostWorkers,
        "calls that may run at once, each with workers and memory of its own over shared weights; further "
        "callers wait");
  truth("constants", kTorch, options.constants,
        "parameters and buffers become part of the executables, which are made again when they change; a "
        "change of a few elements through .data or NumPy may go unnoticed",
        "they are read anew by every call, which is slower");
}

void Slots::shapes(CompileOptions& options) {
  std::vector<std::string>& at = options.at;
  add("at", kCompiling, OptionKind::texts, "",
      "for open shapes, a run that should be fast: seq=1,past=300, or seq=1,past=300:4 if it comes four "
      "times as often as another one (repeatable); else small extents are taken to be as likely as large "
      "ones, and the least to be likely",
      [&at](const std::string& text) {
        at.push_back(text);
        return true;
      });
  text("runs", kCompiling, options.runs, "a file of such runs, one per line");
  word("variants", kCompiling, options.variants.which, kWhichVariants,
       "for open shapes, kernel variants chosen by a run's extents: exact (results do not depend on the "
       "choice), "
       "reassociating (they do, within rounding), none");
  for_experts();
}

void Slots::accuracy(CompileOptions& options) {
  OptionRow& row = word(
      "accuracy", kEverybody, options.accuracy, kAccuracies,
      "strict: float32, sums reassociated; standard: also Winograd, Strassen and one-pass variance, where an "
      "infinity, a NaN or a huge number may spoil the results beside it, and on GPUs products of three of "
      "tf32 in place of one of float32; subnormal results are 0 (korch explain lists what a plan does of "
      "that); tf32, f16, bf16, of GPUs: also products of float32 numbers rounded to this type (beyond 65504 "
      "those of f16 are infinite), with sums in float32; relaxed:ERROR, of CPUs: also results stored as "
      "bfloat16 and, where the CPU multiplies it, products of operands rounded to it, as many as leave the "
      "outputs' relative error (root mean square, over that of the output) at ERROR or less, such as 1e-2");
  row.words.back() = std::string(kRelaxed) + "ERROR";
  all.back().set = [&options, known = all.back().set](const std::string& text) {
    if (!text.starts_with(kRelaxed)) return text != name(Accuracy::relaxed) && known(text);
    options.accuracy = Accuracy::relaxed;
    return read_number(std::string_view(text).substr(kRelaxed.size()), &options.output_error) &&
           options.output_error > 0 && options.output_error < 1;
  };
}

void Slots::strategy(CompileOptions& options) {
  OptionRow& row =
      word("strategy", kEverybody, options.strategy, kStrategies,
           "optimal (solved); for comparison: greedy fusion, unfused; for debugging: random:SEED, any plan");
  row.words.push_back(std::string(kRandom) + "SEED");
  all.back().set = [&options, known = all.back().set](const std::string& text) {
    if (!text.starts_with(kRandom)) return known(text);
    options.strategy = Strategy::random;
    return read_number(std::string_view(text).substr(kRandom.size()), &options.random_seed);
  };
  for_experts();
}

void Slots::measuring(CompileOptions& options) {
  word("measure", kEverybody, options.measure, kMeasures,
       "kernels that are measured: plan (what the plan takes, found by estimates: in seconds), prove (all "
       "that "
       "can matter, until the plan is proven to be the best: in minutes), none (also for a machine that is "
       "absent)");
  // As a truth, which it once was.
  all.back().set = [known = all.back().set](const std::string& text) {
    return known(text == "0" ? name(Measure::none) : text == "1" ? name(kMeasures[0].second) : text);
  };
  text("cost_model", kEverybody, options.cost_model,
       "estimates costs of kernels that are not measured: shipped (the program's own), a file (korch costs "
       "train), "
       "analytic (bounds from machine peaks stand for costs; then plan measures like prove)");
  for_experts();
  whole("audit", kEverybody, options.audit, 0, 100'000,
        "for --measure plan: measure so many of the kernels that are left out and could matter, and tell how "
        "many "
        "cost less than the model's 5 % quantile");
  for_experts();
}

void Slots::planning(CompileOptions& options) {
  strategy(options);
  word("bounds", kEverybody, options.bounds, kBounds,
       "for --measure prove: cost of a kernel that is not measured: learned (from kernels of its kind) or "
       "analytic (from machine peaks: slow)");
  for_experts();
  truth("alternatives", kEverybody, options.alternatives, "also other algebra than the network's",
        "plan for the network as it is: only fusion and layouts");
  for_experts();
  truth("structures", kEverybody, options.structures,
        "search for block graphs of groups of products and reductions, too",
        "kernels that families make alone");
  for_experts();
  text(
      "block_graphs", kEverybody, options.block_graphs,
      "a file of block graphs for groups, which are checked and offered beside those that ship (korch search "
      "--write makes one)");
  for_experts();
  std::vector<std::string>& rules = options.rules;
  add("rule", kEverybody, OptionKind::texts, "",
      "add the alternatives of this rewrite rule only (repeatable)", [&rules](const std::string& text) {
        rules.push_back(text);
        return true;
      });
  for_experts();
  truth("exhaustive", kEverybody, options.exhaustive, "measure every column, not only those that can matter");
  for_experts();
  measuring(options);
  truth("other_schedules", kEverybody, options.other_schedules,
        "measure other tiles and grids of the plan's kernels too",
        "each kernel by the tiles and the grid that its family ranks first: compiles faster");
  for_experts();
}

void Slots::making(CompileOptions& options) {
  truth("verify", kEverybody, options.verify,
        "check the executable against the interpreter, in float64, before it is kept", "keep it unchecked");
  truth("heal", kEverybody, options.heal, "plan again without a kernel that proves wrong",
        "a kernel that proves wrong is an error");
  for_experts();
  word("schedule", kEverybody, options.schedule, kScheduleWords,
       "barrier: a phase ends before the next begins; dynamic: a free worker takes any ready task; else the "
       "faster by a run of each");
  for_experts();
  text("database", kEverybody, options.database_path,
       "kernel database: measured costs, for later compilations", OptionKind::place)
      .program_name = "--profile-db";
  double& budget_s = options.budget_s;
  add("budget", kEverybody, OptionKind::seconds, "0",
      "compile and check within this time (90s, 5m), about: the best plan found by then, greedy fusion's at "
      "least; 0: without a limit",
      [&budget_s](const std::string& given) { return read_seconds(given, &budget_s); });
  text("dump_dir", kCompiling, options.dump_dir, "write every stage as text into this folder");
  for_experts();
  text("save_inputs", kCompiling, options.save_inputs,
       "also write random inputs for the network as .npy files into this folder");
  truth("emulation", kCompiling | kProvider, options.emulation,
        "for a GPU: the executable also holds what an emulated one runs, to check it where no GPU is");
  for_experts();
  text("stop_after", kProgram, options.stop_after, "end after a stage", OptionKind::word, kLastStages);
  for_experts();
}

void Slots::fleet(CompileOptions& options) {
  std::vector<std::string>& commands = options.fleet;
  add("fleet", kCompiling, OptionKind::texts, "",
      "other machines measure: slurm:N starts N workers by srun; else a command that starts one, with {dir}, "
      "{threads}, {korch} and, for each of the hosts, {host}: \"ssh {host} korch measure --serve {dir} "
      "--once\" "
      "(repeatable)",
      [&commands](const std::string& text) {
        commands.push_back(text);
        return true;
      });
  for_experts();
  text("fleet_hosts", kCompiling, options.fleet_hosts, "the hosts of such commands, joined by commas");
  for_experts();
  text("fleet_dir", kCompiling, options.fleet_dir,
       "folder that all of them see, this user's alone; else the executable's name with .fleet; also without "
       "commands, for workers that are started by hand");
  for_experts();
  whole("fleet_tolerance", kCompiling, options.fleet_tolerance, 1, 100'000,
        "per cent by which a worker's times of the sentinels may differ from this machine's; others are set "
        "aside");
  for_experts();
}

}  // namespace

const char* name(Accuracy accuracy) {
  return word_of(kAccuracies, accuracy);
}

ProductType products_of(Accuracy accuracy) {
  return product_type_named(name(accuracy)).value_or(ProductType::f32);
}

const char* name(Measure measure) {
  return word_of(kMeasures, measure);
}

const char* name(Bounds bounds) {
  return word_of(kBounds, bounds);
}

const char* name(Strategy strategy) {
  return strategy == Strategy::random ? "random" : word_of(kStrategies, strategy);
}

const char* name(OptionKind kind) {
  constexpr const char* kNames[] = {"truth", "whole", "seconds", "word", "text", "texts", "place"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<OptionRow> option_rows(unsigned users) {
  UserOptions presets = preset_options();
  std::vector<OptionRow> rows;
  for (Slot& slot : Slots(presets).all)
    if ((slot.row.users & users) != 0) rows.push_back(std::move(slot.row));
  return rows;
}

void set_option(UserOptions& options, unsigned users, const std::string& name, const std::string& value) {
  std::vector<std::string> known;
  for (const Slot& slot : Slots(options).all) {
    if ((slot.row.users & users) == 0) continue;
    known.push_back(slot.row.name);
    if (slot.row.name != name) continue;
    if (slot.set(value)) return;
    const std::string spelled = users == kProgram ? slot.row.program_name : "option " + name;
    throw Error(ErrorKind::usage,
                fmt::format("{}: {}, not '{}'", spelled, wanted(slot.row), printable(value)));
  }
  throw Error(ErrorKind::usage, no_option_text(name, known));
}

std::string no_option_text(const std::string& name, const std::vector<std::string>& known) {
  return fmt::format("no option '{}'; there are {}", printable(name), fmt::join(known, ", "));
}

UserOptions preset_options() {
  UserOptions options;
  options.compile.database_path = place_in_cache("kernels.db");
  return options;
}

std::string place_in_cache(const std::string& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/korch/" + name;
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') {
    const passwd* user = ::getpwuid(::getuid());
    home = user != nullptr ? user->pw_dir : nullptr;
  }
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/korch/" + name : "";
}

}  // namespace korch
