#include "korch/codegen/opaque/recurrence.h"

#include <algorithm>
#include <cmath>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/slice_axis.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/linear/workload.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/opaque/primitive_kernel.h"
#include "korch/ir/recurrence.h"

namespace korch {
namespace {

using namespace tile;
using namespace linear;

// Of a step, from which on two workers beat one in spite of the barrier.
constexpr double kSharedStepFlops = 1e5;
// One worker's: what comes after may begin a round behind it. A round is long beside what it takes to hand
// out.
constexpr int64_t kRounds = 8;
constexpr double kLeastRoundFlops = 2e5;

double step_flops(const Shape& gates, const Shape& weights) {
  return 2.0 * static_cast<double>(gates[1] * element_count(weights));
}

int64_t steps_of_round(int64_t steps, double flops_of_step) {
  const auto least = static_cast<int64_t>(std::ceil(kLeastRoundFlops / std::max(flops_of_step, 1.0)));
  return std::min(steps, std::max((steps + kRounds - 1) / kRounds, least));
}

class RecurrenceBuilder {
 public:
  RecurrenceBuilder(PrimitiveKernel kernel, const RecurrenceSchedule& schedule, const Device& target)
      : j_(std::move(kernel)),
        a_(j_.attrs<RecurrenceAttrs>()),
        operands_(*recurrence_operands(a_)),
        activations_(activations_of(a_)),
        type_(j_.inputs[0].dtype),
        steps_(j_.inputs[0].shape[0]),
        batch_(j_.inputs[0].shape[1]),
        hidden_(j_.inputs[1].shape[2]),
        block_lanes_(schedule.tile.vectors * target.lanes()),
        columns_(split_columns(hidden_, schedule.tile.vectors, target.lanes())),
        rows_(split_rows(batch_, schedule.tile.rows)),
        packed_(type_ == DType::f32 && j_.graph.buffers[j_.in[1]].role == BufferRole::constant),
        step_("t", steps_, schedule.steps),
        half_("half", 2, schedule.shared ? 1 : 2),
        block_("block", columns_.total(), schedule.shared ? 1 : columns_.total()),
        tile_("tile", rows_.tiles(), rows_.tiles()),
        pitch_(std::max(columns_.block_lanes(), columns_.tail_lanes())) {}

  ScheduledGraph build() {
    pack_weights();
    state_ = j_.add_buffer(BufferRole::temporary, {type_, {2 * state_elements()}});
    if (operands_.resets_operand) {
      reset_ = j_.add_buffer(BufferRole::temporary, {type_, {batch_ * hidden_}});
      update_ = j_.add_buffer(BufferRole::temporary, {type_, {batch_ * hidden_}});
    }
    products_ = j_.add_scratch({type_, {operands_.gates * rows_.rows * pitch_}});
    begin();
    step_.deal_out(phase_);
    if (operands_.resets_operand) half_.deal_out(phase_);
    for (GridVariable& ordered : phase_.grid) ordered.ordered = true;
    block_.deal_out(phase_);
    for (int half = 0; half < (operands_.resets_operand ? 2 : 1); ++half) add_half(half);
    add_phase(j_.graph, std::move(phase_));
    return std::move(j_.graph);
  }

 private:
  int64_t state_elements() const { return operands_.states * batch_ * hidden_; }
  ExprPool& pool() { return j_.graph.pool; }
  int constant(double number) { return pool().constant(type_, number); }
  int call(ScalarFn fn, std::vector<int> args) { return pool().call(fn, type_, std::move(args)); }
  int add(int a, int b) { return call(ScalarFn::add, {a, b}); }
  int multiply(int a, int b) { return call(ScalarFn::mul, {a, b}); }

  void pack_weights() {
    if (!packed_) return;
    Buffer& weights = j_.graph.buffers[j_.in[1]];
    weights.packing = {"columns", {2, 1, block_lanes_, columns_.tail_lanes()}};
    weights.elements = operands_.gates * hidden_ * columns_.lanes_in_all();
  }

  // The state before the first step is one like those after every other.
  void begin() {
    const LoopVariable all{"i", state_elements()};
    const Index at = Index::variable(all.name, all.extent);
    Nest copy;
    copy.loops = {all};
    copy.stores = {{state_, at, j_.load(2, at)}};
    j_.add_nest({}, std::move(copy));
  }

  // Where state s of element j of sequence b is: before step t, or after it.
  Index state_at(int s, const Index& b, const Index& j, bool after = false) const {
    return tile::floor_mod(step_.at() + (after ? 1 : 0), 2) * state_elements() + s * (batch_ * hidden_) +
           b * hidden_ + j;
  }
  Index time() const { return a_.reverse ? Index(steps_ - 1) - step_.at() : step_.at(); }

