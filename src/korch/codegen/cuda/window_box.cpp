#include "korch/codegen/cuda/window_box.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace korch::tile {
namespace {

constexpr int64_t kMostStep = 4;  // strides of windows that are tried

// What each variable adds to an offset; none where it is not a sum of them.
std::optional<std::map<std::string, int64_t>> strides_of(const Index& offset,
                                                         const std::vector<LoopVariable>& points) {
  std::map<std::string, int64_t> strides;
  for (const Index::Term& term : offset.terms()) {
    const bool known = std::any_of(points.begin(), points.end(),
                                   [&](const LoopVariable& point) { return point.name == term.atom->name; });
    if (term.atom->kind != AtomKind::variable || !known || term.coefficient <= 0) return std::nullopt;
    strides[term.atom->name] = term.coefficient;
  }
  return strides;
}

struct Group {
  std::map<std::string, int64_t> strides;
  std::vector<int> loads;
};

Group most_loads(const TileGraph& graph, const std::vector<int>& nodes,
                 const std::vector<LoopVariable>& points) {
  std::map<std::pair<int, std::map<std::string, int64_t>>, std::vector<int>> groups;
  for (int id : nodes) {
    const Expr& e = graph.pool[id];
    if (e.kind != ExprKind::load || e.type != DType::f32 || graph.buffers[e.buffer].type != DType::f32)
      continue;
    const BufferRole role = graph.buffers[e.buffer].role;
    if (role != BufferRole::input && role != BufferRole::temporary) continue;
    if (const auto strides = strides_of(e.coords[0], points)) groups[{e.buffer, *strides}].push_back(id);
  }
  Group most;
  for (const auto& [key, loads] : groups)
    if (loads.size() > most.loads.size()) most = {key.second, loads};
  return most;
}

// The taps as sums over the axes; empty where their constants are none.
std::map<int, std::vector<int64_t>> taps_of(const TileGraph& graph, const std::vector<int>& loads,
                                            const std::vector<WindowAxis>& axes) {
  std::map<int, std::vector<int64_t>> taps;
  for (int load : loads) {
    int64_t rest = graph.pool[load].coords[0].constant();
    for (const WindowAxis& axis : axes) {
      const int64_t digit = floor_quotient(rest + axis.unit / 2, axis.unit);
      rest -= digit * axis.unit;
      taps[load].push_back(digit);
    }
    if (rest != 0) return {};
  }
  return taps;
}

// Axes whose boxes are smallest, one for each variable: its stride is step * unit.
void choose_steps(const TileGraph& graph, const Group& group, const std::vector<LoopVariable>& points,
                  WindowBox& box) {
  std::vector<WindowAxis> axes;
  for (const LoopVariable& point : points)
    if (const auto stride = group.strides.find(point.name); stride != group.strides.end())
      axes.push_back({point, stride->second, 1});
  double least = INFINITY;
  const auto try_steps = [&](auto&& next, size_t axis) -> void {
    if (axis < axes.size()) {
      const int64_t stride = axes[axis].unit;
      for (int64_t step = 1; step <= kMostStep; ++step) {
        if (stride % step != 0) continue;
        axes[axis].unit = stride / step;
        axes[axis].step = step;
        next(next, axis + 1);
      }
      axes[axis].unit = stride;
      return;
    }
    std::vector<WindowAxis> sorted = axes;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const WindowAxis& a, const WindowAxis& b) { return a.unit > b.unit; });
    auto taps = taps_of(graph, group.loads, sorted);
    if (taps.empty()) return;
    double elements = 1;
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto by_digit = [&](const auto& a, const auto& b) { return a.second[i] < b.second[i]; };
      sorted[i].low = std::min_element(taps.begin(), taps.end(), by_digit)->second[i];
      sorted[i].high = std::max_element(taps.begin(), taps.end(), by_digit)->second[i];
      elements *= static_cast<double>(sorted[i].width(sorted[i].variable.extent));
    }
    if (elements >= least) return;
    least = elements;
    box.axes = std::move(sorted);
    box.loads = std::move(taps);
  };
  try_steps(try_steps, 0);
}

// Which load of the box the guard is about, if it chooses between that load, or its product with a constant,
// and a constant: padding. -1: none. Infinities and NaN times a padding of 0 would be no zeros.
int padded_load(const TileGraph& graph, const Expr& guard, const WindowBox& box,
                const std::function<bool()>& constants_are_finite) {
  const Expr &product = graph.pool[guard.args[0]], &otherwise = graph.pool[guard.args[1]];
  if (otherwise.kind != ExprKind::constant || otherwise.type != DType::f32) return -1;
  if (box.loads.count(guard.args[0]) != 0) return guard.args[0];
  if (product.kind != ExprKind::call || product.fn != ScalarFn::mul || otherwise.number != 0) return -1;
  for (size_t i = 0; i < 2; ++i) {
    const Expr& factor = graph.pool[product.args[1 - i]];
    if (box.loads.count(product.args[i]) == 0) continue;
    const bool finite = factor.kind == ExprKind::constant
                            ? std::isfinite(factor.number)
                            : factor.kind == ExprKind::load &&
                                  graph.buffers[factor.buffer].role == BufferRole::constant &&
                                  constants_are_finite();
    if (finite) return product.args[i];
  }
  return -1;
}

