// Convolutions of many taps or of a stride as others that Winograd's kernels take (stride 1, up to 5x5).
// Directly they would save nothing.
#include <algorithm>
#include <limits>

#include "korch/ir/winograd.h"
#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

constexpr int64_t kTileInputs = kWinogradInputs[0];

int64_t tile_outputs(int64_t taps) {
  return kTileInputs - taps + 1;
}

// Products per output element and channel of a Winograd convolution of taps x taps.
double winograd_products(int64_t taps) {
  return static_cast<double>(kTileInputs * kTileInputs) /
         static_cast<double>(tile_outputs(taps) * tile_outputs(taps));
}

// Zeros around the two last axes of four.
ValueId padded(Rewriter& r, ValueId x, const std::vector<int64_t>& before,
               const std::vector<int64_t>& after) {
  const PadAttrs pad{{0, 0, before[0], before[1]}, {0, 0, after[0], after[1]}, PadMode::constant, 0};
  if (pad.before == pad.after && pad.after == Shape(4, 0)) return x;
  return r.emit(Op::Pad, pad, {x});
}

ValueId window(Rewriter& r, ValueId x, int64_t channel, int64_t channels, int64_t row, int64_t rows,
               int64_t column, int64_t columns) {
  return r.emit(Op::Slice,
                SliceAttrs{{0, channel, row, column}, {r.shape(x)[0], channels, rows, columns}, {1, 1, 1, 1}},
                {x});
}

// A kernel cut into rows x columns pieces of taps x taps, with zeros after its last taps.
struct Pieces {
  int64_t taps = 0, rows = 0, columns = 0;
  int64_t count() const { return rows * columns; }
};

Pieces cheapest_pieces(int64_t height, int64_t width) {
  Pieces best;
  double fewest = std::numeric_limits<double>::infinity();
  for (int64_t taps = kFewestWinogradTaps; taps <= kMostWinogradTaps; ++taps) {
    const Pieces pieces{taps, (height + taps - 1) / taps, (width + taps - 1) / taps};
    const double products = winograd_products(taps) * static_cast<double>(pieces.count());
    if (products >= fewest) continue;
    fewest = products;
    best = pieces;
  }
  return best;
}

// Every piece has its own output channels; their results, each moved by where its piece begins, are summed.
ValueId pieces_of_outputs(Rewriter& r, const Node& conv, const Pieces& p, ValueId weights,
                          const std::vector<int64_t>& after) {
  const Shape out = r.shape(conv.outputs[0]);
  // [O, C, rows, taps, columns, taps] -> [rows, columns, O, C, taps, taps]
  weights = r.reshape(r.transpose(weights, {2, 4, 0, 1, 3, 5}),
                      {p.count() * out[1], r.shape(conv.inputs[1])[1], p.taps, p.taps});
  const ValueId all = r.emit(Op::Conv, plain_convolution(std::get<ConvAttrs>(conv.attrs).pads_before, after),
                             {conv.inputs[0], weights});
  ValueId sum = kNoId;
  for (int64_t piece = 0; piece < p.count(); ++piece) {
    const ValueId term = window(r, all, piece * out[1], out[1], piece / p.columns * p.taps, out[2],
                                piece % p.columns * p.taps, out[3]);
    sum = sum == kNoId ? term : r.emit(Op::Add, {sum, term});
  }
  return sum;
}

// Every piece has its own input channels: the input, moved by where the piece begins.
ValueId pieces_of_inputs(Rewriter& r, const Node& conv, const Pieces& p, ValueId weights,
                         const std::vector<int64_t>& after) {
  const Shape out = r.shape(conv.outputs[0]);
  const int64_t channels = r.shape(conv.inputs[0])[1];
  // [O, C, rows, taps, columns, taps] -> [O, rows, columns, C, taps, taps]
  weights =
      r.reshape(r.transpose(weights, {0, 2, 4, 1, 3, 5}), {out[1], p.count() * channels, p.taps, p.taps});
  const ValueId x = padded(r, conv.inputs[0], std::get<ConvAttrs>(conv.attrs).pads_before, after);
  std::vector<ValueId> moved;
  for (int64_t piece = 0; piece < p.count(); ++piece)
    moved.push_back(window(r, x, 0, channels, piece / p.columns * p.taps, out[2] + p.taps - 1,
                           piece % p.columns * p.taps, out[3] + p.taps - 1));
  return r.emit(Op::Conv, plain_convolution({0, 0}, {0, 0}), {r.concat(moved, 1), weights});
}

}  // namespace

