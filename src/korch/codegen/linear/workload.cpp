#include "korch/codegen/linear/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "korch/codegen/linear/output_map.h"
#include "korch/ir/index_map.h"
#include "korch/kernel/product.h"

namespace korch::linear {

namespace {

Refusal refuse(const std::string& detail) {
  return {RefusalReason::no_kernel_family, detail};
}

ConvShape conv_shape(const Node& node, const Shape& x, const Shape& w, const Shape& y) {
  const auto& attrs = std::get<ConvAttrs>(node.attrs);
  const bool flat = x.size() == 3;
  const size_t last = flat ? 0 : 1;  // entry of the spatial vectors that is the width
  ConvShape s;
  s.images = x[0];
  s.in_channels = x[1];
  s.in_height = flat ? 1 : x[2];
  s.in_width = x.back();
  s.out_channels = y[1];
  s.out_height = flat ? 1 : y[2];
  s.out_width = y.back();
  s.kernel_h = flat ? 1 : w[2];
  s.kernel_w = w.back();
  s.stride_w = attrs.strides[last];
  s.dilation_w = attrs.dilations[last];
  s.pad_left = attrs.pads_before[last];
  s.pad_right = attrs.pads_after[last];
  if (!flat) {
    s.stride_h = attrs.strides[0];
    s.dilation_h = attrs.dilations[0];
    s.pad_top = attrs.pads_before[0];
    s.pad_bottom = attrs.pads_after[0];
  }
  s.group = attrs.group;
  return s;
}

// The share of (result, tap) pairs that meet an element rather than padding; a transposed convolution's that
// land inside.
double inner_share(const Node& node, const Shape& x, const Shape& w, const Shape& y) {
  const auto& attrs = std::get<ConvAttrs>(node.attrs);
  const bool transposed = node.op == Op::ConvTranspose;
  double share = 1;
  for (size_t i = 0; i < attrs.strides.size(); ++i) {
    const int64_t extent = transposed ? x[i + 2] : y[i + 2], limit = transposed ? y[i + 2] : x[i + 2];
    const Coordinate place{
        .scale = attrs.strides[i], .step = attrs.dilations[i], .offset = -attrs.pads_before[i]};
    const std::vector<int64_t> inside = taps_inside(place, w[i + 2], limit, extent);
    share *= std::accumulate(inside.begin(), inside.end(), 0.0) / (extent * w[i + 2]);
  }
  return share;
}

// The convolution that Winograd's three primitives compute.
ConvShape winograd_shape(const WinogradAttrs& input, const Shape& x, const Shape& y) {
  ConvShape s;
  s.images = x[0];
  s.in_channels = x[1];
  s.in_height = x[2];
  s.in_width = x[3];
  s.out_channels = y[1];
  s.out_height = y[2];
  s.out_width = y[3];
  s.kernel_h = s.kernel_w = input.taps;
  s.pad_top = input.pads_before[0];
  s.pad_left = input.pads_before[1];
  s.pad_bottom = input.pads_after[0];
  s.pad_right = input.pads_after[1];
  return s;
}

MatMulShape matmul_shape(const Node& node, const Shape& a, const Shape& y) {
  const auto attrs = node.op == Op::MatMul ? std::get<MatMulAttrs>(node.attrs) : MatMulAttrs();
  MatMulShape s;
  s.transpose_a = attrs.transpose_a;
  s.transpose_b = attrs.transpose_b;
  s.batch.assign(y.begin(), y.end() - 2);
  s.batches = element_count(s.batch);
  s.m = y[y.size() - 2];
  s.n = y[y.size() - 1];
  s.k = attrs.transpose_a ? a[a.size() - 2] : a[a.size() - 1];
  return s;
}

// Whether one step keeps a one-to-one relation to the linear result.
bool follows_elementwise(const Graph& graph, const Node& node, ValueId from) {
  return may_follow(graph, node, graph.value(from).type.elements()) &&
         (info(node.op).category != Category::elementwise ||
          graph.value(from).type.shape == graph.value(node.outputs[0]).type.shape);
}

// Values of the candidate that follow from the linear result; empty with `detail` set when a node does not
// fit.
std::set<ValueId> epilogue_values(const Graph& graph, const Candidate& candidate,
                                  const LinearWorkload& workload, std::string& detail) {
  std::set<ValueId> following = {workload.value};
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    if (id == workload.node) continue;
    bool depends = false;
    for (ValueId input : node.inputs) {
      if (!following.count(input)) continue;
      depends = true;
      if (!follows_elementwise(graph, node, input)) {
        detail = fmt::format("{} on the result of {}", name(node.op), name(graph.node(workload.node).op));
        return {};
      }
    }
    if (depends) following.insert(node.outputs[0]);
  }
  return following;
}

}  // namespace

bool may_follow(const Graph& graph, const Node& node, int64_t elements) {
  return (info(node.op).category == Category::elementwise || node.op == Op::Transpose ||
          node.op == Op::Reshape) &&
         graph.value(node.outputs[0]).type.elements() == elements;
}

