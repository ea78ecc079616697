#include "korch/onnx/tensor_data.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <type_traits>

#include "korch/base/ceil_div.h"
#include "korch/onnx/model_file.h"
#include "korch/tensor/element.h"

namespace korch::onnx {
namespace {

struct TypeRow {
  int32_t data_type;  // TensorProto.DataType
  const char* name;
  std::optional<DType> dtype;
};

constexpr TypeRow kTypes[] = {{1, "FLOAT", DType::f32},
                              {2, "UINT8", DType::u8},
                              {3, "INT8", DType::i8},
                              {4, "UINT16", DType::u16},
                              {5, "INT16", DType::i16},
                              {6, "INT32", DType::i32},
                              {7, "INT64", DType::i64},
                              {8, "STRING", std::nullopt},
                              {9, "BOOL", DType::bool_},
                              {10, "FLOAT16", DType::f16},
                              {11, "DOUBLE", DType::f64},
                              {12, "UINT32", DType::u32},
                              {13, "UINT64", DType::u64},
                              {14, "COMPLEX64", std::nullopt},
                              {15, "COMPLEX128", std::nullopt},
                              {16, "BFLOAT16", DType::bf16},
                              {17, "FLOAT8E4M3FN", DType::f8e4m3fn},
                              {18, "FLOAT8E4M3FNUZ", DType::f8e4m3fnuz},
                              {19, "FLOAT8E5M2", DType::f8e5m2},
                              {20, "FLOAT8E5M2FNUZ", DType::f8e5m2fnuz},
                              {21, "UINT4", DType::u4},
                              {22, "INT4", DType::i4},
                              {23, "FLOAT4E2M1", DType::f4e2m1},
                              {24, "FLOAT8E8M0", DType::f8e8m0},
                              {25, "UINT2", DType::u2},
                              {26, "INT2", DType::i2}};

// Products of extents and attribute values below these limits stay inside int64 (see also
// NodeImport::bounded).
constexpr int64_t kMaxExtent = int64_t{1} << 40;

constexpr double kMaxEmptyElements = 0x1p28;

int64_t physical_memory_bytes() {
  return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
}

[[noreturn]] void fail(const std::string& what, const std::string& message) {
  throw Error(ErrorKind::invalid, fmt::format("{}: {}", what, message));
}

std::string external_entry(const proto::TensorProto& tensor, const char* key) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

size_t external_number(const proto::TensorProto& tensor, const char* key, size_t fallback) {
  const std::string text = external_entry(tensor, key);
  if (text.empty()) return fallback;
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::invalid,
                fmt::format("external data: {} is {}, not a byte count", key, quoted_name(text)));
  return value;
}

// Elements from a typed field. A field that holds wider numbers than the tensor must hold values that fit.
template <typename To, typename Field>
void copy_field(const Field& field, HostTensor& result, const std::string& what) {
  using From = typename Field::value_type;
  if (field.size() != result.elements())
    fail(what, fmt::format("{} has {} elements, but the data {}", to_string(result.type()), result.elements(),
                           field.size()));
  To* to = result.mutable_data<To>();
  for (int i = 0; i < field.size(); ++i) {
    const From value = field[i];
    if constexpr (std::is_same_v<To, Bool>) {
      to[i] = Bool{static_cast<uint8_t>(value != 0)};
    } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
      if (value < 0 || value > 0xffff) fail(what, fmt::format("{} is not the bits of a 16-bit float", value));
      to[i] = To{static_cast<uint16_t>(value)};
    } else {
      if constexpr (std::is_integral_v<To>) {
        if (!std::in_range<To>(value))
          fail(what, fmt::format("{} does not fit {}", value, name(result.dtype())));
      }
      to[i] = static_cast<To>(value);
    }
  }
}

// Elements of fewer than 8 bits lie in bytes from the lowest bits on.
int64_t packed_bytes(const TensorType& type) {
  return is_storage(type.dtype) ? ceil_div(type.elements() * storage_bits(type.dtype), 8) : type.bytes();
}

void unpack(std::string_view bytes, HostTensor& result) {
  const int bits = storage_bits(result.dtype());
  for (int64_t i = 0; i < result.elements(); ++i) {
    const auto code = static_cast<uint8_t>(static_cast<uint8_t>(bytes[i * bits / 8]) >> (i * bits % 8));
    const auto low = static_cast<uint8_t>(code & ((1 << bits) - 1));
    const bool is_number = small_format(result.dtype()).exponent_bits == 0 && result.dtype() != DType::f8e8m0;
    result.mutable_data<uint8_t>()[i] =
        is_number ? static_cast<uint8_t>(static_cast<int>(stored_value(result.dtype(), low))) : low;
  }
}

