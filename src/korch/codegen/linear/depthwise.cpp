// Depthwise convolution, channels last: vectors along channels, all taps written out, the epilogue on the
// sum. Pixels whose taps all lie inside are free of checks, and some of them are computed together
// (codegen/passes/partition.h).
#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/slice_axis.h"

namespace korch {

using namespace linear;

namespace {

constexpr double kSliceBytes = 128 << 10;  // about 5 us of L2 traffic
constexpr int64_t kSlicesPerWorker = 8;

// Whether the data are what the candidate reads, converted: every tap may do that again.
bool is_converted(const LinearWorkload& p) {
  const std::vector<ValueId>& inputs = p.candidate->inputs;
  return std::any_of(p.candidate->nodes.begin(), p.candidate->nodes.end(), [&](NodeId id) {
    const Node& node = p.graph->node(id);
    return node.op == Op::Cast && node.outputs[0] == p.data &&
           is_small_float(type_of(p, node.inputs[0]).dtype) &&
           std::find(inputs.begin(), inputs.end(), node.inputs[0]) != inputs.end();
  });
}

Result<LinearWorkload> depthwise_workload(const Graph& graph, const Candidate& candidate,
                                          const Device& target) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  const LinearWorkload& p = workload.value();
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  if (!p.conv || graph.node(p.node).op != Op::Conv) return refuse("not a convolution of one or two axes");
  const ConvShape& s = *p.conv;
  if (s.group != s.in_channels || s.out_channels != s.in_channels || s.group == 1)
    return refuse("not a depthwise convolution");
  if (!p.weight_constant || (p.data_fused && !is_converted(p)))
    return refuse("depthwise convolution with computed operands");
  if (!linear::has_register_tiles(p, target) || terms_together(p) == 4 || multiplies_pairs_of_bfloat16(p))
    return Refusal{RefusalReason::unsupported_type,
                   "depthwise convolution of a type other than float32, int32 and int16"};
  return workload;
}

class DepthwiseBuilder {
 public:
  DepthwiseBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target)
      : p_(workload),
        s_(*workload.conv),
        builder_(workload, implementation, target),
        y_("y", s_.out_height, rows_per_slice(implementation, target)),
        begins_at_zero_(target.is_gpu()),
        lanes_(target.lanes()),
        padded_(ceil_div(s_.in_channels, lanes_) * lanes_) {}
  Result<tile::ScheduledGraph> build();

 private:
  int64_t rows_per_slice(const Implementation& implementation, const Device& target) const {
    const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(implementation.bytes / kSliceBytes),
                                               target.workers, target.workers * kSlicesPerWorker);
    return ceil_div(s_.out_height, std::clamp<int64_t>(ceil_div(wanted, s_.images), 1, s_.out_height));
  }
  Coords coords(const Index& channel, const Index& y, const Index& x) const {
    const Index image = Index::variable("image", s_.images);
    if (type_of(p_, p_.value).shape.size() == 3) return {image, channel, x};
    return {image, channel, y, x};
  }
  int data(const Index& channel, const Index& y, const Index& x);
  int window(const Index& channel, const Index& y, const Index& x);

  const LinearWorkload& p_;
  const ConvShape& s_;
  KernelBuilder builder_;
  SliceAxis y_;
  bool begins_at_zero_;
  int64_t lanes_, padded_;
};

int DepthwiseBuilder::data(const Index& channel, const Index& y, const Index& x) {
  if (!p_.data_fused) return builder_.read(p_.data, coords(channel, y, x));
  return builder_.compose(
      p_.data, coords(channel, Index::variable("iy", s_.in_height), Index::variable("ix", s_.in_width)), -1,
      {{"iy", y}, {"ix", x}});
}

// The sum over the taps of one pixel.
int DepthwiseBuilder::window(const Index& channel, const Index& y, const Index& x) {
  const int weights = builder_.buffer_of(p_.weight);
  // Where padding is staged and multiplied (cuda/staged_windows.h) it may add up to -0, and the sum is 0.
  int sum = begins_at_zero_ ? builder_.constant(0) : -1;
  for (int64_t kh = 0; kh < s_.kernel_h; ++kh)
    for (int64_t kw = 0; kw < s_.kernel_w; ++kw) {
      const Index iy = y * s_.stride_h + (kh * s_.dilation_h - s_.pad_top),
                  ix = x * s_.stride_w + (kw * s_.dilation_w - s_.pad_left);
      tile::Condition inside;
      inside.require(iy, 0, s_.in_height - 1).require(ix, 0, s_.in_width - 1);
      const int term = builder_.padded(
          inside, builder_.product(data(channel, iy, ix),
                                   builder_.load(weights, channel + (kh * s_.kernel_w + kw) * padded_)));
      sum = sum < 0 ? term : builder_.sum(sum, term);
    }
  return sum;
}

Result<tile::ScheduledGraph> DepthwiseBuilder::build() {
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  builder_.pack(p_.weight, {"depthwise", {padded_}}, s_.kernel_h * s_.kernel_w * padded_);
  tile::ScheduledPhase phase;
  if (s_.images > 1) phase.grid.push_back({{"image", s_.images}, 1});
  y_.deal_out(phase);
  // Full vectors of channels, and what is left in a narrower one.
  const int64_t full = s_.in_channels / lanes_ * lanes_;
  for (const auto& [first, end] : {std::pair{int64_t{0}, full}, std::pair{full, s_.in_channels}}) {
    if (first == end) continue;
    const int64_t count = end - first;
    tile::ScheduledNest nest;
    y_.loop(nest.around);
    nest.loops = {{"x", s_.out_width}, {"c", count}};
    const Index x = Index::variable("x", s_.out_width), c = Index::variable("c", count) + first;
    nest.stores = builder_.outputs(coords(c, y_.at(), x), window(c, y_.at(), x));
    if (count > 1)
      nest.schedule = {.lanes = split_lanes(count, static_cast<int>(lanes_)).front(), .variable = "c"};
    phase.nests.push_back(std::move(nest));
  }
  builder_.add_phase(std::move(phase));
  return builder_.finish();
}

}  // namespace

void list_depthwise(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                    std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = depthwise_workload(graph, candidate, target);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  Implementation implementation =
      with_layouts(workload.value(), "depthwise", Order::channels_last, Order::channels_last);
  implementation.flops = workload.value().inner_flops;
  found.push_back(implementation);
}

Result<tile::ScheduledGraph> build_depthwise(const Graph& graph, const Candidate& candidate,
                                             const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = depthwise_workload(graph, candidate, target);
  if (!workload.ok()) return workload.refusal();
  return DepthwiseBuilder(workload.value(), implementation, target).build();
}

}  // namespace korch
