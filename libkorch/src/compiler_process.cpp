#include "compiler_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "korch/base/error.h"

extern char** environ;

namespace korch {
namespace {

constexpr int kPatienceMs = 5000;          // for the compiler to remove what it wrote
constexpr size_t kMostMessages = 1 << 16;  // bytes of its standard error that are kept: the last

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int* receive() { return &fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

[[noreturn]] void fail(const std::string& what, int code) {
  const bool is_shortage = code == EMFILE || code == ENFILE || code == ENOMEM || code == EAGAIN;
  throw Error(is_shortage ? ErrorKind::resource : ErrorKind::io,
              fmt::format("{}: {}", what, std::strerror(code)));
}

struct Channel {
  Fd ours, theirs;
};

// A socket where we write: a compiler that is gone is an error of send() and no signal.
void open_socket(Channel& channel) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot make a socket", errno);
  *channel.ours.receive() = ends[0];
  *channel.theirs.receive() = ends[1];
}

void open_pipe(Channel& channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe", errno);
  *channel.ours.receive() = ends[0];
  *channel.theirs.receive() = ends[1];
}

// Ended and waited for when it goes out of scope.
class Child {
 public:
  Child(const std::string& program, const Channel& in, const Channel& out, const Channel& err) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int code = ::posix_spawn_file_actions_init(&files);
    if (code != 0) fail("korch's compiler cannot be started", code);
    code = ::posix_spawnattr_init(&attributes);
    const auto then = [&](int next) {
      if (code == 0) code = next;
    };
    then(::posix_spawn_file_actions_adddup2(&files, in.theirs.get(), STDIN_FILENO));
    then(::posix_spawn_file_actions_adddup2(&files, out.theirs.get(), STDOUT_FILENO));
    then(::posix_spawn_file_actions_adddup2(&files, err.theirs.get(), STDERR_FILENO));
    // In a session of its own a terminal's Ctrl-C is the caller's to handle; what the caller blocks or
    // ignores is not.
    sigset_t none, usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD}) ::sigaddset(&usual, number);
    then(::posix_spawnattr_setsigmask(&attributes, &none));
    then(::posix_spawnattr_setsigdefault(&attributes, &usual));
    then(::posix_spawnattr_setflags(&attributes,
                                    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    char verb[] = "worker";
    std::string name = program;
    char* const words[] = {name.data(), verb, nullptr};
    if (code == 0) code = ::posix_spawn(&process_, program.c_str(), &files, &attributes, words, environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (code != 0) {
      process_ = -1;
      fail(fmt::format("korch's compiler '{}' cannot be started", program), code);
    }
  }
  ~Child() {
    if (process_ < 0) return;
    ::kill(process_, SIGTERM);
    constexpr int kStepMs = 10;
    for (int waited = 0; waited < kPatienceMs; waited += kStepMs) {
      if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
      ::poll(nullptr, 0, kStepMs);
    }
    ::kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The exit code, -signal, or 0 where the caller's program lets the system forget its children.
  int wait() {
    int status = 0;
    pid_t got = 0;
    while ((got = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
    }
    process_ = -1;
    if (got < 0) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t process_ = -1;
};

// False when the compiler is gone; why, it tells itself.
bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// What there is to read is added to `text`; at the end the pipe is closed.
void read_some(Fd& pipe, std::string& text) {
  char bytes[1 << 12];
  const ssize_t count = ::read(pipe.get(), bytes, sizeof bytes);
  if (count > 0)
    text.append(bytes, static_cast<size_t>(count));
  else if (count == 0 || errno != EINTR)
    pipe.close();
}

}  // namespace

CompilerEnd converse(const std::string& program, const std::string& request, const OnLine& on_line) {
  Channel in, out, err;
  open_socket(in);
  open_pipe(out);
  open_pipe(err);
  Child child(program, in, out, err);
  for (Channel* channel : {&in, &out, &err}) channel->theirs.close();
  send_all(in.ours.get(), request + "\n");  // the input stays open: its end would end the compiler
  std::string lines, messages;
  bool goes_on = true;
  while (goes_on && (out.ours.is_open() || err.ours.is_open())) {
    pollfd waiting[] = {{out.ours.get(), POLLIN, 0},
                        {err.ours.get(), POLLIN, 0}};  // closed ones are passed over
    if (::poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) continue;
      fail("cannot wait for the compiler", errno);
    }
    if (waiting[1].revents != 0) read_some(err.ours, messages);
    if (messages.size() > 2 * kMostMessages) messages.erase(0, messages.size() - kMostMessages);
    if (waiting[0].revents != 0) read_some(out.ours, lines);
    for (size_t end = lines.find('\n'); goes_on && end != std::string::npos; end = lines.find('\n')) {
      const std::string line = lines.substr(0, end);
      lines.erase(0, end + 1);
      goes_on = on_line(line);
    }
  }
  if (!goes_on) return {static_cast<int>(ErrorKind::interrupted), ""};
  return {child.wait(), messages};
}

std::string installed_program() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&installed_program), &here) == 0 || here.dli_fname == nullptr)
    throw Error(ErrorKind::io, "libkorch does not find itself: name the compiler (option `program`)");
  std::error_code code;
  const std::filesystem::path library = std::filesystem::canonical(here.dli_fname, code);
  return ((code ? std::filesystem::path(here.dli_fname) : library).parent_path() / KORCH_PROGRAM_FROM_LIBRARY)
      .lexically_normal();
}

}  // namespace korch
