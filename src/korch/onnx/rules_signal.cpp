// Windows and spectra: what the parameters alone tell is computed here, a transform is a matrix product.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

constexpr int64_t kMaxLength = 1 << 20;

// Weighted cosines of 0, 1, 2 turns over the window, of which the last element is the first of the next
// period or its own last.
Results cosine_window(NodeImport& n, const std::vector<double>& weights) {
  const int64_t size = n.int_input(0, "size");
  n.bounded("size", {size}, 0, kMaxLength);
  const DType type = n.dtype_attr("output_datatype", DType::f32);
  const auto period = static_cast<double>(n.flag("periodic", true) ? size : size - 1);
  std::vector<double> values(static_cast<size_t>(size), 0.0);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t k = 0; k < weights.size(); ++k)
      values[i] += weights[k] * std::cos(2 * M_PI * static_cast<double>(k * i) / period);
  return {constant(n, type, {size}, values)};
}

Results hann_window(NodeImport& n) {
  return cosine_window(n, {0.5, -0.5});
}
Results hamming_window(NodeImport& n) {
  return cosine_window(n, {25.0 / 46, -21.0 / 46});
}
Results blackman_window(NodeImport& n) {
  return cosine_window(n, {0.42, -0.5, 0.08});
}

// Triangles over the bins of a spectrum, whose corners are evenly spaced on the mel scale.
Results mel_weight_matrix(NodeImport& n) {
  const int64_t bands = n.int_input(0, "number of bands"), length = n.int_input(1, "length");
  const auto rate = static_cast<double>(n.int_input(2, "sample rate"));
  const double low = n.scalar_input(3, "lower edge"), high = n.scalar_input(4, "upper edge");
  const DType type = n.dtype_attr("output_datatype", DType::f32);
  n.bounded("number of bands", {bands}, 1, 1 << 12);
  n.bounded("length", {length}, 1, 1 << 16);
  if (!(rate > 0)) n.invalid("the sample rate must be positive");
  const auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10); };
  const int64_t bins = length / 2 + 1;
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * std::expm1((static_cast<double>(i) * step + mel(low)) / 2595 * std::log(10));
    const double bin = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(bin >= 0 && bin < static_cast<double>(bins))) n.invalid("a band lies outside of the spectrum");
    corners.push_back(static_cast<int64_t>(bin));
  }
  std::vector<double> values(static_cast<size_t>(bins * bands), 0.0);
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t left = corners[band], centre = corners[band + 1], right = corners[band + 2];
    const auto at = [&](int64_t bin) -> double& { return values[bin * bands + band]; };
    if (centre == left) at(centre) = 1;
    for (int64_t bin = left; bin <= centre && centre > left; ++bin)
      at(bin) = static_cast<double>(bin - left) / static_cast<double>(centre - left);
    for (int64_t bin = centre; bin < right; ++bin)
      at(bin) = static_cast<double>(right - bin) / static_cast<double>(right - centre);
  }
  return {constant(n, type, {bins, bands}, values)};
}

// A discrete Fourier transform over `length` places, from rows of `in` numbers of `in_parts` (1: real, 2:
// complex) to `out` of `out_parts`. Of a half spectrum the other half mirrors it.
struct Transform {
  int64_t length, in, in_parts, out, out_parts;
  bool inverse = false, from_half = false;
};

// [in * in_parts, out * out_parts]
std::vector<double> matrix_of(const Transform& t) {
  std::vector<double> matrix;
  matrix.reserve(static_cast<size_t>(t.in * t.in_parts * t.out * t.out_parts));
  for (int64_t i = 0; i < t.in; ++i) {
    const bool mirrored = t.from_half && i > 0 && 2 * i < t.length;
    const double weight = (mirrored ? 2.0 : 1.0) / (t.inverse ? static_cast<double>(t.length) : 1.0);
    for (int64_t part = 0; part < t.in_parts; ++part)
      for (int64_t k = 0; k < t.out; ++k) {
        const double turn = static_cast<double>(i * k % t.length) / static_cast<double>(t.length);
        const double angle = (t.inverse ? 2 : -2) * M_PI * turn;
        const double cosine = weight * std::cos(angle), sine = weight * std::sin(angle);
        matrix.push_back(part == 0 ? cosine : -sine);
        if (t.out_parts == 2) matrix.push_back(part == 0 ? sine : cosine);
      }
  }
  return matrix;
}

