// HostTensor: a dense row-major tensor in memory, 64-byte aligned. Copies share the bytes; writing is for the
// one who made it (`mutable_data`), before it is shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "korch/base/error.h"
#include "korch/tensor/shape.h"

namespace korch {

class HostTensor {
 public:
  HostTensor() = default;
  explicit HostTensor(TensorType type);  // zero-filled; Error{resource} when memory is short
  // Of any bytes: whoever asks for it writes all of them.
  static HostTensor unfilled(TensorType type);

  template <typename T>
  static HostTensor of(DType dtype, Shape shape, const std::vector<T>& values) {
    HostTensor result(TensorType{dtype, std::move(shape)});
    KORCH_ASSERT(sizeof(T) == size_bytes(dtype), "element size");
    KORCH_ASSERT(static_cast<int64_t>(values.size()) == result.elements(), "element count");
    std::copy(values.begin(), values.end(), result.mutable_data<T>());
    return result;
  }

  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int64_t elements() const { return type_.elements(); }
  int64_t bytes() const { return type_.bytes(); }
  const void* raw() const { return bytes_.get(); }
  void* mutable_raw() { return bytes_.get(); }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes_.get());
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(bytes_.get());
  }
  // The same bytes under another shape of equal element count.
  HostTensor reshaped(Shape shape) const;
  // The elements whose index is below `extents`, each at most the extent there is, on every axis.
  HostTensor cropped(const Shape& extents) const;
  // The same bytes as elements of another type of equal size.
  HostTensor retyped(DType dtype) const;

 private:
  TensorType type_;
  std::shared_ptr<std::byte> bytes_;
};

// The tensor where it is of the type, or of the bytes that a storage type is made of; else nothing.
std::optional<HostTensor> as_type(const HostTensor& tensor, const TensorType& type);

// Any numeric element converted to double / int64 (saturating nothing; bool as 0 or 1).
double element_as_double(const HostTensor& tensor, int64_t index);
int64_t element_as_int(const HostTensor& tensor, int64_t index);
std::vector<int64_t> as_int_vector(const HostTensor& tensor);
// Float to integer truncates toward zero; `saturate` as in stored_byte.
HostTensor converted(const HostTensor& tensor, DType dtype, bool saturate = true);

}  // namespace korch