bool may_precede(const Node& node) {
  const OpInfo& op = info(node.op);
  return op.category == Category::layout || op.category == Category::elementwise || op.fusing.weighs_window ||
         op.fusing.part == LinearPart::data;
}

const TensorType& type_of(const LinearWorkload& workload, ValueId value) {
  return workload.graph->value(value).type;
}

DType element_type(const LinearWorkload& workload) {
  return type_of(workload, workload.value).dtype;
}

int64_t bytes_of(const LinearWorkload& workload, int64_t elements) {
  return elements * static_cast<int64_t>(size_bytes(element_type(workload)));
}

namespace {

// The candidate's primitives that are more than elementwise or layout.
struct Parts {
  NodeId linear = kNoId, window = kNoId, winograd_input = kNoId, winograd_output = kNoId;
  std::set<ValueId> made;  // by any primitive
};

// Sets what is empty in `parts`; gives what does not fit.
std::string find_parts(const Graph& graph, const Candidate& candidate, Parts& parts) {
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    parts.made.insert(node.outputs.begin(), node.outputs.end());
    if (info(node.op).category == Category::linear) {
      if (parts.linear != kNoId) return "two linear primitives";
      parts.linear = id;
    } else if (node.op == Op::WindowDot) {
      if (parts.window != kNoId) return "two depthwise windows before a linear primitive";
      parts.window = id;
    } else if (node.op == Op::WinogradInput) {
      parts.winograd_input = id;
    } else if (node.op == Op::WinogradOutput) {
      parts.winograd_output = id;
    } else if (const Category category = info(node.op).category;
               category != Category::elementwise && category != Category::layout) {
      return fmt::format("{} beside a linear primitive", name(node.op));
    }
  }
  if (parts.linear == kNoId) return "no linear primitive";
  const Node& node = graph.node(parts.linear);
  if (std::holds_alternative<ConvAttrs>(node.attrs) && node.inputs.size() != 2)
    return "linear primitive with a bias operand";
  const bool is_whole = parts.winograd_input != kNoId && parts.winograd_output != kNoId &&
                        graph.node(parts.winograd_input).outputs[0] == node.inputs[0] &&
                        graph.node(parts.winograd_output).inputs[0] == node.outputs[0];
  const bool has_transforms = parts.winograd_input != kNoId || parts.winograd_output != kNoId;
  if (node.op == Op::WinogradProduct ? !is_whole : has_transforms)
    return "a part of Winograd's three primitives";
  return {};
}

// What the primitive reads and gives; Winograd's three together are one.
void set_operands(const Parts& parts, LinearWorkload& workload) {
  const Graph& graph = *workload.graph;
  const Node& node = graph.node(parts.linear);
  const bool is_winograd = node.op == Op::WinogradProduct;
  workload.node = is_winograd ? parts.winograd_output : parts.linear;
  workload.window = parts.window;
  workload.value = graph.node(workload.node).outputs[0];
  workload.data = is_winograd ? graph.node(parts.winograd_input).inputs[0] : node.inputs[0];
  workload.weight = node.inputs[1];
  workload.data_fused = parts.made.count(workload.data) > 0;
  workload.weight_fused = parts.made.count(workload.weight) > 0;
  workload.weight_constant = graph.constant(workload.weight) != nullptr;
}

// Extents and arithmetic; gives what does not fit.
std::string set_shape(const Parts& parts, LinearWorkload& workload) {
  const Graph& graph = *workload.graph;
  const Node& node = graph.node(parts.linear);
  const Shape& x = type_of(workload, workload.data).shape;
  const Shape& w = type_of(workload, workload.weight).shape;
  const Shape& y = type_of(workload, workload.value).shape;
  if (element_count(y) == 0 || element_count(x) == 0) return "empty tensor";
  if (node.op == Op::NarrowMatMul) {
    const auto& attrs = std::get<NarrowAttrs>(node.attrs);
    const int64_t block = std::min(attrs.block, x.back());
    const bool in_steps = block % tile::kNibbles == 0 || block == x.back();
    workload.narrow = {node.inputs[2], node.inputs.size() > 3 ? node.inputs[3] : kNoId, block,
                       attrs.bits == 4 && !in_steps ? 8 : attrs.bits};
  }
  if (node.op == Op::MatMul || node.op == Op::NarrowMatMul) {
    workload.matmul = matmul_shape(node, x, y);
    workload.flops = workload.inner_flops = 2.0 * element_count(y) * workload.matmul->k;
  } else if (node.op == Op::WinogradProduct) {
    workload.winograd_tile = std::get<WinogradAttrs>(node.attrs).tile;
    workload.conv = winograd_shape(std::get<WinogradAttrs>(graph.node(parts.winograd_input).attrs), x, y);
    const Shape& product = graph.value(node.outputs[0]).type.shape;
    workload.flops = workload.inner_flops =
        2.0 * element_count(product) * graph.value(node.inputs[0]).type.shape[2];
  } else {
    if (x.size() == 3 || x.size() == 4) workload.conv = conv_shape(node, x, w, y);
    const double taps = static_cast<double>(element_count(w)) / w[0];
    workload.flops = 2.0 * taps * element_count(node.op == Op::Conv ? y : x);
    workload.inner_flops = workload.flops * inner_share(node, x, w, y);
  }
  if (workload.window != kNoId && !workload.conv)
    return "a depthwise window before another primitive than a convolution";
  return {};
}

