// Kernels of a linear primitive alone, and what follows for the kernels that it is fused into.
//
// A linear primitive has several implementations in several layouts, and is in hundreds of candidates. Alone
// it is one kernel per implementation; these are measured first. Their costs bound the fused kernels from
// below (the same arithmetic, plus more). And an implementation may be clearly slower than another one
// together with the layout changes between the two. It is not tried in any candidate that the other one
// serves too.
#pragma once

#include <vector>

#include "korch/search/columns.h"

namespace korch {

class PlainLinear {
 public:
  PlainLinear(const Graph& graph, const Columns& columns);

  // Linear primitives alone, in every implementation, and changes of layout of what they read and write.
  std::vector<int> probes() const;
  // By column: whether another implementation of its candidate is clearly better, by the costs of the probes.
  std::vector<bool> dominated() const;
  // By column: the cost of its linear primitive alone in this implementation, in microseconds; 0: none, or
  // not measured.
  std::vector<double> plain_costs_us() const;

 private:
  // The parts of an implementation that are the same alone and fused.
  struct LinearForm {
    std::string algorithm;  // with the family
    Layout data, result;
    auto operator<=>(const LinearForm&) const = default;
  };
  struct Linear {
    ValueId data = kNoId, result = kNoId;
    std::map<LinearForm, std::vector<int>> alone;  // columns
  };

  LinearForm form_of(const Candidate& candidate, const Implementation& implementation,
                     const Linear& linear) const;
  double alone_us(const Linear& linear, const LinearForm& form) const;
  double reorder_us(ValueId value, const Layout& from, const Layout& to) const;
  bool clearly_better(const Linear& linear, const LinearForm& form, const LinearForm& other) const;

  const Graph& graph_;
  const Columns& columns_;
  std::vector<NodeId> linear_of_;  // by column: the last node of what is plain; kNoId: none
  std::vector<LinearForm> form_of_;
  std::map<NodeId, Linear> linears_;
  std::map<std::pair<TensorKey, TensorKey>, int> reorders_;  // by what is read and made
};

}  // namespace korch
