// Callers of the C interface: several of one instance, in processes that forked.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "c_api_network.h"

namespace korch::rt {
namespace {

class CApi : public testing::TestWithParam<int> {
 protected:
  CApi() { EXPECT_EQ(korch_create(GetParam(), &instance_), KORCH_OK); }
  ~CApi() override { korch_free(instance_); }
  // A run in a thread of its own, all of whose workers are in a kernel when this returns.
  std::thread run_to_the_gate(Call& call, korch_status* status) {
    gate_is_open = false;
    std::thread runner([this, &call, status] { *status = call.run(instance_); });
    while (workers_at_the_gate != GetParam()) std::this_thread::yield();
    return runner;
  }
  korch_instance* instance_ = nullptr;
};

// What a child process finds, as the parent's exit status; a child that hangs is ended by its alarm.
int in_child(const std::function<bool()>& is_good) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(is_good() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_P(CApi, ASecondCallerIsRefusedAndTheFirstGoesOn) {
  Call first(3), second(5);
  korch_status status = KORCH_INTERNAL;
  std::thread runner = run_to_the_gate(first, &status);
  EXPECT_EQ(second.run(instance_), KORCH_BUSY);
  EXPECT_TRUE(second.is_untouched());
  gate_is_open = true;
  runner.join();
  EXPECT_EQ(status, KORCH_OK);
  EXPECT_TRUE(first.is_right());
  EXPECT_EQ(second.run(instance_), KORCH_OK);
  EXPECT_TRUE(second.is_right());
}

TEST_P(CApi, ManyCallersGetRightResultsOrAreRefused) {
  std::atomic<int> wrong{0}, done{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        Call call(static_cast<float>(1000 * caller + round));
        const korch_status status = call.run(instance_);
        done += status == KORCH_OK;
        wrong += status == KORCH_OK ? !call.is_right() : status != KORCH_BUSY || !call.is_untouched();
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(done, 0);
}

TEST_P(CApi, AnObserverThatRunsItsOwnInstanceIsRefused) {
  struct Nested {
    korch_instance* instance;
    korch_status status;
  } nested{instance_, KORCH_OK};
  Call call(1);
  const void* inputs[] = {call.input.data()};
  void* outputs[] = {call.output.data()};
  const auto observe = [](void* user, uint32_t, void* const*) {
    auto* nested = static_cast<Nested*>(user);
    nested->status = Call(2).run(nested->instance);
  };
  EXPECT_EQ(korch_profile(instance_, inputs, outputs, nullptr, observe, &nested), KORCH_OK);
  EXPECT_EQ(nested.status, KORCH_BUSY);
  EXPECT_TRUE(call.is_right());
}

// The child of a fork has the instance's memory, and none of its threads.
TEST_P(CApi, WhoObservesSlicesIsToldOfAllSteps) {
  EXPECT_EQ(korch_threads(instance_), GetParam());
  EXPECT_EQ(korch_threads(nullptr), 0);
  struct Seen {
    std::atomic<int64_t> slices[kStepCount] = {};
    std::atomic<int> faults{0};
    int workers = 0;
  } seen;
  seen.workers = GetParam();
  korch_run_options options{};
  options.struct_size = sizeof options;
  options.observe_slices = [](void* user, const korch_slices* run) {
    auto* seen = static_cast<Seen*>(user);
    seen->faults += run->worker < 0 || run->worker >= seen->workers || run->end_us < run->begin_us;
    if (run->step < kStepCount) seen->slices[run->step] += run->end - run->begin;
  };
  options.slices_user = &seen;
  Call call(1);
  ASSERT_EQ(call.run(instance_, &options), KORCH_OK);
  EXPECT_TRUE(call.is_right());
  EXPECT_EQ(seen.faults, 0);
  EXPECT_EQ(seen.slices[0], kCount);
  EXPECT_EQ(seen.slices[2], kCount);
}

TEST_P(CApi, AfterForkAnInstanceIsRefusedAndAFreshOneWorks) {
  Call call(7);
  ASSERT_EQ(call.run(instance_), KORCH_OK);
  const auto child = [&] {
    Call again(8);
    if (again.run(instance_) != KORCH_FORKED || !again.is_untouched()) return false;
    korch_free(instance_);
    korch_instance* fresh = nullptr;
    if (korch_create(1, &fresh) != KORCH_OK || again.run(fresh) != KORCH_OK) return false;
    korch_free(fresh);
    return again.is_right();
  };
  EXPECT_EQ(in_child(child), 0);
  EXPECT_EQ(call.run(instance_), KORCH_OK);
}

TEST_P(CApi, AForkDuringARun) {
  Call call(7);
  korch_status status = KORCH_INTERNAL;
  std::thread runner = run_to_the_gate(call, &status);
  const auto child = [&] {
    const bool is_refused = Call(8).run(instance_) == KORCH_FORKED;
    korch_free(instance_);
    return is_refused;
  };
  EXPECT_EQ(in_child(child), 0);
  gate_is_open = true;
  runner.join();
  EXPECT_EQ(status, KORCH_OK);
  EXPECT_TRUE(call.is_right());
}

INSTANTIATE_TEST_SUITE_P(Threads, CApi, testing::Values(1, 2, 3));

TEST(CApiStatus, EveryStatusHasItsOwnSentence) {
  std::vector<std::string> sentences;
  for (int status = KORCH_OK; status <= KORCH_PARALLEL_FAILED; ++status) {
    sentences.push_back(korch_status_text(static_cast<korch_status>(status)));
    EXPECT_NE(sentences.back(), "unknown status") << status;
    EXPECT_EQ(std::count(sentences.begin(), sentences.end(), sentences.back()), 1) << sentences.back();
  }
}

}  // namespace
}  // namespace korch::rt