std::string pack(const HostTensor& tensor) {
  const int bits = storage_bits(tensor.dtype());
  std::string bytes(static_cast<size_t>(packed_bytes(tensor.type())), '\0');
  for (int64_t i = 0; i < tensor.elements(); ++i)
    bytes[i * bits / 8] = static_cast<char>(
        bytes[i * bits / 8] | (tensor.data<uint8_t>()[i] & ((1 << bits) - 1)) << (i * bits % 8));
  return bytes;
}

HostTensor packed_field(const proto::TensorProto& tensor, const TensorType& type, const std::string& what) {
  HostTensor bytes(TensorType{DType::u8, {packed_bytes(type)}});
  copy_field<uint8_t>(tensor.int32_data(), bytes, what);
  return bytes;
}

void copy_typed_fields(const proto::TensorProto& tensor, HostTensor& result, const std::string& what) {
  if (is_storage(result.dtype())) {  // every number is a byte of the packed elements
    const HostTensor bytes = packed_field(tensor, result.type(), what);
    return unpack(std::string_view(static_cast<const char*>(bytes.raw()), packed_bytes(result.type())),
                  result);
  }
  with_element_type(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, float>)
      copy_field<T>(tensor.float_data(), result, what);
    else if constexpr (std::is_same_v<T, double>)
      copy_field<T>(tensor.double_data(), result, what);
    else if constexpr (std::is_same_v<T, int64_t>)
      copy_field<T>(tensor.int64_data(), result, what);
    else if constexpr (std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>)
      copy_field<T>(tensor.uint64_data(), result, what);
    else
      copy_field<T>(tensor.int32_data(), result, what);
  });
}

int64_t typed_field_elements(const proto::TensorProto& tensor) {
  return int64_t{tensor.float_data_size()} + tensor.int32_data_size() + tensor.int64_data_size() +
         tensor.double_data_size() + tensor.uint64_data_size();
}

void copy_bytes(std::string_view bytes, HostTensor& result) {
  if (is_storage(result.dtype())) return unpack(bytes, result);
  if (!bytes.empty()) std::memcpy(result.mutable_raw(), bytes.data(), bytes.size());
  if (result.dtype() != DType::bool_) return;
  uint8_t* bits = result.mutable_data<uint8_t>();
  for (int64_t i = 0; i < result.elements(); ++i) bits[i] = bits[i] != 0;
}

}  // namespace

std::optional<DType> dtype_of(int32_t data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.data_type == data_type) return row.dtype;
  }
  return std::nullopt;
}

int32_t data_type_of(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.data_type;
  }
  KORCH_ASSERT(false, "dtype without an ONNX type");
  return 0;
}

HostTensor extreme(DType type, bool least) {
  if (is_float(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return converted(HostTensor::of<double>(DType::f64, {}, {least ? -infinity : infinity}), type);
  }
  HostTensor value(TensorType{type, {}});
  auto* bytes = value.mutable_data<uint8_t>();
  if (type == DType::bool_) bytes[0] = least ? 0 : 1;
  if (type == DType::bool_ || (!is_signed(type) && least)) return value;
  // All bits set; of a signed type without or with the sign alone.
  const size_t size = size_bytes(type);
  for (size_t i = 0; i < size; ++i) bytes[i] = is_signed(type) && least ? 0 : 0xff;
  if (is_signed(type)) bytes[size - 1] = least ? 0x80 : 0x7f;
  return value;
}

std::string data_type_name(int32_t data_type) {
  for (const TypeRow& row : kTypes) {
    if (row.data_type == data_type) return row.name;
  }
  return fmt::format("type {}", data_type);
}

void require_fits_memory(const TensorType& type) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  for (int64_t extent : type.shape) {
    if (extent < 0) throw Error(ErrorKind::invalid, to_string(type) + " has a negative extent");
    if (extent > kMaxExtent)
      throw Error(ErrorKind::resource, to_string(type) + " is too large for any memory");
  }
  // In floating point, since the product may overflow.
  double bytes = static_cast<double>(size_bytes(type.dtype));
  double around = 1;  // elements of an empty tensor's other axes: what walks over them takes their time
  for (int64_t extent : type.shape) {
    bytes *= static_cast<double>(extent);
    around *= static_cast<double>(std::max<int64_t>(extent, 1));
  }
  if (bytes == 0 && around > kMaxEmptyElements)
    throw Error(ErrorKind::resource, to_string(type) + " is empty, but its other axes are too large");
  const auto memory = static_cast<double>(physical_memory_bytes());
  if (bytes > memory)
    throw Error(ErrorKind::resource,
                fmt::format("{} needs {:.1f} GiB, but this machine has {:.1f} GiB of memory", to_string(type),
                            bytes / kGiB, memory / kGiB));
}

