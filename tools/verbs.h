// The verbs of the program: each declares its options on a subcommand and sets what runs when it is chosen.
#pragma once

#include <string>

#include "command_line.h"
#include "korch/kernel/schedule.h"

namespace korch {

void add_model_verb(CommandLine& command_line);
void add_compile_verb(CommandLine& command_line);
void add_run_verb(CommandLine& command_line);
void add_bench_verb(CommandLine& command_line);
void add_verify_verb(CommandLine& command_line);
void add_explain_verb(CommandLine& command_line);
void add_fission_verb(CommandLine& command_line);
void add_equiv_verb(CommandLine& command_line);
void add_search_verb(CommandLine& command_line);
void add_operators_verb(CommandLine& command_line);
void add_doctor_verb(CommandLine& command_line);
void add_diff_verb(CommandLine& command_line);
void add_kernel_verb(CommandLine& command_line);
tile::ScheduledGraph read_tile_graph(const std::string& path);  // of its text
void add_completion_verb(CommandLine& command_line);
// What the manual page tells besides the verbs and their options.
struct ManualTexts {
  std::string version, purpose, examples, exit_status;
};
void add_manual_verb(CommandLine& command_line, const ManualTexts& texts);
void add_worker_verb(CommandLine& command_line);
void add_measure_verb(CommandLine& command_line);
void add_costs_verb(CommandLine& command_line);

}  // namespace korch
