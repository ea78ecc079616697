// The plain kernel for any linear primitive of one product, offered where no other of ours is:
// linear_generic. Row-major; every row of the result along its last axis is accumulated in scratch, one
// weight times one run of the other operand at a time, then goes through the epilogue. Any number of spatial
// axes, groups, transposed convolution, and the types that ONNX allows for MatMul.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/micro_kernel.h"
#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/loop/emitter.h"

namespace korch {

using namespace linear;

namespace {

constexpr double kSliceFlops = 2e5;
// Every product loads and stores what it is added to: a quarter of what the units for products do, at most.
// Counted as that many, for the bound.
constexpr double kInstructionsPerProduct = 4;

std::string c_type(DType type) {
  switch (type) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    default:
      return "";
  }
}

Result<Problem> generic_problem(const Graph& graph, const Candidate& candidate) {
  Result<Problem> problem = analyze(graph, candidate);
  if (!problem.ok()) return problem;
  const Problem& p = problem.value();
  if (p.attention) return Refusal{RefusalReason::no_kernel_family, "two products"};
  const DType type = type_of(p, p.value).dtype;
  if (c_type(type).empty()) return Refusal{RefusalReason::unsupported_type, "linear primitive of this type"};
  if (type != DType::f32 && candidate.nodes.size() > 1)
    return Refusal{RefusalReason::unsupported_type, "fused linear primitive of a type other than float32"};
  if (p.data_fused || p.weight_fused)
    return Refusal{RefusalReason::no_kernel_family, "linear_generic computes no prologue"};
  return problem;
}

// acc[j * acc_step] += w * src[j * src_step], vectors where both steps are 1.
std::string accumulate_function(const std::string& type) {
  const bool vector = type == "float";
  std::string text = fmt::format(
      "static inline void accumulate({0}*acc,const {0}*src,{0} w,int64_t n,int64_t acc_step,int64_t "
      "src_step){{int64_t j=0;\n",
      type);
  if (vector)
    text += "if(acc_step==1&&src_step==1)for(;j+8<=n;j+=8)*(v8u*)(acc+j)+=w**(const v8u*)(src+j);\n";
  const std::string wrapping = type[0] == 'i' ? "u" + type : type;  // signed overflow is undefined in C++
  if (type[0] == 'i')
    text += fmt::format(
        "for(;j<n;++j)acc[j*acc_step]=({0})(({1})acc[j*acc_step]+({1})w*({1})src[j*src_step]);}}\n", type,
        wrapping);
  else
    text += "for(;j<n;++j)acc[j*acc_step]+=w*src[j*src_step];}\n";
  return text;
}

// Numbers of a row's axes out of `s`, outermost first: int64_t o0, o1, ...
std::string decode_row(const Shape& shape) {
  std::string text;
  int64_t stride = 1;
  for (size_t axis = shape.size() - 1; axis-- > 0;) {
    text += fmt::format("const int64_t o{0}=s/{1}%{2};(void)o{0};", axis, stride, shape[axis]);
    stride *= shape[axis];
  }
  return text + "\n";
}

std::string matmul_rows(const Problem& p) {
  const MatMulShape& m = *p.matmul;
  auto base = [&](const Shape& shape) {
    const Shape steps = row_major_strides(shape);
    const size_t rank = shape.size() - 2, skipped = m.batch.size() - rank;
    std::string text = "0";
    for (size_t i = 0; i < rank; ++i)
      if (shape[i] != 1) text += fmt::format("+o{}*{}", i + skipped, steps[i]);
    return text;
  };
  const Shape a = type_of(p, p.data).shape, b = type_of(p, p.weight).shape;
  return fmt::format(
      "const T*a={}+{};const T*b={}+{};\n"
      "for(int64_t k=0;k<{};++k)accumulate(acc,b+k*{},a[o{}*{}+k*{}],{},1,{});\n",
      argument_name(p, p.data), base(a), argument_name(p, p.weight), base(b), m.k, m.transpose_b ? 1 : m.n,
      m.batch.size(), m.transpose_a ? 1 : m.k, m.transpose_a ? m.m : 1, m.n, m.transpose_b ? m.k : 1);
}

// Convolution and transposed convolution: taps over all but the last spatial axis select an input row, taps
// along the last one shift it.
std::string conv_rows(const Problem& p) {
  const Node& node = p.graph->node(p.node);
  const auto& attrs = std::get<ConvAttrs>(node.attrs);
  const bool transposed = node.op == Op::ConvTranspose;
  const Shape x = type_of(p, p.data).shape, w = type_of(p, p.weight).shape, y = type_of(p, p.value).shape;
  const size_t spatial = x.size() - 2, last = spatial - 1;
  const Shape x_steps = row_major_strides(x), w_steps = row_major_strides(w);
  const int64_t out_per_group = y[1] / attrs.group, in_per_group = x[1] / attrs.group;
  std::string text = fmt::format(
      "const int64_t g=o1/{0};for(int64_t c=0;c<{1};++c){{const T*xr0={2}+o0*{3}+(g*{1}+c)*{4};\n",
      out_per_group, in_per_group, argument_name(p, p.data), x_steps[0], x_steps[1]);
  text += transposed ? fmt::format("const T*wr0={}+(g*{}+c)*{}+(o1%{})*{};\n", argument_name(p, p.weight),
                                   in_per_group, w_steps[0], out_per_group, w_steps[1])
                     : fmt::format("const T*wr0={}+o1*{}+c*{};\n", argument_name(p, p.weight), w_steps[0],
                                   w_steps[1]);
  for (size_t i = 0; i < last; ++i) {
    text += fmt::format("for(int64_t k{0}=0;k{0}<{1};++k{0}){{", i, w[i + 2]);
    text += transposed ? fmt::format(
                             "const int64_t t{0}=o{1}+{2}-k{0}*{3};if(t{0}<0||t{0}%{4})continue;const "
                             "int64_t i{0}=t{0}/{4};",
                             i, i + 2, attrs.pads_before[i], attrs.dilations[i], attrs.strides[i])
                       : fmt::format("const int64_t i{0}=o{1}*{2}-{3}+k{0}*{4};", i, i + 2, attrs.strides[i],
                                     attrs.pads_before[i], attrs.dilations[i]);
    text += fmt::format(
        "if(i{0}<0||i{0}>={1})continue;const T*xr{2}=xr{0}+i{0}*{3};const T*wr{2}=wr{0}+k{0}*{4};\n", i,
        x[i + 2], i + 1, x_steps[i + 2], w_steps[i + 2]);
  }
  // Along the last axis `long_` is the operand walked with the stride: input of a convolution, result of a
  // transposed one.
  const int64_t stride = attrs.strides[last], short_extent = transposed ? x.back() : y.back(),
                long_extent = transposed ? y.back() : x.back();
  text += fmt::format(
      "for(int64_t k=0;k<{0};++k){{const int64_t shift=k*{1}-{2};\n"
      "int64_t lo=shift<0?(-shift+{3})/{4}:0;int64_t "
      "hi={5}-1-shift<0?0:({5}-1-shift)/{4}+1;if(hi>{6})hi={6};\n"
      "if(lo<hi)accumulate({7},wr{8}[k],hi-lo,{9},{10});}}\n",
      w.back(), attrs.dilations[last], attrs.pads_before[last], stride - 1, stride, long_extent, short_extent,
      transposed ? fmt::format("acc+lo*{}+shift,xr{}+lo", stride, last)
                 : fmt::format("acc+lo,xr{}+lo*{}+shift", last, stride),
      last, transposed ? stride : 1, transposed ? 1 : stride);
  for (size_t i = 0; i <= last; ++i) text += "}";
  return text + "\n";
}

std::string finish_rows(const Problem& p, tile::ValueEmitter& emitter, int lanes) {
  const Shape& shape = type_of(p, p.value).shape;
  const int64_t extent = shape.back();
  if (type_of(p, p.value).dtype != DType::f32)
    return fmt::format("for(int64_t i=0;i<{0};++i)out0[s*{0}+i]=acc[i];\n", extent);
  auto part = [&](int width) {
    tile::Block block{
        .vector_variable = width > 1 ? "i" : "", .lanes = width, .count = "", .code = "", .indent = "  "};
    Coords at;
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
      at.push_back(Index::variable(fmt::format("o{}", axis), shape[axis]));
    at.push_back(Index::variable("i", extent));
    emitter.provide(p.value, [](const std::vector<Index>&) { return std::string("value"); });
    for (const auto& [output, coords] : output_coords(p, at))
      emitter.emit_store(output, coords, emitter.emit(output, coords, block), block);
    return block.code;
  };
  std::string text = "int64_t i=0;\n";
  if (extent >= lanes)
    text += fmt::format("for(;i+{0}<={1};i+={0}){{const v{0} value=*(const v{0}u*)(acc+i);\n{2}}}\n", lanes,
                        extent, part(lanes));
  return text + fmt::format("for(;i<{};++i){{const float value=acc[i];\n{}}}\n", extent, part(1));
}

}  // namespace

