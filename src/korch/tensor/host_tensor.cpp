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

}  // namespace

HostTensor::HostTensor(TensorType type) : type_(std::move(type)) {
  const auto bytes = static_cast<size_t>(type_.bytes());
  const size_t alignment = bytes >= kLarge ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr)
    throw Error(ErrorKind::resource, "out of memory: cannot hold a tensor of type " + to_string(type_));
  if (bytes >= kLarge) ::madvise(memory, rounded, MADV_HUGEPAGE);  // a hint
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
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return convert_element<double>(tensor.data<typename decltype(tag)::type>()[index]);
  });
}

int64_t element_as_int(const HostTensor& tensor, int64_t index) {
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return convert_element<int64_t>(tensor.data<typename decltype(tag)::type>()[index]);
  });
}

std::vector<int64_t> as_int_vector(const HostTensor& tensor) {
  std::vector<int64_t> result(tensor.elements());
  for (size_t i = 0; i < result.size(); ++i) result[i] = element_as_int(tensor, static_cast<int64_t>(i));
  return result;
}

HostTensor converted(const HostTensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  HostTensor result(TensorType{dtype, tensor.shape()});
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
