#include "tile_graph_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "expect_close.h"
#include "generate.h"
#include "korch/codegen/packing.h"
#include "korch/codegen/passes/passes.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"
#include "offsets.h"

namespace korch::testing {
namespace {

HostTensor stored(const HostTensor& tensor, const Layout& layout) {
  HostTensor result(TensorType{tensor.dtype(), {physical_elements(tensor.shape(), layout)}});
  const size_t size = size_bytes(tensor.dtype());
  for_each_offset(tensor.type(), layout, [&](int64_t i, int64_t at) {
    std::memcpy(static_cast<char*>(result.mutable_raw()) + at * size,
                static_cast<const char*>(tensor.raw()) + i * size, size);
  });
  return result;
}

// Two in a byte, the first one below.
HostTensor from_nibbles(const std::string& bytes, const tile::Buffer& buffer) {
  HostTensor result(TensorType{buffer.type, {buffer.elements}});
  EXPECT_EQ(static_cast<int64_t>(bytes.size()), buffer.bytes());
  for (int64_t i = 0; i < buffer.elements; ++i) {
    const int code = static_cast<uint8_t>(bytes[static_cast<size_t>(i / 2)]) >> (i % 2 * 4) & 15;
    result.mutable_data<int8_t>()[i] =
        static_cast<int8_t>(buffer.type == DType::i4 && code > 7 ? code - 16 : code);
  }
  return result;
}

HostTensor packed(const HostTensor& constant, const tile::Buffer& buffer) {
  const std::string bytes = pack(constant, buffer.packing);
  if (buffer.has_nibbles()) return from_nibbles(bytes, buffer);
  HostTensor result(
      TensorType{constant.dtype(), {static_cast<int64_t>(bytes.size() / size_bytes(constant.dtype()))}});
  std::memcpy(result.mutable_raw(), bytes.data(), bytes.size());
  return result;
}

HostTensor row_major(const HostTensor& memory, const Shape& shape, const Layout& layout) {
  HostTensor result(TensorType{memory.dtype(), shape});
  const size_t size = size_bytes(memory.dtype());
  for_each_offset(result.type(), layout, [&](int64_t i, int64_t at) {
    std::memcpy(static_cast<char*>(result.mutable_raw()) + i * size,
                static_cast<const char*>(memory.raw()) + at * size, size);
  });
  return result;
}

void expect_sound(const tile::ScheduledGraph& graph, const std::string& what) {
  EXPECT_EQ(tile::structural_fault(graph), "") << what << "\n" << tile::print(graph);
  EXPECT_EQ(tile::coverage_fault(graph), "") << what << "\n" << tile::print(graph);
  const std::string text = tile::print(graph);
  try {
    EXPECT_EQ(tile::print(tile::parse_tile_graph(text)), text) << what;
  } catch (const Error& error) {
    ADD_FAILURE() << what << ": " << error.what() << "\n" << text;
  }
}

}  // namespace

void check_tile_graph(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                      const Device& target, const std::vector<HostTensor>& inputs,
                      const std::vector<HostTensor>& expected, double tolerance, const std::string& what) {
  Result<tile::ScheduledGraph> built = tile_graph(graph, candidate, implementation, target);
  if (built)  // else its kernel was refused, too
    check_tiles(std::move(built.value()), graph, candidate, implementation, target, inputs, expected,
                tolerance, what);
}

void check_tiles(tile::ScheduledGraph tiles, const Graph& graph, const Candidate& candidate,
                 const Implementation& implementation, const Device& target,
                 const std::vector<HostTensor>& inputs, const std::vector<HostTensor>& expected,
                 double tolerance, const std::string& what) {
  std::vector<HostTensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(stored(inputs[i], implementation.input_layouts[i]));
  for (ValueId constant : candidate.constants)
    arguments.push_back(packed(*graph.constant(constant), tiles.buffers[arguments.size()]));
  const auto expect_same = [&](tile::Arithmetic arithmetic, double allowed, const std::string& when) {
    const std::vector<HostTensor> outputs = tile::interpret(tiles, arguments, arithmetic);
    for (size_t i = 0; i < outputs.size(); ++i)
      expect_close(row_major(outputs[i], expected[i].shape(), implementation.output_layouts[i]), expected[i],
                   allowed, what + ", tile graph " + when);
  };
  expect_sound(tiles, what);
  // Transformed weights are rounded when they are packed.
  const bool rounds = std::any_of(tiles.buffers.begin(), tiles.buffers.end(), [](const tile::Buffer& buffer) {
    return buffer.packing.kind == "winograd";
  });
  expect_same(tile::Arithmetic::float64, rounds ? tolerance : 1e-11, "in float64");
  tile::lower_for_cpu(tiles, target);
  expect_sound(tiles, what + ", lowered");
  expect_same(tile::Arithmetic::native, tolerance, "lowered");
}

}  // namespace korch::testing
