// The two ends of a loop, each for itself: who computes a graph goes back from one to the other.
#include <algorithm>

#include "korch/interp/evaluate.h"

namespace korch {
namespace {

HostTensor one(int64_t value) {
  return HostTensor::of<int64_t>(DType::i64, {}, {value});
}

HostTensor one_bool(bool value) {
  HostTensor result(TensorType{DType::bool_, {}});
  *result.mutable_data<uint8_t>() = value ? 1 : 0;
  return result;
}

}  // namespace

Results evaluate_loop_begin(const Evaluation& e) {
  Results results = e.inputs;
  const bool any = element_as_int(e.inputs[0], 0) > 0;
  results[0] = one(0);
  results[1] = one_bool(any && element_as_int(e.inputs[1], 0) != 0);
  return results;
}

Results evaluate_loop_end(const Evaluation& e) {
  const int64_t step = element_as_int(e.inputs[0], 0), count = element_as_int(e.inputs[1], 0);
  const auto first = e.inputs.begin() + 3;
  Results results = {one(step + 1), one_bool(element_as_int(e.inputs[2], 0) != 0 && step + 1 < count)};
  const auto carried = static_cast<size_t>(e.attrs<LoopAttrs>().carried);
  results.insert(results.end(), first, first + static_cast<std::ptrdiff_t>(carried));
  const size_t stacked = (e.inputs.size() - 3 - carried) / 2;
  for (size_t i = 0; i < stacked; ++i) {
    const HostTensor &whole = e.inputs[3 + carried + i], &row = e.inputs[3 + carried + stacked + i];
    HostTensor copy(whole.type());
    std::copy_n(whole.data<std::byte>(), whole.bytes(), copy.mutable_data<std::byte>());
    if (step >= 0 && step < whole.shape()[0])
      std::copy_n(row.data<std::byte>(), row.bytes(), copy.mutable_data<std::byte>() + step * row.bytes());
    results.push_back(std::move(copy));
  }
  return results;
}

}  // namespace korch
