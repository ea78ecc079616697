// Products of quantized numbers in bytes: whole numbers of a range of 256 are moved to uint8, weights that
// are whole numbers are int8, and their sums are exact in int32.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr int64_t kTogether = 4;  // channels that one instruction multiplies
constexpr int kMaxViews = 8;      // between numbers and the product that reads them

// Bytes, of which each stands for so much more than itself, less a zero point that is known when the network
// runs.
struct Bytes {
  ValueId bytes;
  int64_t lowest = 0;
  ValueId zero_point = kNoId;  // of one element
};

// Weights that are whole numbers from -128 to 127, and the largest sum of their sizes that a feature has.
struct WholeWeights {
  std::vector<int64_t> sums;  // by feature, in the order of the weights' batches and features
  int64_t largest = 0;
};

std::optional<int64_t> whole_number(const Rewriter& r, ValueId value) {
  const HostTensor* constant = r.graph().constant(value);
  if (constant == nullptr || constant->elements() != 1) return std::nullopt;
  const double number = element_as_double(*constant, 0);
  if (std::nearbyint(number) != number || std::fabs(number) > 255) return std::nullopt;
  return static_cast<int64_t>(number);
}

// Where a weight's feature is counted: by the first axis of a convolution's, by all but the summed one of a
// matrix product's.
int64_t feature_of(const Node& linear, const Shape& weights, int64_t element) {
  if (linear.op == Op::Conv) return element / (element_count(weights) / weights[0]);
  const int64_t last = weights.back(), rows = weights[weights.size() - 2];
  if (std::get<MatMulAttrs>(linear.attrs).transpose_b) return element / last;
  return element / (rows * last) * last + element % last;
}

std::optional<WholeWeights> whole_weights(const Rewriter& r, const Node& linear) {
  const HostTensor* weights = r.graph().constant(linear.inputs[1]);
  if (weights == nullptr || (weights->dtype() != DType::f32 && weights->dtype() != DType::i16) ||
      weights->elements() == 0)
    return std::nullopt;
  WholeWeights result;
  const Shape& shape = weights->shape();
  const int64_t features = linear.op == Op::Conv ? shape[0]
                           : std::get<MatMulAttrs>(linear.attrs).transpose_b
                               ? weights->elements() / shape.back()
                               : weights->elements() / shape[shape.size() - 2];
  result.sums.resize(static_cast<size_t>(features));
  std::vector<int64_t> sizes(result.sums.size());
  for (int64_t i = 0; i < weights->elements(); ++i) {
    const double number = element_as_double(*weights, i);
    if (std::nearbyint(number) != number || number < -128 || number > 127) return std::nullopt;
    const auto whole = static_cast<int64_t>(number);
    const auto feature = static_cast<size_t>(feature_of(linear, shape, i));
    result.sums[feature] += whole;
    sizes[feature] += std::abs(whole);
  }
  result.largest = *std::max_element(sizes.begin(), sizes.end());
  return result;
}

// Whether a kernel family multiplies bytes for it.
bool multiplies_bytes(const Rewriter& r, const Node& linear) {
  if (linear.inputs.size() != 2 || r.is_constant(linear.inputs[0])) return false;
  if (linear.op == Op::MatMul) return true;
  const int64_t group = std::get<ConvAttrs>(linear.attrs).group, rank = r.rank(linear.inputs[0]);
  return (rank == 3 || rank == 4) && (group == 1 || r.shape(linear.inputs[1])[1] >= kTogether);
}

bool is_view(Op op) {
  return op == Op::Reshape || op == Op::Transpose || op == Op::Slice;
}

// Whether a product of bytes reads the Value, or a view of it.
bool is_multiplied(const Rewriter& r, ValueId value, int depth = 0) {
  const std::vector<NodeId> users = r.users(value);
  return std::any_of(users.begin(), users.end(), [&](NodeId id) {
    const Node& user = r.graph().node(id);
    if (is_view(user.op)) return depth < kMaxViews && is_multiplied(r, user.outputs[0], depth + 1);
    return (user.op == Op::Conv || user.op == Op::MatMul) && user.inputs[0] == value &&
           multiplies_bytes(r, user) && whole_weights(r, user);
  });
}

