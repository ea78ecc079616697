#include "korch/ir/op.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace korch {
namespace {

template <typename T, size_t I = 0>
constexpr size_t index_in_attrs() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Attrs>>) {
    return I;
  } else {
    return index_in_attrs<T, I + 1>();
  }
}

constexpr OpInfo kOps[] = {
#define X(name, category, min_inputs, max_inputs, outputs, attrs, ...) \
  {Op::name,   #name,   Category::category,      min_inputs,           \
   max_inputs, outputs, index_in_attrs<attrs>(), Fusing{__VA_ARGS__}},
    KORCH_OPS(X)
#undef X
};

}  // namespace

bool ConstantAttrs::operator==(const ConstantAttrs& other) const {
  if (value.type() != other.value.type()) return false;
  if (value.raw() == other.value.raw()) return true;
  return std::memcmp(value.raw(), other.value.raw(), static_cast<size_t>(value.bytes())) == 0;
}

const OpInfo& info(Op op) {
  return kOps[static_cast<size_t>(op)];
}

const char* name(Op op) {
  return info(op).name;
}

std::optional<Op> parse_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, Op> map;
    for (const OpInfo& row : kOps) map.emplace(row.name, row.op);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional<Op>(found->second);
}

int output_count(Op op, const Attrs& attrs, size_t inputs) {
  const auto given = static_cast<int>(inputs);
  if (op == Op::LoopBegin) return given;
  if (op != Op::LoopEnd) return info(op).outputs;
  // 3 + carried + 2 for each that is stacked, of which one is a result
  const auto carried = static_cast<int>(std::min<int64_t>(std::get<LoopAttrs>(attrs).carried, given));
  return 2 + carried + std::max(given - 3 - carried, 0) / 2;
}

bool is_primitive(Op op) {
  return info(op).category != Category::composite;
}

}  // namespace korch
