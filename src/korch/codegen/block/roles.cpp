#include "korch/codegen/block/roles.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace korch::blocks {
namespace {

constexpr int64_t kMostTileColumns = 128;  // of a tile that a thread block holds

const Step& at(const BlockGraph& graph, int step) {
  return graph.steps[static_cast<size_t>(step)];
}

AxisSet set_of(int axis) {
  return axis < 0 ? 0 : axis_set(axis);
}

// Computed by a nest of its own.
bool is_fold(const BlockGraph& graph, int step) {
  return at(graph, step).kind == Step::Kind::fold && !is_written_out(graph, step);
}

// Exp(x - r) reads x and r, too: it takes a difference of its own where r is -inf.
std::vector<int> operands_of(const BlockGraph& graph, int step) {
  std::vector<int> read = at(graph, step).args;
  if (decays(graph, step)) {
    const std::vector<int>& of_difference = at(graph, read[0]).args;
    read.insert(read.end(), of_difference.begin(), of_difference.end());
  }
  return read;
}

bool is_constant_leaf(const BlockGraph& graph, int step) {
  return at(graph, step).kind == Step::Kind::leaf &&
         graph.leaves[static_cast<size_t>(at(graph, step).leaf)].constant;
}

class RoleFinder {
 public:
  RoleFinder(const BlockGraph& graph, bool in_blocks, Products way) : graph_(graph), in_blocks_(in_blocks) {
    r_.way = way;
  }

  Roles find() {
    const size_t count = graph_.steps.size();
    r_.used.assign(count, false);
    r_.held.assign(count, false);
    r_.products.assign(count, std::nullopt);
    r_.readers.assign(count, {});
    mark_used();
    if (stages())
      choose_rows_and_columns();
    else if (has_windows(graph_))
      choose_rows_of_windows();
    else
      choose_rows();
    for (size_t i = 0; i < count; ++i)
      if (r_.used[i] && r_.way != Products::direct) r_.products[i] = product(static_cast<int>(i), r_.rows);
    hold();
    return r_;
  }

 private:
  std::vector<int> operands(int step) const {
    std::vector<int> read = operands_of(graph_, step);
    if (at(graph_, step).rescale >= 0 && in_blocks_) read.push_back(at(graph_, step).rescale);
    return read;
  }

  void mark_used() {
    for (int result : graph_.results) r_.used[static_cast<size_t>(result)] = true;
    for (size_t i = graph_.steps.size(); i-- > 0;)
      if (r_.used[i])
        for (int arg : operands(static_cast<int>(i))) r_.used[static_cast<size_t>(arg)] = true;
  }

  bool stages() const { return r_.way == Products::staged; }

  // The two axes along which most products have rows or columns; of equals those with most results.
  void choose_rows_and_columns() {
    int64_t best = 0;
    std::pair<int, int> chosen = {-1, -1};
    std::vector<int> columns = axes_in(graph_.grid);
    columns.insert(columns.begin(), -1);
    for (int rows : axes_in(graph_.grid))
      for (int column : columns) {
        if (column == rows) continue;
        const int64_t value = value_of(rows, column);
        if (value <= best) continue;
        best = value;
        chosen = {rows, column};
      }
    std::tie(r_.rows, r_.columns) = chosen;
    r_.single = graph_.grid & ~set_of(r_.rows) & ~set_of(r_.columns);
  }

  int64_t value_of(int rows, int column) {
    r_.single = graph_.grid & ~set_of(rows) & ~set_of(column);
    r_.columns = column;
    int64_t products = 0, with_columns = 0;
    for (size_t i = 0; i < graph_.steps.size(); ++i) {
      const std::optional<RowProduct> p = r_.used[i] ? product(static_cast<int>(i), rows) : std::nullopt;
      if (!p || p->rows != rows) continue;
      ++products;
      if (p->columns == column) ++with_columns;
    }
    if (products == 0 || (column >= 0 && with_columns == 0)) return 0;
    const auto extent = [&](int axis) {
      return axis < 0 ? 1 : std::min<int64_t>(graph_.axes[static_cast<size_t>(axis)].extent, 1 << 15);
    };
    return (products << 40) + extent(rows) * extent(column);
  }