// Why the outputs do not follow from the linear result element by element; empty when they do.
std::string epilogue_fault(const LinearWorkload& workload) {
  std::string detail;
  const std::set<ValueId> following = epilogue_values(*workload.graph, *workload.candidate, workload, detail);
  if (following.empty()) return detail;
  for (ValueId output : workload.candidate->outputs)
    if (!following.count(output)) return "an output that does not follow from the linear result";
  const Shape& y = type_of(workload, workload.value).shape;
  Coords place;
  for (size_t axis = 0; axis < y.size(); ++axis)
    place.push_back(Index::variable(fmt::format("place{}", axis), y[axis]));
  return output_coords(workload, place).empty() ? "the linear result meets itself in another order" : "";
}

}  // namespace

Result<LinearWorkload> analyze(const Graph& graph, const Candidate& candidate) {
  LinearWorkload workload;
  workload.graph = &graph;
  workload.candidate = &candidate;
  Parts parts;
  if (const std::string fault = find_parts(graph, candidate, parts); !fault.empty()) return refuse(fault);
  set_operands(parts, workload);
  if (const std::string fault = set_shape(parts, workload); !fault.empty()) return refuse(fault);
  if (const std::string fault = epilogue_fault(workload); !fault.empty()) return refuse(fault);
  return workload;
}

namespace {

bool skips_elements(const Graph& graph, const Node& node) {
  if (node.op == Op::Slice || looks_up(node.op)) return true;
  const auto* conv = std::get_if<ConvAttrs>(&node.attrs);
  if (conv == nullptr || node.op != Op::Conv) return false;
  const Shape& kernel = graph.value(node.inputs[1]).type.shape;
  for (size_t i = 0; i < conv->strides.size(); ++i)
    if (conv->strides[i] > kernel[i + 2] || conv->dilations[i] > 1) return true;
  return false;
}

}  // namespace

double touched_bytes(const Graph& graph, const Candidate& candidate) {
  std::set<ValueId> skipped;
  for (NodeId id : candidate.nodes)
    if (skips_elements(graph, graph.node(id))) skipped.insert(graph.node(id).inputs[0]);
  std::set<ValueId> nibbles;
  for (NodeId id : candidate.nodes)
    if (const auto* narrow = std::get_if<NarrowAttrs>(&graph.node(id).attrs); narrow && narrow->bits == 4)
      nibbles.insert(graph.node(id).inputs[1]);
  double bytes = 0;
  for (const auto* values : {&candidate.inputs, &candidate.constants, &candidate.outputs})
    for (ValueId value : *values)
      if (!skipped.count(value))
        bytes += static_cast<double>(graph.value(value).type.bytes()) / (nibbles.count(value) ? 2 : 1);
  return bytes;
}

bool is_float32(const LinearWorkload& workload) {
  for (ValueId value : {workload.data, workload.weight, workload.value})
    if (type_of(workload, value).dtype != DType::f32) return false;
  return true;
}

DType operand_type(const LinearWorkload& workload) {
  return type_of(workload, workload.data).dtype;
}

int64_t operand_bytes(const LinearWorkload& workload, int64_t elements) {
  return elements * static_cast<int64_t>(size_bytes(operand_type(workload)));
}

int64_t weight_bytes(const LinearWorkload& workload, int64_t elements) {
  return workload.narrow ? elements * workload.narrow->bits / 8 : operand_bytes(workload, elements);
}

bool multiplies_pairs_of_bfloat16(const LinearWorkload& workload) {
  return operand_type(workload) == DType::bf16 && element_type(workload) == DType::f32;
}

bool multiplies_bytes(const LinearWorkload& workload) {
  return operand_type(workload) == DType::u8 && element_type(workload) == DType::i32;
}

int64_t terms_together(const LinearWorkload& workload) {
  if (multiplies_pairs_of_bfloat16(workload)) return 2;
  if (multiplies_bytes(workload)) return 4;
  return element_type(workload) == DType::i32 && operand_type(workload) == DType::i16 ? 2 : 1;
}

bool has_register_tiles(const LinearWorkload& workload, const Device& target) {
  if (terms_together(workload) == 4) return target.multiplies_bytes;
  if (workload.narrow) return !target.is_gpu() && workload.weight_constant;
  if (multiplies_pairs_of_bfloat16(workload)) return multiplies_bfloat16(target);
  return operand_type(workload) == type_of(workload, workload.weight).dtype &&
         (operand_type(workload) == element_type(workload) || terms_together(workload) == 2) &&
         tile::has_register_tiles(element_type(workload));
}

}  // namespace korch::linear
