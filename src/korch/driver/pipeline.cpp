#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/base/file_roles.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/compile_part.h"
#include "korch/driver/cost_sample.h"
#include "korch/driver/dumps.h"
#include "korch/driver/finish.h"
#include "korch/driver/heal.h"
#include "korch/driver/planning_speeds.h"
#include "korch/driver/stage_clock.h"
#include "korch/driver/stages.h"
#include "korch/fission/fission.h"
#include "korch/inspect/check_time.h"
#include "korch/inspect/saved_inputs.h"
#include "korch/inspect/special_values.h"
#include "korch/ir/text.h"
#include "korch/plan/plan_json.h"
#include "korch/profile/footprint.h"
#include "korch/search/kernel_variants.h"

namespace korch {
namespace {

// What the stages write into the dump folder. Costs come into the columns by `solve`.
struct StageFile {
  const char* stage;
  const char* file;
};
constexpr StageFile kStageFiles[] = {
    {"import", "1-imported.txt"},
    {"fission", "2-primitive.txt"},
    {"alternatives", "2-alternatives.txt"},
    {"candidates", "3-candidates.txt"},
    {"columns", "4-columns.txt"},
    {"solve", "4-columns.txt"},
    {"plan", "5-plan.json"},
    {"tasks", "6-tasks.txt"},
};

// Thrown behind the stage that is to be the last.
struct LastStage {};

class Compilation {
 public:
  Compilation(const std::string& name, const CompileOptions& options, Fleet* fleet)
      : name_(name),
        options_(options),
        fleet_(fleet),
        dumps_(options.dump_dir, files_),
        deadlines_(options.budget_s),
        clock_(options) {
    if (options_.strategy == Strategy::random) options_.measure = Measure::none;
  }

  FileRoles& files() { return files_; }
  std::vector<std::string>& warnings() { return result_.warnings; }

  CompileResult run(const std::function<Graph()>& import, const std::string& output, BuiltPlan* part) {
    output_ = output;
    part_ = part;
    reserve_files();
    device_ = device_of(options_);
    if (options_.emulation && !device_.is_gpu())
      throw Error(ErrorKind::usage, "option emulation is for GPUs, and " + device_.code + " is a CPU's code");
    if (products_of(options_.accuracy) != ProductType::f32 && !device_.is_gpu())
      throw Error(ErrorKind::usage,
                  fmt::format("accuracy {} is for GPUs, and {} is a CPU's code: take standard",
                              name(options_.accuracy), device_.code));
    if (options_.accuracy == Accuracy::relaxed) require_cpu_for_bfloat16();
    const Backend& backend = backend_of(device_);
    if (options_.stop_after.empty()) require_complete(backend);
    if (options_.measure != Measure::none && (options_.stop_after.empty() || options_.stop_after == "plan"))
      require_measurable(device_);
    if (!device_.is_gpu() && is_here(device_)) warn(crowding(device_.workers, usable_cpus()));
    std::string warning;
    cost_model_ = cost_model_named(options_.cost_model, warning);
    warn(warning);
    if (options_.structures) structures_ = structures_known(options_);
    try {
      compile(import);
    } catch (const LastStage&) {
    }
    report_warnings();
    result_.stage_seconds = clock_.seconds();
    return std::move(result_);
  }

 private:
  void require_cpu_for_bfloat16() {
    if (device_.is_gpu())
      throw Error(ErrorKind::usage, "accuracy relaxed is for CPUs, and " + device_.code +
                                        " is a GPU's code: take tf32, f16 or bf16");
    if (!multiplies_bfloat16(device_))
      warn(
          fmt::format("accuracy relaxed: {} has no instructions that multiply bfloat16, so that products "
                      "are of float32 and bfloat16 is only stored",
                      device_.code));
  }

  // What `make` makes, timed and written into the dump folder as `text` puts it.
  template <typename Make, typename Text = std::nullptr_t>
  auto stage(const char* name, const Make& make, const Text& text = nullptr) {
    auto made = clock_.timed(name, make);
    if constexpr (!std::is_same_v<Text, std::nullptr_t>)
      for (const StageFile& row : kStageFiles)
        if (row.stage == std::string_view(name)) dumps_.write(row.file, [&] { return text(made); });
    if (options_.stop_after == name) throw LastStage{};
    return made;
  }

