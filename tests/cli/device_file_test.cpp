// Plans for a device that a file describes.
#include "cli.h"
#include "korch/base/json.h"
#include "korch/device/device.h"

namespace korch {
namespace {

class DeviceFile : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    device_ = with_nominal_speeds(cpu_device(Isa::x86_64_v3, 3));
    device_.name = "a machine elsewhere";
    write_file(path("d.json"), to_text(device_));
  }
  std::string plan(const std::string& file, const std::string& more = "") const {
    return "compile " + path("m.onnx") + " --no-profile-db --no-measure --stop-after plan --json --device " +
           path(file) + more;
  }
  Device device_;
};

TEST_F(DeviceFile, IsPlannedForByTheSpeedsThatItTells) {
  ASSERT_EQ(run(plan("d.json")), 0) << err_;
  const nlohmann::json report = nlohmann::json::parse(out_);
  EXPECT_EQ(device_from_text(report["device"].dump()).workers, 3);
  EXPECT_TRUE(says("those that a machine elsewhere was given")) << err_;
  EXPECT_EQ(run(plan("d.json", " --threads 3")), 0) << err_;
  // As korch doctor writes it.
  write_file(path("doctor.json"), "{\"device\": " + to_text(device_) + ", \"cuda\": \"no\"}");
  ASSERT_EQ(run(plan("doctor.json")), 0) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_)["objective_us"], report["objective_us"]);
}

TEST_F(DeviceFile, ThatIsNoneIsRefusedByName) {
  expect_refused(plan("none.json"), 7, {"none.json"});
  write_file(path("bad.json"), "{\"device\": []}");
  expect_refused(plan("bad.json"), 3, {"bad.json", "no description of a device"});
  expect_refused(plan("d.json", " --threads 2"), 2, {"d.json", "3 workers"});
  device_.kind = "abacus";
  write_file(path("d.json"), to_text(device_));
  expect_refused(plan("d.json"), 4, {"no backend", "'abacus'"});
}

TEST_F(DeviceFile, OfAnotherMachineIsNotMeasured) {
  expect_refused(
      "compile " + path("m.onnx") + " --no-profile-db --stop-after plan --device " + path("d.json"), 2,
      {"--no-measure"});
}

}  // namespace
}  // namespace korch
