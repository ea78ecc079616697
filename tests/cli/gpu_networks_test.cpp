// Small networks of published architectures (networks/export.py) on the emulated GPU.
#include "gpu.h"
#include "korch/base/files.h"
#include "korch/onnx/models.h"

namespace korch {
namespace {

const std::string kNetworks = KORCH_SOURCE_DIR "/tests/cli/networks";

class GpuNetwork : public Gpu, public testing::WithParamInterface<std::string> {};

TEST_P(GpuNetwork, IsVerified) {
  write_file(path("network.onnx"), fill_skeleton(kNetworks, GetParam()));
  ASSERT_EQ(compile_for_gpu("network.onnx", "--emulation --strategy greedy"), 0) << err_;
  EXPECT_EQ(run("verify " + path("network.onnx") + " " + path("m.so")), 0) << err_;
}

INSTANTIATE_TEST_SUITE_P(Networks, GpuNetwork, testing::ValuesIn(list_models(kNetworks)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace korch
