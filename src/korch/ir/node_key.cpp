#include "korch/ir/node_key.h"

#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/ir/text.h"

namespace korch {

std::string node_key(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs) {
  std::string key = name(op);
  if (op == Op::Constant) {
    const HostTensor& value = std::get<ConstantAttrs>(attrs).value;
    return key + to_string(value.type()) + hash_bytes(value.raw(), static_cast<size_t>(value.bytes())).hex();
  }
  key += print_attrs(attrs);
  for (ValueId input : inputs) key.append(",").append(std::to_string(input));
  return key;
}

Attrs composed_views(Op op, const Attrs& inner, const Attrs& outer) {
  if (op == Op::Transpose) {
    const std::vector<int64_t>& first = std::get<PermAttrs>(inner).perm;
    PermAttrs both = std::get<PermAttrs>(outer);
    for (int64_t& axis : both.perm) axis = first[static_cast<size_t>(axis)];
    return both;
  }
  if (op == Op::Slice) {
    const SliceAttrs& first = std::get<SliceAttrs>(inner);
    SliceAttrs both = std::get<SliceAttrs>(outer);
    for (size_t axis = 0; axis < both.starts.size(); ++axis) {
      both.starts[axis] = first.starts[axis] + first.steps[axis] * both.starts[axis];
      both.steps[axis] *= first.steps[axis];
    }
    return both;
  }
  KORCH_ASSERT(op == Op::Reshape || op == Op::Expand, "no view whose attributes compose");
  return outer;  // states the full result
}

}  // namespace korch
