// What leader and workers say of themselves, and what is not believed.
#include <gtest/gtest.h>

#include "made_up_fleet.h"

namespace korch {
namespace {

LeaderNote example_leader() {
  LeaderNote leader;
  leader.session = "s";
  leader.build = build_of_this_program();
  leader.protocol = kCostProtocol;
  leader.device = made_up_device();
  return leader;
}

TEST(Notes, ComeBackAsTheyWere) {
  LeaderNote leader = example_leader();
  leader.sentinels = {"a", "b"};
  const std::optional<LeaderNote> read = leader_note(to_text(leader));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read), to_text(leader));
  EXPECT_EQ(read->device, leader.device);
  const FoundCost found{"key", "worker", Cost{1.5, 1, 2, 7, Care::twice}, ""};
  const std::optional<FoundCost> cost = found_cost(to_text(found));
  ASSERT_TRUE(cost && cost->cost);
  EXPECT_EQ(cost->cost->us, 1.5);
  EXPECT_EQ(cost->cost->care, Care::twice);
  EXPECT_EQ(cost->worker, "worker");
}

TEST(Notes, WhatIsNoneIsNotBelieved) {
  const std::string text = to_text(FoundCost{"key", "worker", Cost{1.5, 1, 2, 7, Care::twice}, ""});
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(found_cost(text.substr(0, size))) << size;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    EXPECT_NE(other.find(from), std::string::npos) << from;
    return found_cost(other.replace(other.find(from), from.size(), to));
  };
  for (const char* us : {"0.0", "-1.5", "null", "1e999", "\"1\""})
    EXPECT_FALSE(with("\"us\":1.5", std::string("\"us\":") + us)) << us;
  EXPECT_FALSE(with("\"samples\":7", "\"samples\":0"));
  EXPECT_FALSE(leader_note("{}"));
  EXPECT_FALSE(worker_note("[]"));
  EXPECT_FALSE(judgement_of("no JSON"));
}

TEST(Notes, OtherMachinesAreTold) {
  const LeaderNote leader = example_leader();
  WorkerNote worker = made_up_machine();
  worker.can_run = true;
  EXPECT_EQ(mismatch(leader, worker), "");
  worker.cpus = 1;
  EXPECT_EQ(mismatch(leader, worker), "has processors for 1 of 2 threads");
  worker.can_run = false;
  EXPECT_EQ(mismatch(leader, worker), "cannot run code for x86-64");
  worker.processor = "another\n";
  EXPECT_EQ(mismatch(leader, worker), "has another processor: another\\x0a, not made up");
  worker.protocol = 1;
  EXPECT_NE(mismatch(leader, worker).find("measures by protocol 1, not"), std::string::npos);
  worker.build = "another";
  EXPECT_EQ(mismatch(leader, worker), "is another build of korch");
}

TEST(Notes, SentinelsTellSlowerAndFasterMachines) {
  EXPECT_EQ(difference({100, 10}, {104, 10.4}, 0.05), "");
  EXPECT_EQ(difference({100, 10}, {96, 10}, 0.05), "");
  EXPECT_EQ(difference({100, 10}, {100, 11}, 0.05), "is 10.0 % slower than the leader at sentinel 1");
  EXPECT_EQ(difference({100, 10}, {80, 10}, 0.05), "is 25.0 % faster than the leader at sentinel 0");
  EXPECT_EQ(difference({100, 10}, {100, 11}, 0.2), "");
  EXPECT_EQ(difference({100, 10}, {100}, 0.05), "measured other sentinels");
  EXPECT_EQ(difference({100, 10}, {100, std::numeric_limits<double>::quiet_NaN()}, 0.05),
            "measured no times");
}

}  // namespace
}  // namespace korch
