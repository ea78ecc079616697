#include "korch/codegen/loop/cost.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "korch/ir/index_map.h"

namespace korch::tile {
namespace {

// Elements of an axis of `in` that the windows at `positions` read, or fewer.
int64_t covered(const PoolAttrs& pool, size_t axis, int64_t positions, int64_t in) {
  const int64_t kernel = pool.kernel[axis], stride = pool.strides[axis], dilation = pool.dilations[axis];
  const int64_t before = pool.pads_before[axis], after = pool.pads_after[axis];
  const bool gapless = dilation == 1 ? stride <= kernel : stride == 1 && dilation <= positions;
  const int64_t span = (positions - 1) * stride + (kernel - 1) * dilation + 1;
  return std::clamp<int64_t>(gapless ? span - before : positions * std::min(stride, kernel) - before - after,
                             0, in);
}

// Elements of `input` that must be read when `needed` elements of the node's output are needed.
double needed_of(const Graph& graph, const Node& node, size_t operand, double needed) {
  const TensorType& in = graph.value(node.inputs[operand]).type;
  const TensorType& out = graph.value(node.outputs[0]).type;
  const auto all = static_cast<double>(in.elements());
  const bool whole = needed >= static_cast<double>(out.elements());
  if (node.op == Op::Transpose || node.op == Op::Reshape || node.op == Op::Slice)
    return std::min(all, needed);
  if (looks_up(node.op) && operand == 0) return 0;
  if (node.op == Op::Gather) return whole ? all : 0;
  const auto* pool = std::get_if<PoolAttrs>(&node.attrs);
  if (pool == nullptr) return whole ? all : (in.shape == out.shape ? needed : 0);
  if (!whole) return 0;
  if (operand == 1) return all;
  double count = static_cast<double>(in.shape[0]) * static_cast<double>(in.shape[1]);
  for (size_t s = 0; s < pool->kernel.size(); ++s)
    count *= static_cast<double>(covered(*pool, s, out.shape[2 + s], in.shape[2 + s]));
  return count;
}

std::map<ValueId, double> needed_elements(const Graph& graph, const Candidate& candidate) {
  std::map<ValueId, double> needed;
  for (ValueId output : candidate.outputs)
    needed[output] = static_cast<double>(graph.value(output).type.elements());
  for (size_t i = candidate.nodes.size(); i-- > 0;) {
    const Node& node = graph.node(candidate.nodes[i]);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      double& need = needed[node.inputs[k]];
      need = std::max(need, needed_of(graph, node, k, needed[node.outputs[0]]));
    }
  }
  return needed;
}

// Every window is computed once, whatever reads it: lowering makes an intermediate of what one window reads
// from another.
double window_flops(const Graph& graph, const Node& node) {
  const Shape& in = graph.value(node.inputs[0]).type.shape;
  const Shape& out = graph.value(node.outputs[0]).type.shape;
  const IndexMaps maps = index_maps(graph, node);
  double taps = static_cast<double>(out[0]) * static_cast<double>(out[1]);
  for (size_t s = 0; s < maps.taps.size(); ++s) {
    const std::vector<int64_t> inside =
        taps_inside(maps.operands[0].coordinates[2 + s], maps.taps[s], in[2 + s], out[2 + s]);
    taps *= std::accumulate(inside.begin(), inside.end(), 0.0);
  }
  const double combinations = std::max(0.0, taps - static_cast<double>(element_count(out)));
  return node.op == Op::WindowDot ? taps + combinations : combinations;
}

}  // namespace

double flops_of(ScalarFn fn) {
  if (fn == ScalarFn::exp || fn == ScalarFn::expm1 || fn == ScalarFn::log || fn == ScalarFn::log1p) return 16;
  if (fn == ScalarFn::tanh) return 24;
  if (fn == ScalarFn::erf) return 32;
  if (fn == ScalarFn::div || fn == ScalarFn::reciprocal || fn == ScalarFn::sqrt) return 4;
  if (fn == ScalarFn::pow || fn == ScalarFn::mod || fn == ScalarFn::fmod) return 8;
  if (ScalarFn::sin <= fn && fn <= ScalarFn::atanh) return 8;
  return fn <= ScalarFn::constant || fn == ScalarFn::cast ? 0 : 1;
}

bool is_expensive(Op op) {
  for (const ScalarExpr::Term& term : scalar_semantics(op).terms)
    if (flops_of(term.fn) > 1) return true;
  return false;
}

double least_bytes(const Graph& graph, const Candidate& candidate) {
  const std::map<ValueId, double> needed = needed_elements(graph, candidate);
  double bytes = 0;
  auto add = [&](ValueId value) {
    const auto found = needed.find(value);
    if (found != needed.end())
      bytes += found->second * static_cast<double>(size_bytes(graph.value(value).type.dtype));
  };
  for (ValueId value : candidate.inputs) add(value);
  for (ValueId value : candidate.constants)
    if (graph.value(value).type.elements() > 1) add(value);
  for (ValueId value : candidate.outputs) add(value);
  return bytes;
}

double least_flops(const Graph& graph, const Candidate& candidate) {
  const std::map<ValueId, double> needed = needed_elements(graph, candidate);
  double flops = 0;
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    const Category category = info(node.op).category;
    if (category == Category::reduce) flops += needed.at(node.inputs[0]);
    const TensorType& result = graph.value(node.outputs[0]).type;
    if (category == Category::window && needed.at(node.outputs[0]) >= static_cast<double>(result.elements()))
      flops += window_flops(graph, node);
    if (category != Category::elementwise) continue;
    double each = 0;
    for (const ScalarExpr::Term& term : scalar_semantics(node.op).terms) each += flops_of(term.fn);
    flops += each * needed.at(node.outputs[0]);
  }
  return flops;
}

}  // namespace korch::tile
