#include "korch/codegen/passes/segment.h"

#include <set>

namespace korch::tile {
namespace {

constexpr size_t kMaxSegments = 9;  // more pieces of one loop cost more text than going lane by lane

class Cutter {
 public:
  Cutter(ExprPool& pool, const Nest& nest) : pool_(pool), nest_(nest) {}

  std::vector<Segment> cut() {
    int64_t extent = 0;
    for (const std::vector<LoopVariable>* loops : {&nest_.loops, &nest_.reduced})
      for (const LoopVariable& loop : *loops)
        if (loop.name == nest_.schedule.variable) extent = loop.extent;
    collect(0, extent);
    if (found_.size() > kMaxSegments) return {{0, extent, nest_.stores}};
    return std::move(found_);
  }

 private:
  std::vector<Store> narrowed(int64_t low, int64_t high) {
    Rewriter rewriter(pool_, pool_,
                      {{nest_.schedule.variable, Index::variable(nest_.schedule.variable, low, high - 1)}});
    const std::vector<int> values = rewriter.rewrite(nest_.roots());
    std::vector<Store> stores;
    for (size_t i = 0; i < nest_.stores.size(); ++i)
      stores.push_back({nest_.stores[i].buffer, rewriter.rewrite(nest_.stores[i].offset), values[i],
                        nest_.stores[i].condition});
    return stores;
  }

  void collect(int64_t low, int64_t high) {
    const std::string& variable = nest_.schedule.variable;
    std::vector<Store> stores = narrowed(low, high);
    std::set<int64_t> points;
    for (int node : pool_.reachable(roots_of(stores))) {
      const Expr& e = pool_[node];
      for (const Index& coord : e.coords) collect_breakpoints(coord, variable, points);
      collect_breakpoints(e.condition, variable, points);
    }
    for (auto it = points.begin(); it != points.end();)
      it = *it > low && *it < high ? std::next(it) : points.erase(it);
    if (points.empty() || found_.size() + points.size() > 4 * kMaxSegments) {
      found_.push_back({low, high, std::move(stores)});
      return;
    }
    int64_t start = low;
    points.insert(high);
    for (int64_t point : points) {
      collect(start, point);
      start = point;
    }
  }

  ExprPool& pool_;
  const Nest& nest_;
  std::vector<Segment> found_;
};

}  // namespace

void segment(TileGraph& graph) {
  for (Phase& phase : graph.phases)
    for (Nest& nest : phase.nests)
      if (!nest.schedule.variable.empty() && nest.schedule.transposed.empty())
        nest.segments = Cutter(graph.pool, nest).cut();
}

}  // namespace korch::tile
