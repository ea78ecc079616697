#include "korch/estimate/tile_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "korch/base/ceil_div.h"
#include "korch/codegen/loop/cost.h"
#include "korch/codegen/passes/vectorize.h"
#include "korch/estimate/feature_row.h"
#include "korch/kernel/product.h"

namespace korch {
namespace {

using tile::Expr;
using tile::ExprKind;
using tile::GridVariable;
using tile::Index;
using tile::LoopVariable;
using tile::Nest;
using tile::NestSchedule;
using tile::Phase;

// Kinds of instructions, counted as vectors or as the scalars that they are.
enum Kind {
  kProducts,  // multiply-adds of register tiles
  kSimple,    // additions, multiplications, choices
  kCostly,    // flops of functions
  kGuarded,   // choices by place
  kNear,      // loads and stores along vectors, of arguments
  kNearScratch,
  kSame,  // loads of one element for all lanes
  kFar,   // elements at strides
  kFarScratch,
  kFarStores,
  kData,     // at places that data says
  kTurned,   // loads that are transposed in registers
  kMaps,     // runs through innermost loops, of maps
  kSums,     // and of what is reduced
  kStarts,   // of innermost loops
  kScalars,  // all of the above in nests without lanes
  kKinds
};
constexpr std::array<const char*, kKinds> kKindNames = {
    "tile_products", "tile_simple", "tile_costly",      "tile_guarded",    "tile_near", "tile_near_scratch",
    "tile_same",     "tile_far",    "tile_far_scratch", "tile_far_stores", "tile_data", "tile_turned",
    "tile_maps",     "tile_sums",   "tile_starts",      "tile_scalars"};

struct Totals {
  std::array<double, kKinds> count = {};  // of all slices
  double idle = 0, runs = 0;              // lanes that idle, of innermost runs
  double inner = 0;                       // sum of runs times ln(extent) of innermost loops
  double lines = 0, bytes = 0;          // of accesses to arguments: in whole lines, and what is used of them
  double far_stride = 0, far_most = 0;  // of the access at strides that is made most often
  double nests = 0, scans = 0, across = 0, kept = 0;
  double products = 0;  // multiply-adds of register tiles, which weigh the following
  double reload = 0, terms = 0, rows = 0, row_stride = 0, row_alias = 0, row_step = 0, row_bytes = 0,
         column_bytes = 0, prefetched = 0;
  double waves = 0, phases = 0, slices = 0, rounds = 0, largest_share = 0;
};

class NestCounter {
 public:
  NestCounter(const tile::ScheduledGraph& graph, const Phase& phase, const Nest& nest,
              const NestSchedule& schedule, const Device& device, Totals& totals)
      : graph_(graph), phase_(phase), nest_(nest), schedule_(schedule), device_(device), totals_(totals) {
    for (const tile::OuterLoop& outer : nest.around)
      order_.push_back({outer.variable.name, outer_extent(outer)});
    for (const auto* loops : {&nest.loops, &nest.reduced})
      for (const LoopVariable& loop : *loops) order_.push_back({loop.name, extent_of(loop)});
    if (ranks(nest.kind)) order_.push_back({nest.rank.name, static_cast<double>(nest.rank.extent)});
    fast_ = !schedule.variable.empty() ? schedule.variable : order_.empty() ? "" : order_.back().name;
    lanes_ = schedule.registers ? device.lanes() : std::max(1, schedule.lanes);
    if (schedule.registers && !nest.loops.empty()) fast_ = nest.loops.back().name;
  }

  void count() {
    const std::vector<int> roots = nest_.roots();
    const std::vector<int> needed = graph_.pool.reachable(roots);
    slices_ = runs_of_slices(needed);
    if (schedule_.registers) {
      count_product();
    } else {
      for (const int id : needed) count(graph_.pool[id], level_of(graph_.pool.variables(id)), depends(id));
      for (const tile::Store& store : nest_.stores) count_store(store);
    }
    count_loops();
  }

 private:
  struct Loop {
    std::string name;
    double extent;
  };

