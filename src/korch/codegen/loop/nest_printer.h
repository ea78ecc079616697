// One loop nest as C++ statements.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/loop/body_emitter.h"
#include "korch/codegen/loop/loop_program.h"
#include "korch/codegen/loop/schedule.h"
#include "korch/target/target.h"

namespace korch::loop {

class NestPrinter {
 public:
  NestPrinter(const Program& program, const Nest& nest, const Target& target, BodyEmitter& emitter,
              SourceText& source);
  void print();

 private:
  // A part of the vector loop in which every condition and clamp along it is decided.
  struct Segment {
    int64_t low, high;  // values low .. high - 1
    std::vector<int> roots;
  };
  struct Limits {
    std::string begin, end;  // C++ expressions
    bool fixed;              // both are literals
    int64_t low, high;
  };

  void print_map();
  void print_tiled();
  void print_tile_body(const std::string& rows, const std::string& columns);
  void print_reduce();
  void print_horizontal(const std::vector<int>& roots);
  void print_vertical(const std::vector<int>& roots);
  void print_scalar_reduce(const std::vector<int>& roots);
  void accumulate(const std::vector<int>& roots, const std::string& accumulator,
                  const std::string& valid_lanes);
  void print_accumulation(const Segment& segment, const std::string& count, int unroll);

  void open_loop(const LoopVariable& variable);
  void close_all();
  const LoopVariable& loop(const std::string& name) const;
  Limits limits(const LoopVariable& variable, int64_t low, int64_t high) const;
  std::vector<Segment> segments(const std::string& variable);
  void collect_segments(const std::string& variable, int64_t low, int64_t high, std::vector<Segment>& found);
  void map_body(const std::vector<int>& roots);
  void store_target(const NestTarget& target, const std::string& value, bool vector);
  std::string pointer_of(const NestTarget& target) const;
  int unrolling(const std::vector<int>& roots, int64_t vectors) const;

  const Program& program_;
  const Nest& nest_;
  BodyEmitter& emitter_;
  SourceText& source_;
  int lanes_;
  Schedule schedule_;
  std::map<std::string, Index> ranges_;  // of the segment at hand
  std::set<std::string> bound_;          // variables of the loops that are open
  int open_ = 0;
  std::vector<std::string> accumulators_, positions_;
};

}  // namespace korch::loop
