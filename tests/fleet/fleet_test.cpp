// A leader and workers on threads, with made-up machines.
#include "korch/fleet/fleet.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "korch/base/error.h"
#include "made_up_fleet.h"

namespace korch {
namespace {

class FleetTest : public ::testing::Test {
 protected:
  std::unique_ptr<Meter> meter_of(Fleet& fleet) { return fleet.meter(made_up_device(), 1 << 20); }
  // All of these are taken.
  static bool taken(Meter& meter, int workers) {
    return soon([&] { return meter.machines() == workers; });
  }
  static std::string warnings(Fleet& fleet) {
    std::string all;
    for (const std::string& warning : fleet.take_warnings()) all += warning + "\n";
    return all;
  }
  static int by_workers(const Fleet& fleet) {
    int kernels = 0;
    for (const FleetReport::Member& member : fleet.report().workers) kernels += member.kernels;
    return kernels;
  }

  const TempDir temp_;
  const std::string folder_ = temp_.path() + "/fleet";
};

TEST_F(FleetTest, WorkersMeasureEachKernelOnce) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  ThreadWorker one(folder_, "one"), two(folder_, "two");
  ASSERT_TRUE(taken(*meter, 2));
  std::deque<MadeUpKernel> kernels = made_up_kernels(60);
  expect_costs(*meter, kernels);
  expect_costs(*meter, kernels, Care::thorough);  // another look
  EXPECT_EQ(fleet.report().by_leader, 0);
  EXPECT_EQ(by_workers(fleet), 120);
  EXPECT_EQ(one.served().measured + two.served().measured, 120);
  EXPECT_EQ(warnings(fleet), "");
}

TEST_F(FleetTest, WithoutWorkersTheLeaderMeasures) {
  {
    Fleet fleet(fleet_options(folder_));
    const std::unique_ptr<Meter> meter = meter_of(fleet);
    std::deque<MadeUpKernel> kernels = made_up_kernels(20);
    expect_costs(*meter, kernels);
    EXPECT_EQ(fleet.report().by_leader, 20);
    EXPECT_TRUE(fleet.report().workers.empty());
  }
  EXPECT_FALSE(file_exists(folder_));
}

TEST_F(FleetTest, EqualKernelsGetOneCost) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  ThreadWorker one(folder_, "one");
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::deque<MadeUpKernel> kernels;
  for (const char* object : {"a", "b", "a", "a"}) kernels.emplace_back(object);
  expect_costs(*meter, kernels);
  EXPECT_EQ(one.served().measured, 2);
}

// What a worker cannot, and what must not travel, the leader looks at itself.
TEST_F(FleetTest, TheLeaderMeasuresWhatWorkersCannot) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  ThreadWorker one(folder_, "one", [](ServeOptions& options) {
    options.make_meter = [](const Device&, int64_t) {
      return std::make_unique<ObjectMeter>(1, [](const std::string& object) {
        if (object == "object 3") throw std::bad_alloc();
      });
    };
  });
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::deque<MadeUpKernel> kernels = made_up_kernels(6);
  kernels[5].measured.constants = {std::make_shared<const std::string>(8, '\1')};
  kernels[5].measured.constant_types = {DType::i64};
  expect_costs(*meter, kernels);
  EXPECT_EQ(fleet.report().by_leader, 2);
  kernels.emplace_back("refused");
  int refusals = 0;
  meter->measure_all(
      1, [&](size_t) { return kernels.back().measured; }, Care::quick,
      [&](size_t, const Result<Cost>& cost) { refusals += !cost.ok(); });
  EXPECT_EQ(refusals, 1);
}

