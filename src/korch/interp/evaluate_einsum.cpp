// Einsum by its definition: for every output element, the sum over the remaining labels of the operands'
// products.
#include <algorithm>
#include <map>
#include <string>

#include "korch/interp/evaluate.h"
#include "korch/interp/strided.h"

namespace korch {
namespace {

constexpr int kFirstEllipsisLabel =
    256;  // beyond every letter: one label per axis that "..." covers, from the right

using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

// The labels of `text` for an operand with `ellipsis_rank` axes under "...".
Labels parse_labels(const std::string& text, int ellipsis_rank) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      labels.push_back(text[i]);
      continue;
    }
    for (int axis = ellipsis_rank; axis-- > 0;) labels.push_back(kFirstEllipsisLabel + axis);
    i += 2;
  }
  return labels;
}

int named_labels(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return c != '.'; }));
}

// Without "->" the result is the ellipsis and then every label that occurs once, in alphabetical order.
std::string implicit_result(const std::string& left) {
  std::map<char, int> occurrences;
  for (char c : left)
    if (c != '.' && c != ',') ++occurrences[c];
  std::string result = left.find('.') == std::string::npos ? "" : "...";
  for (const auto& [label, count] : occurrences)
    if (count == 1) result += label;
  return result;
}

Equation parse_equation(std::string text, const std::vector<HostTensor>& inputs) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  const std::string right = arrow == std::string::npos ? implicit_result(left) : text.substr(arrow + 2);
  Equation equation;
  int ellipsis_rank = 0;
  size_t begin = 0;
  for (const HostTensor& input : inputs) {
    const size_t end = std::min(left.find(',', begin), left.size());
    const std::string operand = left.substr(begin, end - begin);
    const int rank = static_cast<int>(input.shape().size()) - named_labels(operand);
    equation.operands.push_back(parse_labels(operand, rank));
    if (operand.find('.') != std::string::npos) ellipsis_rank = std::max(ellipsis_rank, rank);
    begin = end + 1;
  }
  equation.result = parse_labels(right, ellipsis_rank);
  return equation;
}

// The index space: the result's labels, then the summed ones; a stride per operand and label.
struct ProductSpace {
  Shape extents;
  std::vector<Shape> strides;
  size_t summed_from;
};

ProductSpace product_space(const Equation& equation, const std::vector<HostTensor>& inputs) {
  Labels order = equation.result;
  std::map<int, int64_t> extents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < equation.operands[i].size(); ++axis) {
      const int label = equation.operands[i][axis];
      const int64_t extent = inputs[i].shape()[axis];
      int64_t& known = extents.emplace(label, extent).first->second;
      if (known == 1) known = extent;
      if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
    }
  }
  ProductSpace space{{}, {}, equation.result.size()};
  for (int label : order) space.extents.push_back(extents.at(label));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape dense = row_major_strides(inputs[i].shape());
    Shape strides(order.size(), 0);
    for (size_t axis = 0; axis < dense.size(); ++axis) {
      const auto at = std::find(order.begin(), order.end(), equation.operands[i][axis]) - order.begin();
      if (inputs[i].shape()[axis] != 1) strides[at] += dense[axis];  // a repeated label walks the diagonal
    }
    space.strides.push_back(strides);
  }
  return space;
}

// Sums the products of the operands over the axes from `axis` on, starting at the given offsets.
double sum_of_products(const ProductSpace& space, const std::vector<const double*>& operands, size_t axis,
                       std::vector<int64_t>& offsets) {
  if (axis == space.extents.size()) {
    double product = 1;
    for (size_t i = 0; i < operands.size(); ++i) product *= operands[i][offsets[i]];
    return product;
  }
  const bool innermost = axis + 1 == space.extents.size();
  double sum = 0;
  if (innermost && operands.size() == 2) {
    const double *a = operands[0] + offsets[0], *b = operands[1] + offsets[1];
    const int64_t step_a = space.strides[0][axis], step_b = space.strides[1][axis];
    for (int64_t i = 0; i < space.extents[axis]; ++i) sum += a[i * step_a] * b[i * step_b];
    return sum;
  }
  for (int64_t index = 0; index < space.extents[axis]; ++index) {
    sum += sum_of_products(space, operands, axis + 1, offsets);
    for (size_t i = 0; i < operands.size(); ++i) offsets[i] += space.strides[i][axis];
  }
  for (size_t i = 0; i < operands.size(); ++i) offsets[i] -= space.extents[axis] * space.strides[i][axis];
  return sum;
}

void walk_result(const ProductSpace& space, const std::vector<const double*>& operands, size_t axis,
                 std::vector<int64_t>& offsets, double*& out) {
  if (axis == space.summed_from) {
    *out++ = sum_of_products(space, operands, axis, offsets);
    return;
  }
  for (int64_t index = 0; index < space.extents[axis]; ++index) {
    walk_result(space, operands, axis + 1, offsets, out);
    for (size_t i = 0; i < operands.size(); ++i) offsets[i] += space.strides[i][axis];
  }
  for (size_t i = 0; i < operands.size(); ++i) offsets[i] -= space.extents[axis] * space.strides[i][axis];
}

}  // namespace

Results evaluate_einsum(const Evaluation& e) {
  std::vector<HostTensor> inputs;
  for (const HostTensor& input : e.inputs) inputs.push_back(converted(input, DType::f64));
  const Equation equation = parse_equation(e.attrs<EinsumAttrs>().equation, inputs);
  const ProductSpace space = product_space(equation, inputs);
  std::vector<const double*> operands;
  for (const HostTensor& input : inputs) operands.push_back(input.data<double>());
  std::vector<int64_t> offsets(inputs.size(), 0);
  HostTensor out = doubles(e.output_shape());
  double* position = out.mutable_data<double>();
  walk_result(space, operands, 0, offsets, position);
  return {out};
}

}  // namespace korch
