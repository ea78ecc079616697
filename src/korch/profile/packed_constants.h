// Constants as kernels want them, kept while kernels are measured: many kernels share them, and a kernel is
// looked at several times.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "korch/ir/graph.h"
#include "korch/tensor/packing.h"

namespace korch {

class PackedConstants {
 public:
  // The graph outlives it. What was asked for last is kept, up to so many bytes.
  explicit PackedConstants(const Graph& graph, int64_t most_bytes = int64_t{256} << 20)
      : graph_(graph), most_bytes_(most_bytes) {}

  std::shared_ptr<const std::string> get(ValueId constant, const Packing& packing);
  void release();

 private:
  struct Kept {
    ValueId constant;
    Packing packing;
    std::shared_ptr<const std::string> bytes;
  };
  const Graph& graph_;
  const int64_t most_bytes_;
  int64_t bytes_ = 0;
  std::list<Kept> kept_;  // the last one first
};

}  // namespace korch
