#include "korch/fleet/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "korch/base/error.h"
#include "korch/base/printable.h"

extern char** environ;

namespace korch {
namespace {

constexpr std::string_view kSlurm = "slurm:";
constexpr int kMostWorkersAsked = 4096;

// A remote shell reads words a second time: only what no shell changes passes.
bool is_safe_word(std::string_view text, std::string_view also) {
  return !text.empty() && text[0] != '-' && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != also.npos;
  });
}

void require_safe(const char* what, const std::string& text) {
  if (!is_safe_word(text, "/._-+:@%=,"))
    throw Error(ErrorKind::usage,
                fmt::format("{} '{}' cannot stand in a command: letters, digits and /._-+:@%=, can", what,
                            printable(text)));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Each worker is a job of its own: a node that fails takes no other with it.
void add_slurm(const WorkerCommands& all, std::string_view number, std::vector<std::string>& commands) {
  int count = 0;
  const auto [rest, code] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (code != std::errc() || rest != number.data() + number.size() || count < 1 || count > kMostWorkersAsked)
    throw Error(ErrorKind::usage, fmt::format("--fleet slurm:N: a number of workers from 1 to {}, not '{}'",
                                              kMostWorkersAsked, printable(number)));
  require_safe("the program", all.program);
  for (int i = 0; i < count; ++i)
    commands.push_back(fmt::format(
        "exec srun --job-name=korch --nodes=1 --ntasks=1 --exclusive --cpus-per-task={} --no-kill "
        "--quit-on-interrupt {} measure --serve {} --once",
        all.threads, all.program, all.folder));
}

void add_template(const WorkerCommands& all, const std::string& words, std::vector<std::string>& commands) {
  const bool is_for_hosts = words.find("{host}") != words.npos;
  if (is_for_hosts && all.hosts.empty())
    throw Error(ErrorKind::usage, fmt::format("'{}' names {{host}}: give --fleet-hosts", printable(words)));
  if (words.find("{dir}") == words.npos)
    throw Error(ErrorKind::usage,
                fmt::format("--fleet '{}': neither slurm:N nor a command with {{dir}}", printable(words)));
  const size_t count = is_for_hosts ? all.hosts.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    std::string command = words;
    if (is_for_hosts) {
      require_safe("the host", all.hosts[i]);
      replace_all(command, "{host}", all.hosts[i]);
    }
    if (words.find("{korch}") != words.npos) require_safe("the program", all.program);
    replace_all(command, "{dir}", all.folder);
    replace_all(command, "{korch}", all.program);
    replace_all(command, "{threads}", fmt::format("{}", all.threads));
    commands.push_back(command);
  }
}

}  // namespace

std::vector<std::string> shell_commands(const WorkerCommands& all) {
  std::vector<std::string> commands;
  if (!all.words.empty()) require_safe("the fleet's folder", all.folder);
  for (const std::string& words : all.words)
    if (words.starts_with(kSlurm))
      add_slurm(all, std::string_view(words).substr(kSlurm.size()), commands);
    else
      add_template(all, words, commands);
  const auto names_host = [](const std::string& words) { return words.find("{host}") != words.npos; };
  if (!all.hosts.empty() && std::ranges::none_of(all.words, names_host))
    throw Error(ErrorKind::usage, "--fleet-hosts is for a --fleet command with {host}");
  return commands;
}

// In a group of its own: Ctrl-C at the terminal is for the leader, which ends them.
void StartedCommands::start(const std::string& command, const std::string& log) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "/bin/sh", flag = "-c", words = command;
  char* const arguments[] = {shell.data(), flag.data(), words.data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, shell.c_str(), &files, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    throw Error(ErrorKind::resource,
                fmt::format("cannot start '{}': {}", printable(command), std::strerror(failed)));
  running_.push_back({pid, command});
}

void StartedCommands::reap() {
  std::erase_if(running_, [&](const Started& started) {
    int status = 0;
    if (::waitpid(started.pid, &status, WNOHANG) != started.pid) return false;
    if (WIFSIGNALED(status))
      failures_.push_back(fmt::format("the command '{}' was ended by signal {}", printable(started.command),
                                      WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
      failures_.push_back(fmt::format("the command '{}' ended with code {}", printable(started.command),
                                      WEXITSTATUS(status)));
    return true;
  });
}

std::vector<std::string> StartedCommands::failures() {
  reap();
  return std::exchange(failures_, {});
}

bool StartedCommands::any_runs() {
  reap();
  return !running_.empty();
}

StartedCommands::~StartedCommands() {
  for (const Started& started : running_) ::kill(-started.pid, SIGTERM);
  // srun needs a moment to end its job; who does not end is ended.
  constexpr int kLooks = 100;
  constexpr useconds_t kBetween_us = 20'000;
  for (int look = 0; look < kLooks && any_runs(); ++look) ::usleep(kBetween_us);
  for (const Started& started : running_) {
    ::kill(-started.pid, SIGKILL);
    ::waitpid(started.pid, nullptr, 0);
  }
}

}  // namespace korch