void list_linear_generic(const Graph& graph, const Candidate& candidate, const Target&, Accuracy,
                         std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Problem> problem = generic_problem(graph, candidate);
  if (!problem.ok()) {
    refused.push_back(problem.refusal());
    return;
  }
  Implementation implementation =
      with_layouts(problem.value(), "linear_generic", Order::row_major, Order::row_major);
  implementation.flops = kInstructionsPerProduct * problem.value().inner_flops;
  found.push_back(implementation);
}

Result<Kernel> generate_linear_generic(const Graph& graph, const Candidate& candidate,
                                       const Implementation& implementation, const Target& target) {
  const Result<Problem> problem = generic_problem(graph, candidate);
  if (!problem.ok()) return problem.refusal();
  const Problem& p = problem.value();
  tile::ValueEmitter emitter(graph, candidate, implementation, target);
  emitter.provide(p.value, [](const std::vector<Index>&) { return std::string("value"); });
  for (ValueId output : candidate.outputs)
    if (const std::string obstacle = emitter.obstacle(output); !obstacle.empty())
      return Refusal{RefusalReason::no_kernel_family, obstacle};
  const Shape& shape = type_of(p, p.value).shape;
  const int64_t rows = element_count(shape) / shape.back();
  const std::string type = c_type(type_of(p, p.value).dtype);
  const int lanes = target.vector_lanes();
  std::string body = fmt::format("typedef {} T;\n", type) + accumulate_function(type);
  body += fmt::format(
      "extern \"C\" int32_t korch_linear_generic(const korch_kernel_context*context,int64_t begin,int64_t "
      "end){{\n{}"
      "T*acc=(T*)context->scratch;for(int64_t s=begin;s<end;++s){{{}for(int64_t "
      "i=0;i<{};++i)acc[i]=0;\n{}{}}}\nreturn 0;}}\n",
      emitter.argument_declarations(), decode_row(shape), shape.back(),
      p.matmul ? matmul_rows(p) : conv_rows(p), finish_rows(p, emitter, lanes));
  Kernel kernel;
  kernel.source = emitter.preamble({4, 8, lanes}) + source_prelude() + body;
  const double row_flops = std::max(1.0, p.flops / rows);
  kernel.phases.push_back({"korch_linear_generic", rows,
                           std::clamp<int64_t>(static_cast<int64_t>(kSliceFlops / row_flops), 1, rows)});
  kernel.constant_packing = emitter.constant_packing();
  kernel.scratch_bytes = shape.back() * static_cast<int64_t>(size_bytes(type_of(p, p.value).dtype));
  kernel.flops = implementation.flops;
  kernel.bytes = implementation.bytes;
  return kernel;
}

}  // namespace korch
