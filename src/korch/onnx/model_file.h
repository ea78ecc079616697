// ONNX model files as protobuf messages.
#pragma once

#include <string>
#include <string_view>

#include "onnx.pb.h"

namespace korch::onnx {

// Throws Error{io} when the file cannot be read, Error{invalid} when it is no ONNX model or larger than the
// 2 GiB that protobuf can hold. `what` names the bytes in messages.
proto::ModelProto load_model_file(const std::string& path);
proto::ModelProto parse_model(std::string_view bytes, const std::string& what);

// Throws Error{invalid} when the model needs more than 2 GiB.
std::string serialize(const proto::ModelProto& model);

// A name from a file as it may appear in a message: in double quotes, control characters escaped, long names
// cut.
std::string quoted_name(std::string_view name);

}  // namespace korch::onnx