// The bytes that a Value's numbers are made of: Cast(bytes) and what is added to it, or a view of that.
std::optional<Bytes> bytes_behind(Rewriter& r, ValueId value, int depth = 0) {
  if (depth > kMaxViews) return std::nullopt;
  for (Op view : {Op::Reshape, Op::Transpose, Op::Slice}) {
    const std::optional<Node> node = r.producer(value, view);
    if (!node) continue;
    const std::optional<Bytes> inner = bytes_behind(r, node->inputs[0], depth + 1);
    if (!inner) return std::nullopt;
    return Bytes{r.emit(view, node->attrs, {inner->bytes}), inner->lowest, inner->zero_point};
  }
  Bytes result{value};
  ValueId numbers = value;
  for (Op op : {Op::Add, Op::Sub})
    if (const std::optional<Node> sum = r.producer(value, op)) {
      const std::optional<int64_t> number = whole_number(r, sum->inputs[1]);
      if (!number && (op == Op::Add || r.elements(sum->inputs[1]) != 1 || r.is_float32(value))) continue;
      numbers = sum->inputs[0];
      if (number)
        result.lowest = op == Op::Add ? *number : -*number;
      else
        result.zero_point = sum->inputs[1];
      break;
    }
  const std::optional<Node> cast = r.producer(numbers, Op::Cast);
  if (!cast || r.shape(numbers) != r.shape(value)) return std::nullopt;
  result.bytes = cast->inputs[0];
  const DType type = r.graph().value(result.bytes).type.dtype;
  if (type == DType::u8) return result;
  if (type != DType::i8) return std::nullopt;
  const ValueId wide = r.emit(Op::Cast, CastAttrs{DType::i16}, {result.bytes});
  HostTensor offset(TensorType{DType::i16, {}});
  offset.mutable_data<int16_t>()[0] = 128;
  const ValueId moved = r.emit(Op::Add, {wide, r.emit(Op::Constant, ConstantAttrs{std::move(offset)}, {})});
  result.bytes = r.emit(Op::Cast, CastAttrs{DType::u8}, {moved});
  result.lowest -= 128;
  return result;
}

// So many times the sum of every feature's weights, in int32; broadcasts to the result.
ValueId sums_times(Rewriter& r, const Node& linear, const WholeWeights& weights, int64_t factor) {
  Shape shape;
  if (linear.op == Op::Conv) {
    shape.assign(static_cast<size_t>(r.rank(linear.outputs[0]) - 1), 1);
    shape[0] = static_cast<int64_t>(weights.sums.size());
  } else {
    shape = r.shape(linear.inputs[1]);
    const size_t rank = shape.size();
    if (std::get<MatMulAttrs>(linear.attrs).transpose_b) std::swap(shape[rank - 1], shape[rank - 2]);
    shape[rank - 2] = 1;
  }
  HostTensor sums(TensorType{DType::i32, shape});
  for (size_t i = 0; i < weights.sums.size(); ++i)
    sums.mutable_data<int32_t>()[i] = static_cast<int32_t>(weights.sums[i] * factor);
  return r.emit(Op::Constant, ConstantAttrs{std::move(sums)}, {});
}

// Channels that a convolution of few (of an image) lacks to what one instruction multiplies: its kernel would
// copy them one by one.
int64_t missing_channels(const Rewriter& r, const Node& conv) {
  constexpr int64_t kFew = 16;
  const int64_t channels = r.shape(conv.inputs[0])[1];
  const bool is_few = std::get<ConvAttrs>(conv.attrs).group == 1 && channels < kFew;
  return is_few ? (kTogether - channels % kTogether) % kTogether : 0;
}

// With further channels, and with the convolution's padding, where a byte stands for 0.
ValueId padded(Rewriter& r, const Bytes& data, int64_t channels, bool spatially, ConvAttrs& conv) {
  PadAttrs pad;
  pad.before.assign(2 + conv.pads_before.size(), 0);
  pad.after = pad.before;
  pad.after[1] = channels;
  if (spatially) {
    std::copy(conv.pads_before.begin(), conv.pads_before.end(), pad.before.begin() + 2);
    std::copy(conv.pads_after.begin(), conv.pads_after.end(), pad.after.begin() + 2);
    pad.value = static_cast<double>(-data.lowest);
    std::fill(conv.pads_before.begin(), conv.pads_before.end(), 0);
    std::fill(conv.pads_after.begin(), conv.pads_after.end(), 0);
  }
  return r.emit(Op::Pad, pad, {data.bytes});
}

// Without weight.
ValueId with_channels(Rewriter& r, ValueId weights, int64_t channels) {
  PadAttrs pad;
  pad.before.assign(static_cast<size_t>(r.rank(weights)), 0);
  pad.after = pad.before;
  pad.after[1] = channels;
  return r.emit(Op::Pad, pad, {weights});
}

