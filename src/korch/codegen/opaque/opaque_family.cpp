#include "korch/codegen/opaque/opaque_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/codegen/cpu/source_text.h"

namespace korch {
namespace {

constexpr int64_t kElementsPerSlice = 4096;

// One primitive whose operands are arguments: arg0, arg1 ... the inputs, then the outputs.
struct Work {
  const Node& node;
  std::vector<TensorType> inputs, outputs;
  std::vector<int> input_arguments, output_arguments;  // their numbers in the ABI

  std::string in(size_t i) const { return fmt::format("arg{}", input_arguments[i]); }
  std::string out(size_t i) const { return fmt::format("arg{}", output_arguments[i]); }
  template <typename T>
  const T& attrs() const {
    return std::get<T>(node.attrs);
  }
};

// The body of one phase: statements for item `p` of `count`; slices are runs of `per_slice` items.
struct Phase {
  int64_t count = 1, per_slice = kElementsPerSlice;
  std::string body;
};

int64_t elements(const Shape& shape, size_t from, size_t to) {
  return element_count(Shape(shape.begin() + from, shape.begin() + to));
}

// A checked index: counts from the end when negative.
std::string checked(const std::string& name, const std::string& value, int64_t extent) {
  return fmt::format(
      "int64_t {0} = (int64_t){1}; if ({0} < 0) {0} += {2}; if ((uint64_t){0} >= {2}) return 1;\n", name,
      value, extent);
}

Phase copy_phase(const Work& w) {
  return {w.outputs[0].elements(), kElementsPerSlice, fmt::format("{}[p] = {}[p];\n", w.out(0), w.in(0))};
}

// `at`: the element of the data that element p of the indices addresses.
std::string element_position(const Work& w) {
  const auto axis = static_cast<size_t>(w.attrs<AxisAttrs>().axis);
  const Shape &data = w.inputs[0].shape, &indices = w.inputs[1].shape;
  const Shape strides = row_major_strides(data);
  std::string text =
      checked("index", fmt::format("{}[p]", w.in(1)), data[axis]) + "int64_t rest = p, at = 0;\n";
  for (size_t i = indices.size(); i-- > 0;) {
    if (i == axis)
      text += fmt::format("at += index * {};\n", strides[i]);
    else
      text += fmt::format("at += rest % {} * {};\n", indices[i], strides[i]);
    text += fmt::format("rest /= {};\n", indices[i]);
  }
  return text;
}

// `at`: where the slice of `length` elements starts that tuple p of the indices addresses.
std::string slice_position(const Work& w, int64_t batch_axes, int64_t& length) {
  const Shape &data = w.inputs[0].shape, &indices = w.inputs[1].shape;
  const int64_t depth = indices.back(), tuples = elements(indices, 0, indices.size() - 1);
  const Shape strides = row_major_strides(data);
  length = elements(data, batch_axes + depth, data.size());
  std::string text = fmt::format("int64_t at = p / {} * {};\n", tuples / elements(data, 0, batch_axes),
                                 elements(data, batch_axes, data.size()));
  for (int64_t d = 0; d < depth; ++d) {
    const std::string name = fmt::format("index{}", d);
    text += checked(name, fmt::format("{}[p * {} + {}]", w.in(1), depth, d), data[batch_axes + d]);
    text += fmt::format("at += {} * {};\n", name, strides[batch_axes + d]);
  }
  return text;
}

std::vector<Phase> gather_elements(const Work& w) {
  return {{w.outputs[0].elements(), kElementsPerSlice,
           element_position(w) + fmt::format("{}[p] = {}[at];\n", w.out(0), w.in(0))}};
}

// Later updates of one element win, so one slice does them all, in order.
std::vector<Phase> scatter_elements(const Work& w) {
  const int64_t count = w.inputs[1].elements();
  return {copy_phase(w),
          {count, count, element_position(w) + fmt::format("{}[at] = {}[p];\n", w.out(0), w.in(2))}};
}

std::vector<Phase> gather_nd(const Work& w) {
  int64_t length = 0;
  const std::string position = slice_position(w, w.attrs<AxisAttrs>().axis, length);
  const int64_t tuples = elements(w.inputs[1].shape, 0, w.inputs[1].shape.size() - 1);
  return {{tuples, std::max<int64_t>(1, kElementsPerSlice / length),
           position + fmt::format("for (int64_t k = 0; k < {0}; ++k) {1}[p * {0} + k] = {2}[at + k];\n",
                                  length, w.out(0), w.in(0))}};
}

std::vector<Phase> scatter_nd(const Work& w) {
  int64_t length = 0;
  const std::string position = slice_position(w, 0, length);
  const int64_t tuples = elements(w.inputs[1].shape, 0, w.inputs[1].shape.size() - 1);
  return {copy_phase(w),
          {tuples, tuples,
           position + fmt::format("for (int64_t k = 0; k < {0}; ++k) {1}[at + k] = {2}[p * {0} + k];\n",
                                  length, w.out(0), w.in(2))}};
}

// Lanes along an axis: lane p starts at `first` and advances by `inner`.
struct Lanes {
  int64_t count, extent, inner;
};
Lanes lanes_of(const Shape& shape, int64_t axis) {
  const int64_t inner = elements(shape, axis + 1, shape.size());
  return {elements(shape, 0, axis) * inner, shape[axis], inner};
}

std::vector<Phase> cum_sum(const Work& w) {
  const auto& attrs = w.attrs<ScanAttrs>();
  const Lanes lanes = lanes_of(w.inputs[0].shape, attrs.axis);
  const std::string at = fmt::format(
      "first + ({}) * {}", attrs.reverse ? fmt::format("{} - k", lanes.extent - 1) : "k", lanes.inner);
  // Integers wrap around, which C++ promises of unsigned ones only.
  const DType dtype = w.inputs[0].dtype;
  const std::string type = (is_integer(dtype) && is_signed(dtype) ? "u" : "") + tile::element_type(dtype);
  return {{lanes.count, std::max<int64_t>(1, kElementsPerSlice / lanes.extent),
           fmt::format(R"(const int64_t first = p / {0} * {1} + p % {0};
{2} sum = 0;
for (int64_t k = 0; k < {3}; ++k) {{
  const {2} before = sum;
  sum += {4}[{5}];
  {6}[{5}] = {7};
}}
)",
                       lanes.inner, lanes.extent * lanes.inner, type, lanes.extent, w.in(0), at, w.out(0),
                       attrs.exclusive ? "before" : "sum")}};
}

// Keeps the best k seen so far in order; of equal values the earlier stays before the later.
std::vector<Phase> top_k(const Work& w) {
  const auto& attrs = w.attrs<TopKAttrs>();
  const Lanes lanes = lanes_of(w.inputs[0].shape, attrs.axis);
  return {{lanes.count, std::max<int64_t>(1, kElementsPerSlice / lanes.extent),
           fmt::format(R"(const int64_t first = p / {0} * {1} + p % {0}, best = p / {0} * {2} + p % {0};
int64_t held = 0;
for (int64_t e = 0; e < {3}; ++e) {{
  const {4} x = {5}[first + e * {0}];
  int64_t place = held;
  while (place > 0 && x {6} {7}[best + (place - 1) * {0}]) --place;
  if (place == {8}) continue;
  if (held < {8}) ++held;
  for (int64_t k = held - 1; k > place; --k) {{
    {7}[best + k * {0}] = {7}[best + (k - 1) * {0}];
    {9}[best + k * {0}] = {9}[best + (k - 1) * {0}];
  }}
  {7}[best + place * {0}] = x;
  {9}[best + place * {0}] = e;
}}
)",
                       lanes.inner, lanes.extent * lanes.inner, attrs.k * lanes.inner, lanes.extent,
                       tile::element_type(w.inputs[0].dtype), w.in(0), attrs.largest ? ">" : "<", w.out(0),
                       attrs.k, w.out(1))}};
}

