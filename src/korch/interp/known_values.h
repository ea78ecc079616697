// What Values are that are made of a few known numbers, such as the extents of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "korch/ir/graph.h"

namespace korch {

class KnownValues {
 public:
  // `numbers`: Values of one i64.
  KnownValues(const Graph& graph, const std::map<ValueId, int64_t>& numbers);

  // The first element of a Value that is made of them; none where that takes more than a look.
  std::optional<int64_t> number(ValueId value);
  // Whether a node that ends runs which are not allowed (ir/refusal.h) ends one with these numbers.
  bool are_refused();

 private:
  const HostTensor* tensor(ValueId value);

  const Graph& graph_;
  std::map<ValueId, HostTensor> known_;
};

}  // namespace korch