  // The axis along which most products have their rows; of equals the longest.
  void choose_rows() {
    r_.single = graph_.grid;
    int64_t best = 0;
    for (int axis : axes_in(graph_.grid)) {
      int64_t products = 0;
      r_.single = graph_.grid & ~axis_set(axis);
      for (size_t i = 0; i < graph_.steps.size(); ++i)
        if (r_.used[i]) {
          const std::optional<RowProduct> p = product(static_cast<int>(i), axis);
          if (p && p->rows == axis) ++products;
        }
      const int64_t value = (products << 40) + graph_.axes[static_cast<size_t>(axis)].extent;
      if (products == 0 || value <= best) continue;
      best = value;
      r_.rows = axis;
    }
    r_.single = r_.rows < 0 ? graph_.grid : graph_.grid & ~axis_set(r_.rows);
  }

  // The axis of the grid that windows read along for.
  void choose_rows_of_windows() {
    AxisSet read = 0;
    for (const Step& step : graph_.steps) read |= step.window.axes();
    const std::vector<int> axes = axes_in(graph_.grid & read);
    if (!axes.empty()) r_.rows = axes[0];
    r_.single = graph_.grid & ~set_of(r_.rows);
  }

  std::optional<RowProduct> product(int step, int rows) const {
    const Step& fold = at(graph_, step);
    if (fold.kind != Step::Kind::fold || fold.combine != ScalarFn::add || !std::has_single_bit(fold.over))
      return std::nullopt;
    const Step& mul = at(graph_, fold.args[0]);
    if (mul.kind != Step::Kind::call || mul.op != Op::Mul || mul.type != DType::f32) return std::nullopt;
    for (const auto& [left, right] :
         {std::pair{mul.args[0], mul.args[1]}, std::pair{mul.args[1], mul.args[0]}}) {
      RowProduct p{.left = left, .right = right, .terms = std::countr_zero(fold.over)};
      const AxisSet of_left = r_.local(at(graph_, left).axes), of_right = r_.local(at(graph_, right).axes);
      if ((of_left & of_right & fold.over) == 0) return std::nullopt;
      if (rows >= 0 && (of_right & axis_set(rows)) != 0) continue;
      const AxisSet columns = of_right & ~of_left, more = of_left & ~of_right;
      if (!std::has_single_bit(columns)) continue;
      p.columns = std::countr_zero(columns);
      // Of an image's rows one follows the other, and a tile has pixels of one.
      const AxisSet within = more & ~set_of(rows);
      if (has_windows(graph_) && within != 0)
        p.rows = axes_in(within).back();
      else if (rows >= 0 && (more & axis_set(rows)) != 0)
        p.rows = rows;
      else if (more != 0)
        p.rows = axes_in(more).back();
      p.around = r_.local(fold.axes) & ~columns & ~(p.rows < 0 ? 0 : axis_set(p.rows));
      p.packed = !stages() && from_arguments(right);
      if (stages() && !has_tile(p)) continue;
      return p;
    }
    return std::nullopt;
  }

  // One tile has all of the slice's results.
  bool has_tile(const RowProduct& p) const {
    const bool in_parts = p.columns == r_.columns || std::ranges::count(graph_.loops, p.columns) != 0;
    return p.rows >= 0 && p.around == 0 &&
           (in_parts || graph_.axes[static_cast<size_t>(p.columns)].extent <= kMostTileColumns);
  }

