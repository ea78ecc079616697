#include "korch/codegen/cuda/cost_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/codegen/cuda/cuda_nest_printer.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/codegen/cuda/scratch_places.h"
#include "korch/codegen/passes/vectorize.h"

namespace korch::tile {
namespace {

// Of the hardware and of the text that print_cuda writes; guesses until kernels are measured, but for the
// products' (docs/results/cuda.md).
constexpr double kSectorBytes = 32;                  // that a load moves at least
constexpr double kInstructions_per_flop_unit = 0.5;  // a multiply-add is one
constexpr double kIndexInstructions = 6;             // offset of an access
constexpr double kLoopInstructions = 8;              // of a point: its variables, by division
constexpr double kLatency_us = 0.55;                 // of a load from memory
constexpr double kLoad_us = kLatency_us / 4;         // four in flight
constexpr double kShared_us = 0.02;                  // from shared memory
constexpr double kCall_us = 0.004;                   // a dependent instruction
constexpr double kBarrier_us = 0.02;
constexpr double kShuffle_us = 0.015;    // and what is done with the value
constexpr double kLaunchLatency_us = 2;  // from the first block's begin to the last one's end, at least
constexpr double kHeldShare = 0.6;       // of the peak that held products reach
constexpr double kMemoryShare = 0.85;    // of the data sheet's bandwidth
constexpr double kLocalAccess = 8;       // instructions in whose time one accesses local memory

// Of that peak on matrix units, which have eight times its speed for tf32 and sixteen times for 16 bits; of
// float32 three products count as one.
double matrix_share(ProductType type) {
  switch (type) {
    case ProductType::f32:
      return 1.2;
    case ProductType::tf32:
      return 4.5;
    case ProductType::f16:
    case ProductType::bf16:
      return 7;
  }
  return 1;
}

// What a nest does in one slice.
struct NestWork {
  double instructions = 0;  // of all threads
  double bytes = 0;         // to and from global memory, in sectors
  double latency_us = 0;    // of the thread with the most to do, alone
  double held_flops = 0;    // of held products, as many as the peak would do in that time
};

double product_of(const std::vector<LoopVariable>& loops, const Phase& phase) {
  double count = 1;
  for (const LoopVariable& loop : loops) {
    const GridVariable* chunked = phase.chunked(loop.name);
    count *= static_cast<double>(chunked != nullptr ? std::min(chunked->chunk, loop.extent) : loop.extent);
  }
  return count;
}

// Of a thread that makes so many results of a product on matrix units, mostly.
int usual_registers(int64_t results) {
  constexpr int64_t kFew = 4, kSome = 16;
  return results <= kFew ? 48 : results <= kSome ? 84 : 128;
}

// How often the nest runs in a slice, on the average: nests for a part of a dealt out axis run in some
// slices.
double times_of(const Nest& nest, const Phase& phase) {
  double times = 1;
  for (const OuterLoop& loop : nest.around) {
    times *= static_cast<double>(loop.high - loop.low);
    if (const GridVariable* dealt = phase.grid_variable(loop.variable.name))
      times *= static_cast<double>(std::min(dealt->chunk, dealt->variable.extent)) /
               static_cast<double>(dealt->variable.extent);
  }
  return times;
}

class PhaseModel {
 public:
  PhaseModel(const RowGraph& rows, size_t phase, const FunctionResources* code, const Device& device)
      : rows_(rows),
        number_(phase),
        graph_(rows.graph),
        phase_(graph_.phases[phase]),
        schedule_(graph_.schedule[phase]),
        places_(scratch_places(rows, phase)),
        held_(places_.held),
        pipelines_(places_.pipelines),
        code_(code != nullptr ? *code : uncompiled()),
        device_(device) {}