TEST_F(FleetTest, ASlowerWorkerIsSetAsideAndThatIsSaid) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  const auto by_factor = [](double factor) {
    return [factor](ServeOptions& options) {
      options.make_meter = [factor](const Device&, int64_t) { return std::make_unique<ObjectMeter>(factor); };
    };
  };
  ThreadWorker slow(folder_, "slow", by_factor(1.1));
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && fleet.report().workers.size() == 1; }));
  std::deque<MadeUpKernel> kernels = made_up_kernels(10);
  expect_costs(*meter, kernels);
  EXPECT_EQ(fleet.report().workers[0].set_aside, "is 10.0 % slower than the leader at sentinel 0");
  EXPECT_EQ(warnings(fleet),
            "fleet: worker slow is set aside: it is 10.0 % slower than the leader at sentinel 0\n");
  EXPECT_EQ(by_workers(fleet), 0);
  EXPECT_TRUE(soon([&] { return file_exists(folder_ + "/verdicts/slow"); }));
}

TEST_F(FleetTest, AnotherBuildRunsNoCode) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  std::atomic<bool> ran = false;
  ThreadWorker other(folder_, "other", [&](ServeOptions& options) {
    options.machine.build = "another";
    options.make_meter = [&](const Device&, int64_t) {
      ran = true;
      return std::make_unique<ObjectMeter>();
    };
  });
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::deque<MadeUpKernel> kernels = made_up_kernels(5);
  expect_costs(*meter, kernels);
  EXPECT_EQ(fleet.report().workers[0].set_aside, "is another build of korch");
  EXPECT_EQ(other.served().measured, 0);
  EXPECT_FALSE(ran);
}

