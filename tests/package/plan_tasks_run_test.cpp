// Executables that run by tasks.
#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/package/loaded.h"
#include "test_plan.h"

namespace korch {
namespace {

TEST(PlanTasksRun, ExecutablesGiveTheSameByAnyScheduleAndNumberOfThreads) {
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  HostTensor x(TensorType{DType::f32, {kElements}});
  for (int64_t i = 0; i < kElements; ++i) x.mutable_data<float>()[i] = 0.37f * static_cast<float>(i % 13);
  std::vector<HostTensor> wanted;
  for (const Plan& original : {test_plan(), plan_with_accesses()})
    for (const PlanSchedule compiled : kSchedules) {
      Plan plan = original;
      plan.schedule = compiled;
      write_executable(test_package(plan, Isa::portable), path);
      for (const int threads : {1, 2, 3, 5})
        for (const std::optional<PlanSchedule> schedule :
             {std::optional<PlanSchedule>(), std::optional(PlanSchedule::barrier),
              std::optional(PlanSchedule::dynamic)}) {
          LoadedExecutable model(path, threads, schedule);
          const std::vector<HostTensor> outputs = model.run({x});
          if (wanted.empty()) wanted = outputs;
          for (size_t o = 0; o < outputs.size(); ++o)
            ASSERT_EQ(std::string_view(static_cast<const char*>(outputs[o].raw()), outputs[o].bytes()),
                      std::string_view(static_cast<const char*>(wanted[o].raw()), wanted[o].bytes()));
          std::vector<HostTensor> again = model.allocate_outputs();
          EXPECT_EQ(model.profile({x}, again).size(), 3u);  // timed step by step: phase after phase
        }
    }
}

TEST(PlanTasksRun, AFailureNamesItsStep) {
  const TempDir folder;
  Plan plan = plan_with_accesses();
  plan.schedule = PlanSchedule::dynamic;
  write_executable(test_package(plan, Isa::portable), folder.path() + "/model.so");
  LoadedExecutable model(folder.path() + "/model.so", 2);
  HostTensor x(TensorType{DType::f32, {kElements}});
  x.mutable_data<float>()[0] = 2000;  // which the first kernel refuses
  for (int run = 0; run < 20; ++run) {
    try {
      model.run({x});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("Mul \"scale\""), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace korch
