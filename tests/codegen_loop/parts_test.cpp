// Reductions that go on from what is stored, as machine code: lanes along what is kept, across what is
// reduced, and element by element.
#include <gtest/gtest.h>

#include "../kernel/graphs.h"
#include "kernel_runner.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/backend/spell.h"
#include "korch/kernel/interpret.h"
#include "korch/runtime/abi.h"

namespace korch::testing {
namespace {

TEST(ReductionsInParts, GoOnFromWhatIsStored) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(kInParts);
  std::vector<HostTensor> arguments = {
      random_tensor({DType::f32, {600}}, 1),
      HostTensor::of<int32_t>(DType::i32, {12}, {1, 2, 1, 1, 3, 1, 1, -1, 1, 1, 5, 1})};
  const std::vector<HostTensor> expected = tile::interpret(graph, arguments, tile::Arithmetic::float64);
  for (Isa isa : runnable_isas()) {
    const Kernel kernel = spelled(graph, test_target(isa));
    LoadedKernels loaded;
    const auto function = reinterpret_cast<korch_kernel_fn>(
        loaded.load(compile_object(kernel.source, name(isa)).value(), {kernel.phases[0].symbol}).value()[0]);
    std::vector<HostTensor> memory = {arguments[0], arguments[1], HostTensor({DType::f32, {40}}),
                                      HostTensor({DType::f32, {2}}), HostTensor({DType::i32, {1}})};
    std::vector<void*> pointers;
    for (HostTensor& tensor : memory) pointers.push_back(tensor.mutable_raw());
    HostTensor scratch(TensorType{DType::u8, {kernel.scratch_bytes + 64}});
    const korch_kernel_context context{pointers.data(), scratch.mutable_raw(), nullptr, 0};
    EXPECT_EQ(function(&context, 0, 1), 0);
    for (size_t i = 0; i < expected.size(); ++i) expect_close(memory[2 + i], expected[i], 3e-6, name(isa));
  }
}

}  // namespace
}  // namespace korch::testing
