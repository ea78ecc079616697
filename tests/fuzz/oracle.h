// What a graph's Values are, in float64, and how far a kernel's result may be from that.
//
// The tolerance is of each element: the graph is computed again a few times while every operator reads
// operands that are disturbed by a little more than what float32 (or the type at hand) rounds away, each
// reader its own disturbance; where a Value has several producers, any of them makes it. Kernels compute
// again what they share, each in its own way, so each Value is computed twice, and readers take either. How
// far an element moves then is what it may be off, times a factor. So where a result is decided by rounding
// (a comparison of almost equal numbers, x - x computed twice, an index of the largest) anything is allowed
// there, and there alone. Values that nothing rounds must be equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph_maker.h"
#include "korch/ir/loops.h"

namespace korch::fuzz {

class Oracle {
 public:
  // Knows every Value that can be computed from the inputs, each by its first producer. `graph` must outlive
  // it. Throws Error{invalid} where data (an index, a divisor) is not what an operator takes. `products`:
  // what operands of float32 may be rounded to where they are multiplied.
  Oracle(const Graph& graph, const std::vector<HostTensor>& inputs, DType products = DType::f32);

  bool knows(ValueId value) const { return exact_[value].raw() != nullptr; }
  const HostTensor& exact(ValueId value) const { return exact_[value]; }
  // What is wrong with `got`, row-major in the Value's own type or f64; nothing if it may be.
  std::optional<std::string> difference(ValueId value, const HostTensor& got);
  // What each element may be off: infinity where rounding decides.
  std::vector<double> tolerance(ValueId value);
  // No Value is so large, or (unless they may be) no number at all, that float32 computes something else
  // altogether.
  bool is_moderate(bool may_be_special) const;

 private:
  struct Disturbance {
    double scale;   // of the usual one
    uint64_t seed;  // of signs
  };
  using Values = std::vector<HostTensor>;  // by their ids
  void order_loops();
  bool is_first(NodeId id) const;  // of the producers of what it makes
  Values evaluate(const Disturbance* disturbance) const;
  std::vector<HostTensor> results_of(const Node& node, const Values& values, const Values& again,
                                     const Disturbance* disturbance, Random& random) const;
  void disturb(HostTensor& tensor, DType dtype, double scale, Random& random) const;
  void join_where_crossing(const Node& equal, const std::vector<HostTensor>& disturbed,
                           HostTensor& result) const;
  void add_runs(int count, double scale);
  std::vector<double> tolerance_now(ValueId value) const;
  std::optional<std::string> compare(ValueId value, const HostTensor& got) const;

  const Graph& graph_;
  const Loops loops_;
  const DType products_;
  std::vector<HostTensor> inputs_;
  std::vector<NodeId> order_;
  std::vector<bool> is_rounded_;  // of each Value
  std::vector<HostTensor> exact_;
  struct Run {
    double scale;
    std::vector<HostTensor> values;
  };
  std::vector<Run> runs_;
};

// Whether the results of this operator are rounded at all.
bool rounds(const Node& node, DType result);

}  // namespace korch::fuzz
