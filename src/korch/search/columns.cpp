#include "korch/search/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "korch/ir/index_map.h"
#include "korch/ir/text.h"
#include "korch/search/peak_bounds.h"

namespace korch {
namespace {

class Builder {
 public:
  Builder(const Graph& graph, const Device& target) : graph_(graph), target_(target) {}

  void add_candidate(int index, const Candidate& candidate, const Hash& hash,
                     const Implementation& implementation) {
    ColumnInfo info;
    info.candidate = index;
    info.implementation = implementation;
    info.key = kernel_key(hash, implementation);
    info.flops = implementation.flops / static_cast<double>(implementation.flops_at_once);
    info.bytes = implementation.bytes;
    Column column;
    for (size_t i = 0; i < candidate.inputs.size(); ++i)
      column.inputs.push_back(tensor(candidate.inputs[i], implementation.input_layouts[i]));
    for (size_t i = 0; i < candidate.outputs.size(); ++i)
      column.outputs.push_back(tensor(candidate.outputs[i], implementation.output_layouts[i]));
    for (NodeId node : candidate.nodes)
      for (ValueId value : graph_.node(node).outputs) column.covers.push_back(static_cast<int>(value));
    sort_unique(column.covers);
    push(std::move(info), std::move(column));
  }

  // Same bytes under another name: reshapes, contiguous slices, transposes that equal a change of layout.
  void add_views() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (node.inputs.empty() || graph_.constant(node.inputs[0]) != nullptr) continue;
      if (node.op == Op::Reshape) add_reshape_views(id);
      if (node.op == Op::Slice) add_slice_view(id);
      if (node.op == Op::Transpose) add_transpose_views(id);
    }
  }

  void add_reorders() {
    std::map<ValueId, std::vector<int>> layouts;
    for (size_t t = 0; t < result.tensors.size(); ++t)
      layouts[result.tensors[t].value].push_back(static_cast<int>(t));
    for (const auto& [value, tensors] : layouts) {
      for (int from : tensors)
        for (int to : tensors)
          if (from != to) add_reorder(value, from, to);
    }
  }

  void finish() {
    Problem& problem = result.problem;
    for (ValueId input : graph_.inputs()) problem.available.push_back(tensor(input, Layout{}));
    for (ValueId output : graph_.outputs())
      if (graph_.constant(output) == nullptr) problem.required.push_back(tensor(output, Layout{}));
    sort_unique(problem.required);
  }

  void set_representatives() {
    std::unordered_map<Hash, int, HashHasher> first;
    for (size_t i = 0; i < result.infos.size(); ++i)
      result.infos[i].representative = first.emplace(result.infos[i].key, static_cast<int>(i)).first->second;
  }

  int tensor(ValueId value, const Layout& layout) {
    const TensorKey key{value, canonical(layout, graph_.value(value).type.shape)};
    const auto [place, inserted] = ids_.emplace(key, static_cast<int>(result.tensors.size()));
    if (inserted) {
      result.tensors.push_back(key);
      result.problem.tensor_class.push_back(static_cast<int>(value));
    }
    return place->second;
  }

  Columns result;

 private:
  static void sort_unique(std::vector<int>& items) {
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
  }

  void push(ColumnInfo info, Column column) {
    if (info.kind != ColumnInfo::Kind::view)
      info.bound_us = column.cost_us = lower_bound_us(info.flops, info.bytes, target_);
    result.infos.push_back(std::move(info));
    result.problem.columns.push_back(std::move(column));
  }

  void add_view(NodeId id, const Layout& from, const Layout& to, int64_t offset_bytes) {
    const Node& node = graph_.node(id);
    ColumnInfo info;
    info.kind = ColumnInfo::Kind::view;
    info.view_node = id;
    info.view_offset_bytes = offset_bytes;
    Column column;
    column.measured = true;
    column.inputs = {tensor(node.inputs[0], from)};
    column.outputs = {tensor(node.outputs[0], to)};
    column.covers = {static_cast<int>(node.outputs[0])};
    push(std::move(info), std::move(column));
  }

  void add_reshape_views(NodeId id) {
    const Node& node = graph_.node(id);
    const Shape& in_shape = graph_.value(node.inputs[0]).type.shape;
    const Shape& out_shape = graph_.value(node.outputs[0]).type.shape;
    const auto layouts = [](const Shape& shape) {
      return std::set<Layout>{{}, canonical(Layout::channels_last(static_cast<int>(shape.size())), shape)};
    };
    for (const Layout& from : layouts(in_shape))
      for (const Layout& to : layouts(out_shape))
        if (known(node.inputs[0], from) && known(node.outputs[0], to) &&
            same_bytes(in_shape, from, out_shape, to))
          add_view(id, from, to, 0);
  }

