// Upsampling and what reads it.
#include <algorithm>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// A Value [N, C, ...] whose element o is that of `base` at o / factor, along every spatial axis.
struct Repeated {
  ValueId base = kNoId;
  std::vector<int64_t> factors;
};

// [N, C, n, ...] -> [N, C, n, 1, ...] -> [N, C, n, factor, ...] -> [N, C, n * factor, ...], as fission makes
// of Resize.
std::optional<Repeated> repeated(Rewriter& r, ValueId value) {
  const std::optional<Node> joined = r.producer(value, Op::Reshape);
  const std::optional<Node> expand = joined ? r.producer(joined->inputs[0], Op::Expand) : std::nullopt;
  const std::optional<Node> apart = expand ? r.producer(expand->inputs[0], Op::Reshape) : std::nullopt;
  if (!apart || r.rank(value) < 3 || r.rank(expand->inputs[0]) != r.rank(expand->outputs[0]))
    return std::nullopt;
  const Shape split = r.shape(apart->outputs[0]), expanded = r.shape(expand->outputs[0]),
              out = r.shape(value);
  Repeated result;
  Shape base;
  for (size_t i = 0; i < split.size(); ++i) {
    if (base.size() == out.size() || split[i] != expanded[i]) return std::nullopt;
    int64_t factor = 1;
    if (split[i] != out[base.size()]) {
      if (++i == split.size() || split[i] != 1) return std::nullopt;
      factor = expanded[i];
      if (split[i - 1] * factor != out[base.size()]) return std::nullopt;
    }
    if (base.size() < 2 && factor != 1) return std::nullopt;
    if (base.size() >= 2) result.factors.push_back(factor);
    base.push_back(out[base.size()] / factor);
  }
  if (base.size() != out.size()) return std::nullopt;
  result.base = r.reshape(apart->inputs[0], base);
  return result;
}

// What a convolution reads: something repeated, with its border made of zeros or of the outermost elements.
struct Bordered {
  Repeated inside;
  bool zeros = true;
  std::vector<int64_t> before;  // elements of the border
};

std::optional<Bordered> bordered(Rewriter& r, const Node& conv) {
  Bordered result;
  result.before = std::get<ConvAttrs>(conv.attrs).pads_before;
  const std::vector<int64_t> after = std::get<ConvAttrs>(conv.attrs).pads_after;
  const std::optional<Node> pad = r.producer(conv.inputs[0], Op::Pad);
  const std::optional<Repeated> inside = repeated(r, pad ? pad->inputs[0] : conv.inputs[0]);
  if (!inside) return std::nullopt;
  result.inside = *inside;
  if (!pad) return result;
  const auto& border = std::get<PadAttrs>(pad->attrs);
  result.zeros = border.mode == PadMode::constant;
  if (result.zeros && border.value != 0) return std::nullopt;
  if (border.before[0] + border.before[1] + border.after[0] + border.after[1] != 0) return std::nullopt;
  for (size_t a = 0; a < result.before.size(); ++a) {
    // Two kinds of borders are none.
    if (!result.zeros && (result.before[a] != 0 || after[a] != 0)) return std::nullopt;
    // A mirror that stays within the outermost repetitions shows nothing else.
    if (border.mode == PadMode::reflect &&
        std::max(border.before[a + 2], border.after[a + 2]) >= inside->factors[a])
      return std::nullopt;
    result.before[a] += border.before[a + 2];
  }
  return result;
}

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// [taps, factor * taps_there]: tap t of an output that begins `phase` elements into a repetition falls on
// element (phase + t) / factor of the base.
ValueId taps_by_phase(Rewriter& r, int64_t taps, int64_t factor, int64_t taps_there) {
  HostTensor sums(TensorType{DType::f32, {taps, factor * taps_there}});
  std::fill_n(sums.mutable_data<float>(), sums.elements(), 0.0f);
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t phase = 0; phase < factor; ++phase)
      sums.mutable_data<float>()[t * factor * taps_there + phase * taps_there + (phase + t) / factor] = 1;
  return r.emit(Op::Constant, ConstantAttrs{std::move(sums)}, {});
}

}  // namespace

// Output o reads repetitions from (o - border) / factor on, and begins (o - border) mod factor into the
// first: all phases are features of one convolution of the base, which are then interleaved.
void upsampling_into_convolution(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  if (!is_plain_convolution(r, conv)) return;
  const std::optional<Bordered> input = bordered(r, conv);
  if (!input) return;
  const std::vector<int64_t>& factors = input->inside.factors;
  const Shape in = r.shape(input->inside.base), out = r.shape(conv.outputs[0]), w = r.shape(conv.inputs[1]);
  std::vector<int64_t> taps, places, before, after, start;
  for (size_t a = 0; a < 2; ++a) {
    const int64_t first = floor_div(-input->before[a], factors[a]);
    taps.push_back((factors[a] + w[a + 2] - 2) / factors[a] + 1);
    places.push_back(floor_div(out[a + 2] - 1 - input->before[a], factors[a]) - first + 1);
    before.push_back(-first);
    after.push_back(places[a] + taps[a] - 1 - in[a + 2] + first);
    start.push_back(-input->before[a] - first * factors[a]);
  }
  if (taps[0] * taps[1] >= w[2] * w[3]) return;
  // [O, C, kh, kw] -> [O, C, fw, tw, fh, th] -> [fh, fw, O, C, th, tw]
  const auto sum_taps = [&](ValueId weights, size_t a) {
    return r.emit(Op::MatMul, MatMulAttrs{false, false},
                  {weights, taps_by_phase(r, w[a + 2], factors[a], taps[a])});
  };
  ValueId weights = sum_taps(r.transpose(sum_taps(conv.inputs[1], 1), {0, 1, 3, 2}), 0);
  weights = r.transpose(r.reshape(weights, {w[0], w[1], factors[1], taps[1], factors[0], taps[0]}),
                        {4, 2, 0, 1, 5, 3});
  weights = r.reshape(weights, {factors[0] * factors[1] * w[0], w[1], taps[0], taps[1]});
  ValueId base = input->inside.base;
  if (!input->zeros) {
    base =
        r.emit(Op::Pad, PadAttrs{{0, 0, before[0], before[1]}, {0, 0, after[0], after[1]}, PadMode::edge, 0},
               {base});
    before = after = {0, 0};
  }
  ValueId y = r.emit(Op::Conv, plain_convolution(before, after), {base, weights});
  y = r.transpose(r.reshape(y, {out[0], factors[0], factors[1], w[0], places[0], places[1]}),
                  {0, 3, 4, 1, 5, 2});
  y = r.reshape(y, {out[0], w[0], places[0] * factors[0], places[1] * factors[1]});
  r.equate(conv.outputs[0],
           r.emit(Op::Slice, SliceAttrs{{0, 0, start[0], start[1]}, out, {1, 1, 1, 1}}, {y}));
}

}  // namespace korch::rules
