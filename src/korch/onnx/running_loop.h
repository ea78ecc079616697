// RunningLoop: a loop of the Graph (ir/loops.h) that an import rule emits, step by step at run time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "korch/onnx/node_import.h"

namespace korch::onnx {

// `step` emits the body for a step's number and states, and returns the condition to go on, the states and
// the rows to stack; nothing where it cannot. What it emits that does not follow from either is computed
// before the loop, whether or not a step runs.
struct RunningLoop {
  Operand count, condition;     // i64[], bool[]
  std::optional<int64_t> most;  // steps there can be
  std::vector<Operand> states;
  std::function<std::vector<Operand>(const Operand& number, const std::vector<Operand>& states)> step;
};

// The states, and what is stacked of the rows along a new first axis, as long as there were steps; nothing
// where the body cannot run as one.
std::optional<std::vector<Operand>> run_loop(NodeImport& n, const RunningLoop& loop);

// A tensor of constant extents.
bool is_plain(const Operand& x);
// Of a constant: Error{invalid} where it is not one bool.
bool is_true(NodeImport& n, const Operand& condition);

}  // namespace korch::onnx
