// What Loop, Scan and branches of If have in common: steps that are written out, and loops that run
// (ir/loops.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "korch/onnx/term.h"

namespace korch::onnx {

// Nodes that a loop becomes where it can, and where it must.
constexpr int64_t kUnrolled = 1000, kMaxUnrolled = 50000;

bool is_short(int64_t steps, const proto::GraphProto& body);  // and so written out
bool are_few(int64_t steps, const proto::GraphProto& body);   // and so can be
// Error{unsupported} where they are not.
void require_few(NodeImport& n, int64_t steps, const proto::GraphProto& body);
bool is_true(NodeImport& n, const Operand& condition);              // of a constant
bool is_plain(const Operand& x);                                    // a tensor whose extents are known
Term padded(NodeImport& n, const Operand& x, const Shape& bounds);  // as if it were its bounds, zeros behind

// What the steps made, one beside the other along a new axis. Of no steps: what the body declares.
Operand stacked(NodeImport& n, const std::vector<Term>& steps, int64_t axis, bool reversed,
                const proto::ValueInfoProto& declared);

// A loop that runs: `step` imports its body for a step's number and state, and returns the condition to go
// on, the states and the rows.
//
// A state whose extents change from step to step, or depend on the data, is carried at bounds of them, with
// the extents as further states. A bound that grows by some elements in each step needs one of the steps.
struct RunningLoop {
  Operand count, condition;     // i64[], bool[]
  std::optional<int64_t> most;  // steps there can be
  std::vector<Operand> states;
  std::function<std::vector<Operand>(const Operand& number, const std::vector<Operand>& states)> step;
  bool may_vary = false;     // states may change their extents
  std::string refusal = {};  // why it cannot run, where it cannot
};

// The states and what is stacked of the rows, along a new first axis; nothing where the body cannot
// run as one.
std::optional<std::vector<Operand>> run_loop(NodeImport& n, RunningLoop& loop);

}  // namespace korch::onnx
