#include "korch/codegen/vendor/onednn.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "korch/base/ceil_div.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/workload.h"
#include "korch/codegen/vendor/post_ops.h"

namespace korch {

using linear::LinearWorkload;

namespace {

constexpr int64_t kSlicesPerWorker = 4;  // each call has a cost of its own of about a microsecond
constexpr int kBlock = 16;

using Algorithm = LibrarySchedule::Algorithm;

int argument_number(const Candidate& candidate, ValueId value) {
  const auto place = [&](const std::vector<ValueId>& list) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), value) - list.begin());
  };
  const size_t input = place(candidate.inputs), constant = place(candidate.constants),
               output = place(candidate.outputs);
  if (input < candidate.inputs.size()) return static_cast<int>(input);
  if (constant < candidate.constants.size()) return static_cast<int>(candidate.inputs.size() + constant);
  KORCH_ASSERT(output < candidate.outputs.size(), "value is not an argument");
  return static_cast<int>(candidate.inputs.size() + candidate.constants.size() + output);
}

// The call of an algorithm, without the size of packed weights.
struct Description {
  rt::OnednnCall call{};
  vendor::PostOpChain chain;
};

void set_arguments(Description& d, const LinearWorkload& p) {
  rt::OnednnCall& c = d.call;
  c.version = rt::onednn_version();
  c.isa = rt::onednn_isa();
  c.data_arg = argument_number(*p.candidate, p.data);
  c.weight_arg = argument_number(*p.candidate, p.weight);
  c.bias_arg = d.chain.bias == kNoId ? -1 : argument_number(*p.candidate, d.chain.bias);
  c.result_arg = argument_number(*p.candidate, p.candidate->outputs[0]);
  for (rt::OnednnPostOp& op : d.chain.ops)
    if (op.arg >= 0) op.arg = argument_number(*p.candidate, static_cast<ValueId>(op.arg));
  c.post_ops = static_cast<int64_t>(d.chain.ops.size());
}

Description describe_conv(const LinearWorkload& p, const vendor::PostOpChain& chain, Algorithm algorithm,
                          const Device& target) {
  const linear::ConvShape& s = *p.conv;
  Description d;
  d.chain = chain;
  rt::OnednnCall& c = d.call;
  c.images = s.images;
  c.in_channels = s.in_channels;
  c.in_height = s.in_height;
  c.in_width = s.in_width;
  c.out_channels = s.out_channels;
  c.out_height = s.out_height;
  c.out_width = s.out_width;
  c.kernel_h = s.kernel_h;
  c.kernel_w = s.kernel_w;
  c.stride_h = s.stride_h;
  c.stride_w = s.stride_w;
  c.dilation_h = s.dilation_h;
  c.dilation_w = s.dilation_w;
  c.pad_top = s.pad_top;
  c.pad_left = s.pad_left;
  c.group = s.group;
  c.winograd = algorithm == Algorithm::winograd;
  c.order = static_cast<int64_t>(algorithm == Algorithm::winograd ? rt::OnednnOrder::channels_blocked16
                                                                  : rt::OnednnOrder::channels_last);
  c.rows_per_slice = s.out_height;
  c.channels_per_slice = s.out_channels;
  if (algorithm == Algorithm::direct) {
    const int64_t per_image = std::max<int64_t>(1, ceil_div(target.workers * kSlicesPerWorker, s.images));
    c.rows_per_slice = std::max<int64_t>(1, s.out_height / per_image);
  } else if (s.images == 1 && s.out_channels % (target.workers * kBlock) == 0) {
    c.channels_per_slice = s.out_channels / target.workers;
  }
  c.weight_matrices = 1;
  set_arguments(d, p);
  return d;
}

Description describe_matmul(const LinearWorkload& p, const vendor::PostOpChain& chain, const Device& target) {
  const linear::MatMulShape& s = *p.matmul;
  const auto matrices = [&](ValueId value) {
    const Shape& shape = type_of(p, value).shape;
    return element_count(Shape(shape.begin(), shape.end() - 2));
  };
  Description d;
  d.chain = chain;
  rt::OnednnCall& c = d.call;
  const bool flat = matrices(p.weight) == 1 && !s.transpose_a;
  c.matmul = 1;
  c.images = flat ? 1 : s.batches;
  c.in_channels = s.k;
  c.in_height = c.out_height = flat ? s.m * s.batches : s.m;
  c.in_width = c.out_width = 1;
  c.out_channels = c.channels_per_slice = s.n;
  c.kernel_h = c.kernel_w = c.stride_h = c.stride_w = c.dilation_h = c.dilation_w = c.group = 1;
  const int64_t per_image = std::max<int64_t>(1, ceil_div(target.workers * kSlicesPerWorker, c.images));
  c.rows_per_slice =
      std::max<int64_t>(std::min<int64_t>(c.out_height, kBlock), ceil_div(c.out_height, per_image));
  c.transpose_a = s.transpose_a;
  c.transpose_b = s.transpose_b;
  c.weight_matrices = matrices(p.weight);
  set_arguments(d, p);
  return d;
}

