#include "korch/onnx/model_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "korch/base/error.h"
#include "korch/base/file_kind.h"
#include "korch/base/files.h"
#include "korch/base/printable.h"

namespace korch::onnx {
namespace {

constexpr size_t kMaxProtobufBytes = std::numeric_limits<int32_t>::max();
// Graphs in graphs: an If in an If. The importer calls itself at each level; no exporter is known to write a
// tenth of it. Up to the second number it is told from a damaged file.
constexpr int kMostNested = 100, kMostCounted = 300;
constexpr int kMostMessages = 3 * kMostCounted + 20;  // GraphProto, NodeProto, AttributeProto; and types

constexpr size_t kMaxQuotedChars = 200;  // longer names would drown the message

bool parse(std::string_view bytes, proto::ModelProto& model) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMostMessages);
  return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

int levels_in(const proto::GraphProto& graph) {
  int most = 0;
  for (const proto::NodeProto& node : graph.node())
    for (const proto::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) most = std::max(most, 1 + levels_in(attribute.g()));
  return most;
}

}  // namespace

proto::ModelProto parse_model(std::string_view bytes, const std::string& what) {
  if (bytes.size() > kMaxProtobufBytes)
    throw Error(
        ErrorKind::invalid,
        fmt::format(
            "{} has {} bytes, but a protobuf file holds at most 2 GiB: save the model with its weights "
            "as external data",
            what, bytes.size()));
  proto::ModelProto model;
  if (bytes.empty() || !parse(bytes, model)) {
    const std::string kind = kind_of_file(bytes);
    throw Error(
        ErrorKind::invalid,
        fmt::format("{} is not an ONNX model{}", what,
                    kind.empty() ? fmt::format(", or is truncated, or nests graphs more than {} levels deep",
                                               kMostCounted)
                                 : ": " + kind));
  }
  if (const int levels = levels_in(model.graph()); levels > kMostNested)
    throw Error(ErrorKind::unsupported,
                fmt::format("{} nests graphs too deeply: {} levels; korch reads up to {}", what, levels,
                            kMostNested));
  if (!model.has_graph()) throw Error(ErrorKind::invalid, what + " is not an ONNX model: it has no graph");
  return model;
}

proto::ModelProto load_model_file(const std::string& path) {
  std::error_code error;
  // Opening a pipe or a device could wait for ever.
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw Error(ErrorKind::io, fmt::format("'{}' is not a regular file", path));
  const MappedFile file(path);
  return parse_model(file.view(), fmt::format("'{}'", path));
}

std::string serialize(const proto::ModelProto& model) {
  if (model.ByteSizeLong() > kMaxProtobufBytes)
    throw Error(ErrorKind::invalid, "the model needs more than the 2 GiB that one ONNX file can hold");
  return model.SerializeAsString();
}

std::string quoted_name(std::string_view name) {
  std::string result = "\"";
  for (const char c : printable(name.substr(0, kMaxQuotedChars))) {
    if (c == '"') result += '\\';
    result += c;
  }
  return result + (name.size() > kMaxQuotedChars ? "...\"" : "\"");
}

}  // namespace korch::onnx
