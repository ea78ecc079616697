#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "korch/kernel/schedule.h"

namespace korch::tile {
namespace {

std::string loop_list(const std::vector<LoopVariable>& loops) {
  std::string text;
  for (const LoopVariable& loop : loops)
    text += fmt::format("{}{} in {}", text.empty() ? " " : ", ", loop.name, loop.extent);
  return text;
}

class NestText {
 public:
  // `schedule` may be null.
  NestText(const TileGraph& graph, const Nest& nest, const NestSchedule* schedule)
      : graph_(graph), nest_(nest), schedule_(schedule) {}

  std::string print() {
    const std::string indent(4 + 2 * nest_.around.size(), ' ');
    const std::string body = stores(nest_.stores, indent + "  ");
    std::string segments;
    const std::map<int, int> whole = names_;
    for (const Segment& segment : nest_.segments) {
      segments += fmt::format("{0}  segment {1} in {2}..{3} {{\n{4}{0}  }}\n", indent, nest_.cut, segment.low,
                              segment.high, stores(segment.stores, indent + "    "));
      names_ = whole;
    }
    return fmt::format("{0}{1} {{\n{2}{3}{0}}}\n", indent, head(), body, segments);
  }

 private:
  std::string head() const {
    std::string text = nest_.first_slice_only ? "once " : nest_.kept ? "kept " : "";
    text += row(nest_.kind).name;
    if (reduces(nest_.kind)) text += fmt::format(" {}", korch::name(nest_.combine));
    text += loop_list(nest_.loops);
    if (reduces(nest_.kind)) text += " over" + loop_list(nest_.reduced);
    if (ranks(nest_.kind)) text += " rank" + loop_list({nest_.rank});
    if (!folded_.empty()) text += " folding" + loop_list(folded_);
    if (nest_.kind == NestKind::arg_reduce)
      text += fmt::format(" at {}{}", tile::print(nest_.position), nest_.select_last ? " last" : "");
    if (!nest_.nan_wins) text += " by comparison";
    if (nest_.anew.always_false())
      text += " anew never";
    else if (!nest_.anew.always_true())
      text += " anew if " + condition(nest_.anew);
    return text + (schedule_ == nullptr ? std::string() : schedule_text(*schedule_));
  }

  static std::string schedule_text(const NestSchedule& schedule) {
    std::string text;
    if (!schedule.variable.empty())
      text += fmt::format(" lanes {} {} {}", schedule.lanes, schedule.across ? "across" : "along",
                          schedule.variable);
    if (!schedule.transposed.empty()) text += " transposed with " + schedule.transposed;
    if (schedule.registers) text += " registers";
    if (schedule.matrix_units) text += fmt::format(" matrix {}", name(*schedule.matrix_units));
    if (schedule.stages > 1) text += fmt::format(" stages {}", schedule.stages);
    if (schedule.prefetch_rows) text += " prefetch rows";
    if (schedule.prefetch_columns) text += " prefetch columns";
    if (!schedule.partitioned.empty())
      text += fmt::format(" partition along {}", fmt::join(schedule.partitioned, ", "));
    if (schedule.jam > 1) text += fmt::format(" jam {}", schedule.jam);
    return text;
  }

  std::string stores(const std::vector<Store>& stores, const std::string& indent) {
    std::string text;
    for (int id : graph_.pool.reachable(roots_of(stores))) {
      if (names_.count(id) != 0) continue;  // of the whole nest, used by a segment again
      names_.emplace(id, static_cast<int>(names_.size()));
      text += fmt::format("{}%{} = {}\n", indent, names_[id], definition(graph_.pool[id]));
    }
    for (const Store& store : stores)
      text += fmt::format("{}{}[{}] <- {}{}\n", indent, graph_.name(store.buffer), index(store.offset),
                          operand(store.value),
                          store.condition.always_true() ? "" : " if " + condition(store.condition));
    return text;
  }

  std::string operand(int id) const { return fmt::format("%{}", names_.at(id)); }

  std::string index(const Index& index) const {
    return tile::print(index, {.dynamic = [this](int id) { return operand(id); }, .variable = {}});
  }

  std::string condition(const Condition& condition) const {
    std::vector<std::string> bounds;
    for (const Bound& bound : condition.bounds())
      bounds.push_back(fmt::format("{} <= {} <= {}", bound.low, index(bound.index), bound.high));
    return fmt::format("{}", fmt::join(bounds, " and "));
  }

