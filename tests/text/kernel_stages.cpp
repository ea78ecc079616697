// What stands for kernels before a plan: columns, tile graphs, lowered tile graphs.
#include <fmt/format.h>

#include <memory>
#include <random>

#include "../codegen_loop/generate.h"
#include "../codegen_loop/tile_graph_check.h"
#include "korch/codegen/implementation.h"
#include "korch/codegen/passes/passes.h"
#include "korch/groups/group_terms.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/search/columns.h"
#include "stages.h"

namespace korch {
namespace {

std::string tensor_text(const Graph& graph, const TensorKey& tensor) {
  return fmt::format("%{} {}", graph.value(tensor.value).name, to_string(tensor.layout));
}

std::string what(const Graph& graph, const Columns& columns, int column) {
  const ColumnInfo& info = columns.infos[column];
  switch (info.kind) {
    case ColumnInfo::Kind::kernel:
      return describe(graph, columns, column);
    case ColumnInfo::Kind::reorder:
      return "reorder";
    case ColumnInfo::Kind::view:
      return fmt::format("view {}", name(graph.node(info.view_node).op));
  }
  return {};
}

// The one candidate that holds every primitive, with this structure.
Candidate whole_graph(const Graph& graph, const std::string& block) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.topological_order())
    if (info(graph.node(id).op).category != Category::constant) nodes.push_back(id);
  Candidate candidate = make_candidate(graph, nodes, graph.outputs());
  if (block.empty()) return candidate;
  const groups::GroupTerms group = groups::terms_of(graph, candidate).value();
  block::PlacedGraph placed{block::parse_block_graph(block), group.leaves, group.results, "by hand"};
  for (size_t i = 0; i < placed.graph.axes.size(); ++i)
    placed.graph.axes[i].extent = group.terms.axes.at(i).extent;
  KORCH_ASSERT(placed.graph.leaves == group.terms.leaves, "the block graph has leaves of another group");
  candidate.structures = {std::make_shared<const block::PlacedGraph>(std::move(placed))};
  return candidate;
}

bool is_wanted(const Implementation& implementation, const RunLine& line) {
  return implementation.family == line.family &&
         (line.layouts.empty() || to_string(implementation).ends_with(" " + line.layouts));
}

// Floats in [-1, 1); integers 0 or 1, which every index allows.
HostTensor random_tensor(const TensorType& type, std::mt19937_64& random) {
  HostTensor tensor(TensorType{DType::f64, type.shape});
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    constexpr double kHalf = 0x1p63;
    const auto number = static_cast<double>(random());
    tensor.mutable_data<double>()[i] = is_float(type.dtype) ? number / kHalf - 1 : number >= kHalf;
  }
  return converted(tensor, type.dtype);
}

// Large constants are given as one number: a kernel that confuses their elements would not be seen.
void vary_large_constants(Graph& graph, std::mt19937_64& random) {
  const auto nodes = static_cast<NodeId>(graph.node_count());
  for (NodeId id = 0; id < nodes; ++id) {
    if (graph.node(id).op != Op::Constant) continue;
    const ValueId value = graph.node(id).outputs[0];
    const TensorType type = graph.value(value).type;
    if (type.elements() <= kInlineConstantElements) continue;
    graph.kill_node(id);
    graph.add_alternative(Op::Constant, ConstantAttrs{random_tensor(type, random)}, {}, {value});
  }
}

std::string refusal_text(const Refusal& refusal) {
  return fmt::format("refused: {}: {}\n", name(refusal.reason), refusal.detail);
}

// Of each kernel that is wanted its tile graph; of none, which others there are and why.
std::string tile_graphs(const Graph& graph, const RunLine& line, bool lowered) {
  const Candidate candidate = whole_graph(graph, line.block);
  std::vector<Refusal> refused;
  const std::vector<Implementation> all =
      implementations(graph, candidate, line.target, line.accuracy(), &refused);
  std::string text, others;
  for (const Implementation& implementation : all) {
    others += " " + to_string(implementation) + ";";
    if (!is_wanted(implementation, line)) continue;
    text += to_string(implementation) + "\n";
    Result<tile::ScheduledGraph> built = tile_graph(graph, candidate, implementation, line.target);
    if (!built) {
      text += refusal_text(built.refusal());
      continue;
    }
    tile::ScheduledGraph tiles = std::move(built).value();
    if (lowered) tile::lower_for_cpu(tiles, line.target);
    text += print(tiles);
  }
  if (!text.empty()) return text;
  text = fmt::format("no such kernel; others:{}\n", others.empty() ? " none" : others);
  for (const Refusal& refusal : refused) text += refusal_text(refusal);
  return text;
}

}  // namespace

std::string columns_text(const Graph& graph, const RunLine& line) {
  const Columns columns = build_columns(graph, enumerate_candidates(graph, linear_context()).candidates,
                                        line.target, {.accuracy = line.accuracy()});
  std::string text;
  for (size_t i = 0; i < columns.infos.size(); ++i) {
    const ColumnInfo& info = columns.infos[i];
    const Column& column = columns.problem.columns[i];
    text += what(graph, columns, static_cast<int>(i));
    if (info.kind != ColumnInfo::Kind::kernel)
      text += fmt::format(" {} -> {}", tensor_text(graph, columns.tensors[column.inputs[0]]),
                          tensor_text(graph, columns.tensors[column.outputs[0]]));
    if (info.kind == ColumnInfo::Kind::view)
      text += fmt::format(" | at byte {}\n", info.view_offset_bytes);
    else
      text += fmt::format(" | {:.0f} flops, {:.0f} bytes, bound {:.3f} us\n", info.flops, info.bytes,
                          info.bound_us);
  }
  for (const auto& [reason, count] : columns.refused) text += fmt::format("refused {}: {}\n", reason, count);
  return text;
}

void check_kernels(const std::string& input, const RunLine& line) {
  constexpr double kTolerance = 1e-5;
  std::mt19937_64 random(1);
  const Input parts = split_input(input);
  Graph graph = parse_graph(parts.graph);
  vary_large_constants(graph, random);
  const Candidate candidate = whole_graph(graph, parts.block);
  std::vector<HostTensor> by_graph, inputs;
  for (ValueId id : graph.inputs()) by_graph.push_back(random_tensor(graph.value(id).type, random));
  for (ValueId id : candidate.inputs)
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      if (graph.inputs()[i] == id) inputs.push_back(by_graph[i]);
  std::vector<HostTensor> expected;
  const std::vector<HostTensor> outputs = interpret(graph, by_graph);
  for (ValueId id : candidate.outputs)
    for (size_t i = 0; i < outputs.size(); ++i)
      if (graph.outputs()[i] == id) expected.push_back(outputs[i]);
  for (const Implementation& implementation : implementations(graph, candidate, line.target, line.accuracy()))
    if (is_wanted(implementation, line))
      testing::check_tile_graph(graph, candidate, implementation, line.target, inputs, expected, kTolerance,
                                to_string(implementation));
}

std::string tiles_text(const Graph& graph, const RunLine& line) {
  return tile_graphs(graph, line, false);
}

std::string lowered_text(const Graph& graph, const RunLine& line) {
  return tile_graphs(graph, line, true);
}

}  // namespace korch
