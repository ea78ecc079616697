// The verbs of the program: each declares its options on a subcommand and sets what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace korch {

void add_model_verb(CLI::App& app);
void add_compile_verb(CLI::App& app);
void add_run_verb(CLI::App& app);
void add_bench_verb(CLI::App& app);
void add_verify_verb(CLI::App& app);
void add_explain_verb(CLI::App& app);
void add_fission_verb(CLI::App& app);
void add_equiv_verb(CLI::App& app);
void add_operators_verb(CLI::App& app);
void add_doctor_verb(CLI::App& app);
void add_diff_verb(CLI::App& app);
void add_kernel_verb(CLI::App& app);
void add_completion_verb(CLI::App& app);
// What the manual page tells besides the verbs and their options.
struct ManualTexts {
  std::string version, purpose, examples, exit_status;
};
void add_manual_verb(CLI::App& app, const ManualTexts& texts);
void add_worker_verb(CLI::App& app);
void add_costs_verb(CLI::App& app);

}  // namespace korch
