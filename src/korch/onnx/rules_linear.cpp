// Matrix products and convolutions.
#include <fmt/format.h>

#include <algorithm>

#include "korch/onnx/bounded.h"
#include "korch/onnx/narrow.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {}  // namespace

// Operands of rank 1 are a row on the left, a column on the right; their axis leaves the result again.
Operand matrix_product(NodeImport& n, Operand a, Operand b) {
  if (a->rank() == 0 || b->rank() == 0) n.invalid("operands must have rank 1 or more");
  const bool row = a->rank() == 1, column = b->rank() == 1;
  if (row) a = n.reshape(a, {1, a->shape()[0]});
  if (column) b = n.reshape(b, {b->shape()[0], 1});
  const Operand product = n.emit(Op::MatMul, MatMulAttrs{}, {a, b});
  Shape shape = product->shape();
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.pop_back();
  return n.reshape(product, shape);
}

namespace {

// Two operands that are whole numbers times factors, of which the second's do not change along what is
// summed: their product is one of whole numbers, times both factors.
struct WholeNumbers {
  Operand left, right;
  Term factor;  // broadcasts to the result
};

// `feature`: the axis of the constant second operand that is the result's last, or the first of `rank`.
std::optional<WholeNumbers> whole_numbers(NodeImport& n, int64_t feature, bool channels) {
  const Operand &left = n.input(0), &right = n.input(1);
  if (!left->whole || !right->whole || !right->constant || element_count(left->factor->shape()) != 1)
    return std::nullopt;
  Term own(n, right->factor);
  if (element_count(own.shape()) == 1) {
    own = reshape(own, {});
  } else {
    const int64_t extent = right->shape()[static_cast<size_t>(feature)];
    if (own.rank() != right->rank() || own.extent(feature) != extent || element_count(own.shape()) != extent)
      return std::nullopt;
    Shape shape = {extent};
    if (channels) shape.resize(static_cast<size_t>(right->rank() - 1), 1);
    own = reshape(own, shape);
  }
  return WholeNumbers{left->whole, right->whole, reshape({n, left->factor}, {}) * own};
}

Results matmul(NodeImport& n) {
  if (const DType type = n.input(0)->dtype();
      type == DType::bool_ || (is_integer(type) && size_bytes(type) < 4))
    n.invalid("operands must be floats or integers of 32 or 64 bits");
  if (n.input(0)->rank() > 1 && n.input(1)->rank() > 1)
    if (const auto numbers = whole_numbers(n, n.input(1)->rank() - 1, false))
      return {Term(n, matrix_product(n, numbers->left, numbers->right)) * numbers->factor};
  if (const Operand product = narrow_product(n, n.input(0), n.input(1))) return {product};
  return {matrix_product(n, n.input(0), n.input(1))};
}

Results gemm(NodeImport& n) {
  if (n.opset() < 7) n.ignore("broadcast");
  GemmAttrs attrs;
  attrs.alpha = n.float_attr("alpha", 1);
  attrs.beta = n.float_attr("beta", 1);
  attrs.transpose_a = n.flag("transA", false);
  attrs.transpose_b = n.flag("transB", false);
  std::vector<Operand> operands = {n.input(0), n.input(1)};
  if (n.has_input(2)) operands.push_back(n.input(2));
  if (const auto numbers = whole_numbers(n, attrs.transpose_b ? 0 : 1, false); numbers && attrs.beta == 1) {
    const Term product = Term(n, n.emit(Op::Gemm, attrs, {numbers->left, numbers->right})) * numbers->factor;
    return {n.has_input(2) ? product + Term(n, n.input(2)) : product};
  }
  if (n.input(0)->rank() == 2) {
    const Operand left = attrs.transpose_a ? Operand(transpose({n, n.input(0)}, {1, 0})) : n.input(0);
    if (const Operand narrow = narrow_product(n, left, n.input(1), attrs.transpose_b)) {
      const auto scaled = [](const Term& x, double factor) { return factor == 1 ? x : x * factor; };
      const Term product = scaled({n, narrow}, attrs.alpha);
      return {n.has_input(2) && attrs.beta != 0 ? product + scaled({n, n.input(2)}, attrs.beta) : product};
    }
  }
  return {n.emit(Op::Gemm, attrs, operands)};
}

Results einsum(NodeImport& n) {
  const std::string equation = n.string_attr("equation", "");
  if (equation.empty()) n.invalid("attribute equation is missing");
  return {n.emit(Op::Einsum, EinsumAttrs{equation}, n.all_inputs())};
}

std::vector<Operand> conv_operands(NodeImport& n) {
  std::vector<Operand> operands = {n.input(0), n.input(1)};
  if (n.has_input(2)) operands.push_back(n.input(2));
  return operands;
}

struct ConvOperands {
  std::vector<Operand> operands;  // x, w (, bias)
  Shape in, kernel;               // spatial extents
};

ConvOperands read_operands(NodeImport& n, std::vector<Operand> operands) {
  const TensorType &data = operands[0]->type, &weights = operands[1]->type;
  const Shape &x = data.shape, &w = weights.shape;
  ConvOperands result{std::move(operands), {}, {}};
  if (x.size() < 3 || w.size() != x.size())
    n.invalid(
        fmt::format("data {} and weights {} need one rank, 3 or more", to_string(data), to_string(weights)));
  result.in.assign(x.begin() + 2, x.end());
  result.kernel.assign(w.begin() + 2, w.end());
  n.bounded("weight extent", result.kernel, 1, kMaxStep);
  if (n.ints_attr("kernel_shape", result.kernel) != result.kernel)
    n.invalid("kernel_shape is not that of the weights");
  return result;
}

ConvAttrs conv_attrs(NodeImport& n, const Windows& windows) {
  ConvAttrs attrs;
  attrs.strides = windows.strides;
  attrs.dilations = windows.dilations;
  attrs.pads_before = windows.pads_before;
  attrs.pads_after = windows.pads_after;
  attrs.group = n.int_attr("group", 1);
  n.bounded("group", {attrs.group}, 1, kMaxStep);
  return attrs;
}

}  // namespace