  void add_slice_view(NodeId id) {
    const Node& node = graph_.node(id);
    const auto start = start_of_run(index_maps(graph_, node).operands[0]);
    const DType type = graph_.value(node.inputs[0]).type.dtype;
    if (start) add_view(id, Layout{}, Layout{}, *start * static_cast<int64_t>(size_bytes(type)));
  }

  void add_transpose_views(NodeId id) {
    const Node& node = graph_.node(id);
    const auto& perm = std::get<PermAttrs>(node.attrs).perm;
    const Shape& in_shape = graph_.value(node.inputs[0]).type.shape;
    const Shape& out_shape = graph_.value(node.outputs[0]).type.shape;
    std::set<std::pair<Layout, Layout>> pairs;
    auto consider = [&](std::vector<int> in_order) {
      std::vector<int> out_order;
      for (int axis : in_order)
        out_order.push_back(static_cast<int>(std::find(perm.begin(), perm.end(), axis) - perm.begin()));
      pairs.insert({canonical(Layout{in_order}, in_shape), canonical(Layout{out_order}, out_shape)});
    };
    const int rank = static_cast<int>(perm.size());
    std::vector<int> identity(rank);
    for (int i = 0; i < rank; ++i) identity[i] = i;
    consider(identity);
    if (rank >= 3) consider(Layout::channels_last(rank).order);
    // The output row-major: the input lies in the order of the permutation.
    consider(std::vector<int>(perm.begin(), perm.end()));
    for (const auto& [from, to] : pairs)
      if (known(node.inputs[0], from) || known(node.outputs[0], to)) add_view(id, from, to, 0);
  }

  bool known(ValueId value, const Layout& layout) const {
    return layout.is_row_major() || ids_.count({value, layout}) != 0;
  }

  void add_reorder(ValueId value, int from, int to) {
    ColumnInfo info;
    info.kind = ColumnInfo::Kind::reorder;
    const TensorType& type = graph_.value(value).type;
    info.key =
        hash_text(fmt::format("reorder {} {} {}", to_string(type), to_string(result.tensors[from].layout),
                              to_string(result.tensors[to].layout)));
    info.bytes = 2.0 * static_cast<double>(type.bytes());
    Column column;
    column.is_reorder = true;
    column.inputs = {from};
    column.outputs = {to};
    push(std::move(info), std::move(column));
  }

  const Graph& graph_;
  const Device& target_;
  std::map<TensorKey, int> ids_;
};

bool is_row_major(const Implementation& way) {
  const auto all = [](const std::vector<Layout>& layouts) {
    return std::all_of(layouts.begin(), layouts.end(), [](const Layout& l) { return l.is_row_major(); });
  };
  return all(way.input_layouts) && all(way.output_layouts);
}

std::string describe(const Graph& graph, const Candidate& candidate) {
  std::string text;
  for (NodeId id : candidate.nodes)
    text += fmt::format("{}{}", text.empty() ? "" : " ", name(graph.node(id).op));
  text += " ->";
  for (ValueId output : candidate.outputs) text += " %" + graph.value(output).name;
  return text;
}

}  // namespace

bool same_bytes(const Shape& in_shape, const Layout& in_layout, const Shape& out_shape,
                const Layout& out_layout) {
  if (in_layout.is_row_major() && out_layout.is_row_major()) return true;
  if (in_layout.block_axis >= 0 || out_layout.block_axis >= 0) return false;
  const Shape in_strides = strides(in_shape, in_layout), out_strides = strides(out_shape, out_layout);
  // Cuts both shapes, innermost axis first, into common factors; each must step equally far in memory.
  size_t i = in_shape.size(), j = out_shape.size();
  int64_t in_left = 1, out_left = 1, in_step = 0, out_step = 0;
  for (;;) {
    while (in_left == 1 && i > 0) {
      in_left = in_shape[--i];
      in_step = in_strides[i];
    }
    while (out_left == 1 && j > 0) {
      out_left = out_shape[--j];
      out_step = out_strides[j];
    }
    if (in_left == 1 || out_left == 1) return in_left == out_left;
    const int64_t factor = std::min(in_left, out_left);
    if (factor == 0 || in_left % factor != 0 || out_left % factor != 0 || in_step != out_step) return false;
    in_left /= factor;
    out_left /= factor;
    in_step *= factor;
    out_step *= factor;
  }
}

