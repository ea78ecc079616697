#include "korch/codegen/passes/segment.h"

#include <set>

namespace korch::tile {
namespace {

constexpr size_t kMaxSegments = 9;  // more pieces of one loop cost more text than going lane by lane

class Cutter {
 public:
  Cutter(ExprPool& pool, const Nest& nest, const std::string& variable)
      : pool_(pool), nest_(nest), variable_(variable) {}

  std::vector<Segment> cut() {
    int64_t extent = 0;
    for (const std::vector<LoopVariable>* loops : {&nest_.loops, &nest_.reduced})
      for (const LoopVariable& loop : *loops)
        if (loop.name == variable_) extent = loop.extent;
    collect(0, extent);
    if (found_.size() > kMaxSegments) return {{0, extent, nest_.stores}};
    return std::move(found_);
  }

 private:
  std::vector<Store> narrowed(int64_t low, int64_t high) {
    Rewriter rewriter(pool_, pool_, {{variable_, Index::variable(variable_, low, high - 1)}});
    const std::vector<int> values = rewriter.rewrite(nest_.roots());
    std::vector<Store> stores;
    for (size_t i = 0; i < nest_.stores.size(); ++i)
      stores.push_back({nest_.stores[i].buffer, rewriter.rewrite(nest_.stores[i].offset), values[i],
                        nest_.stores[i].condition});
    return stores;
  }

  void collect(int64_t low, int64_t high) {
    std::vector<Store> stores = narrowed(low, high);
    std::set<int64_t> points;
    for (int node : pool_.reachable(roots_of(stores))) {
      const Expr& e = pool_[node];
      for (const Index& coord : e.coords) collect_breakpoints(coord, variable_, points);
      collect_breakpoints(e.condition, variable_, points);
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
  const std::string& variable_;
  std::vector<Segment> found_;
};

}  // namespace

void segment(ScheduledGraph& graph) {
  for (size_t p = 0; p < graph.phases.size(); ++p)
    for (size_t n = 0; n < graph.phases[p].nests.size(); ++n) {
      const NestSchedule& schedule = graph.schedule[p][n];
      if (schedule.variable.empty() || !schedule.transposed.empty()) continue;
      Nest& nest = graph.phases[p].nests[n];
      nest.segments = Cutter(graph.pool, nest, schedule.variable).cut();
      nest.cut = schedule.variable;
    }
}

}  // namespace korch::tile
