// One loop nest as C++ statements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/passes/partition.h"
#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

class NestPrinter {
 public:
  // Of a lowered graph, whose pool receives the bodies of partitioned nests.
  NestPrinter(TileGraph& graph, const Phase& phase, const Nest& nest, const NestSchedule& schedule,
              const Device& target, BodyEmitter& emitter, SourceText& source);
  void print();

 private:
  struct Limits {
    std::string begin, end;  // C++ expressions
    bool fixed;              // both are literals
    int64_t low, high;
  };

  void print_map();
  void print_points(const Body& body);
  void print_lanes(const Segment& segment);
  void print_partitioned();
  void emit_interleaved(const std::vector<Store>& stores);
  std::string print_jammed(const std::string& variable, const std::string& low, const std::string& high,
                           const Body& body);
  void print_parts(const LoopVariable& variable, const std::string& decided, const Parts& parts);
  void print_tiled();
  void print_tile_body(const std::string& rows, const std::string& columns);
  void print_reduce();
  void print_horizontal();
  void print_vertical();
  void print_vertical_rest(const Segment& segment, const Limits& range);
  void print_scalar_reduce();
  void print_ranked();
  void accumulate(const std::vector<Store>& stores, const Index& position, const std::string& accumulator,
                  const std::string& valid_lanes);
  void print_accumulation(const Segment& segment, const std::string& count, int unroll);

  // A long sum of floats has a partial sum for every so many iterations of one loop, so that early terms are
  // not rounded as often as there are terms.
  struct Blocks {
    const LoopVariable* loop = nullptr;  // none: few terms, or no sums
    int64_t iterations = 0;
  };
  struct OpenLoops {
    std::set<std::string> bound;  // before them
    int open;
  };
  struct Reduction {
    OpenLoops loops;
    std::vector<std::string> sums;  // or what the accumulators are
    std::optional<OpenLoops> block;
    std::vector<std::string> parts;  // of a block
    const std::vector<std::string>& accumulators() const { return block ? parts : sums; }
  };
  bool sums_floats() const;
  Blocks blocks(int64_t vectors) const;
  Reduction open_reduction(const std::vector<int>& roots, const std::vector<std::string>& accumulators,
                           int lanes, int64_t vectors);
  void open_block(const Blocks& blocks, Reduction& reduction, int lanes);
  void close_reduction(const Reduction& reduction, int lanes);
  void add_parts(const std::vector<std::string>& sums, const std::vector<std::string>& parts, int lanes);
  void close_loops(const OpenLoops& loops);
  void print_vectors(const Segment& segment, int step, const std::vector<std::string>& accumulators);

  void open_loop(const LoopVariable& variable);
  void close_all();
  const LoopVariable& loop(const std::string& name) const;
  Limits limits(const LoopVariable& variable, int64_t low, int64_t high) const;
  void map_body(const std::vector<Store>& stores);
  bool whole_lines(const Index& offset) const;
  void store(const Store& store, const std::string& value, bool vector);
  std::string combined(DType type, const std::string& a, const std::string& b, int lanes);
  void store_reduced(const Store& place, const std::string& value, bool vector);
  int unrolling(const std::vector<int>& roots, int64_t vectors) const;

  TileGraph& graph_;
  const Phase& phase_;
  const Nest& nest_;
  const NestSchedule& schedule_;
  BodyEmitter& emitter_;
  SourceText& source_;
  int lanes_;
  std::set<std::string> bound_;  // variables of the loops that are open
  int open_ = 0;
  bool interleaved_ = false;  // copies of a body are being printed
  struct {
    std::string variable, begin, end;
  } part_;  // of a partitioned loop, while it is printed
};

}  // namespace korch::tile