bool has_pads(const ConvAttrs& conv) {
  const auto is_some = [](int64_t pad) { return pad != 0; };
  return std::any_of(conv.pads_before.begin(), conv.pads_before.end(), is_some) ||
         std::any_of(conv.pads_after.begin(), conv.pads_after.end(), is_some);
}

}  // namespace

// Min(Max(Round(x), low), high), or the other way round, with 256 numbers or fewer.
void whole_numbers_as_bytes(Rewriter& r, NodeId id) {
  const Node outer = r.node(id);
  const ValueId value = outer.outputs[0];
  const Op other = outer.op == Op::Min ? Op::Max : Op::Min;
  const std::optional<Node> inner = r.producer(outer.inputs[0], other);
  if (!r.is_float32(value) || !inner || !r.producer(inner->inputs[0], Op::Round)) return;
  const std::optional<int64_t> a = whole_number(r, inner->inputs[1]), b = whole_number(r, outer.inputs[1]);
  if (!a || !b || r.shape(inner->inputs[0]) != r.shape(value) || !is_multiplied(r, value)) return;
  const int64_t low = outer.op == Op::Min ? *a : *b, high = outer.op == Op::Min ? *b : *a;
  if (low > 0 || low > high || high - low > 255) return;
  r.covers({*inner});
  const ValueId whole = inner->inputs[0];
  const ValueId moved = low == 0 ? whole : r.emit(Op::Sub, {whole, r.scalar(static_cast<double>(low))});
  // The other way round than it was, for what the bytes are made of must not be the Value itself.
  const ValueId zero = r.scalar(0), most = r.scalar(static_cast<double>(high - low));
  const ValueId bounded = r.emit(outer.op, {moved, outer.op == Op::Max ? zero : most});
  const size_t known = r.graph().value_count();
  const ValueId within = r.emit(other, {bounded, other == Op::Max ? zero : most});
  if (static_cast<size_t>(within) < known) return;  // somebody else's
  const ValueId bytes = r.emit(Op::Cast, CastAttrs{DType::u8}, {within});
  const ValueId numbers = r.emit(Op::Cast, CastAttrs{DType::f32}, {bytes});
  r.equate(value, low == 0 ? numbers : r.emit(Op::Add, {numbers, r.scalar(static_cast<double>(low))}));
}

void product_of_bytes(Rewriter& r, NodeId id) {
  const Node linear = r.node(id);
  const DType type = r.graph().value(linear.outputs[0]).type.dtype;
  if ((type != DType::f32 && type != DType::i32) || !multiplies_bytes(r, linear)) return;
  const std::optional<WholeWeights> weights = whole_weights(r, linear);
  if (!weights) return;
  const std::optional<Bytes> data = bytes_behind(r, linear.inputs[0]);
  if (!data || data->lowest > 0 || data->lowest < -255) return;
  // Sums of int16 wrap around like those of bytes.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (type == DType::f32 && weights->largest > kMost / 512) return;
  Attrs attrs = linear.attrs;
  ValueId bytes = data->bytes, whole = linear.inputs[1];
  if (linear.op == Op::Conv) {
    auto& conv = std::get<ConvAttrs>(attrs);
    const bool spatially = has_pads(conv) && (data->lowest != 0 || data->zero_point != kNoId);
    const int64_t channels = missing_channels(r, linear);
    if (spatially && data->zero_point != kNoId) return;
    if (spatially || channels > 0) bytes = padded(r, *data, channels, spatially, conv);
    if (channels > 0) whole = with_channels(r, whole, channels);
  }
  whole = r.emit(Op::Cast, CastAttrs{DType::i8}, {whole});
  ValueId sum = r.emit(linear.op, attrs, {bytes, whole});
  if (data->lowest != 0) sum = r.emit(Op::Add, {sum, sums_times(r, linear, *weights, data->lowest)});
  if (data->zero_point != kNoId) {
    const ValueId zero = r.emit(Op::Cast, CastAttrs{DType::i32}, {r.reshape(data->zero_point, {})});
    sum = r.emit(Op::Sub, {sum, r.emit(Op::Mul, {sums_times(r, linear, *weights, 1), zero})});
  }
  r.equate(linear.outputs[0], type == DType::i32 ? sum : r.emit(Op::Cast, CastAttrs{DType::f32}, {sum}));
}

}  // namespace korch::rules