Operand convolution(NodeImport& n, std::vector<Operand> operands) {
  ConvOperands in = read_operands(n, std::move(operands));
  const Windows windows = read_windows(n, in.operands[0], in.kernel);
  in.operands[0] = with_open_pads(n, in.operands[0], windows, 0);
  return n.emit(Op::Conv, conv_attrs(n, windows), in.operands);
}

namespace {

Results conv(NodeImport& n) {
  if (!is_float(n.input(0)->dtype())) n.invalid("operands must be floats");
  if (const auto numbers = whole_numbers(n, 0, true)) {
    const Term product = Term(n, convolution(n, {numbers->left, numbers->right})) * numbers->factor;
    if (!n.has_input(2)) return {product};
    Shape shape(static_cast<size_t>(product.rank() - 1), 1);
    shape[0] = product.extent(1);
    if (n.input(2)->shape() != Shape{shape[0]}) n.invalid("the bias needs one element per channel");
    return {product + reshape({n, n.input(2)}, shape)};
  }
  return {convolution(n, conv_operands(n))};
}

// The wanted output extents, if output_shape or auto_pad states them.
std::optional<Shape> wanted_extents(NodeImport& n, const Shape& in, const std::vector<int64_t>& strides,
                                    const std::string& auto_pad) {
  if (n.has("output_shape")) {
    Shape shape = n.ints_attr("output_shape", {});
    if (shape.size() == in.size() + 2)
      shape.erase(shape.begin(), shape.begin() + 2);  // written by some exporters
    if (shape.size() != in.size()) n.invalid("output_shape needs one entry per spatial axis");
    n.bounded("output_shape entry", shape, 1, kMaxOffset);
    for (int64_t axis = 2; axis < n.input(0)->rank(); ++axis)
      if (extent_of(n.input(0), axis) != nullptr)
        n.unsupported(
            "output_shape and an extent that depends on the data or is a range: export the model with "
            "output_padding, or fix the dimension with --shape");
    return shape;
  }
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return std::nullopt;
  Shape shape = in;
  for (size_t i = 0; i < in.size(); ++i) shape[i] *= strides[i];
  return shape;
}

Results conv_transpose(NodeImport& n) {
  const ConvOperands in = read_operands(n, conv_operands(n));
  const std::string auto_pad = n.string_attr("auto_pad", "NOTSET");
  // auto_pad speaks of another direction here; what read_windows makes of it is replaced below.
  ConvAttrs attrs = conv_attrs(n, read_windows(n, n.bounded(in.operands[0], {}), in.kernel));
  const size_t spatial = in.in.size();
  attrs.output_padding = n.ints_attr("output_padding", std::vector<int64_t>(spatial, 0));
  if (attrs.output_padding.size() != spatial) n.invalid("output_padding needs one entry per spatial axis");
  n.bounded("output_padding", attrs.output_padding, 0, kMaxStep);
  if (const auto wanted = wanted_extents(n, in.in, attrs.strides, auto_pad)) {
    for (int64_t axis = 2; axis < n.input(1)->rank(); ++axis)
      n.require_known(n.input(1), axis, "a side of the weights, beside output_shape or auto_pad,");
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t full = attrs.strides[i] * (in.in[i] - 1) + attrs.output_padding[i] +
                           (in.kernel[i] - 1) * attrs.dilations[i] + 1;
      const int64_t surplus = std::max<int64_t>(full - (*wanted)[i], 0);
      const int64_t larger = surplus - surplus / 2;
      attrs.pads_before[i] = auto_pad == "SAME_UPPER" ? surplus / 2 : larger;
      attrs.pads_after[i] = surplus - attrs.pads_before[i];
      attrs.output_padding[i] += std::max<int64_t>((*wanted)[i] - full, 0);
    }
  }
  return {n.emit(Op::ConvTranspose, attrs, in.operands)};
}

