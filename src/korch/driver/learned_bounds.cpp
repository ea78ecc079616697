#include "korch/driver/learned_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

namespace korch {
namespace {

constexpr int kEnough = 8;       // kernels of a kind before it says anything
constexpr double kMargin = 0.9;  // how much faster than all that was seen of its kind a kernel may be

// Layouts decide how memory is walked; only whether they are alike is told apart.
const char* layout_kind(const Implementation& way) {
  bool row_major = false, other = false;
  for (const std::vector<Layout>* list : {&way.input_layouts, &way.output_layouts})
    for (const Layout& layout : *list) (layout.is_row_major() ? row_major : other) = true;
  return row_major && other ? "mixed" : other ? "other" : "rm";
}

std::string work_kind(const Graph& graph, const Candidate& candidate) {
  bool reduces = false, linear = false;
  for (NodeId id : candidate.nodes) {
    const Category category = info(graph.node(id).op).category;
    reduces = reduces || category == Category::reduce;
    linear = linear || category == Category::linear;
  }
  return fmt::format("{}{}", linear ? "linear " : "", reduces ? "reduce" : "");
}

// Narrow first: with the size of the bound, in powers of four; then without.
std::vector<std::string> kind_names(const Graph& graph, const Columns& columns, const ColumnInfo& info) {
  if (info.kind == ColumnInfo::Kind::view) return {};
  std::string kind = "reorder";
  if (info.kind == ColumnInfo::Kind::kernel) {
    const Implementation& way = info.implementation;
    // The first parameter is the variant of an algorithm in every family that has variants.
    kind = fmt::format("{} {} {} {}", way.family, way.params.empty() ? 0 : way.params[0], layout_kind(way),
                       work_kind(graph, columns.candidates[info.candidate]));
  }
  const int size = static_cast<int>(std::floor(std::log2(info.bound_us) / 2));
  return {fmt::format("{} {}", kind, size), kind};
}

}  // namespace

LearnedBounds::LearnedBounds(const Graph& graph, const Columns& columns) : columns_(columns) {
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
  const double analytic = columns_.infos[column].bound_us;
  for (int kind : kinds_[column])
    if (seen_[kind].count >= kEnough) return analytic * std::max(1.0, kMargin * seen_[kind].least);
  return analytic;
}

}  // namespace korch