void require_moderate(NodeImport& n, const Transform& t) {
  if (t.in * t.in_parts * t.out * t.out_parts * 8 > n.max_constant_bytes())
    n.unsupported(fmt::format("a transform over {} places: its matrix would be too large", t.length));
}

// Of x [..., in, in_parts].
Term transformed(const Term& x, const Transform& t, const Term& matrix) {
  const int64_t rows = t.in * t.in_parts;
  Shape flat = x.shape(), shape = x.shape();
  flat.pop_back();
  flat.back() = rows;
  shape[shape.size() - 2] = t.out;
  shape.back() = t.out_parts;
  if (flat.size() == 1) flat.insert(flat.begin(), 1);
  return reshape(matmul(reshape(x, flat), matrix), shape);
}
Term transformed(const Term& x, const Transform& t) {
  require_moderate(x.node(), t);
  return transformed(x, t,
                     constant(x.node(), x.dtype(), {t.in * t.in_parts, t.out * t.out_parts}, matrix_of(t)));
}

// matrix_of, where the length is known in a run alone.
Term open_matrix(const Transform& t, const Term& length, DType type) {
  NodeImport& n = length.node();
  const Term in = positions(n, DType::f64, t.in, 0, 2), out = positions(n, DType::f64, t.out, 1, 2);
  const Term whole = cast(max(length, integer(n, 1)), DType::f64), product = in * out;
  const Term turn = (product - floor(product / whole) * whole) / whole;
  const Term angle = turn * ((t.inverse ? 2 : -2) * M_PI);
  Term weight(n, DType::f64, 1);
  if (t.inverse) weight = weight / whole;
  if (t.from_half) weight = select(!(in == 0.0) && in * 2.0 < whole, weight * 2.0, weight);
  const Term cosine = weight * apply(Op::Cos, {angle}), sine = weight * apply(Op::Sin, {angle});
  std::vector<Term> rows;
  for (int64_t part = 0; part < t.in_parts; ++part) {
    std::vector<Term> parts = {insert_axis(part == 0 ? cosine : -sine, 2)};
    if (t.out_parts == 2) parts.push_back(insert_axis(part == 0 ? sine : cosine, 2));
    rows.push_back(insert_axis(concat(parts, 2), 1));
  }
  return cast(reshape(concat(rows, 1), {t.in * t.in_parts, t.out * t.out_parts}), type);
}

// The first places, or zeros behind.
Term with_extent(const Term& x, int64_t axis, int64_t extent) {
  const int64_t present = x.extent(axis);
  return present > extent ? slice(x, axis, 0, extent) : pad(x, axis, 0, extent - present, 0);
}

Results dft(NodeImport& n) {
  const Term x = widened({n, n.input(0)});
  const int64_t rank = x.rank();
  if (rank < 2 || (x.extent(rank - 1) != 1 && x.extent(rank - 1) != 2))
    n.invalid("the data need a last axis of 1 or 2 numbers");
  int64_t axis = n.opset() < 20 ? n.int_attr("axis", 1) : n.has_input(2) ? n.int_input(2, "axis") : -2;
  axis = n.axis(axis, rank);
  if (axis == rank - 1) n.invalid("the last axis holds the parts of complex numbers");
  n.require_known(x, rank - 1, "the axis of the parts of complex numbers");
  const bool inverse = n.flag("inverse", false), onesided = n.flag("onesided", false),
             to_real = inverse && onesided;
  const Operand extent = extent_of(x, axis);
  const bool is_open = extent != nullptr && !n.has_input(1);
  const int64_t length = n.has_input(1) ? n.int_input(1, "length")
                         : to_real      ? 2 * (x.extent(axis) - 1)
                                        : x.extent(axis);
  n.bounded("length", {length}, 1, kMaxLength);
  Transform t{length,
              to_real ? length / 2 + 1 : length,
              x.extent(rank - 1),
              onesided && !inverse ? length / 2 + 1 : length,
              to_real ? 1 : 2,
              inverse,
              to_real};
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && i != rank - 1) perm.push_back(i);
  perm.insert(perm.end(), {axis, rank - 1});
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  Results extents = extents_of(x);
  extents[static_cast<size_t>(axis)] = nullptr;
  Term known = x;
  if (extent != nullptr)  // zeros behind
    known = Term(n, n.bounded(select(positions(n, DType::i64, x.extent(axis), axis, rank) < Term(n, extent),
                                     at_bounds(x), 0),
                              extents));
  const Term data = transpose(with_extent(known, axis, t.in), perm);
  if (!is_open) return {cast(transpose(transformed(data, t), back), n.input(0)->dtype())};
  require_moderate(n, t);
  const Term there = Term(n, extent), whole = to_real ? (there - 1) * 2.0 : there;
  const Term y = transpose(transformed(data, t, open_matrix(t, whole, x.dtype())), back);
  Results counted = extents_of(y);
  counted[static_cast<size_t>(axis)] = onesided && !inverse ? (whole / 2.0 + 1.0).operand() : whole.operand();
  counted[static_cast<size_t>(axis)] = std::make_shared<OperandState>(*counted[static_cast<size_t>(axis)]);
  counted[static_cast<size_t>(axis)]->upper = t.out;
  return {cast(Term(n, n.bounded(y, counted)), n.input(0)->dtype())};
}