  // Staged term by term: elements that are computed from arguments and from sums alone.
  bool is_staged(int step) const {
    if (!stages() || is_fold(graph_, step) || at(graph_, step).kind == Step::Kind::before) return false;
    for (int below : steps_of(graph_, r_.held, step))
      if (r_.products[static_cast<size_t>(below)]) return false;
    const auto reads = [&](int i) { return std::ranges::count(operands(i), step) != 0; };
    for (int i = step + 1; i < static_cast<int>(graph_.steps.size()); ++i) {
      if (!r_.used[static_cast<size_t>(i)] || !reads(i)) continue;
      const bool is_factor = std::ranges::any_of(r_.products, [&](const auto& p) {
        return p && (p->left == step || p->right == step) && at(graph_, i).op == Op::Mul;
      });
      if (!is_factor && !from_arguments(step)) return false;
    }
    return true;
  }

  bool from_arguments(int step) const {
    if (at(graph_, step).kind == Step::Kind::fold || at(graph_, step).kind == Step::Kind::before)
      return false;
    return std::ranges::all_of(at(graph_, step).args, [&](int arg) { return from_arguments(arg); });
  }

  void hold() {
    const auto count = static_cast<int>(graph_.steps.size());
    for (int i = 0; i < count; ++i) {
      const Step& step = at(graph_, i);
      if (!r_.used[static_cast<size_t>(i)]) continue;
      if (is_fold(graph_, i) || step.kind == Step::Kind::before) hold(i);
      if (const auto& p = r_.products[static_cast<size_t>(i)]) {
        if (!is_staged(p->left) && !is_read_in_place(*p)) hold(p->left);
        if (!p->packed && !is_staged(p->right)) hold(p->right);
      }
    }
    hold_weights_of_windows();
    for (int i = count; i-- > 0;) {
      if (!r_.used[static_cast<size_t>(i)]) continue;
      find_readers(i);
      if ((at(graph_, i).kind == Step::Kind::call || is_written_out(graph_, i)) && is_worth_holding(i))
        hold(i);
    }
    // By what is held now.
    for (int i = count; i-- > 0;) find_readers(i);
  }
  // Pixels lie beside each other as rows do, but for those of rows that there are not.
  bool is_read_in_place(const RowProduct& p) const {
    return has_windows(graph_) && at(graph_, p.left).kind == Step::Kind::leaf && !follows_grid(p.rows);
  }
  bool follows_grid(int axis) const {
    return std::ranges::any_of(graph_.steps, [&](const Step& step) {
      return step.kind == Step::Kind::window && step.window.of == axis &&
             std::ranges::any_of(step.window.parts, [&](const block::Window::Part& part) {
               return (graph_.grid & axis_set(part.axis)) != 0 || follows_grid(part.axis);
             });
    });
  }
  // A kernel's weights are read again for each pixel, and may not lie channel by channel.
  void hold_weights_of_windows() {
    for (int i = 0; i < static_cast<int>(graph_.steps.size()); ++i) {
      if (!r_.used[static_cast<size_t>(i)] || at(graph_, i).kind != Step::Kind::fold ||
          r_.products[static_cast<size_t>(i)])
        continue;
      const std::vector<int> below = steps_of(graph_, r_.held, i);
      if (std::ranges::none_of(below, [&](int step) { return at(graph_, step).kind == Step::Kind::window; }))
        continue;
      for (int step : below)
        if (is_constant_leaf(graph_, step) && (at(graph_, step).axes & at(graph_, i).over) != 0) hold(step);
    }
  }
  void hold(int step) { r_.held[static_cast<size_t>(step)] = true; }

  // Of what is read as it is computed again: with each element of an axis that it does not have, or by
  // several nests. What follows from arguments alone is read again.
  bool is_worth_holding(int step) const {
    if (from_arguments(step) || is_factor(step)) return false;
    const std::vector<int>& readers = r_.readers[static_cast<size_t>(step)];
    if (readers.size() > 1) return true;
    return std::ranges::any_of(readers, [&](int reader) {
      AxisSet axes = at(graph_, reader).axes;
      if (is_fold(graph_, reader)) axes |= at(graph_, reader).over;
      return (r_.local(axes) & ~r_.local(at(graph_, step).axes)) != 0;
    });
  }

  // Of a staged product, which is not held yet: it is staged.
  bool is_factor(int step) const {
    return stages() && std::ranges::any_of(r_.products, [&](const auto& p) {
             return p && (p->left == step || p->right == step);
           });
  }

