// Sequences of tensors: lists of operands while a model is read, nothing afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

using Sequence = std::vector<Operand>;

Operand sequence_of(Sequence items) {
  auto operand = std::make_shared<OperandState>();
  operand->sequence = std::move(items);
  return operand;
}

// A place in [-limit, limit), or [-limit, limit] where something is put after the last; counted from the
// front.
int64_t place(NodeImport& n, size_t input, int64_t limit, bool may_be_end) {
  const int64_t at = n.int_input(input, "position");
  if (at < -limit || at > limit || (at == limit && !may_be_end))
    n.invalid(fmt::format("position {} is outside of a sequence of {}", at, limit));
  return at < 0 ? at + limit : at;
}

Results sequence_empty(NodeImport& n) {
  n.dtype_attr("dtype", DType::f32);
  return {sequence_of({})};
}

Results sequence_construct(NodeImport& n) {
  return {sequence_of(n.all_inputs())};
}

Results sequence_insert(NodeImport& n) {
  Sequence items = n.sequence_input(0);
  const auto count = static_cast<int64_t>(items.size());
  const int64_t at = n.has_input(2) ? place(n, 2, count, true) : count;
  items.insert(items.begin() + at, n.input(1));
  return {sequence_of(std::move(items))};
}

Results sequence_erase(NodeImport& n) {
  Sequence items = n.sequence_input(0);
  if (items.empty()) n.invalid("the sequence is empty");
  const auto count = static_cast<int64_t>(items.size());
  items.erase(items.begin() + (n.has_input(1) ? place(n, 1, count, false) : count - 1));
  return {sequence_of(std::move(items))};
}

Results sequence_at(NodeImport& n) {
  const Sequence& items = n.sequence_input(0);
  return {items[place(n, 1, static_cast<int64_t>(items.size()), false)]};
}

Results sequence_length(NodeImport& n) {
  const auto count = static_cast<int64_t>(n.sequence_input(0).size());
  return {n.integer(count)};
}

// `split` is the extent of every part (of the last, what is left), or all extents; without it every element
// is one.
Results split_to_sequence(NodeImport& n) {
  const Operand& x = n.input(0);
  const int64_t axis = n.axis(n.int_attr("axis", 0), x->rank());
  n.require_known(x, axis, "the axis that is split, and so the sequence's length,");
  const int64_t extent = x->shape()[axis];
  const bool keeps_axis = n.flag("keepdims", true) || n.has_input(1);
  std::vector<int64_t> sizes;
  int64_t each = 1;
  if (n.has_input(1)) {
    sizes = n.ints_input(1, "sizes");
    if (n.input(1)->rank() == 0) {
      each = sizes[0];
      if (each < 1) n.invalid(fmt::format("parts of {} elements", each));
      sizes.clear();
    }
    n.bounded("size", sizes, 0, extent);
    if (!sizes.empty() && std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent)
      n.invalid(fmt::format("its sizes must have the sum {}", extent));
  }
  if (sizes.empty())
    for (int64_t at = 0; at < extent; at += each) sizes.push_back(std::min(each, extent - at));
  Sequence items = parts(n, x, axis, sizes);
  Shape shape = x->shape();
  shape.erase(shape.begin() + axis);
  if (!keeps_axis)
    for (Operand& item : items) item = n.reshape(item, shape);
  return {sequence_of(std::move(items))};
}

// Of all rows that a loop stacked, in order: what they were cut from. Else nothing.
Operand stack_of(const Sequence& items) {
  const Operand& stack = items[0]->stack;
  if (stack == nullptr || stack->shape()[0] != static_cast<int64_t>(items.size())) return nullptr;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i]->stack != stack || items[i]->row != static_cast<int64_t>(i)) return nullptr;
  return stack;
}

Results concat_from_sequence(NodeImport& n) {
  Sequence items = n.sequence_input(0);
  if (items.empty()) n.invalid("the sequence is empty");
  const bool is_new = n.flag("new_axis", false);
  const int64_t axis = n.axis(n.int_attr("axis"), items[0]->rank() + is_new);
  if (const Operand stack = stack_of(items)) {
    std::vector<int64_t> perm(static_cast<size_t>(stack->rank()));
    std::iota(perm.begin(), perm.end(), 0);
    std::rotate(perm.begin(), perm.begin() + 1, perm.begin() + 1 + axis);
    const Operand moved = axis == 0 ? stack : n.emit(Op::Transpose, PermAttrs{perm}, {stack});
    if (is_new) return {moved};
    Shape joined = items[0]->shape();
    joined[static_cast<size_t>(axis)] *= static_cast<int64_t>(items.size());
    return {n.reshape(moved, joined)};
  }
  if (is_new)
    for (Operand& item : items) {
      Shape shape = item->shape();
      if (axis > item->rank()) n.invalid("its tensors differ in rank");
      shape.insert(shape.begin() + axis, 1);
      item = n.reshape(item, shape);
    }
  return {items.size() == 1 ? items[0] : n.emit(Op::Concat, AxisAttrs{axis}, items)};
}

// While a model is read it is known whether there is something, so an optional is what it holds.
Results optional(NodeImport& n) {
  if (n.has("type") || !n.has_input(0)) n.unsupported("an optional that holds nothing");
  return {n.input(0)};
}

Results optional_has_element(NodeImport& n) {
  const auto present = static_cast<uint8_t>(n.has_input(0));
  return {n.constant(converted(HostTensor::of<uint8_t>(DType::u8, {}, {present}), DType::bool_))};
}

}  // namespace

std::vector<RuleRow> sequence_rules() {
  return {
      {"SequenceEmpty", sequence_empty, 11, 11},
      {"SequenceConstruct", sequence_construct, 11, 11},
      {"SequenceInsert", sequence_insert, 11, 11},
      {"SequenceErase", sequence_erase, 11, 11},
      {"SequenceAt", sequence_at, 11, 11},
      {"SequenceLength", sequence_length, 11, 11},
      {"SplitToSequence", split_to_sequence, 11, 24},
      {"Optional", optional, 15, 28},
      {"OptionalGetElement", optional, 15, 28},
      {"OptionalHasElement", optional_has_element, 15, 28},
      {"ConcatFromSequence", concat_from_sequence, 11, 11},
  };
}

}  // namespace korch::onnx
