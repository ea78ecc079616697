// Commands that start workers: of a cluster's scheduler, or of the user's own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace korch {

struct WorkerCommands {
  std::vector<std::string> words;  // "slurm:N", or a command with {dir}, {host}, {threads}, {korch}
  std::vector<std::string> hosts;  // a command with {host} is started for each
  std::string folder, program;
  int threads = 1;
};

// As /bin/sh takes them. Throws Error{usage}: a word that is none, {host} without hosts and hosts without
// {host}, a host, folder or program whose name a shell would read as more than a name.
std::vector<std::string> shell_commands(const WorkerCommands& commands);

// Processes that run while it lives; then they are told to end.
class StartedCommands {
 public:
  StartedCommands() = default;
  ~StartedCommands();
  StartedCommands(const StartedCommands&) = delete;
  StartedCommands& operator=(const StartedCommands&) = delete;

  // What it says goes to the file `log`. Throws Error{resource} where there can be no more processes.
  void start(const std::string& command, const std::string& log);
  // "the command '...' ended with code 1", of those that have ended with another code than 0 since the last
  // call.
  std::vector<std::string> failures();
  bool any_runs();

 private:
  struct Started {
    pid_t pid;
    std::string command;
  };
  std::vector<Started> running_;
  std::vector<std::string> failures_;
  void reap();
};

}  // namespace korch