// The flat position of each window's maximum in the whole input; the first of equals.
std::vector<Phase> max_pool_indices(const Work& w) {
  const auto& pool = w.attrs<PoolAttrs>();
  const Shape &in = w.inputs[0].shape, &out = w.outputs[0].shape;
  std::string text = "int64_t rest = p;\n", loops, position = "0", inside = "true";
  for (size_t i = out.size(); i-- > 0;)
    text += fmt::format("const int64_t o{0} = rest % {1}; rest /= {1};\n", i, out[i]);
  for (size_t i = 0; i < in.size(); ++i) {
    if (i >= 2) {
      const size_t s = i - 2;
      loops += fmt::format(
          "for (int64_t k{0} = 0; k{0} < {1}; ++k{0}) {{\nconst int64_t c{0} = o{0} * {2} + k{0} * {3} - "
          "{4};\n",
          i, pool.kernel[s], pool.strides[s], pool.dilations[s], pool.pads_before[s]);
      inside += fmt::format(" && c{0} >= 0 && c{0} < {1}", i, in[i]);
    }
    position = fmt::format("({}) * {} + {}{}", position, in[i], i < 2 ? "o" : "c", i);
  }
  text += "int64_t best = -1;\n" + loops;
  text += fmt::format("if (!({})) continue;\nconst int64_t at = {};\n", inside, position);
  text += fmt::format("if (best < 0 || {0}[at] > {0}[best]) best = at;\n", w.in(0));
  for (size_t i = 2; i < in.size(); ++i) text += "}\n";
  text += fmt::format("{}[p] = best;\n", w.out(0));
  return {{w.outputs[0].elements(), 256, text}};
}

