// The stages a text test can run, and the line that asks for one:
//
//   STAGE [FAMILY] [--OPTION [VALUE]]... [CASE NAME]
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/implementation.h"
#include "korch/device/device.h"
#include "korch/ir/graph.h"

namespace korch {

struct RunLine {
  std::string stage;
  std::string family;             // of tiles and lowered: of whose kernels (Implementation::family)
  std::string layouts;            // --layouts rm->p0231: of these kernels alone; empty: of all
  std::vector<std::string> only;  // --only RULE: rewrite rules; empty: all
  bool strict = false;            // --strict
  bool bfloat16 = false;          // --bfloat16: all that may be is multiplied in it and stored as it
  Device target;                  // --target NAME (of kIsas, or gpu), --threads N
  std::string name;               // of the case
  std::string block = {};         // the input's block graph, of the family that lowers one

  Accuracy accuracy() const { return strict ? Accuracy::strict : Accuracy::standard; }
};

// The input is a graph, and behind it may stand a block graph of all its primitives, with the axes and leaves
// of the stage `terms`.
struct Input {
  std::string graph, block;
};
Input split_input(const std::string& input);

// Throws Error{usage}. The target is of no machine: its caches, name and speeds (with_nominal_speeds) are the
// same on every one. It has no library calls, which depend on the machine.
RunLine parse_run_line(const std::string& text);

// Parses `input`, runs the stage and prints its result. Throws Error.
std::string run_stage(const RunLine& line, const std::string& input);

// All primitives as one group: what they compute, over named axes; or why that cannot be said.
std::string terms_text(const Graph& graph, const RunLine& line);
// What a search for block graphs would begin with.
std::string workloads_text(const Graph& graph, const RunLine& line);

// Every column, of candidates, views and changes of layout, for these primitives as they are.
std::string columns_text(const Graph& graph, const RunLine& line);
// The tile graphs that the family builds for all primitives as one kernel; `lowered`: after the passes.
std::string tiles_text(const Graph& graph, const RunLine& line);
std::string lowered_text(const Graph& graph, const RunLine& line);
// Expects the kernels that these two print to be sound and, interpreted on random inputs, to give what the
// primitives give.
void check_kernels(const std::string& input, const RunLine& line);
// From operators to memory and tasks, on bounds alone.
std::string plan_text(const Graph& graph, const RunLine& line);

}  // namespace korch