  double extent_of(const LoopVariable& loop) const {
    const GridVariable* chunked = phase_.chunked(loop.name);
    return static_cast<double>(chunked != nullptr ? std::min(chunked->chunk, loop.extent) : loop.extent);
  }
  double outer_extent(const tile::OuterLoop& outer) const {
    const double all = static_cast<double>(outer.high - outer.low);
    const GridVariable* dealt = phase_.grid_variable(outer.variable.name);
    if (dealt == nullptr) return all;
    return all * static_cast<double>(std::min(dealt->chunk, dealt->variable.extent)) /
           static_cast<double>(dealt->variable.extent);
  }

  // How many slices run the nest.
  double runs_of_slices(const std::vector<int>& needed) const {
    if (nest_.first_slice_only) return 1;
    const auto slices = static_cast<double>(phase_.slices());
    if (!nest_.kept) return slices;
    std::set<std::string> names;
    for (const int id : needed)
      names.insert(graph_.pool.variables(id).begin(), graph_.pool.variables(id).end());
    for (const tile::Store& store : nest_.stores) {
      const std::set<std::string> more = store.offset.variables();
      names.insert(more.begin(), more.end());
    }
    double runs = 1, before = 1;
    for (const GridVariable& grid : phase_.grid) {
      before *= static_cast<double>(grid.count());
      if (names.count(grid.variable.name) != 0 || names.count(grid.block()) != 0) runs = before;
    }
    return std::min(slices, std::max<double>(runs, device_.workers));
  }

  // One more than the place of the innermost loop that these depend on.
  size_t level_of(const std::set<std::string>& names) const {
    for (size_t i = order_.size(); i-- > 0;)
      if (names.count(order_[i].name) != 0) return i + 1;
    return 0;
  }
  bool depends(int id) const { return graph_.pool.variables(id).count(fast_) != 0; }

  // How often what is computed inside of so many loops is computed.
  double evaluations(size_t level) const {
    double count = slices_;
    for (size_t i = 0; i < level; ++i)
      count *=
          lanes_ > 1 && order_[i].name == fast_ ? std::ceil(order_[i].extent / lanes_) : order_[i].extent;
    return count;
  }

  void add(Kind kind, double count) {
    totals_.count[kind] += count;
    if (lanes_ == 1) totals_.count[kScalars] += count;
  }

  void count(const Expr& e, size_t level, bool along) {
    const double times = evaluations(level);
    switch (e.kind) {
      case ExprKind::call: {
        const double flops = tile::flops_of(e.fn);
        if (flops > 1)
          add(kCostly, times * flops);
        else
          add(kSimple, times);
        break;
      }
      case ExprKind::guard:
        add(kGuarded, times);
        break;
      case ExprKind::fold:
        add(kSimple, times * static_cast<double>(e.over.extent));
        break;
      case ExprKind::load:
        count_access(e.buffer, e.coords[0], times, along, false);
        break;
      case ExprKind::checked:
      case ExprKind::constant:
      case ExprKind::intermediate:
        break;
    }
  }

  void count_store(const tile::Store& store) {
    std::set<std::string> names = store.offset.variables();
    const std::set<std::string>& more = graph_.pool.variables(store.value);
    if (!reduces(nest_.kind)) names.insert(more.begin(), more.end());
    count_access(store.buffer, store.offset, evaluations(level_of(names)), names.count(fast_) != 0, true);
  }

  void count_access(int number, const Index& offset, double times, bool along, bool stores) {
    const tile::Buffer& buffer = graph_.buffers[number];
    const bool is_scratch = buffer.role == tile::BufferRole::scratch;
    const double size = static_cast<double>(size_bytes(buffer.type));
    if (!offset.dynamics().empty()) {
      add(kData, times * (along ? lanes_ : 1));
      if (!is_scratch)
        add_lines(times * lanes_ * static_cast<double>(kCacheLineBytes), times * lanes_ * size);
      return;
    }
    if (!along || !offset.depends_on(fast_)) {
      add(kSame, times);
      return;
    }
    const bool is_affine = offset.affine_in(fast_);
    const double stride = is_affine ? static_cast<double>(std::abs(offset.stride(fast_))) : 2;
    const double elements = times * lanes_;
    if (is_affine && stride == 1) {
      add(is_scratch ? kNearScratch : kNear, times);
      if (!is_scratch) add_lines(elements * size, elements * size);
      return;
    }
    if (!schedule_.transposed.empty() && offset.affine_in(schedule_.transposed) &&
        std::abs(offset.stride(schedule_.transposed)) == 1) {
      add(kTurned, times);
      if (!is_scratch) add_lines(elements * size, elements * size);
      return;
    }
    add(stores ? kFarStores : is_scratch ? kFarScratch : kFar, elements);
    if (!is_scratch) add_lines(elements * std::min<double>(kCacheLineBytes, stride * size), elements * size);
    if (elements > totals_.far_most) {
      totals_.far_most = elements;
      totals_.far_stride = stride * size;
    }
  }