using Writer = std::vector<Phase> (*)(const Work&);

const std::map<Op, Writer>& writers() {
  static const std::map<Op, Writer> table = {
      {Op::GatherElements, gather_elements},
      {Op::GatherND, gather_nd},
      {Op::ScatterElements, scatter_elements},
      {Op::ScatterND, scatter_nd},
      {Op::CumSum, cum_sum},
      {Op::TopK, top_k},
      {Op::MaxPoolIndices, max_pool_indices},
  };
  return table;
}

std::string phase_text(const Phase& phase, size_t number, const std::vector<std::string>& argument_types) {
  std::string arguments;
  for (size_t i = 0; i < argument_types.size(); ++i)
    arguments += fmt::format("  {0}* const arg{1} = ({0}*)context->args[{1}];\n", argument_types[i], i);
  return fmt::format(R"(
extern "C" int32_t k{}(const struct korch_kernel_context* context, int64_t begin, int64_t end) {{
{}  for (int64_t p = begin * {}; p < index_min(end * {}, {}); ++p) {{
{}  }}
  return 0;
}}
)",
                     number, arguments, phase.per_slice, phase.per_slice, phase.count, phase.body);
}

}  // namespace

void list_opaque(const Graph& graph, const Candidate& candidate, const Target&, Accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const bool single = candidate.nodes.size() == 1;
  if (!single || info(graph.node(candidate.nodes[0]).op).category != Category::opaque) return;
  const Node& node = graph.node(candidate.nodes[0]);
  Implementation way;
  way.family = "opaque";
  for (const std::vector<ValueId>* list : {&node.inputs, &node.outputs}) {
    for (ValueId value : *list) {
      const TensorType& type = graph.value(value).type;
      if (type.elements() == 0) {
        refused.push_back({RefusalReason::no_kernel_family, "no elements: " + to_string(type)});
        return;
      }
    }
  }
  way.input_layouts.resize(candidate.inputs.size());
  way.output_layouts.resize(candidate.outputs.size());
  for (ValueId value : candidate.outputs) way.bytes += static_cast<double>(graph.value(value).type.bytes());
  found.push_back(std::move(way));
}

Result<Kernel> generate_opaque(const Graph& graph, const Candidate& candidate,
                               const Implementation& implementation, const Target& target) {
  const Node& node = graph.node(candidate.nodes[0]);
  const std::vector<ValueId>& outside = candidate.inputs;
  Work work{node, {}, {}, {}, {}};
  const int first_output = static_cast<int>(outside.size() + candidate.constants.size());
  std::vector<std::string> types(first_output);
  for (ValueId value : node.inputs) {
    const bool constant = graph.constant(value) != nullptr;
    const std::vector<ValueId>& list = constant ? candidate.constants : outside;
    const auto place = std::find(list.begin(), list.end(), value) - list.begin();
    work.inputs.push_back(graph.value(value).type);
    work.input_arguments.push_back(static_cast<int>(place + (constant ? outside.size() : 0)));
    types[work.input_arguments.back()] = tile::element_type(graph.value(value).type.dtype);
  }
  Kernel kernel;
  // An output that nobody asked for still has to be written somewhere: a temporary after the arguments.
  for (ValueId value : node.outputs) work.outputs.push_back(graph.value(value).type);
  for (ValueId value : candidate.outputs) types.push_back(tile::element_type(graph.value(value).type.dtype));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const auto at = std::find(candidate.outputs.begin(), candidate.outputs.end(), node.outputs[i]);
    int number = first_output + static_cast<int>(at - candidate.outputs.begin());
    if (at == candidate.outputs.end()) {
      number = static_cast<int>(types.size());
      types.push_back(tile::element_type(work.outputs[i].dtype));
      kernel.temporary_bytes.push_back(work.outputs[i].bytes());
    }
    work.output_arguments.push_back(number);
  }
  kernel.source = tile::SourceText(target.isa).preamble();
  const std::vector<Phase> phases = writers().at(node.op)(work);
  for (size_t i = 0; i < phases.size(); ++i) {
    kernel.source += phase_text(phases[i], i, types);
    kernel.phases.push_back(
        {fmt::format("k{}", i), (phases[i].count + phases[i].per_slice - 1) / phases[i].per_slice, 1});
  }
  kernel.constant_packing.resize(candidate.constants.size());
  kernel.flops = implementation.flops;
  kernel.bytes = implementation.bytes;
  return kernel;
}

}  // namespace korch