  void compile(const std::function<Graph()>& import) {
    const Imported network = stage(
        "import", [&] { return imported_network(import); }, [](const Imported& n) { return print(n.graph); });
    const Graph primitives = stage(
        "fission", [&] { return break_into_primitives(network); }, print_graph);
    report_warnings();
    if (options_.accuracy == Accuracy::relaxed)
      clock_.timed("bfloat16", [&] {
        bfloat16_ = fit_bfloat16(primitives, multiplies_bfloat16(device_), options_.output_error,
                                 deadlines_.growing());
        if (bfloat16_.taken < bfloat16_.products || bfloat16_.stored < bfloat16_.results)
          warn(to_string(bfloat16_, options_.output_error));
      });
    if (options_.target == "native" && options_.device.empty() &&
        has_products_of_bytes(primitives, setting()))
      device_ = with_matrix_tiles(device_);
    strikes_.emplace(database_.get(), device_);
    Healer healer(output_, device_, strikes());
    while (const std::optional<Fault> fault = plan_and_package(network, primitives))
      for (const std::string& warning : healer.heal(*fault, options_)) result_.warnings.push_back(warning);
    if (deadlines_.whole().is_over())
      result_.warnings.push_back(fmt::format("compiling took {:.1f} s, more than the budget of {:.0f} s",
                                             options_.budget_s - deadlines_.whole().left_s(),
                                             options_.budget_s));
  }

  Setting setting() {
    const bool takes_bfloat16 = options_.accuracy == Accuracy::relaxed && !bfloat16_.is_empty();
    return {options_, device_, deadlines_, database_.get(), strikes(), takes_bfloat16 ? &bfloat16_ : nullptr,
            &clock_};
  }

  // What healing does again: from the primitives to the file, without the kernels that were struck.
  std::optional<Fault> plan_and_package(const Imported& network, const Graph& primitives) {
    const Setting setting = this->setting();
    const Rewritten rewritten = stage(
        "alternatives", [&] { return verified(with_alternatives(primitives, setting)); },
        [](const Rewritten& r) { return print(r.graph); });
    const Graph& graph = rewritten.graph;
    std::vector<std::string> doubts;
    const std::string peaks_are = stage("peaks", [&] { return measure_peaks(doubts); });
    std::optional<KernelBank> bank;
    Candidates candidates = stage(
        "candidates",
        [&] {
          bank.emplace(graph, device_, database_.get(), footprint_bytes(primitives), strikes(), nullptr,
                       &clock_);
          bank->set_network(name_);
          if (fleet_ != nullptr) bank->set_meter(fleet_->meter(device_, footprint_bytes(primitives)));
          bank->set_cost_model(cost_model_);
          return find_candidates(rewritten, *bank, setting);
        },
        [&](const Candidates& c) { return describe(graph, c.all); });
    clock_.timed("structures", [&] { add_structures(rewritten, setting, structures_, candidates); });
    const auto columns_text = [&](const Columns& c) { return describe(graph, c); };
    Columns columns = stage(
        "columns",
        [&] {
          return make_columns(rewritten, std::move(candidates.all), candidates.first_optional, setting);
        },
        columns_text);
    if (options_.sampled_kernels > 0) {
      clock_.timed("sample", [&] {
        measure_sample(graph, columns, *bank, options_.sampled_kernels, options_.sample_seed);
      });
      result_.measured += bank->measured_now();
      throw LastStage{};
    }
    const Choice choice = stage(
        "solve",
        [&] {
          Choice chosen = choose(rewritten, candidates, *bank, setting, columns);
          if (options_.measure == Measure::none && chosen.solved.measured > 0)
            add(fmt::format("costs of {} kernels are carried: they were measured before, on {}",
                            chosen.solved.measured, device_.name),
                doubts);
          if (chosen.solved.modelled > 0)
            add(fmt::format(
                    "costs of {} kernels are of a model of {}, not measured: they compare kernels, and the "
                    "bound is the model's",
                    chosen.solved.modelled, device_.code),
                doubts);
          if (const std::string others = bank->costs_of_other_gpus();
              options_.measure == Measure::none && !others.empty())
            add(fmt::format("the kernel database has no costs of {} ({}, {} multiprocessors); those that it "
                            "has are of "
                            "another GPU and are not used: {}",
                            device_.name, device_.code, device_.workers, others),
                doubts);
          for (const std::string& doubt :
               doubts_after_measuring(chosen.solved, graph, columns, device_, database_.get()))
            add(doubt, doubts);
          return chosen;
        },
        [&](const Choice&) { return columns_text(columns); });
    BuiltPlan built = stage(
        "plan",
        [&] {
          BuiltPlan made =
              make_plan({network, primitives, rewritten, candidates, columns, choice, peaks_are, doubts},
                        *bank, setting);
          complete(made, graph, columns, *bank);
          if (setting.bfloat16 != nullptr)
            made.plan.report.limits.push_back(to_string(bfloat16_, options_.output_error));
          return made;
        },
        [](const BuiltPlan& b) { return plan_to_json(b.plan); });
    bank.reset();  // hundreds of megabytes for a large network; packaging needs as much
    std::vector<Placement> placements = stage(
        "tasks", [&] { return find_tasks(built, setting); },
        [](const std::vector<Placement>& p) { return p[0].tasks ? print(*p[0].tasks) : "no tasks\n"; });
    Finished finished = stage("package", [&] {
      return finish(network, built, std::move(placements), output_, part_, setting, clock_);
    });
    for (std::string& warning : finished.warnings) result_.warnings.push_back(std::move(warning));
    result_.plan = std::move(built.plan);
    return std::move(finished.fault);
  }