  // Its loads are part of how fast a register tile is: how they walk is what counts.
  void count_product() {
    const double times = evaluations(order_.size());
    add(kProducts, times);
    const std::optional<tile::Product> product = tile::product_of(graph_, nest_);
    if (!product) return;
    totals_.products += times;
    double terms = 1;
    for (const LoopVariable& loop : nest_.reduced) terms *= extent_of(loop);
    const auto bytes_of = [&](const Index& offset, int buffer) {
      double elements = 1;
      for (const auto* loops : {&nest_.loops, &nest_.reduced})
        for (const LoopVariable& loop : *loops)
          if (offset.depends_on(loop.name)) elements *= extent_of(loop);
      return elements * static_cast<double>(size_bytes(graph_.buffers[buffer].type));
    };
    constexpr double kPage = 4096;
    const double size = static_cast<double>(size_bytes(graph_.buffers[product->a_buffer].type));
    const double stride = product->row.empty() || !product->a.affine_in(product->row)
                              ? 0
                              : static_cast<double>(std::abs(product->a.stride(product->row))) * size;
    double rows = 1;
    for (const LoopVariable& loop : nest_.loops)
      if (loop.name == product->row) rows = extent_of(loop);
    totals_.terms += times * log2_of(terms);
    totals_.reload += times / terms;
    totals_.rows += times * rows;
    totals_.row_stride += times * log2_of(stride);
    totals_.row_alias += std::fmod(stride, kPage) == 0 && stride > 0 ? times : 0;
    if (!nest_.reduced.empty() && product->a.affine_in(nest_.reduced.back().name))
      totals_.row_step +=
          times * log2_of(static_cast<double>(std::abs(product->a.stride(nest_.reduced.back().name))) * size);
    totals_.row_bytes += times * log2_of(bytes_of(product->a, product->a_buffer));
    totals_.column_bytes += times * log2_of(bytes_of(product->b, product->b_buffer));
    totals_.prefetched += schedule_.prefetch_columns || schedule_.prefetch_rows ? times : 0;
  }

  void add_lines(double lines, double used) {
    totals_.lines += lines;
    totals_.bytes += used;
  }

  void count_loops() {
    const double runs = evaluations(order_.size());
    const bool is_reduced = reduces(nest_.kind);
    add(is_reduced ? kSums : kMaps, runs);
    double innermost = 1;
    if (!order_.empty()) {
      innermost = order_.back().extent;
      add(kStarts, evaluations(order_.size() - 1));
    }
    totals_.runs += runs;
    totals_.inner += runs * log2_of(innermost);
    if (lanes_ > 1)
      for (const Loop& loop : order_)
        if (loop.name == fast_)
          totals_.idle += runs * (1 - loop.extent / (std::ceil(loop.extent / lanes_) * lanes_));
    ++totals_.nests;
    totals_.kept += nest_.kept ? 1 : 0;
    totals_.across += schedule_.across ? runs : 0;
    totals_.scans += nest_.kind != tile::NestKind::map && nest_.kind != tile::NestKind::reduce ? 1 : 0;
  }

