// TensorProto <-> HostTensor: inline data in all its encodings, and external data files.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/files.h"
#include "korch/tensor/host_tensor.h"
#include "onnx.pb.h"

namespace korch::onnx {

// The element type for a TensorProto.DataType; none for strings, complex numbers and what else korch has no
// type for.
std::optional<DType> dtype_of(int32_t data_type);
int32_t data_type_of(DType dtype);
// The least or greatest number of a type, infinite for floats; of rank 0.
HostTensor extreme(DType type, bool least);
std::string data_type_name(int32_t data_type);  // "STRING", "COMPLEX64", "type 99"

// Throws Error{resource} when a tensor of this type is larger than the machine's memory, Error{invalid} when
// an extent is negative. To be called before anything of that size is allocated.
void require_fits_memory(const TensorType& type);
// The same for tensors that are needed at once; `what` needs them.
void require_fits_memory(const std::vector<TensorType>& types, const std::string& what);

// External data files, mapped once each. They must lie inside the model's folder: an absolute location, one
// with
// "..", or a symbolic link that leads out of it is refused with Error{invalid}; a missing file is Error{io}.
class ExternalData {
 public:
  // An empty folder: the model has no place on disk, external data are refused.
  // `on_file` is told of each file before it is read.
  explicit ExternalData(std::string folder, std::function<void(const std::string& path)> on_file = {})
      : folder_(std::move(folder)), on_file_(std::move(on_file)) {}
  // The bytes that `tensor` refers to, of which there must be exactly `size_bytes`.
  std::string_view bytes(const proto::TensorProto& tensor, size_t size_bytes);

 private:
  const MappedFile& file(const std::string& location);

  std::string folder_;
  std::function<void(const std::string& path)> on_file_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_;
};

// Copies the data; `what` names the tensor in messages. Throws Error{invalid} when dims and data do not
// agree, Error{unsupported} on an element type without DType.
HostTensor read_tensor(const proto::TensorProto& tensor, ExternalData& external, const std::string& what);

proto::TensorProto write_tensor(const HostTensor& tensor, const std::string& name);

}  // namespace korch::onnx