  // A register tile's worth of hidden elements: what the products and what is elementwise share.
  struct Tile {
    std::vector<OuterLoop> around;
    const ColumnZone& columns;
    const RowZone& rows;
    Index block, first_row;
    int64_t block_lanes;
    Index row() const { return first_row + Index::variable("r", rows.rows); }
    Index column(int64_t extent) const { return block * block_lanes + Index::variable("c", extent); }
  };

  void add_half(int half) {
    for (const ColumnZone& columns : column_zones(columns_))
      for (const RowZone& rows : row_zones(rows_)) {
        Tile tile{{},
                  columns,
                  rows,
                  block_.at(columns.low, columns.high),
                  rows.first_row(tile_.at(rows.low, rows.high)),
                  columns_.block_lanes()};
        step_.loop(tile.around);
        if (operands_.resets_operand) half_.loop(tile.around, half, half + 1);
        block_.loop(tile.around, columns.low, columns.high);
        tile_.loop(tile.around, rows.low, rows.high);
        const int first = half == 0 ? 0 : 2,
                  last = half == 0 && operands_.resets_operand ? 2 : static_cast<int>(operands_.gates);
        for (int g = first; g < last; ++g) add_product(tile, g, half);
        add_elements(tile, half);
      }
  }

  // Gate g's weights times the state before, or what the reset gate left of it.
  void add_product(const Tile& tile, int g, int half) {
    const int64_t lanes = packed_ ? total_lanes(tile.columns.lanes) : tile.columns.valid;
    const Index c = Index::variable("c", lanes), k = Index::variable("k", hidden_);
    const Index weight = packed_ ? Index(g * hidden_ * columns_.lanes_in_all()) +
                                       tile.block * (hidden_ * tile.block_lanes) + k * lanes + c
                                 : (Index(g * hidden_) + tile.column(lanes)) * hidden_ + k;
    const int state = half == 0 ? j_.load_from(state_, state_at(0, tile.row(), k))
                                : j_.load_from(reset_, tile.row() * hidden_ + k);
    ScheduledNest nest;
    nest.kind = NestKind::reduce;
    nest.around = tile.around;
    nest.loops = {{"r", tile.rows.rows}, {"c", lanes}};
    nest.reduced = {{"k", hidden_}};
    nest.stores = {{products_, product_at(tile, g, c), multiply(state, j_.load(1, weight))}};
    nest.schedule.registers = packed_;
    phase_.nests.push_back(std::move(nest));
  }

  Index product_at(const Tile& tile, int g, const Index& c) const {
    return (Index::variable("r", tile.rows.rows) + g * rows_.rows) * pitch_ + c;
  }

  // Everything elementwise of one place of the tile.
  struct Place {
    const Tile& tile;
    Index b, j, c;
  };

  int gate(const Place& p, int g) {
    const Index data = (time() * batch_ + p.b) * (operands_.gates * hidden_) + g * hidden_ + p.j;
    return j_.load(0, data);
  }
  int product(const Place& p, int g) { return j_.load_from(products_, product_at(p.tile, g, p.c)); }
  int state(const Place& p, int s) { return j_.load_from(state_, state_at(s, p.b, p.j)); }
  int peep(const Place& p, int value, int which, int cell) {
    if (operands_.peepholes < 0) return value;
    return add(value, multiply(j_.load(operands_.peepholes, p.j + which * hidden_), cell));
  }
  int activate(int which, int value) {
    if (a_.clip > 0)
      value = call(ScalarFn::min, {call(ScalarFn::max, {value, constant(-a_.clip)}), constant(a_.clip)});
    const Activation& f = activations_[which];
    return apply_elementwise(pool(), f.op, f.scalars, {value}, type_);
  }

  std::vector<int> lstm(const Place& p) {
    const auto value = [&](int g) { return add(gate(p, g), product(p, g)); };
    const int before = state(p, 1), input = activate(0, peep(p, value(0), 0, before));
    const int forget = a_.input_forget ? call(ScalarFn::sub, {constant(1), input})
                                       : activate(0, peep(p, value(2), 2, before));
    const int cell = add(multiply(forget, before), multiply(input, activate(1, value(3))));
    const int output = activate(0, peep(p, value(1), 1, cell));
    return {multiply(output, activate(2, cell)), cell};
  }

  // (1 - update) * candidate + update * before.
  int mixed(const Place& p, int update, int candidate) {
    return add(multiply(call(ScalarFn::sub, {constant(1), update}), candidate),
               multiply(update, state(p, 0)));
  }

  int gru(const Place& p) {
    const int update = activate(0, add(gate(p, 0), product(p, 0))),
              reset = activate(0, add(gate(p, 1), product(p, 1)));
    const int inner = multiply(reset, add(product(p, 2), j_.load(operands_.bias, p.j)));
    return mixed(p, update, activate(1, add(gate(p, 2), inner)));
  }

