#include "array_view.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "korch/base/error.h"

namespace nb = nanobind;

namespace korch::python {
namespace {

/// Where empty arrays lie that have no memory, as PyTorch's do: a call takes no null pointers.
alignas(64) std::byte nowhere[64];

std::optional<DType> sized(char kind, size_t bytes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (size_bytes(dtype) != bytes || dtype == DType::bf16) continue;
    const char of = dtype == DType::bool_ ? '?' : is_float(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
    if (of == kind) return dtype;
  }
  return std::nullopt;
}

// Of a format as Python's struct module has it, one native element.
std::optional<DType> dtype_of_format(std::string_view format, size_t bytes) {
  if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  if (format.size() != 1) return std::nullopt;
  const auto is_one_of = [&](std::string_view letters) { return letters.find(format[0]) != letters.npos; };
  if (format[0] == '?') return DType::bool_;
  if (is_one_of("efd")) return sized('f', bytes);
  if (is_one_of("bhilqn")) return sized('i', bytes);
  if (is_one_of("BHILQN")) return sized('u', bytes);
  return std::nullopt;
}

std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype type) {
  if (type.lanes != 1 || type.bits % 8 != 0) return std::nullopt;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return sized('i', type.bits / 8);
    case nb::dlpack::dtype_code::UInt:
      return sized('u', type.bits / 8);
    case nb::dlpack::dtype_code::Float:
      return sized('f', type.bits / 8);
    case nb::dlpack::dtype_code::Bool:
      return sized('?', type.bits / 8);
    case nb::dlpack::dtype_code::Bfloat:
      return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    default:  // of others korch has none, and newer versions of DLPack add more
      return std::nullopt;
  }
}

std::string text_of(nb::handle object) {
  return nb::str(object).c_str();
}

// Whether its memory is of a device that the buffer protocol does not know.
bool is_elsewhere(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return false;
  return nb::cast<int>(nb::object(object.attr("__dlpack_device__")())[0]) != nb::device::cpu::value;
}

std::string class_name(nb::handle object) {
  return text_of(nb::handle(Py_TYPE(object.ptr())).attr("__name__"));
}

}  // namespace

const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::i8:
      return "int8";
    case DType::i16:
      return "int16";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::u8:
      return "uint8";
    case DType::bf16:
    case DType::u16:
      return "uint16";
    case DType::u32:
      return "uint32";
    case DType::u64:
      return "uint64";
    case DType::bool_:
      return "bool";
    default:  // storage: its bytes
      return numpy_name(carrier(dtype));
  }
}

// Of bf16, which NumPy lacks, and of stored types that of their bits.
nb::dlpack::dtype dlpack_of(DType stored) {
  const DType dtype = is_storage(stored) ? carrier(stored) : stored;
  const nb::dlpack::dtype_code code = dtype == DType::bool_ ? nb::dlpack::dtype_code::Bool
                                      : is_float(dtype) && dtype != DType::bf16
                                          ? nb::dlpack::dtype_code::Float
                                      : is_integer(dtype) && is_signed(dtype) ? nb::dlpack::dtype_code::Int
                                                                              : nb::dlpack::dtype_code::UInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * size_bytes(dtype)), 1};
}

ArrayView::ArrayView(nb::handle object, const PlanIo& io, const char* role, Access access,
                     const std::vector<int>& open)
    : io_(io), role_(role) {
  if (!take_buffer(object, access)) take_dlpack(object, access);
  const bool is_bits = (io.type.dtype == DType::bf16 && dtype_ == DType::u16) ||
                       (is_storage(io.type.dtype) && dtype_ == carrier(io.type.dtype));
  Shape wanted = io.type.shape;
  for (int axis : open)
    if (shape_.size() == wanted.size()) wanted[static_cast<size_t>(axis)] = shape_[static_cast<size_t>(axis)];
  if ((dtype_ != io.type.dtype && !is_bits) || shape_ != wanted)
    refuse(fmt::format("{} is given", dtype_ ? to_string(TensorType{*dtype_, shape_})
                                             : fmt::format("an array of {}", dtype_name_)));
  if (access == Access::write && !is_plain())
    refuse("the array given for it is not row-major without gaps (C-contiguous) and aligned");
}