// By the first row's minors: of few rows alone, what more would cancel.
constexpr int64_t kMaxDeterminant = 4;

// Of the rows from `row` on and the columns that are left, elements [...].
Term determinant(const std::vector<std::vector<Term>>& elements, size_t row,
                 const std::vector<size_t>& columns) {
  if (columns.size() == 1) return elements[row][columns[0]];
  std::optional<Term> sum;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<size_t> others = columns;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Term term = elements[row][columns[i]] * determinant(elements, row + 1, others);
    sum = !sum ? term : i % 2 == 0 ? *sum + term : *sum - term;
  }
  return *sum;
}

Results det(NodeImport& n) {
  const Term x = widened({n, n.input(0)});
  const int64_t rank = x.rank();
  if (rank < 2 || x.extent(rank - 1) != x.extent(rank - 2)) n.invalid("needs square matrices");
  for (int64_t axis : {rank - 2, rank - 1}) n.require_known(x, axis, "the size of the matrices");
  const int64_t size = x.extent(rank - 1);
  if (size < 1 || size > kMaxDeterminant)
    n.unsupported(fmt::format("determinants of {} rows, other than 1 to {}", size, kMaxDeterminant));
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  std::vector<std::vector<Term>> elements;
  std::vector<size_t> columns;
  for (int64_t i = 0; i < size; ++i) {
    columns.push_back(static_cast<size_t>(i));
    elements.emplace_back();
    for (int64_t j = 0; j < size; ++j)
      elements.back().push_back(reshape(slice(slice(x, rank - 2, i, 1), rank - 1, j, 1), batch));
  }
  return {cast(determinant(elements, 0, columns), n.input(0)->dtype())};
}

}  // namespace

std::vector<RuleRow> linear_rules() {
  return {
      {"MatMul", matmul, 1, 13},
      {"Gemm", gemm, 1, 13},
      {"Einsum", einsum, 12, 28},
      {"Conv", conv, 1, 22},
      {"ConvTranspose", conv_transpose, 1, 22},
      {"Det", det, 11, 22},
  };
}

}  // namespace korch::onnx
