// Einsum: labels that only one operand has are summed away, then operand after operand is contracted into the
// result: a MatMul where labels are summed, an elementwise product where none are.
#include "korch/ir/einsum.h"

#include <algorithm>
#include <map>

#include "korch/fission/rules.h"

namespace korch::rules {
namespace {

// A label per axis. Labels are letters; an ellipsis becomes the labels '0', '1', ... of the axes it covers.
struct Term {
  ValueId value = kNoId;
  std::string labels;
};

bool contains(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

std::string without(const std::string& labels, const std::string& removed) {
  std::string result;
  for (char label : labels) {
    if (!contains(removed, label)) result += label;
  }
  return result;
}

std::string common(const std::string& a, const std::string& b) {
  std::string result;
  for (char label : a) {
    if (contains(b, label)) result += label;
  }
  return result;
}

std::vector<int64_t> positions(const std::string& labels, const std::string& of) {
  std::vector<int64_t> result;
  for (char label : of) result.push_back(static_cast<int64_t>(labels.find(label)));
  return result;
}

// A label that occurs twice means the diagonal: its two axes become one, of which every (extent + 1)-th
// element is read.
Term take_diagonals(Emitter& e, Term term) {
  for (size_t first = 0; first < term.labels.size(); ++first) {
    const size_t second = term.labels.find(term.labels[first], first + 1);
    if (second == std::string::npos) continue;
    const Shape shape = e.shape(term.value);
    const int64_t extent = shape[first];
    if (shape[second] != extent) e.refuse("diagonal of a matrix that is not square", {term.value});
    std::vector<int64_t> perm = axis_range(0, static_cast<int64_t>(shape.size()));
    perm.erase(perm.begin() + static_cast<int64_t>(second));
    perm.erase(perm.begin() + static_cast<int64_t>(first));
    perm.insert(perm.end(), {static_cast<int64_t>(first), static_cast<int64_t>(second)});

    const char label = term.labels[first];
    term.labels.erase(second, 1).erase(first, 1).push_back(label);
    const ValueId square = e.transpose(term.value, perm);
    Shape flat = e.shape(square);
    flat.resize(flat.size() - 2);
    SliceAttrs slice{Shape(flat.size() + 1, 0), flat, Shape(flat.size() + 1, 1)};
    flat.push_back(extent * extent);
    slice.sizes.push_back(extent);
    slice.steps.back() = extent + 1;
    term.value = e.emit(Op::Slice, slice, {e.reshape(square, flat)});
    return take_diagonals(e, term);
  }
  return term;
}

// Sums (or, for extents of 1, drops) the given labels.
Term sum_away(Emitter& e, const Term& term, const std::string& labels) {
  if (labels.empty()) return term;
  std::vector<int64_t> axes = positions(term.labels, labels);
  std::sort(axes.begin(), axes.end());
  return {e.reduce(Op::ReduceSum, term.value, axes, false), without(term.labels, labels)};
}

ValueId ordered(Emitter& e, const Term& term, const std::string& labels) {
  return e.transpose(term.value, positions(term.labels, labels));
}

int64_t extent(Emitter& e, const Term& term, const std::string& labels) {
  return extent_along(e.shape(term.value), positions(term.labels, labels));
}

Shape extents(Emitter& e, const Term& term, const std::string& labels) {
  const Shape shape = e.shape(term.value);
  Shape result;
  for (int64_t position : positions(term.labels, labels))
    result.push_back(shape[static_cast<size_t>(position)]);
  return result;
}

// The labels of `both` that broadcast: extent 1 in the term. They are dropped from it.
Term drop_broadcast_labels(Emitter& e, const Term& term, const Term& other) {
  std::string dropped;
  for (char label : common(term.labels, other.labels)) {
    const std::string one(1, label);
    if (extent(e, term, one) == 1 && extent(e, other, one) != 1) dropped += label;
  }
  const std::string kept = without(term.labels, dropped);
  return {e.reshape(term.value, extents(e, term, kept)), kept};
}

// a * b without summation: axes in the order of `labels`, absent ones of extent 1.
Term multiply(Emitter& e, const Term& a, const Term& b, const std::string& labels) {
  const auto spread = [&](const Term& term) {
    const ValueId value = ordered(e, term, common(labels, term.labels));
    Shape shape;
    for (char label : labels) {
      shape.push_back(contains(term.labels, label) ? extent(e, term, std::string(1, label)) : 1);
    }
    return e.reshape(value, shape);
  };
  return {e.mul(spread(a), spread(b)), labels};
}

struct MatrixOperand {
  ValueId value;
  bool swapped;  // the last two axes are the other way round
};

// The term as [batch..., rows, columns], or as [batch..., columns, rows] when its last axis is a row: what is
// innermost stays innermost, and often no transpose is left.
MatrixOperand as_matrices(Emitter& e, const Term& term, const std::string& batch, const std::string& rows,
                          const std::string& columns) {
  const bool swapped = !columns.empty() && contains(rows, term.labels.back());
  const std::string& first = swapped ? columns : rows;
  const std::string& second = swapped ? rows : columns;
  Shape shape = extents(e, term, batch);
  shape.push_back(extent(e, term, first));
  shape.push_back(extent(e, term, second));
  return {e.reshape(ordered(e, term, batch + first + second), shape), swapped};
}

// Sums over the labels both have and `kept` has not.
Term contract(Emitter& e, Term a, Term b, const std::string& kept) {
  const std::string summed = without(common(a.labels, b.labels), kept);
  std::string batch = without(common(a.labels, b.labels), summed);
  std::string free_a = without(a.labels, batch + summed), free_b = without(b.labels, batch + summed);
  if (summed.empty()) return multiply(e, a, b, common(kept, a.labels + b.labels));

  // The order of the result is the one asked for as far as batch, rows and columns allow.
  const std::string all = common(kept, a.labels + b.labels);
  batch = common(all, batch);
  free_a = common(all, free_a);
  free_b = common(all, free_b);
  if (all == batch + free_b + free_a && !free_b.empty()) {
    std::swap(a, b);
    std::swap(free_a, free_b);
  }
  const MatrixOperand left = as_matrices(e, a, batch, free_a, summed);
  const MatrixOperand right = as_matrices(e, b, batch, summed, free_b);
  const ValueId product =
      e.emit(Op::MatMul, MatMulAttrs{left.swapped, right.swapped}, {left.value, right.value});
  Shape shape = extents(e, a, batch + free_a);
  const Shape columns = extents(e, b, free_b);
  shape.insert(shape.end(), columns.begin(), columns.end());
  return {e.reshape(product, shape), batch + free_a + free_b};
}

}  // namespace

ValueId einsum(Emitter& e, const Node& node, const Inputs& in) {
  std::vector<int64_t> ranks;
  for (ValueId value : in) ranks.push_back(e.rank(value));
  const EinsumLabels equation = einsum_labels(std::get<EinsumAttrs>(node.attrs).equation, ranks);
  std::vector<Term> terms;
  for (size_t i = 0; i < in.size(); ++i) {
    std::string elsewhere = equation.result;
    for (size_t j = 0; j < in.size(); ++j) elsewhere += j == i ? "" : equation.operands[j];
    const Term term = take_diagonals(e, {in[i], equation.operands[i]});
    terms.push_back(sum_away(e, term, without(term.labels, elsewhere)));
  }
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string kept = equation.result;
    for (size_t j = i + 1; j < terms.size(); ++j) kept += without(terms[j].labels, kept);
    Term left = drop_broadcast_labels(e, result, terms[i]);
    Term right = drop_broadcast_labels(e, terms[i], result);
    // A dropped label that is to be summed is now the other operand's own.
    left = sum_away(e, left, without(left.labels, kept + right.labels));
    right = sum_away(e, right, without(right.labels, kept + left.labels));
    result = contract(e, left, right, kept);
  }
  return e.transpose(result.value, positions(result.labels, equation.result));
}

}  // namespace korch::rules
