// The nests of a row group (row_group.h) as statements of a thread block.
#pragma once

#include <map>
#include <string>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cuda/row_group.h"

namespace korch::tile {

class RowPrinter {
 public:
  RowPrinter(const TileGraph& graph, const Phase& phase, BodyEmitter& emitter)
      : graph_(graph), phase_(phase), emitter_(emitter) {}

  // Without a barrier after it.
  void print(const RowGroup& group);
  // Whether warps of a group meet in shared memory, so that others who do have to wait.
  static bool meets(const RowGroup& group) { return group.team > 32; }
  // Whether warps met in `parts`, an array of kCudaThreads doubles in shared memory.
  bool uses_parts() const { return uses_parts_; }

 private:
  void open_rows(const RowGroup& group);
  std::string open_columns(const RowGroup& group, bool unrolled);
  void open_first_of_team(const RowGroup& group);
  void hoist(const RowGroup& group, size_t number);
  void print_nest(const RowGroup& group, size_t number);
  void print_reduce(const RowGroup& group, size_t number, const std::map<int, std::string>& keeps);
  void print_columns(const RowGroup& group, size_t number, const std::map<int, std::string>& keeps,
                     const std::string& accumulator);
  void accumulate(const RowGroup& group, const Nest& nest, const std::string& accumulator);
  void store(const Nest& nest, size_t from, bool vector);
  void combine_threads(const RowGroup& group, const Nest& nest, const std::string& result);
  void combine_warps(const Nest& nest, const std::string& result);

  const TileGraph& graph_;
  const Phase& phase_;
  BodyEmitter& emitter_;
  std::map<int, std::string> kept_;  // arrays of values, by expression
  size_t reduces_ = 0;               // of the group, so far
  bool uses_parts_ = false;
};

}  // namespace korch::tile