  void add_elements(const Tile& tile, int half) {
    const Index c = Index::variable("c", tile.columns.valid);
    const Place p{tile, tile.row(), tile.column(tile.columns.valid), c};
    ScheduledNest nest;
    nest.around = tile.around;
    nest.loops = {{"r", tile.rows.rows}, {"c", tile.columns.valid}};
    const Index place = p.b * hidden_ + p.j;
    if (operands_.resets_operand && half == 0) {
      const int reset = activate(0, add(gate(p, 1), product(p, 1)));
      nest.stores = {{update_, place, activate(0, add(gate(p, 0), product(p, 0)))},
                     {reset_, place, multiply(reset, state(p, 0))}};
    } else if (operands_.resets_operand) {
      const int candidate = activate(1, add(gate(p, 2), product(p, 2)));
      nest.stores = results(p, {mixed(p, j_.load_from(update_, place), candidate)});
    } else if (a_.cell == "lstm") {
      nest.stores = results(p, lstm(p));
    } else if (a_.cell == "gru") {
      nest.stores = results(p, {gru(p)});
    } else {
      nest.stores = results(p, {activate(0, add(gate(p, 0), product(p, 0)))});
    }
    phase_.nests.push_back(std::move(nest));
  }

  // The new states go to the next step, to the results, and the last ones to the last result.
  std::vector<Store> results(const Place& p, std::vector<int> states) {
    std::vector<Store> stores;
    int shown = states[0];
    if (operands_.mask >= 0) {
      const int runs = j_.load(operands_.mask, time() * batch_ + p.b);
      shown = call(ScalarFn::select, {runs, shown, constant(0)});
      for (size_t s = 0; s < states.size(); ++s)
        states[s] = call(ScalarFn::select, {runs, states[s], state(p, static_cast<int>(s))});
    }
    const Condition last = Condition().require(step_.at(), steps_ - 1, steps_ - 1);
    for (size_t s = 0; s < states.size(); ++s) {
      const int number = static_cast<int>(s);
      stores.push_back({state_, state_at(number, p.b, p.j, true), states[s]});
      if (j_.out[1] >= 0)
        stores.push_back({j_.out[1], (p.b + number * batch_) * hidden_ + p.j, states[s], last});
    }
    if (j_.out[0] >= 0) stores.push_back({j_.out[0], (time() * batch_ + p.b) * hidden_ + p.j, shown});
    return stores;
  }

  PrimitiveKernel j_;
  const RecurrenceAttrs a_;
  const RecurrenceOperands operands_;
  const std::vector<Activation> activations_;
  const DType type_;
  const int64_t steps_, batch_, hidden_, block_lanes_;
  const ColumnBlocks columns_;
  const RowTiling rows_;
  const bool packed_;  // weights as the register tiles read them
  const SliceAxis step_, half_, block_, tile_;
  const int64_t pitch_;             // elements between a tile's rows
  int state_ = -1, products_ = -1;  // two of all states, read and written in turn; a tile of each gate
  int reset_ = -1, update_ = -1;    // where the reset gate scales the operand of a second product
  ScheduledPhase phase_;
};

}  // namespace

void list_recurrence(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                     std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  if (candidate.nodes.size() != 1 || graph.node(candidate.nodes[0]).op != Op::Recurrence) return;
  const Node& node = graph.node(candidate.nodes[0]);
  Implementation implementation;
  implementation.family = "recurrence";
  for (ValueId value : node.inputs)
    if (graph.value(value).type.elements() == 0 || is_small_float(graph.value(value).type.dtype)) {
      refused.push_back({RefusalReason::no_kernel_family, to_string(graph.value(value).type)});
      return;
    }
  implementation.input_layouts.resize(candidate.inputs.size());
  implementation.output_layouts.resize(candidate.outputs.size());
  implementation.bytes = touched_bytes(graph, candidate);
  const Shape &gates = graph.value(node.inputs[0]).type.shape,
              &weights = graph.value(node.inputs[1]).type.shape;
  const double flops = step_flops(gates, weights);
  implementation.flops = flops * static_cast<double>(gates[0]);
  const TileShape alone = rank_tiles(gates[1], weights[2], weights[2], false, target).front(),
                  shared =
                      rank_tiles(gates[1], weights[2], weights[2], false, target, target.workers).front();
  implementation.schedule = RecurrenceSchedule{
      false, target.workers == 1 || target.is_gpu() ? gates[0] : steps_of_round(gates[0], flops), alone};
  found.push_back(implementation);
  if (target.workers == 1) return;
  implementation.schedule = RecurrenceSchedule{true, 1, shared};
  found.push_back(implementation);
  if (flops >= kSharedStepFlops) std::swap(found.back(), found[found.size() - 2]);
}

Result<ScheduledGraph> build_recurrence(const Graph& graph, const Candidate& candidate,
                                        const Implementation& implementation, const Device& target) {
  return RecurrenceBuilder(primitive_kernel(graph, candidate),
                           std::get<RecurrenceSchedule>(implementation.schedule), target)
      .build();
}

}  // namespace korch