  const tile::ScheduledGraph& graph_;
  const Phase& phase_;
  const Nest& nest_;
  const NestSchedule& schedule_;
  const Device& device_;
  Totals& totals_;
  std::vector<Loop> order_;  // outermost first
  std::string fast_;         // along which lanes run
  double lanes_ = 1, slices_ = 1;
};

Totals totals_of(const tile::ScheduledGraph& graph, const Device& device) {
  Totals totals;
  double all = 0;
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const Phase& phase = graph.phases[p];
    for (size_t n = 0; n < phase.nests.size(); ++n)
      NestCounter(graph, phase, phase.nests[n], graph.schedule[p][n], device, totals).count();
    const auto slices = static_cast<double>(phase.slices()), workers = static_cast<double>(device.workers);
    const double work = slices * phase.slice_work();
    totals.waves += work * std::log2(std::ceil(slices / workers) * workers / std::max(1.0, slices));
    totals.slices += work * log2_of(slices / workers);
    totals.rounds += work * log2_of(static_cast<double>(phase.rounds()));
    totals.largest_share = std::max(totals.largest_share, work);
    all += work;
    ++totals.phases;
  }
  for (double* of_work : {&totals.waves, &totals.slices, &totals.rounds, &totals.largest_share})
    *of_work /= std::max(1.0, all);
  return totals;
}

FeatureRow row_of(tile::ScheduledGraph graph, const Device& device, double bound_us) {
  tile::vectorize(graph, device.lanes());
  const Totals totals = totals_of(graph, device);
  FeatureRow row;
  // So many vectors could be multiplied and added in the bound.
  const double vectors =
      std::max(1e-6, bound_us * std::max(1.0, device.flops_per_us) / (2.0 * device.lanes()));
  for (int kind = 0; kind < kKinds; ++kind) row.add(kKindNames[kind], log2_of(totals.count[kind] / vectors));
  const double runs = std::max(1.0, totals.runs);
  row.add("tile_idle", totals.idle / runs);
  row.add("tile_inner", totals.inner / runs);
  row.add("tile_across", totals.across / runs);
  row.add("tile_run_size", log2_of(vectors / runs));
  row.add("tile_lines", log2_of(totals.lines / std::max(1.0, totals.bytes)));
  const double last = device.memory.empty() ? 1 : std::max(1.0, device.memory.back().bytes_per_us);
  row.add("tile_us_lines", log2_of(totals.lines / last / std::max(1e-6, bound_us)));
  row.add("tile_far_stride", log2_of(totals.far_stride));
  const double products = std::max(1.0, totals.products);
  row.add("product_reload", totals.reload / products);
  row.add("product_terms", totals.terms / products);
  row.add("product_rows", totals.rows / products);
  row.add("product_row_stride", totals.row_stride / products);
  row.add("product_row_alias", totals.row_alias / products);
  row.add("product_row_step", totals.row_step / products);
  row.add("product_row_bytes", totals.row_bytes / products);
  row.add("product_column_bytes", totals.column_bytes / products);
  row.add("product_prefetched", totals.prefetched / products);
  row.add("tile_nests", totals.nests);
  row.add("tile_phases", totals.phases);
  row.add("tile_scans", totals.scans);
  row.add("tile_kept", totals.kept);
  row.add("tile_waves", totals.waves);
  row.add("tile_slices", totals.slices);
  row.add("tile_rounds", totals.rounds);
  row.add("tile_largest_phase", totals.largest_share);
  const auto level = [&](size_t i) {
    return device.memory.empty()
               ? 1.0
               : std::max(1.0,
                          static_cast<double>(device.memory[std::min(i, device.memory.size() - 1)].bytes));
  };
  row.add("tile_scratch_1", log2_of(static_cast<double>(graph.scratch_bytes) / level(0)));
  row.add("tile_scratch_2", log2_of(static_cast<double>(graph.scratch_bytes) / level(1)));
  double streamed = 0;
  for (const tile::Buffer& buffer : graph.buffers) streamed += buffer.streamed ? 1 : 0;
  row.add("tile_streamed", streamed);
  return row;
}

}  // namespace

std::vector<float> tile_features(const std::optional<tile::ScheduledGraph>& graph, const Device& device,
                                 double bound_us) {
  return row_of(graph.value_or(tile::ScheduledGraph()), device, bound_us).values;
}

const std::vector<const char*>& tile_feature_names() {
  static const std::vector<const char*> names = row_of({}, {}, 1).names;
  return names;
}

}  // namespace korch