  double us() const {
    NestWork slice;
    double filling_us = 0, copying_us = 0;  // of the pipeline that comes; copies are under way together
    for (size_t i = 0; i < phase_.nests.size(); ++i) {
      const Nest& nest = phase_.nests[i];
      const double times = times_of(nest, phase_);
      const RowGroup* group = rows_.group_of(number_, i);
      NestWork once = group != nullptr ? work_of(*group, i - group->first) : work_of(nest, schedule_[i]);
      const bool copies = fills_pipeline(i) && copied_load(graph_, nest);
      if (copies && copies_quads(nest, schedule_[i])) once.instructions /= 4;
      slice.instructions += times * once.instructions;
      slice.bytes += times * once.bytes;
      slice.held_flops += times * once.held_flops;
      const double barrier_us = group != nullptr ? 0 : kBarrier_us;
      if (copies) {
        copying_us = std::max(copying_us, times * (std::min(once.latency_us, kLatency_us) + barrier_us));
      } else if (fills_pipeline(i)) {
        filling_us += times * (once.latency_us + barrier_us);
      } else {  // while a product is made, the next one's panels are filled
        slice.latency_us += std::max(times * (once.latency_us + barrier_us), filling_us + copying_us);
        filling_us = copying_us = 0;
      }
    }
    const double slices = static_cast<double>(phase_.slices());
    const double lanes_per_us = device_.flops_per_us * kInstructions_per_flop_unit;
    const double compute =
        (slices * slice.instructions + slices * slice.held_flops * kInstructions_per_flop_unit) /
        (lanes_per_us * share_of_device(slices));
    const double memory = slices * slice.bytes / (device_.memory.back().bytes_per_us * kMemoryShare);
    // Slices of ordered variables follow one another in one block.
    const double waves = phase_.rounds() > 1 ? slices : std::ceil(slices / static_cast<double>(at_once()));
    return device_.launch_us + std::max({kLaunchLatency_us, compute * local_factor(), memory,
                                         waves * slice.latency_us * local_factor()});
  }

 private:
  bool fills_pipeline(size_t nest) const {
    return std::any_of(pipelines_.begin(), pipelines_.end(), [&](const Pipeline& pipeline) {
      return pipeline.first <= nest && nest < pipeline.product;
    });
  }

  // 16 bytes at a time.
  bool copies_quads(const Nest& nest, const NestSchedule& schedule) const {
    constexpr int kQuad = 4;
    const Nest in_order = as_printed(graph_, phase_, nest, schedule);
    const LoopVariable& fast = in_order.loops.back();
    const Index& from = graph_.pool[*copied_load(graph_, in_order)].coords[0];
    return fast.extent % kQuad == 0 && is_aligned(in_order.stores[0].offset, fast.name, kQuad) &&
           is_aligned(from, fast.name, kQuad);
  }

  // Before it is compiled: as much shared memory as its scratch takes, registers as many as products
  // with a tile like it mostly take, else as fit.
  FunctionResources uncompiled() const {
    FunctionResources code;
    code.threads = kCudaThreads;
    for (const auto& [buffer, tile] : held_)
      if (tile.matrix_units)
        code.registers = std::max(code.registers, usual_registers(tile.thread_rows * tile.thread_columns));
    code.shared_bytes = places_.shared_bytes;
    return code;
  }

  // Blocks that run at the same time.
  int64_t at_once() const { return std::max<int64_t>(1, resident_blocks(code_, device_)) * device_.workers; }

  // How much longer instructions take because some of them go to local memory.
  double local_factor() const {
    if (code_.instructions == 0) return 1;
    return 1 + kLocalAccess * static_cast<double>(code_.local_instructions) /
                   static_cast<double>(code_.instructions);
  }

  // Of the multiprocessors that have a block.
  double share_of_device(double slices) const {
    return std::min(1.0, (phase_.rounds() > 1 ? 1.0 : slices) / device_.workers);
  }

  bool is_global(int buffer) const { return graph_.buffers[buffer].role != BufferRole::scratch; }