// Who claims and never beats again.
TEST_F(FleetTest, ClaimsOfTheDeadGoBack) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  const FleetFolder folder(folder_);
  WorkerNote ghost = made_up_machine();
  ghost.session = leader_note(*folder.read(Room::notes, kLeader))->session;
  ghost.can_run = true;
  ghost.sentinels_us = {made_up_us("sentinel 0"), made_up_us("sentinel 1")};
  folder.write(Room::beats, "ghost", "1");
  folder.write(Room::notes, "ghost", to_text(ghost));
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::atomic<bool> over = false;
  int claimed = 0;
  std::thread takes([&] {
    while (!over) {
      for (const std::string& key : folder.names(Room::offer))
        if (claimed < 3 && folder.move(Room::offer, key, Room::claimed, claim_name(key, "ghost"))) ++claimed;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::deque<MadeUpKernel> kernels = made_up_kernels(12);
  expect_costs(*meter, kernels);
  over = true;
  takes.join();
  EXPECT_EQ(claimed, 3);
  EXPECT_TRUE(fleet.report().workers[0].is_lost);
  EXPECT_EQ(fleet.report().by_leader, 12);
  EXPECT_NE(warnings(fleet).find("worker ghost is lost"), std::string::npos);
}

// Its heart beats, and it never ends.
TEST_F(FleetTest, AStuckWorkerIsSetAside) {
  FleetOptions options = fleet_options(folder_);
  options.times.stuck_s = 0.2;
  Fleet fleet(options);
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  std::atomic<bool> go = false;
  ThreadWorker stuck(folder_, "stuck", [&](ServeOptions& serve) {
    serve.make_meter = [&](const Device&, int64_t) {
      return std::make_unique<ObjectMeter>(1, [&](const std::string& object) {
        while (object == "object 0" && !go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    };
  });
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::deque<MadeUpKernel> kernels = made_up_kernels(4);
  expect_costs(*meter, kernels);
  go = true;
  EXPECT_NE(warnings(fleet).find("worker stuck is set aside: it has measured one kernel for"),
            std::string::npos);
}

TEST_F(FleetTest, OneLeaderPerFolder) {
  Fleet fleet(fleet_options(folder_));
  try {
    const Fleet second(fleet_options(folder_));
    FAIL() << "two leaders";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("another compilation on"), std::string::npos) << error.what();
  }
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  std::deque<MadeUpKernel> kernels = made_up_kernels(2);
  expect_costs(*meter, kernels);
}

// A leader that was killed left its note, offers, and results of its workers.
TEST_F(FleetTest, ANewLeaderGoesOnWithTheResults) {
  std::deque<MadeUpKernel> kernels = made_up_kernels(10);
  const FleetFolder folder(folder_);
  LeaderNote dead;
  dead.session = "dead";
  folder.write(Room::notes, kLeader, to_text(dead));
  folder.write(Room::beats, "dead", "1");
  folder.write(Room::offer, "left", "over");
  for (size_t i = 0; i < 8; ++i) {
    const std::string bytes = to_bytes(work_of(kernels[i].measured, made_up_device(), 1 << 20, Care::quick));
    const std::string key = hash_text(bytes).hex();
    const double us = i == 7 ? -1 : made_up_us(kernels[i].object);  // one is no cost
    folder.write(Room::done, key, to_text(FoundCost{key, "earlier", Cost{us, us, us, 1, Care::quick}, ""}));
  }
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  EXPECT_TRUE(folder.names(Room::offer).empty());
  expect_costs(*meter, kernels);
  EXPECT_EQ(fleet.report().by_leader, 3);
  EXPECT_EQ(by_workers(fleet), 7);
}

TEST_F(FleetTest, AWorkerThatCannotWriteGivesItsClaimBack) {
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  ThreadWorker one(folder_, "one");
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  ASSERT_EQ(::rmdir((folder_ + "/done").c_str()), 0);
  std::deque<MadeUpKernel> kernels = made_up_kernels(4);
  expect_costs(*meter, kernels);
  EXPECT_EQ(fleet.report().by_leader, 4);
  EXPECT_NE(one.failure().find("cannot write"), std::string::npos) << one.failure();
}

// A limit on files is a full disk that this test can make.
TEST_F(FleetTest, OnAFullDiskTheLeaderMeasuresAlone) {
  std::signal(SIGXFSZ, SIG_IGN);
  Fleet fleet(fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(fleet);
  ThreadWorker one(folder_, "one");
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
  std::deque<MadeUpKernel> kernels = made_up_kernels(4);
  kernels.emplace_back(std::string(1 << 17, 'x'));
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_costs(*meter, kernels);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  const std::string said = warnings(fleet);
  EXPECT_NE(said.find("cannot write"), std::string::npos) << said;
  EXPECT_NE(said.find("from here on this machine measures alone"), std::string::npos) << said;
  EXPECT_EQ(meter->machines(), 1);
}

// A worker without --once serves one compilation after the other.
TEST_F(FleetTest, AWorkerWaitsForTheNextLeader) {
  ThreadWorker one(folder_, "one");
  for (int i = 0; i < 2; ++i) {
    Fleet fleet(fleet_options(folder_));
    const std::unique_ptr<Meter> meter = meter_of(fleet);
    ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet.report().workers.empty(); }));
    std::deque<MadeUpKernel> kernels = made_up_kernels(5);
    expect_costs(*meter, kernels);
    EXPECT_EQ(fleet.report().by_leader, 0);
  }
  EXPECT_EQ(one.served().measured, 10);
}

TEST_F(FleetTest, AWorkerEndsWithItsLeaderOrWithoutOne) {
  std::optional<Fleet> fleet(std::in_place, fleet_options(folder_));
  const std::unique_ptr<Meter> meter = meter_of(*fleet);
  const TempDir empty;
  const auto until_idle = [&](ServeOptions& options) { options.idle_s = 0.05; };
  ThreadWorker idle(empty.path() + "/fleet", "idle", until_idle);
  ThreadWorker once(folder_, "once", [](ServeOptions& options) { options.once = true; });
  ASSERT_TRUE(soon([&] { return meter->machines() == 1 && !fleet->report().workers.empty(); }));
  fleet.reset();
  EXPECT_TRUE(soon([&] { return !file_exists(folder_ + "/notes/once"); }));
  EXPECT_TRUE(soon([&] { return !file_exists(empty.path() + "/fleet/beats/idle"); }));
}

}  // namespace
}  // namespace korch