void require_fits_memory(const std::vector<TensorType>& types, const std::string& what) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  double bytes = 0;
  for (const TensorType& type : types) bytes += static_cast<double>(type.bytes());
  const auto memory = static_cast<double>(physical_memory_bytes());
  if (bytes > memory)
    throw Error(ErrorKind::resource,
                fmt::format("{} needs {:.1f} GiB at once, but this machine has {:.1f} GiB of memory", what,
                            bytes / kGiB, memory / kGiB));
}

namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// Hugging Face's cache keeps a repository's files in <repository>/blobs, and links to them in
// <repository>/snapshots/<revision>: of a model there these blobs count as its own.
bool is_own_blob(const fs::path& path, const fs::path& folder) {
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path())
    if (at.filename() == "snapshots") return path.parent_path() == at.parent_path() / "blobs";
  return false;
}

}  // namespace

const MappedFile& ExternalData::file(const std::string& location) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::invalid,
                fmt::format("external data location {} {}; it must be a file inside the model's folder",
                            quoted_name(location), why));
  };
  const auto known = files_.find(location);
  if (known != files_.end()) return *known->second;
  const fs::path relative(location);
  if (folder_.empty()) refuse("cannot be read: the model has no folder");
  if (location.empty() || location.find('\0') != std::string::npos) refuse("is no file name");
  if (relative.is_absolute()) refuse("is an absolute path");
  for (const fs::path& part : relative) {
    if (part == "..") refuse("leaves the model's folder");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  const fs::path path = error ? fs::path() : fs::canonical(folder / relative, error);
  if (error)
    throw Error(ErrorKind::io, fmt::format("cannot read the external data file {}: {}", quoted_name(location),
                                           error.message()));
  if (!lies_in(path, folder) && !is_own_blob(path, folder))
    refuse("is a link that leaves the model's folder");
  if (!fs::is_regular_file(path, error)) refuse("is not a regular file");
  if (on_file_) on_file_(path.string());
  return *files_.emplace(location, std::make_unique<MappedFile>(path.string())).first->second;
}

std::string_view ExternalData::bytes(const proto::TensorProto& tensor, size_t size_bytes) {
  const std::string location = external_entry(tensor, "location");
  const size_t offset = external_number(tensor, "offset", 0);
  const size_t length = external_number(tensor, "length", size_bytes);
  const std::string_view whole = file(location).view();
  if (length != size_bytes)
    throw Error(ErrorKind::invalid,
                fmt::format("external data of {} bytes, expected {}", length, size_bytes));
  if (offset > whole.size() || length > whole.size() - offset)
    throw Error(ErrorKind::invalid,
                fmt::format("external data file {} has {} bytes, but {} from offset {} are needed",
                            quoted_name(location), whole.size(), length, offset));
  return whole.substr(offset, length);
}

HostTensor read_tensor(const proto::TensorProto& tensor, ExternalData& external, const std::string& what) {
  const std::optional<DType> dtype = dtype_of(tensor.data_type());
  if (!dtype)
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: element type {}", what, data_type_name(tensor.data_type())));
  const TensorType type{*dtype, Shape(tensor.dims().begin(), tensor.dims().end())};
  try {
    require_fits_memory(type);
    const auto size = static_cast<size_t>(packed_bytes(type));
    if (tensor.data_location() == proto::TensorProto::EXTERNAL) {
      const std::string_view bytes = external.bytes(tensor, size);
      HostTensor result(type);
      copy_bytes(bytes, result);
      return result;
    }
    if (tensor.has_raw_data()) {
      if (tensor.raw_data().size() != size)
        fail(to_string(type),
             fmt::format("{} bytes are needed, but the file has {}", size, tensor.raw_data().size()));
      HostTensor result(type);
      copy_bytes(tensor.raw_data(), result);
      return result;
    }
    // Before the allocation: the file must hold as many elements as the extents claim.
    const int64_t needed = is_storage(type.dtype) ? packed_bytes(type) : type.elements();
    if (typed_field_elements(tensor) != needed)
      fail(to_string(type),
           fmt::format("{} elements are needed, but the file has {}", needed, typed_field_elements(tensor)));
    HostTensor result(type);
    copy_typed_fields(tensor, result, to_string(type));
    return result;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", what, error.what()));
  }
}

proto::TensorProto write_tensor(const HostTensor& tensor, const std::string& name) {
  proto::TensorProto result;
  result.set_name(name);
  result.set_data_type(data_type_of(tensor.dtype()));
  for (int64_t extent : tensor.shape()) result.add_dims(extent);
  if (is_storage(tensor.dtype()))
    result.set_raw_data(pack(tensor));
  else
    result.set_raw_data(tensor.raw(), static_cast<size_t>(tensor.bytes()));
  return result;
}

}  // namespace korch::onnx