  // Bytes that an access of one element moves, where neighbouring threads differ in one of `fast`.
  double bytes_of(int buffer, const Index& offset, const std::vector<std::string>& fast) const {
    const double size = static_cast<double>(size_bytes(graph_.buffers[buffer].type));
    double least = kSectorBytes;
    for (const std::string& variable : fast) {
      if (!offset.affine_in(variable)) continue;
      const double stride = static_cast<double>(std::abs(offset.stride(variable)));
      least = std::min(least, stride == 0 ? size / 32 : stride * size);
    }
    return least;
  }

  NestWork work_of(const Nest& nest, const NestSchedule& schedule) const {
    NestWork work;
    const double points = product_of(nest.loops, phase_), reduced = product_of(nest.reduced, phase_);
    if (nest.kind == NestKind::reduce && held_.count(nest.stores[0].buffer) != 0) {
      work.held_flops =
          2 * points * reduced / (schedule.matrix_units ? matrix_share(*schedule.matrix_units) : kHeldShare);
      work.latency_us = reduced * kShared_us / 4;
      return work;
    }
    const Nest in_order = as_printed(graph_, phase_, nest, schedule);
    const bool reduces = in_order.kind == NestKind::reduce;
    const ReduceBy by = reduces ? reduce_by(graph_, in_order) : ReduceBy::thread;
    const std::vector<LoopVariable>& along = by == ReduceBy::thread ? in_order.loops : in_order.reduced;
    std::vector<std::string> fast;
    const HeldReader held = held_reader(graph_, in_order, held_);
    if (held.buffer >= 0) {
      // Neighbouring threads have neighbouring rows and neighbouring columns.
      if (!held.rows.empty()) fast.push_back(held.rows.back().loop.name);
      if (!held.column.name.empty()) fast.push_back(held.column.name);
    } else if (!along.empty()) {
      fast.push_back(along.back().name);
    }
    constexpr double kWarp = 32, kWarps = kCudaThreads / kWarp;
    const double all = points * reduced;
    double threads = std::min<double>(kCudaThreads, by == ReduceBy::block ? reduced : points);
    if (by == ReduceBy::warp) threads = std::min(points, kWarps) * std::min(reduced, kWarp);
    if (in_order.kind == NestKind::scatter) threads = 1;
    // Points of a thread, one after the other.
    const double each = by == ReduceBy::warp ? std::ceil(points / kWarps) * std::ceil(reduced / kWarp)
                                             : std::ceil(all / threads);
    const auto turned = in_order.loops.empty()
                            ? std::nullopt
                            : turned_load(graph_, phase_, in_order, in_order.loops.back().name);
    // A thread's own results of a tile are named by constants, and are in its registers.
    double per_point = held.buffer >= 0 ? 0 : kLoopInstructions, wait_us = kCall_us;
    for (int id : graph_.pool.reachable(in_order.roots())) {
      const Expr& e = graph_.pool[id];
      if (e.kind == ExprKind::load && held.loads.count(e.buffer) != 0) continue;
      const bool runs_in_reduced = depends(id, in_order.reduced);
      const double share = in_order.reduced.empty() || runs_in_reduced ? 1 : 1 / reduced;
      if (e.kind == ExprKind::call) per_point += share;
      if (e.kind != ExprKind::load) continue;
      per_point += kIndexInstructions * share;
      if (is_global(e.buffer))
        work.bytes +=
            all * share *
            bytes_of(e.buffer, e.coords[0], turned && turned->load == id ? std::vector{turned->along} : fast);
      wait_us = std::max(wait_us, share * (is_global(e.buffer) ? kLoad_us : kShared_us));
    }
    for (const Store& store : in_order.stores) {
      if (held_.count(store.buffer) != 0) continue;
      const double share = in_order.reduced.empty() ? 1 : 1 / reduced;
      per_point += kIndexInstructions * share;
      if (is_global(store.buffer)) work.bytes += all * share * bytes_of(store.buffer, store.offset, fast);
    }
    work.instructions =
        all * per_point * kWarp / std::min(kWarp, threads);  // a warp has 32 lanes, used or not
    work.latency_us = each * (wait_us + per_point * kCall_us / 4);
    return work;
  }

