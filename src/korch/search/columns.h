// Candidates in all their implementations, layout changes and views, as the columns of the binary linear
// program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/candidate/candidate.h"
#include "korch/codegen/implementation.h"
#include "korch/device/device.h"
#include "korch/solve/problem.h"

namespace korch {

// A Value materialized in a layout: what the program calls a tensor.
struct TensorKey {
  ValueId value = kNoId;
  Layout layout;
  auto operator<=>(const TensorKey&) const = default;
};

struct ColumnInfo {
  enum class Kind { kernel, reorder, view };
  Kind kind = Kind::kernel;
  int candidate = -1;             // Kind::kernel: into Columns::candidates
  Implementation implementation;  // Kind::kernel
  NodeId view_node = kNoId;       // Kind::view
  int64_t view_offset_bytes = 0;  // Kind::view: where the output starts in the input's bytes
  double flops = 0, bytes = 0;    // that it does and moves at least, by which it is bound
  double bound_us = 0;            // lower bound, whatever is measured later
  Hash key;                       // equal for columns that share one kernel and one measurement
  int representative = -1;        // the first column with this key: the kernel is made from it
};

struct Columns {
  Problem problem;
  std::vector<ColumnInfo> infos;   // one per problem.columns
  std::vector<TensorKey> tensors;  // one per problem.tensor_class
  std::vector<Candidate> candidates;
  std::map<std::string, int> refused;  // candidates without a kernel, by reason
  bool estimated = false;              // what stands for costs that are not measured are estimates, no bounds
};

enum class Layouts { all, row_major };  // of what kernels read and write; row_major: where a kernel can

struct ColumnOptions {
  Accuracy accuracy = Accuracy::standard;
  Layouts layouts = Layouts::all;
  Deadline deadline = {};  // after which candidates from `optional_from` on get no columns
  size_t optional_from = 0;
};

// `candidates` decides the strategy: all of them, greedy groups, or single primitives. Costs are lower bounds
// from the target's speeds (docs/design/search.md, "Columns"), unmeasured; views cost nothing.
Columns build_columns(const Graph& graph, std::vector<Candidate> candidates, const Device& target,
                      const ColumnOptions& options = {});

// Why there is no plan: which primitives no kernel computes, and an example of each reason.
std::string missing_kernels(const Graph& graph, const Columns& columns,
                            const std::map<RefusalReason, std::string>& refusal_examples);

// Whether a Reshape from one shape to the other leaves every element where it is. False when unsure (an
// extent is zero, the shapes have no common factors in order, a layout is blocked).
bool same_bytes(const Shape& in_shape, const Layout& in_layout, const Shape& out_shape,
                const Layout& out_layout);

// Equal for kernels that serve one another: of candidates that look alike, made in the same way.
Hash kernel_key(const Hash& candidate, const Implementation& implementation);

// Adds a column that does what `from` does in another way, which its implementation says, and returns it. It
// costs infinitely much: it is none of the program's.
int add_column(const Graph& graph, int from, Implementation implementation, Columns& columns);

// One line each, for dumps and keys: what is computed, how, bounds and costs.
std::string describe(const Graph& graph, const std::vector<Candidate>& candidates);
std::string describe(const Graph& graph, const Columns& columns);
// One column without its bounds and costs: what is computed, and how.
std::string describe(const Graph& graph, const Columns& columns, int column);

}  // namespace korch
