// The table, and what stands in it for a backend that a build leaves out.
#include "korch/backend/backend.h"

#include <gtest/gtest.h>

#include <functional>

#include "../kernel/graphs.h"
#include "korch/backend/spell.h"
#include "korch/backend/stub/stub_backend.h"
#include "korch/base/error.h"
#include "korch/base/files.h"

namespace korch {
namespace {

void expect_unsupported(const std::function<void()>& action, const std::string& words) {
  try {
    action();
    ADD_FAILURE() << "taken, instead of: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Backends, AreFoundByTheKindOfDevice) {
  EXPECT_EQ(&backend_of(cpu_device(Isa::x86_64_v3)), &cpu_backend());
  Device device;
  device.kind = "abacus";
  expect_unsupported([&] { backend_of(device); }, "'abacus'");
  EXPECT_EQ(&backend_of(cuda_device()), &cuda_backend());
}

// Text needs no backend, and is the device's own.
TEST(Spelling, IsThatOfTheKindOfDevice) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(testing::kSoftmax);
  const std::string cpp = source_of(graph, cpu_device(Isa::x86_64_v3)),
                    cuda = source_of(graph, cuda_device());
  EXPECT_NE(cpp.find("extern \"C\" int32_t k0("), std::string::npos) << cpp;
  EXPECT_NE(cuda.find("__global__"), std::string::npos) << cuda;
  EXPECT_NE(tile::print(lowered(graph, cpu_device(Isa::x86_64_v3))), tile::print(graph));
  EXPECT_EQ(tile::print(lowered(graph, cuda_device())), tile::print(graph));
  EXPECT_EQ(spelled(graph, cuda_device()).source, cuda);
  EXPECT_EQ(source_extension(cpu_device(Isa::portable)), "cpp");
  EXPECT_EQ(source_extension(cuda_device()), "cu");
  Device device;
  device.kind = "abacus";
  expect_unsupported([&] { source_of(graph, device); }, "'abacus'");
}

TEST(StubBackend, SaysWhatIsMissingAndWhatItCannotDo) {
  const StubBackend stub("the CPU backend", "KORCH_CPU");
  const Device device = cpu_device(Isa::portable);
  const std::string missing = "built without the CPU backend (cmake -DKORCH_CPU=ON builds it)";
  EXPECT_NE(stub.missing().find(missing), std::string::npos);
  EXPECT_EQ(stub.obstacle(device), stub.missing());
  EXPECT_EQ(stub.parts()[0].state, "none: " + stub.missing());
  EXPECT_EQ(stub.compiler(), "");
  expect_unsupported([&] { stub.compile({"source"}, device); }, missing + ", and cannot compile kernels");
  expect_unsupported([&] { stub.compile_command(device); }, missing + ", and cannot name a compiler");
  const Kernel kernel;
  expect_unsupported([&] { stub.reproducer({kernel, 0, 0, {}}, device); }, missing + ", and cannot show");
  expect_unsupported([&] { stub.meter(device, 0); }, missing + ", and cannot run or measure kernels");
  expect_unsupported([&] { stub.sample_peaks(device, 1); }, missing + ", and cannot measure");
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  write_file(path, "the old one");
  expect_unsupported([&] { stub.write({}, path, [] { FAIL() << "nothing was written"; }); },
                     missing + ", and cannot write executables");
  EXPECT_EQ(read_file(path), "the old one");
}

}  // namespace
}  // namespace korch