  // Of a nest of rows: what it finds in registers costs nothing.
  NestWork work_of(const RowGroup& group, size_t number) const {
    NestWork work;
    const Nest& nest = phase_.nests[group.first + number];
    const bool reduces = nest.kind == NestKind::reduce;
    const double rows = static_cast<double>(group.row.extent), team = static_cast<double>(group.team);
    const double columns = reduces || nest.loops.size() > 1 ? static_cast<double>(group.column.extent) : 1;
    const double rows_of_thread = std::ceil(rows * team / kCudaThreads);
    const double each = rows_of_thread * std::ceil(columns / (team * group.lanes));
    const std::vector<std::string> fast = {group.team > 1 ? group.column.name : group.row.name};
    const double all = rows * columns;
    double per_point = kLoopInstructions / group.lanes, wait_us = kCall_us;
    const auto share = [&](int id) { return depends(id, {group.column}) ? 1 : 1 / columns; };
    for (int id : group.needed(graph_.pool, nest, number)) {
      const Expr& e = graph_.pool[id];
      if (e.kind == ExprKind::call) per_point += share(id);
      if (e.kind != ExprKind::load || group.in_registers.count(e.buffer) != 0) continue;
      per_point += kIndexInstructions / group.lanes * share(id);
      if (is_global(e.buffer)) work.bytes += all * share(id) * bytes_of(e.buffer, e.coords[0], fast);
      wait_us = std::max(wait_us, share(id) * (is_global(e.buffer) ? kLoad_us : kShared_us));
    }
    for (size_t i = 0; i < nest.stores.size(); ++i) {
      const Store& store = nest.stores[i];
      const double of_points = reduces && i == 0 ? 1 / columns : 1;
      if (group.in_registers.count(store.buffer) != 0) continue;
      per_point += kIndexInstructions / group.lanes * of_points;
      if (is_global(store.buffer)) work.bytes += all * of_points * bytes_of(store.buffer, store.offset, fast);
    }
    work.instructions = all * per_point;
    work.latency_us = each * (wait_us + per_point * kCall_us / 4);
    if (reduces) {
      constexpr double kWarp = 32;
      work.latency_us += rows_of_thread * (std::log2(std::min(team, kWarp)) * kShuffle_us +
                                           (team > kWarp ? kBarrier_us + kShared_us : 0));
      work.instructions += 2 * rows * team * std::log2(team);
    }
    return work;
  }

  bool depends(int id, const std::vector<LoopVariable>& loops) const {
    const std::set<std::string>& names = graph_.pool.variables(id);
    return std::any_of(loops.begin(), loops.end(),
                       [&](const LoopVariable& loop) { return names.count(loop.name) != 0; });
  }

  const RowGraph& rows_;
  const size_t number_;  // of the phase
  const ScheduledGraph& graph_;
  const Phase& phase_;
  const std::vector<NestSchedule>& schedule_;
  const ScratchPlaces places_;
  const std::map<int, HeldTile>& held_;
  const std::vector<Pipeline>& pipelines_;
  const FunctionResources code_;
  const Device& device_;
};

}  // namespace

double cuda_model_us(const ScheduledGraph& graph, const std::vector<FunctionResources>& resources,
                     const Device& device) {
  double us = 0;
  const RowGraph rows = with_row_groups(graph);
  for (size_t phase = 0; phase < graph.phases.size(); ++phase) {
    const FunctionResources* code = phase < resources.size() ? &resources[phase] : nullptr;
    us += PhaseModel(rows, phase, code, device).us();
  }
  return us;
}

}  // namespace korch::tile