  std::string definition(const Expr& e) {
    std::vector<std::string> args;
    for (int arg : e.args) args.push_back(operand(arg));
    switch (e.kind) {
      case ExprKind::constant:
        return is_float(e.type) ? fmt::format("{} {}", korch::name(e.type), e.number)
                                : fmt::format("{} {}", korch::name(e.type), e.integer);
      case ExprKind::load:
        return fmt::format("{}[{}]", graph_.name(e.buffer), index(e.coords[0]));
      case ExprKind::call:
        return fmt::format("{} {}({}){}", korch::name(e.type), korch::name(e.fn), fmt::join(args, ", "),
                           e.decaying ? " decaying" : "");
      case ExprKind::guard:
        return fmt::format("{} if {} else {}", args[0], condition(e.condition), args[1]);
      case ExprKind::fold:
        folded(e.over);
        return fmt::format("fold {} {} of {}", korch::name(e.fn), e.over.name, args[0]);
      case ExprKind::checked:
        return fmt::format("checked {} of {}", args[0], e.integer);
      case ExprKind::intermediate:
        break;
    }
    KORCH_ASSERT(false, "an intermediate in a tile graph");
    return {};
  }

  void folded(const LoopVariable& variable) {
    for (const LoopVariable& known : folded_)
      if (known.name == variable.name) return;
    folded_.push_back(variable);
  }

  const TileGraph& graph_;
  const Nest& nest_;
  const NestSchedule* schedule_;
  std::map<int, int> names_;
  std::vector<LoopVariable> folded_;  // by folds in the bodies
};

std::string buffer_text(const TileGraph& graph, int number) {
  const Buffer& buffer = graph.buffers[number];
  std::string text =
      fmt::format("  {}: {}[{}]", graph.name(number), korch::name(buffer.type), buffer.elements);
  if (buffer.role == BufferRole::scratch) text += fmt::format(" at {}", buffer.offset_bytes);
  if (!(buffer.packing == Packing()))
    text += fmt::format(" packed {}({})", buffer.packing.kind, fmt::join(buffer.packing.params, ", "));
  return text + (buffer.streamed ? " streamed\n" : "\n");
}

std::string loop_text(const OuterLoop& loop) {
  const int64_t extent = loop.variable.extent;
  if (loop.low == 0 && loop.high == extent) return fmt::format("for {} in {}", loop.variable.name, extent);
  return fmt::format("for {} in {}..{} of {}", loop.variable.name, loop.low, loop.high, extent);
}

// Neighbouring nests share the loops that they begin with.
std::string nests_text(const TileGraph& graph, const std::vector<Nest>& nests,
                       const std::vector<NestSchedule>* schedules) {
  std::string text;
  std::vector<OuterLoop> open;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) text += std::string(2 + 2 * open.size(), ' ') + "}\n";
  };
  for (size_t n = 0; n < nests.size(); ++n) {
    const Nest& nest = nests[n];
    close_to(shared_loops(open, nest.around));
    for (size_t i = open.size(); i < nest.around.size(); ++i) {
      text += fmt::format("{}{} {{\n", std::string(4 + 2 * i, ' '), loop_text(nest.around[i]));
      open.push_back(nest.around[i]);
    }
    text += NestText(graph, nest, schedules == nullptr ? nullptr : &(*schedules)[n]).print();
  }
  close_to(0);
  return text;
}

std::string graph_text(const TileGraph& graph, const TileSchedule* schedule) {
  std::string text = "kernel {\n";
  for (size_t i = 0; i < graph.buffers.size(); ++i) text += buffer_text(graph, static_cast<int>(i));
  if (graph.scratch_bytes > 0) text += fmt::format("  scratch {}\n", graph.scratch_bytes);
  for (size_t p = 0; p < graph.phases.size(); ++p) {
    const Phase& phase = graph.phases[p];
    text += "  phase";
    for (size_t i = 0; i < phase.grid.size(); ++i) {
      const GridVariable& grid = phase.grid[i];
      text += fmt::format("{}{} in {}", i == 0 ? " " : ", ", grid.variable.name, grid.variable.extent);
      if (grid.chunk > 1) text += fmt::format(" by {}", grid.chunk);
      if (grid.ordered) text += " ordered";
    }
    text +=
        " {\n" + nests_text(graph, phase.nests, schedule == nullptr ? nullptr : &(*schedule)[p]) + "  }\n";
  }
  return text + "}\n";
}

}  // namespace

std::string print(const TileGraph& graph) {
  return graph_text(graph, nullptr);
}

std::string print(const ScheduledGraph& graph) {
  return graph_text(graph, &graph.schedule);
}

}  // namespace korch::tile