void large_kernel_as_small_ones(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  if (!is_plain_convolution(r, conv)) return;
  const Shape out = r.shape(conv.outputs[0]), w = r.shape(conv.inputs[1]);
  if (std::max(w[2], w[3]) <= kMostWinogradTaps) return;
  const Pieces p = cheapest_pieces(w[2], w[3]);
  if (2 * winograd_products(p.taps) * static_cast<double>(p.count()) > static_cast<double>(w[2] * w[3]))
    return;
  if (p.count() * std::min(w[0], w[1]) > w[0] + w[1]) return;
  if (std::min(out[2], out[3]) < tile_outputs(p.taps)) return;
  const std::vector<int64_t> missing = {p.rows * p.taps - w[2], p.columns * p.taps - w[3]};
  const ValueId weights =
      r.reshape(padded(r, conv.inputs[1], {0, 0}, missing), {w[0], w[1], p.rows, p.taps, p.columns, p.taps});
  const std::vector<int64_t> after = {attrs.pads_after[0] + missing[0], attrs.pads_after[1] + missing[1]};
  r.equate(conv.outputs[0], w[0] < w[1] ? pieces_of_outputs(r, conv, p, weights, after)
                                        : pieces_of_inputs(r, conv, p, weights, after));
}

// Input element stride q + phase becomes channel `phase` of element q; so do the taps.
void strided_convolution_by_phases(Rewriter& r, NodeId id) {
  const Node conv = r.node(id);
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  if (r.rank(conv.inputs[0]) != 4 || !r.is_float32(conv.inputs[0]) || !r.is_constant(conv.inputs[1]) ||
      attrs.group != 1 || attrs.dilations != std::vector<int64_t>{1, 1} || attrs.strides[0] == 1 ||
      attrs.strides[0] != attrs.strides[1])
    return;
  const Shape in = r.shape(conv.inputs[0]), out = r.shape(conv.outputs[0]), w = r.shape(conv.inputs[1]);
  const int64_t stride = attrs.strides[0], phases = stride * stride;
  const int64_t taps = (w[2] + stride - 1) / stride;
  if (taps != (w[3] + stride - 1) / stride || taps < kFewestWinogradTaps || taps > kMostWinogradTaps) return;
  if (4 * winograd_products(taps) * static_cast<double>(phases) > 3 * static_cast<double>(w[2] * w[3]))
    return;
  WinogradAttrs tiles;
  tiles.tile = tile_outputs(taps);
  if (WinogradTiles(tiles, out).count() < kFewTiles) return;
  const ValueId taps_by_phase =
      r.transpose(r.reshape(padded(r, conv.inputs[1], {0, 0}, {taps * stride - w[2], taps * stride - w[3]}),
                            {w[0], w[1], taps, stride, taps, stride}),
                  {0, 3, 5, 1, 2, 4});
  std::vector<int64_t> places, after;
  for (size_t a = 0; a < 2; ++a) {
    places.push_back(out[a + 2] + taps - 1);
    after.push_back(std::max<int64_t>(0, places[a] * stride - attrs.pads_before[a] - in[a + 2]));
  }
  const ValueId x = window(r, padded(r, conv.inputs[0], attrs.pads_before, after), 0, in[1], 0,
                           places[0] * stride, 0, places[1] * stride);
  const ValueId by_phase =
      r.transpose(r.reshape(x, {in[0], in[1], places[0], stride, places[1], stride}), {0, 3, 5, 1, 2, 4});
  r.equate(conv.outputs[0], r.emit(Op::Conv, plain_convolution({0, 0}, {0, 0}),
                                   {r.reshape(by_phase, {in[0], phases * in[1], places[0], places[1]}),
                                    r.reshape(taps_by_phase, {w[0], phases * w[1], taps, taps})}));
}

}  // namespace korch::rules
