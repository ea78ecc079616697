// Commands that start workers.
#include "korch/fleet/commands.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "made_up_fleet.h"

namespace korch {
namespace {

WorkerCommands commands(std::vector<std::string> words, std::vector<std::string> hosts = {}) {
  return {std::move(words), std::move(hosts), "/shared/fleet", "/opt/korch", 3};
}

std::string refused(const WorkerCommands& all) {
  try {
    shell_commands(all);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "taken";
}

TEST(Commands, SlurmGetsAJobForEachWorker) {
  const std::vector<std::string> all = shell_commands(commands({"slurm:2"}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_TRUE(all[0].starts_with("exec srun ")) << all[0];
  EXPECT_NE(all[0].find(" --exclusive "), std::string::npos);
  EXPECT_TRUE(all[0].ends_with(" /opt/korch measure --serve /shared/fleet --once")) << all[0];
  for (const char* wrong : {"slurm:", "slurm:0", "slurm:-1", "slurm:2x", "slurm:4097", "slurm:99999999999"})
    EXPECT_NE(refused(commands({wrong})), "taken") << wrong;
}

TEST(Commands, TemplatesAreFilledForEachHost) {
  EXPECT_EQ(shell_commands(
                commands({"ssh {host} {korch} measure --serve {dir} --threads {threads}"}, {"a", "b.c"})),
            (std::vector<std::string>{"ssh a /opt/korch measure --serve /shared/fleet --threads 3",
                                      "ssh b.c /opt/korch measure --serve /shared/fleet --threads 3"}));
  EXPECT_EQ(shell_commands(commands({"run {dir}; echo {dir}"})),
            std::vector<std::string>{"run /shared/fleet; echo /shared/fleet"});
  EXPECT_TRUE(shell_commands(commands({})).empty());
}

TEST(Commands, WhatAShellWouldReadIsRefused) {
  for (const char* host : {"a;b", "a b", "$(a)", "-oProxyCommand=x", "", "a'b", "a`b`"})
    EXPECT_NE(refused(commands({"ssh {host} {dir}"}, {host})), "taken") << host;
  EXPECT_NE(refused(commands({"ssh {host} {dir}"})), "taken");  // no hosts
  EXPECT_NE(refused(commands({"run {dir}"}, {"a"})), "taken");  // hosts for nobody
  EXPECT_NE(refused(commands({"run it"})), "taken");            // serves no folder
  EXPECT_NE(refused(commands({""})), "taken");
  WorkerCommands other = commands({"run {dir}"});
  other.folder = "/shared/a b";
  EXPECT_NE(refused(other), "taken");
}

TEST(Commands, FailuresAreToldOnceAndTheRestIsEnded) {
  const TempDir folder;
  const std::string log = folder.path() + "/log", ended = folder.path() + "/ended";
  {
    StartedCommands started;
    started.start("echo said; exit 3", log);
    std::vector<std::string> failures;
    EXPECT_TRUE(soon([&] { return !(failures = started.failures()).empty(); }));
    EXPECT_EQ(failures, std::vector<std::string>{"the command 'echo said; exit 3' ended with code 3"});
    EXPECT_TRUE(started.failures().empty());
    EXPECT_FALSE(started.any_runs());
    EXPECT_EQ(read_file(log), "said\n");
    started.start("true", log);
    EXPECT_TRUE(soon([&] { return !started.any_runs(); }));
    EXPECT_TRUE(started.failures().empty());
    started.start("trap 'echo yes >" + ended + "; exit 0' TERM; echo ready; sleep 1000 & wait", log);
    EXPECT_TRUE(soon([&] { return read_file(log) == "ready\n"; }));
  }
  EXPECT_EQ(read_file(ended), "yes\n");
}

}  // namespace
}  // namespace korch
