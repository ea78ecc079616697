// Network: a graph of ONNX Runtime as the provider sees it, in ONNX's messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx.pb.h"

namespace korch::ort {

namespace proto = onnx::proto;

// A tensor whose bytes are ONNX Runtime's and stay where they are; `header` has its type and no data.
struct Constant {
  proto::TensorProto header;
  std::string_view bytes;
};

struct Network {
  int64_t opset = 0;                    // of ONNX's own operators, as the model says
  std::vector<proto::NodeProto> nodes;  // producers first; what subgraphs of a node read is among its inputs
  std::vector<int64_t> versions;        // per node: the opset that its operator's definition is from
  std::vector<bool> is_taken;           // per node: by another provider
  std::map<std::string, proto::TypeProto> types;  // of the values, where something is known
  std::map<std::string, Constant> constants;
  std::vector<std::string> outputs;
};

// What a declared type leaves open: names of symbolic dimensions, "?" for one without name, "rank". Nothing
// for a tensor of known shape; of what is no tensor, "type".
std::vector<std::string> open_parts(const Network& network, const std::string& value);

}  // namespace korch::ort
