// One nest as statements of a thread block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cuda/held_tile.h"
#include "korch/codegen/cuda/turned_load.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// The nest with that loop last along which neighbouring threads run; scatters keep their order.
Nest as_printed(const TileGraph& graph, const Phase& phase, const Nest& nest, const NestSchedule& schedule);

// Who makes a result of a reduce: a thread, unless neighbouring threads would read far from each other and
// those along the reduction beside each other, or results are few.
enum class ReduceBy { thread, warp, block };
ReduceBy reduce_by(const TileGraph& graph, const Nest& printed);

class CudaNestPrinter {
 public:
  CudaNestPrinter(const TileGraph& graph, const Phase& phase, const std::map<int, HeldTile>& held,
                  BodyEmitter& emitter, SourceText& source)
      : graph_(graph), phase_(phase), held_(held), emitter_(emitter), source_(source) {}

  // Without a barrier after it.
  void print(const Nest& nest, const NestSchedule& schedule);
  // Of a pipeline (pipeline.h): what is only copied is there after the threads have waited for copies.
  void print_fill(const Nest& nest, const NestSchedule& schedule);
  // Whether threads met in `parts`, an array of kCudaThreads doubles in shared memory.
  bool uses_parts() const { return uses_parts_; }
  // Whether tiles were turned in `turned`, kTurnedBytes of shared memory.
  bool uses_turned() const { return uses_turned_; }

 private:
  std::string count_of(const std::vector<LoopVariable>& loops, int64_t divisor) const;
  std::string first_point(const Nest& nest, bool quad) const;
  void open_points(const std::vector<LoopVariable>& loops, const std::string& first, const std::string& step,
                   int64_t quad = 1);
  bool runs_together(const Nest& nest, const std::string& variable, int width) const;
  void store(const Store& store, const std::string& value, bool quad = false);
  void store_all(const std::vector<Store>& stores, bool quad = false);
  void print_ordered(const Nest& nest);
  void hoist(const Nest& nest, const std::vector<LoopVariable>& loops);
  void print_map(const Nest& nest);
  void print_turned_map(const Nest& nest, const TurnedLoad& turned);
  void print_copy(const Nest& nest, int load);
  void print_scatter(const Nest& nest);
  void print_ranked(const Nest& nest);
  void print_held_product(const Nest& nest, const HeldTile& tile);
  void print_held_map(const Nest& nest, const HeldReader& reader);
  void accumulate(const Nest& nest, const std::string& accumulator);
  void store_reduced(const Nest& nest, const std::string& value);
  void print_reduce(const Nest& nest);
  void print_reduce_by_warp(const Nest& nest);
  void print_reduce_by_thread(const Nest& nest);
  void print_reduce_by_block(const Nest& nest);

  const TileGraph& graph_;
  const Phase& phase_;
  const std::map<int, HeldTile>& held_;
  BodyEmitter& emitter_;
  SourceText& source_;
  bool uses_parts_ = false, uses_turned_ = false;
};

}  // namespace korch::tile
