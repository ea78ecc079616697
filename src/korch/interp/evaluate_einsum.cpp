// Einsum by its definition: for every output element, the sum over the remaining labels of the operands'
// products. Floats in double, integers modulo 2^64.
#include <algorithm>
#include <map>
#include <string>

#include "korch/interp/evaluate.h"
#include "korch/interp/strided.h"
#include "korch/ir/scalar_functions.h"

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

template <typename W>
class Product {
  using M = ScalarMath<W>;

 public:
  Product(const ProductSpace& space, const std::vector<HostTensor>& inputs, W* out, StopCheck& stop)
      : space_(space), offsets_(inputs.size(), 0), out_(out), stop_(stop) {
    for (const HostTensor& input : inputs) operands_.push_back(input.data<W>());
  }

  // Writes the elements of the result from the current offsets on, along its axes from `axis` on.
  void write(size_t axis) {
    if (axis == space_.summed_from) {
      *out_++ = sum(axis);
      return;
    }
    for (int64_t index = 0; index < space_.extents[axis]; ++index) {
      write(axis + 1);
      step(axis);
    }
    rewind(axis);
  }

 private:
  void step(size_t axis) {
    for (size_t i = 0; i < operands_.size(); ++i) offsets_[i] += space_.strides[i][axis];
  }
  void rewind(size_t axis) {
    for (size_t i = 0; i < operands_.size(); ++i)
      offsets_[i] -= space_.extents[axis] * space_.strides[i][axis];
  }

  // Sums the products of the operands over the axes from `axis` on.
  W sum(size_t axis) {
    if (axis == space_.extents.size()) {
      stop_.after(1);
      W product = 1;
      for (size_t i = 0; i < operands_.size(); ++i) product = M::mul(product, operands_[i][offsets_[i]]);
      return product;
    }
    W total = 0;
    if (axis + 1 == space_.extents.size() && operands_.size() == 2) {
      const W *a = operands_[0] + offsets_[0], *b = operands_[1] + offsets_[1];
      stop_.after(space_.extents[axis]);
      const int64_t step_a = space_.strides[0][axis], step_b = space_.strides[1][axis];
      for (int64_t i = 0; i < space_.extents[axis]; ++i)
        total = M::add(total, M::mul(a[i * step_a], b[i * step_b]));
      return total;
    }
    for (int64_t index = 0; index < space_.extents[axis]; ++index) {
      total = M::add(total, sum(axis + 1));
      step(axis);
    }
    rewind(axis);
    return total;
  }

  const ProductSpace& space_;
  std::vector<const W*> operands_;
  std::vector<int64_t> offsets_;
  W* out_;
  StopCheck& stop_;
};

}  // namespace

Results evaluate_einsum(const Evaluation& e) {
  std::vector<HostTensor> inputs;
  for (const HostTensor& input : e.inputs) inputs.push_back(widened(input));
  const ProductSpace space = product_space(parse_equation(e.attrs<EinsumAttrs>().equation, inputs), inputs);
  HostTensor out(TensorType{inputs[0].dtype(), e.output_shape()});
  with_wide_type(out.dtype(), [&](auto zero) {
    using W = decltype(zero);
    Product<W>(space, inputs, out.mutable_data<W>(), e.stop).write(0);
  });
  return {out};
}

}  // namespace korch
