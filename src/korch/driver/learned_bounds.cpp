#include "korch/driver/learned_bounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>

namespace korch {
namespace {

constexpr int kEnough = 4;       // kernels of a kind before it says anything
constexpr double kMargin = 0.9;  // how much faster than all that was seen of its kind a kernel may be

char layout_letter(const Layout& layout) {
  return layout.is_row_major() ? 'r' : layout.block_axis >= 0 ? 'b' : 'c';
}

// Which layouts are read and made, however often.
std::string layouts_text(const Implementation& way) {
  std::string text;
  for (const std::vector<Layout>* list : {&way.input_layouts, &way.output_layouts}) {
    std::set<char> letters;
    for (const Layout& layout : *list) letters.insert(layout_letter(layout));
    text += ' ' + std::string(letters.begin(), letters.end());
  }
  return text;
}

// What is computed: exactly, and in broad terms (operators before the linear primitive, or a reduction,
// change how a kernel is built).
struct Work {
  std::string exact, broad;
};
Work work_of(const Graph& graph, const Candidate& candidate) {
  std::multiset<std::string> ops;
  bool reduces = false, linear = false, before = false;
  for (NodeId id : candidate.nodes) {
    const OpInfo& op = info(graph.node(id).op);
    ops.insert(op.name);
    reduces = reduces || op.category == Category::reduce || op.category == Category::window;
    if (op.category == Category::linear) {
      linear = true;
      before = id != candidate.nodes.front();
    }
  }
  return {fmt::format("{}", fmt::join(ops, "+")),
          fmt::format("{}{}{}", linear ? "linear " : "", before ? "before " : "", reduces ? "reduce" : "")};
}

// Narrow first; sizes in powers of four of the bound.
std::vector<std::string> kind_names(const Graph& graph, const Columns& columns, const ColumnInfo& info) {
  if (info.kind == ColumnInfo::Kind::view) return {};
  const int size = static_cast<int>(std::floor(std::log2(info.bound_us) / 2));
  if (info.kind == ColumnInfo::Kind::reorder) return {fmt::format("reorder {}", size), "reorder"};
  const Implementation& way = info.implementation;
  // The first parameter is the variant of an algorithm in every family that has variants.
  const std::string kernel =
      fmt::format("{} {}{}", way.family, way.params.empty() ? 0 : way.params[0], layouts_text(way));
  const Work work = work_of(graph, columns.candidates[info.candidate]);
  return {fmt::format("{} {} {}", kernel, work.exact, size),
          fmt::format("{} {} {}", kernel, work.broad, size), fmt::format("{} {}", kernel, work.broad)};
}

}  // namespace

LearnedBounds::LearnedBounds(const Graph& graph, const Columns& columns, std::vector<double> plain_us)
    : columns_(columns), plain_us_(std::move(plain_us)) {
  std::unordered_map<std::string, int> numbers;
  for (const ColumnInfo& info : columns.infos) {
    std::vector<int> kinds;
    for (const std::string& name : kind_names(graph, columns, info))
      kinds.push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
    kinds_.push_back(std::move(kinds));
  }
  seen_.resize(numbers.size());
}

void LearnedBounds::observe(int column, double cost_us) {
  const double factor = cost_us / columns_.infos[column].bound_us;
  for (int kind : kinds_[column]) {
    Seen& seen = seen_[kind];
    seen.least = seen.count == 0 ? factor : std::min(seen.least, factor);
    ++seen.count;
  }
}

double LearnedBounds::bound_us(int column) const {
  const double least = std::max(columns_.infos[column].bound_us, kMargin * plain_us_[column]);
  for (int kind : kinds_[column])
    if (seen_[kind].count >= kEnough)
      return std::max(least, columns_.infos[column].bound_us * kMargin * seen_[kind].least);
  return least;
}

}  // namespace korch