std::vector<int64_t> params_of(const Description& d) {
  std::vector<int64_t> params(rt::kOnednnCallFields + d.chain.ops.size() * rt::kOnednnPostOpFields);
  std::memcpy(params.data(), &d.call, sizeof(d.call));
  if (!d.chain.ops.empty())
    std::memcpy(params.data() + rt::kOnednnCallFields, d.chain.ops.data(),
                d.chain.ops.size() * sizeof(rt::OnednnPostOp));
  return params;
}

Result<Kernel> finish(const LinearWorkload& p, const Implementation& implementation, Description d,
                      bool packed) {
  d.call.weight_bytes = packed;  // until the library tells
  const std::vector<int64_t> params = params_of(d);
  if (!rt::onednn_makes(params.data(), static_cast<uint32_t>(params.size()), d.chain.floats.data(),
                        &d.call.weight_bytes))
    return Refusal{RefusalReason::library_refused, "oneDNN has no implementation of every slice to rely on"};
  Kernel kernel;
  kernel.call = {"onednn", d.call.matmul ? "matmul" : "conv", params_of(d), d.chain.floats};
  kernel.phases.push_back({"korch_onednn_run", rt::onednn_slices(d.call), 1});
  kernel.constant_packing.resize(p.candidate->constants.size());
  if (packed) {
    Packing packing{"onednn", kernel.call.params};
    for (float value : d.chain.floats) packing.params.push_back(std::bit_cast<int32_t>(value));
    kernel.constant_packing[d.call.weight_arg - static_cast<int64_t>(p.candidate->inputs.size())] = packing;
  }
  kernel.flops = implementation.flops;
  kernel.bytes = implementation.bytes;
  return kernel;
}

struct Matched {
  LinearWorkload workload;
  vendor::PostOpChain chain;
};

Result<Matched> match(const Graph& graph, const Candidate& candidate, const Device& target, Op op) {
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  if (!target.library_calls) return refuse("library calls are switched off");
  if (!runs_here(target)) return refuse("oneDNN's packed weights need the target's own processor");
  Result<LinearWorkload> workload = linear::analyze(graph, candidate);
  if (!workload.ok()) return workload.refusal();
  const LinearWorkload& p = workload.value();
  if (graph.node(p.node).op != op || p.data_fused || p.weight_fused)
    return refuse("not a plain call of oneDNN");
  if (!linear::is_float32(p)) return Refusal{RefusalReason::unsupported_type, "oneDNN is called for float32"};
  if (graph.constant(p.data) != nullptr) return refuse("a constant first operand");
  const int channel_axis = p.matmul ? static_cast<int>(type_of(p, p.value).shape.size()) - 1 : 1;
  const auto chain = vendor::match_post_ops(p, channel_axis);
  if (!chain) return refuse("the epilogue is not a chain of oneDNN's post-ops");
  return Matched{p, *chain};
}

Result<Matched> match_conv(const Graph& graph, const Candidate& candidate, const Device& target) {
  Result<Matched> matched = match(graph, candidate, target, Op::Conv);
  if (!matched.ok()) return matched;
  const LinearWorkload& p = matched.value().workload;
  if (!p.weight_constant || type_of(p, p.value).shape.size() != 4)
    return Refusal{RefusalReason::no_kernel_family, "not a convolution of two axes with constant weights"};
  return matched;
}

Result<Matched> match_matmul(const Graph& graph, const Candidate& candidate, const Device& target) {
  Result<Matched> matched = match(graph, candidate, target, Op::MatMul);
  if (!matched.ok()) return matched;
  const LinearWorkload& p = matched.value().workload;
  const auto matrices = [&](ValueId value) {
    const Shape& shape = type_of(p, value).shape;
    return element_count(Shape(shape.begin(), shape.end() - 2));
  };
  const bool per_image = matrices(p.weight) == p.matmul->batches && !p.weight_constant;
  if (matrices(p.data) != p.matmul->batches || (matrices(p.weight) != 1 && !per_image))
    return Refusal{RefusalReason::no_kernel_family, "oneDNN matmul with broadcast or constant batches"};
  return matched;
}

}  // namespace

