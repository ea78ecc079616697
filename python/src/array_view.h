// What a caller passes as a tensor: anything with the buffer protocol (NumPy) or DLPack (PyTorch, JAX).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <string>

#include "korch/plan/plan.h"

namespace korch::python {

enum class Access { read, write };

// A strided array in this process' memory or a GPU's, held while the view lives: needs the GIL to be made and
// destroyed.
class ArrayView {
 public:
  // The array as the tensor `io` of an executable; `role` is "input" or "output". Error{invalid} when it is
  // no array, neither on the CPU nor on a GPU of NVIDIA, of another dtype or shape; with Access::write also
  // when it is read-only, not row-major without gaps, or not aligned to its elements. bf16 may come as
  // NumPy's uint16, its bits; stored types (f8e4m3fn, i4, ...) as uint8 or int8, a byte per element. `open`:
  // of the axes, those along which any extent will do here.
  ArrayView(nanobind::handle object, const PlanIo& io, const char* role, Access access,
            const std::vector<int>& open = {});
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  void* data() const { return data_; }
  const Shape& shape() const { return shape_; }
  // The number of the GPU in whose memory it is; nothing: it is in this process's.
  std::optional<int> gpu() const { return gpu_; }
  // Row-major without gaps, aligned to its elements: what the C interface takes.
  bool is_plain() const;
  // The elements in row-major order; not of a GPU's.
  void copy_to(void* target) const;

 private:
  struct ReleaseBuffer {
    void operator()(Py_buffer* buffer) const {
      PyBuffer_Release(buffer);
      delete buffer;
    }
  };
  bool take_buffer(nanobind::handle object, Access access);
  void take_dlpack(nanobind::handle object, Access access);
  [[noreturn]] void refuse(const std::string& why) const;

  const PlanIo& io_;
  const char* const role_;
  std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;  // either this holds the memory
  nanobind::object watch_;
  nanobind::ndarray<> dlpack_;                        // or this
  nanobind::ndarray<nanobind::ro> read_only_dlpack_;  // or this
  void* data_ = nullptr;
  std::optional<int> gpu_;
  std::optional<DType> dtype_;  // none: one that korch does not have
  std::string dtype_name_;      // for messages
  Shape shape_, strides_bytes_;
};

// Of bf16, which NumPy lacks, and of stored types that of their bits.
nanobind::dlpack::dtype dlpack_of(DType dtype);
// A dtype as NumPy's: "float32", "bool"; bf16, which NumPy lacks, as "uint16".
const char* numpy_name(DType dtype);

}  // namespace korch::python
