#include "korch/tensor/host_tensor.h"

#include <cstdlib>
#include <cstring>

namespace korch {
namespace {

constexpr size_t kAlignment = 64;  // one cache line, one AVX-512 vector

// Calls f with a pointer to elements of a native type; half types are handled by the callers.
template <typename F>
auto with_native(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u8: return f(uint8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::bool_: return f(uint8_t{});
    case DType::f16:
    case DType::bf16: break;
  }
  KORCH_ASSERT(false, "half types have no native type");
  return f(float{});
}

}  // namespace

HostTensor::HostTensor(TensorType type) : type_(std::move(type)) {
  const auto bytes = static_cast<size_t>(type_.bytes());
  const size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr)
    throw Error(ErrorKind::resource, "out of memory: cannot hold a tensor of type " + to_string(type_));
  std::memset(memory, 0, rounded);
  bytes_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
}

HostTensor HostTensor::reshaped(Shape shape) const {
  HostTensor result = *this;
  KORCH_ASSERT(element_count(shape) == elements(), "reshape keeps the element count");
  result.type_.shape = std::move(shape);
  return result;
}

double element_as_double(const HostTensor& tensor, int64_t index) {
  if (tensor.dtype() == DType::f16) return half_to_float(tensor.data<uint16_t>()[index]);
  if (tensor.dtype() == DType::bf16) return bfloat16_to_float(tensor.data<uint16_t>()[index]);
  return with_native(tensor.dtype(),
                     [&](auto zero) { return static_cast<double>(tensor.data<decltype(zero)>()[index]); });
}

int64_t element_as_int(const HostTensor& tensor, int64_t index) {
  if (is_float(tensor.dtype())) return static_cast<int64_t>(element_as_double(tensor, index));
  return with_native(tensor.dtype(),
                     [&](auto zero) { return static_cast<int64_t>(tensor.data<decltype(zero)>()[index]); });
}

std::vector<int64_t> as_int_vector(const HostTensor& tensor) {
  std::vector<int64_t> result(tensor.elements());
  for (size_t i = 0; i < result.size(); ++i) result[i] = element_as_int(tensor, static_cast<int64_t>(i));
  return result;
}

HostTensor converted(const HostTensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  HostTensor result(TensorType{dtype, tensor.shape()});
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (dtype == DType::bool_) {
      result.mutable_data<uint8_t>()[i] = element_as_double(tensor, i) != 0;
    } else if (dtype == DType::f16) {
      result.mutable_data<uint16_t>()[i] = float_to_half(static_cast<float>(element_as_double(tensor, i)));
    } else if (dtype == DType::bf16) {
      result.mutable_data<uint16_t>()[i] = float_to_bfloat16(static_cast<float>(element_as_double(tensor, i)));
    } else {
      with_native(dtype, [&](auto zero) {
        using T = decltype(zero);
        result.mutable_data<T>()[i] = is_float(tensor.dtype()) ? static_cast<T>(element_as_double(tensor, i))
                                                               : static_cast<T>(element_as_int(tensor, i));
        return 0;
      });
    }
  }
  return result;
}

}  // namespace korch