  void find_readers(int step) {
    std::vector<int>& readers = r_.readers[static_cast<size_t>(step)];
    readers.clear();
    if (std::ranges::count(graph_.results, step) != 0) readers.push_back(step);
    for (int i = step + 1; i < static_cast<int>(graph_.steps.size()); ++i) {
      if (!r_.used[static_cast<size_t>(i)] || std::ranges::count(operands(i), step) == 0) continue;
      // The factors of a product are read by it.
      if (r_.held[static_cast<size_t>(i)] || is_fold(graph_, i)) {
        readers.push_back(i);
      } else {
        const std::vector<int>& further = r_.readers[static_cast<size_t>(i)];
        readers.insert(readers.end(), further.begin(), further.end());
      }
    }
    std::ranges::sort(readers);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  }

  const BlockGraph& graph_;
  const bool in_blocks_;
  Roles r_;
};

}  // namespace

Roles roles_of(const BlockGraph& graph, bool in_blocks, Products way) {
  return RoleFinder(graph, in_blocks, way).find();
}

std::vector<int> steps_of(const BlockGraph& graph, const std::vector<bool>& held, int step) {
  std::vector<int> found;
  std::vector<bool> seen(graph.steps.size(), false);
  const auto visit = [&](auto&& self, int i) -> void {
    if (seen[static_cast<size_t>(i)]) return;
    seen[static_cast<size_t>(i)] = true;
    const bool stops = i != step && (held[static_cast<size_t>(i)] || is_fold(graph, i));
    if (!stops)
      for (int arg : operands_of(graph, i)) self(self, arg);
    found.push_back(i);
  };
  visit(visit, step);
  return found;
}

bool is_read_by_one(const BlockGraph& graph, const Roles& roles, int leaf) {
  std::set<int> readers;
  for (size_t i = 0; i < graph.steps.size(); ++i)
    if (graph.steps[i].kind == Step::Kind::leaf && graph.steps[i].leaf == leaf)
      readers.insert(roles.readers[i].begin(), roles.readers[i].end());
  return readers.size() == 1;
}

bool is_written_out(const BlockGraph& graph, int step) {
  constexpr int64_t kMostTaps = 49;
  const Step& fold = at(graph, step);
  if (fold.kind != Step::Kind::fold || fold.combine != ScalarFn::add || graph.is_running(fold)) return false;
  int64_t taps = 1;
  for (int axis : axes_in(fold.over)) taps *= graph.axes[static_cast<size_t>(axis)].extent;
  if (taps > kMostTaps) return false;
  const auto reads_window = [&](auto&& self, int i) -> bool {
    const Step::Kind kind = at(graph, i).kind;
    return kind == Step::Kind::window ||
           (kind == Step::Kind::call &&
            std::ranges::any_of(at(graph, i).args, [&](int arg) { return self(self, arg); }));
  };
  return reads_window(reads_window, fold.args[0]);
}

bool has_windows(const BlockGraph& graph) {
  return std::ranges::any_of(graph.steps, [](const Step& step) { return step.kind == Step::Kind::window; });
}

bool decays(const BlockGraph& graph, int step) {
  const Step& exp = at(graph, step);
  if (exp.kind != Step::Kind::call || exp.op != Op::Exp) return false;
  const Step& difference = at(graph, exp.args[0]);
  if (difference.kind != Step::Kind::call || difference.op != Op::Sub) return false;
  const int x = difference.args[0], extreme = difference.args[1];
  const Step& r = at(graph, extreme);
  if (r.kind != Step::Kind::fold || r.combine != ScalarFn::max) return false;
  return x == r.args[0] || (at(graph, x).kind == Step::Kind::before && at(graph, x).args[0] == extreme);
}

std::vector<int> axes_in(AxisSet set) {
  std::vector<int> axes;
  for (; set != 0; set &= set - 1) axes.push_back(std::countr_zero(set));
  return axes;
}

}  // namespace korch::blocks