Hash kernel_key(const Hash& candidate, const Implementation& implementation) {
  return hash_text(candidate.hex() + to_string(implementation));
}

int add_column(const Graph& graph, int from, Implementation implementation, Columns& columns) {
  const int added = static_cast<int>(columns.infos.size());
  ColumnInfo info = columns.infos[from];
  info.key = kernel_key(canonical_hash(graph, columns.candidates[info.candidate]), implementation);
  info.implementation = std::move(implementation);
  info.representative = added;
  Column column = columns.problem.columns[from];
  column.cost_us = std::numeric_limits<double>::infinity();
  columns.infos.push_back(std::move(info));
  columns.problem.columns.push_back(std::move(column));
  return added;
}

Columns build_columns(const Graph& graph, std::vector<Candidate> candidates, const Device& target,
                      const ColumnOptions& options) {
  Builder builder(graph, target);
  struct Ways {
    std::vector<Implementation> ways;
    std::vector<Refusal> refused;
  };
  std::unordered_map<Hash, Ways, HashHasher> known;  // isomorphic candidates have the same ones
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (i >= options.optional_from && options.deadline.is_over()) {
      builder.result.refused["budget"] += static_cast<int>(candidates.size() - i);
      candidates.resize(i);
      break;
    }
    const Hash hash = canonical_hash(graph, candidates[i]);
    const auto [place, is_new] = known.try_emplace(hash);
    auto& [ways, refused] = place->second;
    if (is_new) {
      ways = implementations(graph, candidates[i], target, options.accuracy, &refused);
      if (options.layouts == Layouts::row_major && std::any_of(ways.begin(), ways.end(), is_row_major))
        std::erase_if(ways, [](const Implementation& way) { return !is_row_major(way); });
    }
    if (ways.empty())
      ++builder.result
            .refused[refused.empty() ? name(RefusalReason::no_kernel_family) : name(refused[0].reason)];
    for (const Implementation& way : ways)
      builder.add_candidate(static_cast<int>(i), candidates[i], hash, way);
  }
  builder.finish();
  builder.add_views();
  builder.add_reorders();
  builder.set_representatives();
  builder.result.candidates = std::move(candidates);
  return std::move(builder.result);
}

std::string describe(const Graph& graph, const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) text += describe(graph, candidate) + "\n";
  return text;
}

std::string describe(const Graph& graph, const Columns& columns, int column) {
  const ColumnInfo& info = columns.infos[column];
  if (info.kind != ColumnInfo::Kind::kernel) return "a change of layout";
  return fmt::format("{} | {}", describe(graph, columns.candidates[info.candidate]),
                     to_string(info.implementation));
}

std::string describe(const Graph& graph, const Columns& columns) {
  std::string text;
  for (size_t i = 0; i < columns.infos.size(); ++i) {
    const ColumnInfo& info = columns.infos[i];
    if (info.kind != ColumnInfo::Kind::kernel) continue;
    const Column& column = columns.problem.columns[i];
    text += fmt::format("{} | {:.0f} flops, {:.0f} bytes, bound {:.3f} us{}\n",
                        describe(graph, columns, static_cast<int>(i)), info.implementation.flops,
                        info.implementation.bytes, info.bound_us,
                        column.measured ? fmt::format(", cost {:.3f} us", column.cost_us) : "");
  }
  return text;
}

std::string missing_kernels(const Graph& graph, const Columns& columns,
                            const std::map<RefusalReason, std::string>& refusal_examples) {
  std::vector<bool> covered(graph.value_count(), false);
  for (const Column& column : columns.problem.columns)
    if (column.cost_us < std::numeric_limits<double>::infinity())
      for (int value : column.covers) covered[value] = true;
  constexpr int kShown = 10;
  int missing = 0;
  std::string text;
  for (NodeId id : graph.topological_order()) {
    if (info(graph.node(id).op).category == Category::constant || covered[graph.node(id).outputs[0]])
      continue;
    if (++missing <= kShown) text += "\n  no kernel computes " + print(graph, id);
  }
  if (missing > kShown) text += fmt::format("\n  and {} more", missing - kShown);
  for (const auto& [reason, detail] : refusal_examples)
    text += fmt::format("\n  {}, for example: {}", name(reason), detail);
  return text.empty() ? "the program is infeasible" : text;
}

}  // namespace korch