bool ArrayView::take_buffer(nb::handle object, Access access) {
  if (!PyObject_CheckBuffer(object.ptr()) || is_elsewhere(object)) return false;
  auto owner = std::make_unique<Py_buffer>();
  const int flags = access == Access::write ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  if (PyObject_GetBuffer(object.ptr(), owner.get(), flags) != 0) {
    const nb::python_error error;
    // An array whose dtype the buffer protocol cannot tell may know DLPack.
    if (access == Access::read && nb::hasattr(object, "__dlpack__")) return false;
    refuse(fmt::format("the {} given for it cannot be {}: {}", class_name(object),
                       access == Access::write ? "written" : "read", text_of(error.value())));
  }
  buffer_.reset(owner.release());
  // NumPy does not count who has a buffer, but lets no array be resized that a weak reference leads to.
  watch_ = nb::steal(PyWeakref_NewRef(object.ptr(), nullptr));
  if (!watch_.is_valid()) PyErr_Clear();
  const Py_buffer& buffer = *buffer_;
  data_ = buffer.buf;
  dtype_name_ = buffer.format == nullptr ? "bytes" : fmt::format("'{}'", buffer.format);
  dtype_ =
      dtype_of_format(buffer.format == nullptr ? "B" : buffer.format, static_cast<size_t>(buffer.itemsize));
  shape_.assign(buffer.shape, buffer.shape + buffer.ndim);
  strides_bytes_.assign(buffer.strides, buffer.strides + buffer.ndim);
  return true;
}

void ArrayView::take_dlpack(nb::handle object, Access access) {
  if (!nb::hasattr(object, "__dlpack__"))
    refuse(fmt::format("a {} is given: pass a NumPy array, or anything with DLPack", class_name(object)));
  const auto take = [&](const auto& array) {
    if (array.device_type() == nb::device::cuda::value)
      gpu_ = static_cast<int>(array.device_id());
    else if (array.device_type() != nb::device::cpu::value)
      refuse(fmt::format("the {} given for it is not in the CPU's memory: copy it there first",
                         class_name(object)));
    data_ = const_cast<void*>(static_cast<const void*>(array.data()));
    if (data_ == nullptr) data_ = nowhere;
    const nb::dlpack::dtype type = array.dtype();
    dtype_ = dtype_of_dlpack(type);
    dtype_name_ = fmt::format("DLPack's type {} of {} bits", type.code, type.bits);
    const int64_t bytes = type.bits / 8;
    for (size_t i = 0; i < array.ndim(); ++i) {
      shape_.push_back(static_cast<int64_t>(array.shape(i)));
      strides_bytes_.push_back(array.stride(i) * bytes);
    }
  };
  if (access == Access::write) {
    if (nb::try_cast(object, dlpack_)) return take(dlpack_);
  } else {
    if (nb::try_cast(object, read_only_dlpack_)) return take(read_only_dlpack_);
  }
  // Why not is what the array itself says.
  std::string why = access == Access::write ? "is it read-only?" : "no reason is given";
  try {
    object.attr("__dlpack__")();
  } catch (const nb::python_error& error) {
    why = text_of(error.value());
  }
  refuse(fmt::format("the {} given for it does not lend its memory: {}", class_name(object), why));
}

bool ArrayView::is_plain() const {
  if (reinterpret_cast<uintptr_t>(data_) % size_bytes(io_.type.dtype) != 0) return false;
  int64_t stride = static_cast<int64_t>(size_bytes(io_.type.dtype));
  for (size_t i = shape_.size(); i-- > 0;) {
    if (shape_[i] == 0) return true;
    if (shape_[i] != 1 && strides_bytes_[i] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

void ArrayView::copy_to(void* target) const {
  // The last axes that lie without gaps are copied at once.
  size_t outer = shape_.size();
  size_t run_bytes = size_bytes(io_.type.dtype);
  for (; outer > 0 && strides_bytes_[outer - 1] == static_cast<int64_t>(run_bytes); --outer)
    run_bytes *= static_cast<size_t>(shape_[outer - 1]);
  std::byte* to = static_cast<std::byte*>(target);
  const std::byte* from = static_cast<const std::byte*>(data_);
  Shape index(outer, 0);
  const Shape outer_shape(shape_.begin(), shape_.begin() + static_cast<std::ptrdiff_t>(outer));
  for (int64_t left = element_count(shape_) == 0 ? 0 : element_count(outer_shape); left > 0; --left) {
    std::memcpy(to, from, run_bytes);
    to += run_bytes;
    for (size_t i = outer; i-- > 0;) {
      from += strides_bytes_[i];
      if (++index[i] < shape_[i]) break;
      from -= strides_bytes_[i] * shape_[i];
      index[i] = 0;
    }
  }
}

void ArrayView::refuse(const std::string& why) const {
  throw Error(ErrorKind::invalid,
              fmt::format("{} '{}' is {}: {}", role_, io_.name, to_string(io_.type), why));
}

}  // namespace korch::python
