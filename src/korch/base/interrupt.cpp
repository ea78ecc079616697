#include "korch/base/interrupt.h"

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <mutex>
#include <string_view>
#include <thread>

#include "korch/base/temporary.h"

namespace korch {
namespace {

constexpr int64_t kPatienceNs =
    600'000'000;  // for the error to unwind; who pressed Ctrl-C does not wait longer
constexpr int64_t kNsPerSecond = 1'000'000'000;

std::atomic<bool> interrupt_seen = false;  // written by a signal handler: cannot be anything but global
sem_t signals;                             // counts those that came
std::mutex ending;                         // held for ever by who ends the process
constexpr int kEnds[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
std::atomic<bool> is_installed[std::size(kEnds)] = {};  // of kEnds

extern "C" void on_signal(int) {
  const int code = errno;
  interrupt_seen = true;
  ::sem_post(&signals);
  errno = code;
}

// Ends the process with the second signal, or when the first had no effect for too long.
void watch() {
  while (::sem_wait(&signals) != 0) {
  }
  timespec end = {};
  ::clock_gettime(CLOCK_REALTIME, &end);
  const int64_t ns = end.tv_nsec + kPatienceNs;
  end.tv_sec += ns / kNsPerSecond;
  end.tv_nsec = ns % kNsPerSecond;
  while (::sem_timedwait(&signals, &end) != 0 && errno == EINTR) {
  }
  end_interrupted();
}

}  // namespace

void install_interrupt_handler() {
  ::sem_init(&signals, 0, 0);
  std::thread(watch).detach();
  for (size_t i = 0; i < std::size(kEnds); ++i) {
    struct sigaction before = {};
    is_installed[i] = ::sigaction(kEnds[i], nullptr, &before) == 0 && before.sa_handler != SIG_IGN;
  }
  keep_interrupt_handler();
}

void keep_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kEnds); ++i)
    if (is_installed[i]) ::sigaction(kEnds[i], &action, nullptr);
}

bool interrupted() {
  return interrupt_seen;
}

void throw_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::interrupted, "interrupted");
}

void end_at_once(ErrorKind kind, std::string_view message) {
  ending.lock();
  remove_all_temporaries_for_good();
  for (const std::string_view part : {std::string_view("korch: "), message, std::string_view("\n")}) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
  }
  ::_exit(static_cast<int>(kind));
}

void end_interrupted() {
  end_at_once(ErrorKind::interrupted, "interrupted");
}

}  // namespace korch
