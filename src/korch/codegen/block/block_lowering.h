// Nests of the steps of a block graph, in order: what phases.h's function is made of. Products are
// packed_products.cpp's or, of thread blocks, staged_products.cpp's.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/slice.h"
#include "korch/codegen/linear/packing_phase.h"

namespace korch::blocks {

using tile::Condition;
using tile::Index;
using tile::LoopVariable;
using tile::OuterLoop;
using tile::ScheduledNest;

// A Value in scratch: its axes within a slice, of which the last lie one after the other.
struct Held {
  int buffer = -1;
  std::vector<int> order;
  std::vector<int64_t> strides;
};

// A right operand in a temporary, by blocks of columns: a matrix for each value of the other axes.
struct Packed {
  int buffer = -1;
  std::vector<int> matrix_axes;
  linear::PackedOperand operand;
};

// Terms of a staged product: `count` tiles of `size`, the first of them at `first`.
struct TermZone {
  int64_t first = 0, count = 1, size = 1;
  tile::Index k_tile;  // from 0
  std::vector<tile::OuterLoop> loops;
  tile::Index term() const { return k_tile * size + first + tile::Index::variable("k", size); }
};

// An operand of a staged product, where the product finds it: at `r` or `c`, and `k`.
struct Staged {
  int buffer = -1;
  tile::Index offset;
};

// A fold over a loop's axis by a thread block: what earlier blocks gave it, what this one does alone, both.
struct Running {
  Held before, here, now;
};

class BlockLowering {
 public:
  BlockLowering(const BlockGraph& graph, const BlockSchedule& schedule, const Device& target,
                Arguments& arguments, tile::TileBuilder& builder)
      : graph_(graph),
        target_(target),
        arguments_(arguments),
        roles_(roles_with(graph, schedule, target)),
        schedule_(schedule),
        slice_(graph_, roles_, schedule),
        builder_(builder),
        stored_(graph.steps.size(), false),
        emitted_(graph.steps.size(), false) {}

  std::string add_phases();  // or why there is none

 private:
  const Step& at(int step) const { return graph_.steps[static_cast<size_t>(step)]; }
  AxisSet local(AxisSet axes) const { return roles_.local(axes); }
  bool is_held(int step) const { return roles_.held[static_cast<size_t>(step)]; }
  const RowProduct* product(int step) const {
    const auto& p = roles_.products[static_cast<size_t>(step)];
    return p ? &*p : nullptr;
  }
  bool in_blocks(const Zone& zone) const {
    return zone.loop_axis >= 0 && slice_.blocks_of_slice(zone.loop_axis) > 1;
  }

  std::string obstacle() const;
  void pack_right_operands();
  void pack(const RowProduct& p, int step);
  TileShape tile_of(const RowProduct& p) const;
  int last_axis(int step) const;
  int channels_of(int step, const std::vector<int>& axes) const;
  Held new_storage(int step);
  const Held& storage(int step, const std::vector<int>& read);
  bool is_free_after(int step, int reader) const;
  Index offset(const Held& held, const Cursor& cursor) const;

  // Of the nest in the making: what its elements are, and what is stored besides.
  int value(int step);
  int through_window(const Step& window);
  int written_out(const Step& fold);
  int exponential(int step, const std::vector<int>& args);
  int defined(int step);
  void begin(const Cursor& cursor, AxisSet axes, int place);
  bool can_store(int step) const;
  std::vector<OuterLoop> around(const Zone& zone, AxisSet axes) const;
  std::vector<LoopVariable> loops_over(const std::vector<int>& axes, const Zone& zone) const;
  void add(ScheduledNest nest, std::vector<OuterLoop> around);

  void emit_part(int place, const Zone& zone);
  void emit(int step, const Zone& zone);
  void store_first(int root, AxisSet axes, const Zone& zone);
  void store(int step, const Zone& zone);
  bool shows_nan(int step) const;
  void fold(int step, const Zone& zone);
  void extreme_so_far(int step, const Zone& zone);
  void rescale(int step, const Zone& zone);
  void multiply(int step, const RowProduct& p, const Zone& zone);
  void store_columns(const RowProduct& p, const Zone& zone);
  linear::ColumnBlocks columns_of(int step, const RowProduct& p, const Zone& zone) const;
  int finishing_step(int step) const;
  void finish_tile(int step, const Cursor& cursor, int64_t rows, int64_t columns);
  int left_element(const RowProduct& p, const Cursor& cursor);
  int right_element(int step, const RowProduct& p, const Cursor& cursor, const Zone& zone, int64_t lanes,
                    const Index& b, const Index& c);
  void write_results();
  void write_result(int result, const linear::RowZone& rows, const linear::RowZone& columns);

  // Of a thread block (staged_products.cpp).
  bool stages() const { return roles_.way == Products::staged; }
  Held tile_storage(int step);
  Held block_storage(int step);
  void store_below(int step, const Zone& zone);
  void stage_product(int step, const RowProduct& p, const Zone& zone);
  void multiply_tiles(int step, const RowProduct& p, const Zone& zone, const TermZone& terms);
  Staged stage(int step, int across, const RowProduct& p, const Zone& zone, const TermZone& terms);
  bool is_stored_below(int step) const;
  void store_readers(int step, const Zone& zone);
  bool is_read_elsewhere(int step) const;
  void settle(int step, const Zone& zone);
  void settle_sums(int place);
  void fold_in_block(int step, const Zone& zone);
  void so_far(int step, const Zone& zone);
  void keep_for_next_block(const Zone& zone);

  const BlockGraph& graph_;
  const Device& target_;
  Arguments& arguments_;
  const Roles roles_;
  const BlockSchedule schedule_;
  const Slice slice_;
  tile::TileBuilder& builder_;
  tile::ScheduledPhase phase_;
  std::map<int, Held> held_;
  std::map<int, Packed> packed_;  // by step of the product
  std::map<int, Held> here_;      // what a block alone gives an extreme
  std::map<int, Held> tiles_;     // of staged products, by step: what threads hold
  std::map<int, Held> settled_;   // and where others find them
  std::map<int, Running> running_;
  std::vector<bool> stored_;  // in scratch, since the part began or before
  std::vector<bool> emitted_;
  // The nest in the making.
  Cursor cursor_;
  AxisSet axes_ = 0;  // that it goes over
  int place_ = 0;
  std::map<int, int> values_;
  std::vector<tile::Store> stores_;
  std::vector<int> stores_of_;
};

}  // namespace korch::blocks