  static std::string print_graph(const Graph& graph) { return print(graph); }

  Imported imported_network(const std::function<Graph()>& import) {
    Imported network = imported(import(), name_);
    verify(network.graph, GraphForm::imported);
    // Now every file that the model refers to is known to be another one.
    if (!options_.database_path.empty()) database_ = std::make_unique<Database>(options_.database_path);
    if (!options_.save_inputs.empty()) save_inputs(network.graph, options_.save_inputs, files_);
    return network;
  }

  Graph break_into_primitives(const Imported& network) {
    report_warnings();
    Graph primitives = fission(network.graph);
    if (options_.budget_s > 0 && options_.verify && is_here(device_))
      deadlines_.reserve_for_check(check_seconds(primitives));
    return primitives;
  }

  static Rewritten verified(Rewritten rewritten) {
    verify(rewritten.base, GraphForm::primitive);
    verify(rewritten.graph, GraphForm::primitive);
    return rewritten;
  }

  // Where the speeds are from that the device gets.
  std::string measure_peaks(std::vector<std::string>& doubts) {
    PlanningSpeeds speeds = planning_speeds(device_, options_.strategy, database_.get());
    device_ = std::move(speeds.device);
    if (!speeds.doubt.empty()) add(speeds.doubt, doubts);
    return speeds.are;
  }

  void add(const std::string& doubt, std::vector<std::string>& doubts) {
    doubts.push_back(doubt);
    warn(doubt);
  }

  // Kernel variants of its steps, and what follows from all that it runs.
  void complete(BuiltPlan& built, const Graph& graph, Columns& columns, KernelBank& bank) {
    clock_.timed("variants", [&] {
      if (options_.measure == Measure::none || device_.is_gpu())
        return;  // which computes everything at its bounds
      VariantOptions variants = options_.variants;
      variants.deadline = deadlines_.search();
      add_variants(graph, columns, bank, device_, variants, built);
    });
    built.plan.report.special_value_limits = special_value_limits(built.plan);
    dumps_.write_kernels(built, device_);
    result_.compiled += bank.compiled_now();
    result_.measured += bank.measured_now();
    if (options_.stop_after == "plan") result_.plan = built.plan;
  }

  // Once, however often it is planned again.
  void warn(const std::string& warning) {
    if (!warning.empty() && std::ranges::find(result_.warnings, warning) == result_.warnings.end())
      result_.warnings.push_back(warning);
  }

  Strikes* strikes() { return options_.heal && strikes_ ? &*strikes_ : nullptr; }

  void report_warnings() {
    if (database_ == nullptr) return;
    for (std::string& warning : database_->take_warnings()) result_.warnings.push_back(std::move(warning));
  }

  // Before any work: what would be written over something else, or over what is no file, is refused.
  void reserve_files() {
    if (options_.stop_after.empty() && options_.sampled_kernels == 0) files_.writes("the output", output_);
    if (!options_.block_graphs.empty()) files_.reads("the block graphs", options_.block_graphs);
    if (!options_.database_path.empty()) {
      Database::require_ours(options_.database_path);
      for (const std::string& file : Database::files(options_.database_path))
        files_.writes("the kernel database", file);
    }
    for (const StageFile& row : kStageFiles) dumps_.reserve(row.file);
  }

  const std::string name_;  // of the network's file
  CompileOptions options_;
  Fleet* const fleet_;
  FileRoles files_;
  const Dumps dumps_;
  StageDeadlines deadlines_;
  StageClock clock_;
  std::string output_;
  BuiltPlan* part_ = nullptr;  // takes the plan instead of the file
  Device device_;
  CostModel cost_model_;
  std::unique_ptr<Database> database_;
  structures::StructureBook structures_;
  std::optional<Strikes> strikes_;
  Bfloat16Choice bfloat16_;
  CompileResult result_;
};

}  // namespace

CompileResult compile_part(const std::string& name, const CompileOptions& options,
                           const ImportNetwork& import, const std::string& output, BuiltPlan* part,
                           Fleet* fleet) {
  Compilation compilation(name, options, fleet);
  return compilation.run([&] { return import(compilation.files(), compilation.warnings()); }, output, part);
}

}  // namespace korch