// Frames of the signal [batch, places, parts], or [batch, places] of real numbers, each transformed.
Results stft(NodeImport& n) {
  const Term x = widened({n, n.input(0)});
  const bool onesided = n.flag("onesided", true);
  const int64_t step = n.int_input(1, "frame step");
  const bool has_parts = x.rank() == 3;
  if (x.rank() != 2 && !(has_parts && (x.extent(2) == 1 || x.extent(2) == 2)))
    n.invalid("the signal needs shape [batch, places] or [batch, places, 1 or 2]");
  if (has_parts) n.require_known(x, 2, "the axis of the parts of complex numbers");
  if (n.has_input(2)) n.require_known(n.input(2), "the window's extent");
  if (!n.has_input(2) && !n.has_input(3))
    n.require_known(x, 1, "the signal, whose frames are as long as it,");
  const int64_t window = n.has_input(2) && n.input(2)->rank() == 1 ? n.input(2)->shape()[0] : x.extent(1);
  const int64_t length = n.has_input(3) ? n.int_input(3, "frame length") : window;
  n.bounded("frame step", {step}, 1, kMaxLength);
  n.bounded("frame length", {length}, 1, std::min(kMaxLength, x.extent(1)));
  if (n.least(x, 1) < length)
    throw Error(ErrorKind::usage,
                fmt::format("the signal can be as short as {}, less than the frame length {}: give a "
                            "range of extents that begins higher",
                            n.least(x, 1), length));
  if (n.has_input(2) && n.input(2)->shape() != Shape{length})
    n.unsupported("a window that is not as long as the frames");
  const int64_t frames = (x.extent(1) - length) / step + 1;
  const Term places = positions(n, DType::i64, frames, 0, 2) * static_cast<double>(step) +
                      positions(n, DType::i64, length, 1, 2);
  Results extents = extents_of(x);
  if (extents[1] != nullptr) {
    extents[1] =
        ((Term(n, extents[1]) - static_cast<double>(length)) / static_cast<double>(step) + 1.0).operand();
    extents[1]->upper = frames;
  }
  extents.insert(extents.begin() + 2, nullptr);
  if (!has_parts) extents.push_back(nullptr);
  const Term signal = has_parts ? at_bounds(x) : insert_axis(at_bounds(x), 2);
  Term framed(n, n.bounded(apply(Op::Gather, {signal, places}, AxisAttrs{1}), extents));
  if (n.has_input(2)) framed = framed * reshape(cast({n, n.input(2)}, x.dtype()), {length, 1});
  const Transform t{length, length, signal.extent(2), onesided ? length / 2 + 1 : length, 2};
  return {cast(transformed(framed, t), n.input(0)->dtype())};
}

}  // namespace

std::vector<RuleRow> signal_rules() {
  return {
      {"HannWindow", hann_window, 17, 17},
      {"HammingWindow", hamming_window, 17, 17},
      {"BlackmanWindow", blackman_window, 17, 17},
      {"MelWeightMatrix", mel_weight_matrix, 17, 17},
      {"DFT", dft, 17, 20},
      {"STFT", stft, 17, 17},
  };
}

}  // namespace korch::onnx