void list_onednn_conv(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                      std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Matched> matched = match_conv(graph, candidate, target);
  if (!matched.ok()) {
    refused.push_back(matched.refusal());
    return;
  }
  const LinearWorkload& p = matched.value().workload;
  const linear::ConvShape& s = *p.conv;
  Implementation implementation =
      linear::with_layouts(p, "onednn_conv", linear::Order::channels_last, linear::Order::channels_last);
  implementation.flops = p.inner_flops;
  implementation.schedule = LibrarySchedule{Algorithm::direct};
  found.push_back(implementation);
  const bool square = s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 && s.stride_w == 1 &&
                      s.dilation_h == 1 && s.dilation_w == 1;
  if (accuracy == Accuracy::strict || !square || s.group != 1 || s.in_channels % kBlock != 0 ||
      s.out_channels % kBlock != 0)
    return;
  const auto blocked = [&](const std::vector<ValueId>& values, std::vector<Layout>& layouts) {
    for (size_t i = 0; i < values.size(); ++i)
      layouts[i] = canonical(Layout::channel_blocked(kBlock), type_of(p, values[i]).shape);
  };
  blocked(candidate.inputs, implementation.input_layouts);
  blocked(candidate.outputs, implementation.output_layouts);
  // F(4,3) at least, as its largest tile.
  implementation.flops = 2.0 * 36 * s.images * ceil_div(s.out_height, 4) * ceil_div(s.out_width, 4) *
                         s.in_channels * s.out_channels;
  implementation.schedule = LibrarySchedule{Algorithm::winograd};
  found.push_back(implementation);
}

Result<Kernel> generate_onednn_conv(const Graph& graph, const Candidate& candidate,
                                    const Implementation& implementation, const Device& target) {
  const Result<Matched> matched = match_conv(graph, candidate, target);
  if (!matched.ok()) return matched.refusal();
  const Matched& m = matched.value();
  return finish(m.workload, implementation,
                describe_conv(m.workload, m.chain,
                              std::get<LibrarySchedule>(implementation.schedule).algorithm, target),
                true);
}

void list_onednn_matmul(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                        std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<Matched> matched = match_matmul(graph, candidate, target);
  if (!matched.ok()) {
    refused.push_back(matched.refusal());
    return;
  }
  Implementation implementation = linear::with_layouts(matched.value().workload, "onednn_matmul",
                                                       linear::Order::row_major, linear::Order::row_major);
  implementation.schedule = LibrarySchedule{Algorithm::product};
  found.push_back(implementation);
}

Result<Kernel> generate_onednn_matmul(const Graph& graph, const Candidate& candidate,
                                      const Implementation& implementation, const Device& target) {
  const Result<Matched> matched = match_matmul(graph, candidate, target);
  if (!matched.ok()) return matched.refusal();
  const Matched& m = matched.value();
  return finish(m.workload, implementation, describe_matmul(m.workload, m.chain, target),
                m.workload.weight_constant);
}

namespace vendor {

std::string pack_onednn(const HostTensor& constant, const std::vector<int64_t>& params) {
  rt::OnednnCall call;
  KORCH_ASSERT(params.size() >= static_cast<size_t>(rt::kOnednnCallFields), "onednn packing");
  std::memcpy(&call, params.data(), sizeof(call));
  const size_t count = rt::kOnednnCallFields + call.post_ops * rt::kOnednnPostOpFields;
  KORCH_ASSERT(params.size() == count + 2 * call.post_ops, "onednn packing");
  std::vector<float> floats;
  for (size_t i = count; i < params.size(); ++i)
    floats.push_back(std::bit_cast<float>(static_cast<int32_t>(params[i])));
  const int64_t slices = call.out_channels / call.channels_per_slice;
  const int64_t slice_elements = constant.elements() / slices;
  std::string bytes(static_cast<size_t>(slices * call.weight_bytes), '\0');
  for (int64_t s = 0; s < slices; ++s)
    KORCH_ASSERT(rt::onednn_pack_weights(params.data(), static_cast<uint32_t>(count), floats.data(),
                                         constant.data<float>() + s * slice_elements,
                                         bytes.data() + s * call.weight_bytes),
                 "oneDNN refuses to pack weights that it described");
  return bytes;
}

}  // namespace vendor
}  // namespace korch
