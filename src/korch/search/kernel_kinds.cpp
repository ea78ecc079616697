#include "korch/search/kernel_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

namespace korch {
namespace {

char layout_letter(const Layout& layout) {
  return layout.is_row_major() ? 'r' : layout.block_axis >= 0 ? 'b' : 'c';
}

// Which layouts are read and made, however often.
std::string layouts_text(const Implementation& implementation) {
  std::string text;
  for (const std::vector<Layout>* list : {&implementation.input_layouts, &implementation.output_layouts}) {
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

}  // namespace

std::string kernel_name(const Implementation& implementation) {
  return fmt::format("{} {}{}", implementation.family, kind_of(implementation.schedule),
                     layouts_text(implementation));
}

std::vector<std::string> kind_names(const Graph& graph, const Columns& columns, const ColumnInfo& info) {
  if (info.kind == ColumnInfo::Kind::view) return {};
  const int size = static_cast<int>(std::floor(std::log2(info.bound_us) / 2));
  if (info.kind == ColumnInfo::Kind::reorder) return {fmt::format("reorder {}", size), "reorder"};
  const Implementation& implementation = info.implementation;
  const std::string kernel = kernel_name(implementation);
  const Work work = work_of(graph, columns.candidates[info.candidate]);
  return {fmt::format("{} {} {}", kernel, work.exact, size),
          fmt::format("{} {} {}", kernel, work.broad, size), fmt::format("{} {}", kernel, work.broad)};
}

}  // namespace korch