// Where the guards of windows end the axes, each at one place: what they keep from being read is outside.
class WindowGuards {
 public:
  WindowGuards(const TileGraph& graph, const std::vector<int>& nodes, const std::vector<int>& roots,
               const std::function<bool()>& constants_are_finite, WindowBox& box)
      : graph_(graph), constants_are_finite_(constants_are_finite), box_(box) {
    for (int id : nodes)
      for (int operand : graph.pool.operands(id)) users_[operand].insert(id);
    for (int root : roots) users_[root].insert(kRoot);
  }

  // False: the guard is about something else. One that has to stay tells no less where the axes end.
  bool add(int id) {
    const Expr& guard = graph_.pool[id];
    int load = padded_load(graph_, guard, box_, constants_are_finite_);
    const bool is_padding = load >= 0 && (box_.padding < 0 || box_.padding == guard.args[1]);
    if (load < 0)
      for (int inside : graph_.pool.reachable({guard.args[0]}))
        if (box_.loads.count(inside) != 0) {
          if (load >= 0) return false;
          load = inside;
        }
    for (const Bound& bound : guard.condition.bounds())
      if (load < 0 || !add(bound, load, id)) return false;
    if (!is_padding) return true;
    box_.padding = guard.args[1];
    box_.guards.push_back(id);
    return true;
  }

  // Whether every tap is inside of the axes wherever it counts.
  bool finish() {
    int64_t first = 0, last = 0;
    for (size_t i = 0; i < box_.axes.size(); ++i) {
      WindowAxis& axis = box_.axes[i];
      const auto end = ends_.find(i);
      axis.first = end != ends_.end() ? end->second.first : axis.low;
      axis.last = end != ends_.end() ? end->second.second : last_of(axis) + axis.high;
      first += axis.unit * axis.first;
      last += axis.unit * axis.last;
    }
    return first >= 0 && last < graph_.buffers[box_.buffer].elements &&
           std::all_of(box_.loads.begin(), box_.loads.end(), [&](const auto& load) {
             for (size_t i = 0; i < box_.axes.size(); ++i)
               if (!always_inside(load.second[i], box_.axes[i]) && !is_bounded(load.first, i)) return false;
             return true;
           });
  }

 private:
  static constexpr int kRoot = -1;

  bool add(const Bound& bound, int load, int guard) {
    if (bound.index.terms().size() != 1) return false;
    const Index::Term& term = bound.index.terms()[0];
    for (size_t i = 0; i < box_.axes.size(); ++i) {
      const WindowAxis& axis = box_.axes[i];
      if (term.atom->kind != AtomKind::variable || term.atom->name != axis.variable.name) continue;
      const int64_t shift = box_.loads.at(load)[i] - bound.index.constant();
      const std::pair<int64_t, int64_t> ends{bound.low + shift, bound.high + shift};
      bounded_.insert({guard, i});
      return term.coefficient == axis.step && ends_.emplace(i, ends).first->second == ends;
    }
    return false;
  }

  static int64_t last_of(const WindowAxis& axis) { return axis.step * (axis.variable.extent - 1); }
  static bool always_inside(int64_t tap, const WindowAxis& axis) {
    return tap >= axis.first && last_of(axis) + tap <= axis.last;
  }
  // Whether all that use the expression end in guards with a bound on the axis.
  bool is_bounded(int id, size_t axis) const {
    const std::set<int>& users = users_.at(id);
    return std::all_of(users.begin(), users.end(), [&](int user) {
      if (user == kRoot) return false;
      const Expr& e = graph_.pool[user];
      if (e.kind == ExprKind::guard) return e.args[0] == id && bounded_.count({user, axis}) != 0;
      return e.kind == ExprKind::call && is_bounded(user, axis);
    });
  }

  const TileGraph& graph_;
  const std::function<bool()>& constants_are_finite_;
  WindowBox& box_;
  std::map<int, std::set<int>> users_;
  std::map<size_t, std::pair<int64_t, int64_t>> ends_;  // by axis
  std::set<std::pair<int, size_t>> bounded_;            // guards and axes
};

}  // namespace

std::optional<WindowBox> window_box(TileGraph& graph, const Nest& nest,
                                    const std::vector<LoopVariable>& points,
                                    const std::function<bool()>& constants_are_finite) {
  const std::vector<int> nodes = graph.pool.reachable(nest.roots());
  const Group group = most_loads(graph, nodes, points);
  if (group.loads.size() < kFewestTaps) return std::nullopt;
  WindowBox box;
  box.buffer = graph.pool[group.loads[0]].buffer;
  choose_steps(graph, group, points, box);
  if (box.axes.empty()) return std::nullopt;
  WindowGuards guards(graph, nodes, nest.roots(), constants_are_finite, box);
  for (int id : nodes) {
    const Expr& e = graph.pool[id];
    if (e.kind != ExprKind::guard) continue;
    const std::vector<int> inside = graph.pool.reachable({e.args[0], e.args[1]});
    const bool reads_box =
        std::any_of(inside.begin(), inside.end(), [&](int other) { return box.loads.count(other) != 0; });
    if (reads_box && !guards.add(id)) return std::nullopt;
  }
  if (!guards.finish()) return std::nullopt;
  return box;
}

}  // namespace korch::tile
