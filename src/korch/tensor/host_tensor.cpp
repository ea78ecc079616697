#include "korch/tensor/host_tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "korch/tensor/element.h"

namespace korch {
namespace {

constexpr size_t kAlignment = 64;  // one cache line, one AVX-512 vector
// Large tensors come and go: by huge pages, the system does not hand over and take back 4 KiB at a time.
constexpr size_t kHugePage = size_t{2} << 20, kLarge = 2 * kHugePage;

// One of the types is storage.
HostTensor through_doubles(const HostTensor& tensor, DType dtype, bool saturate) {
  HostTensor wide = tensor;
  if (is_storage(tensor.dtype())) {
    double values[kStorageCodes];
    for (int code = 0; code < kStorageCodes; ++code)
      values[code] = stored_value(tensor.dtype(), static_cast<uint8_t>(code));
    wide = HostTensor(TensorType{DType::f64, tensor.shape()});
    for (int64_t i = 0; i < wide.elements(); ++i)
      wide.mutable_data<double>()[i] = values[tensor.data<uint8_t>()[i]];
  }
  if (!is_storage(dtype)) return converted(wide, dtype);
  HostTensor result(TensorType{dtype, tensor.shape()});
  for (int64_t i = 0; i < result.elements(); ++i)
    result.mutable_data<uint8_t>()[i] = stored_byte(dtype, element_as_double(wide, i), saturate);
  return result;
}

}  // namespace

HostTensor::HostTensor(TensorType type) {
  *this = unfilled(std::move(type));
  std::memset(bytes_.get(), 0, static_cast<size_t>(type_.bytes()));
}

HostTensor HostTensor::unfilled(TensorType type) {
  HostTensor result;
  result.type_ = std::move(type);
  const auto bytes = static_cast<size_t>(result.type_.bytes());
  const size_t alignment = bytes >= kLarge ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr)
    throw Error(ErrorKind::resource,
                "out of memory: cannot hold a tensor of type " + to_string(result.type_));
  if (bytes >= kLarge) ::madvise(memory, rounded, MADV_HUGEPAGE);  // a hint
  // What lies behind the elements is read where vectors are.
  std::memset(static_cast<std::byte*>(memory) + bytes, 0, rounded - bytes);
  result.bytes_ = std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
  return result;
}

HostTensor HostTensor::reshaped(Shape shape) const {
  HostTensor result = *this;
  KORCH_ASSERT(element_count(shape) == elements(), "reshape keeps the element count");
  result.type_.shape = std::move(shape);
  return result;
}

HostTensor HostTensor::cropped(const Shape& extents) const {
  if (extents == shape()) return *this;
  HostTensor result(TensorType{dtype(), extents});
  const Shape strides = row_major_strides(shape());
  const size_t width = size_bytes(dtype());
  const auto* from = static_cast<const char*>(raw());
  auto* to = static_cast<char*>(result.mutable_raw());
  Shape index(extents.size(), 0);
  for (int64_t i = 0; i < result.elements(); ++i) {
    int64_t place = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) place += index[axis] * strides[axis];
    std::memcpy(to + i * static_cast<int64_t>(width), from + place * static_cast<int64_t>(width), width);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

HostTensor HostTensor::retyped(DType dtype) const {
  KORCH_ASSERT(size_bytes(dtype) == size_bytes(type_.dtype), "retyping keeps the size of elements");
  HostTensor result = *this;
  result.type_.dtype = dtype;
  return result;
}

std::optional<HostTensor> as_type(const HostTensor& tensor, const TensorType& type) {
  if (tensor.type() == type) return tensor;
  if (!is_storage(type.dtype) || tensor.type() != TensorType{carrier(type.dtype), type.shape}) return {};
  return tensor.retyped(type.dtype);
}

double element_as_double(const HostTensor& tensor, int64_t index) {
  if (is_storage(tensor.dtype())) return stored_value(tensor.dtype(), tensor.data<uint8_t>()[index]);
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return convert_element<double>(tensor.data<typename decltype(tag)::type>()[index]);
  });
}

int64_t element_as_int(const HostTensor& tensor, int64_t index) {
  if (is_storage(tensor.dtype())) return truncate_to_integer<int64_t>(element_as_double(tensor, index));
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return convert_element<int64_t>(tensor.data<typename decltype(tag)::type>()[index]);
  });
}

std::vector<int64_t> as_int_vector(const HostTensor& tensor) {
  std::vector<int64_t> result(tensor.elements());
  for (size_t i = 0; i < result.size(); ++i) result[i] = element_as_int(tensor, static_cast<int64_t>(i));
  return result;
}

HostTensor converted(const HostTensor& tensor, DType dtype, bool saturate) {
  if (tensor.dtype() == dtype) return tensor;
  if (is_storage(tensor.dtype()) || is_storage(dtype)) return through_doubles(tensor, dtype, saturate);
  HostTensor result = HostTensor::unfilled(TensorType{dtype, tensor.shape()});
  const int64_t count = tensor.elements();
  with_element_type(tensor.dtype(), [&](auto from_tag) {
    with_element_type(dtype, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const auto* from = tensor.data<typename decltype(from_tag)::type>();
      To* to = result.mutable_data<To>();
      for (int64_t i = 0; i < count; ++i) to[i] = convert_element<To>(from[i]);
    });
  });
  return result;
}

}  // namespace korch
