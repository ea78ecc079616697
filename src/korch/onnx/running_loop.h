// Common parts of Loop, Scan and branches of If: iterations that are written out, and loops that run
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

// The iterations' results, stacked along a new axis. Without iterations: an empty tensor of the type that the
// body declares.
Operand stacked(NodeImport& n, const std::vector<Term>& steps, int64_t axis, bool reversed,
                const proto::ValueInfoProto& declared);

// A loop that runs. `step` imports its body for an iteration's number and state, and returns the condition to
// go on, the states and the rows.
//
// A state whose extents change from iteration to iteration, or depend on the data, is carried at bounds, with
// the extents as further states. A bound of an extent that grows in each iteration needs a bound of the
// number of iterations.
struct RunningLoop {
  Operand count, condition;     // i64[], bool[]
  std::optional<int64_t> most;  // steps there can be
  std::vector<Operand> states;
  std::function<std::vector<Operand>(const Operand& number, const std::vector<Operand>& states)> step;
  bool may_vary = false;     // states may change their extents
  std::string refusal = {};  // why it cannot run, where it cannot
};

// The states, and the rows stacked along a new first axis; nothing if the body cannot run as a loop.
std::optional<std::vector<Operand>> run_loop(NodeImport& n, RunningLoop& loop);

}  // namespace korch::onnx
