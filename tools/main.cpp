#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/memory_limit.h"
#include "verbs.h"

namespace {

constexpr const char* kPurpose =
    "compiles a trained network (ONNX) into the fastest executable for this machine";
constexpr const char* kFirstSession =
    "  korch model candy_224                        a network to try (or bring your own)\n"
    "  korch compile candy_224.onnx                 the main job: writes candy_224.so\n"
    "  korch verify candy_224.onnx candy_224.so     same results as the network in float64?\n"
    "  korch bench candy_224.so                     how fast\n"
    "  korch explain candy_224.so                   what was fused, and why";
constexpr const char* kExitCodes =
    "0 done, 1 internal error, 2 usage, 3 invalid model or input, 4 unsupported operator or "
    "type,\n"
    "5 accuracy failure, 6 out of memory, time or disk, 7 file cannot be read or written, 130 interrupted.";

int run(int argc, char** argv) {
  korch::CommandLine command_line(fmt::format("korch: {}", kPurpose), "korch");
  command_line.version(KORCH_VERSION);
  command_line.footer(fmt::format("A first session:\n{}\nExit codes: {}", kFirstSession, kExitCodes));
  korch::add_model_verb(command_line);
  korch::add_compile_verb(command_line);
  korch::add_run_verb(command_line);
  korch::add_bench_verb(command_line);
  korch::add_verify_verb(command_line);
  korch::add_explain_verb(command_line);
  korch::add_diff_verb(command_line);
  korch::add_kernel_verb(command_line);
  korch::add_fission_verb(command_line);
  korch::add_equiv_verb(command_line);
  korch::add_search_verb(command_line);
  korch::add_costs_verb(command_line);
  korch::add_measure_verb(command_line);
  korch::add_operators_verb(command_line);
  korch::add_doctor_verb(command_line);
  korch::add_completion_verb(command_line);
  korch::add_manual_verb(command_line, {KORCH_VERSION, kPurpose, kFirstSession, kExitCodes});
  korch::add_worker_verb(command_line);
  const int refused = command_line.parse(argc, argv).value_or(0);
  return refused == 0 ? 0 : static_cast<int>(korch::ErrorKind::usage);
}

int report(const std::string& message, korch::ErrorKind kind) {
  std::fflush(stdout);  // what was printed before comes before it, and is not lost
  std::fprintf(stderr, "korch: %s\n", message.c_str());  // throws nothing where nobody can be told
  return static_cast<int>(kind);
}

// Of what the standard library reports: streams, threads, the file system.
korch::ErrorKind kind_of(const std::error_code& code) {
  for (int shortage : {ENOSPC, EDQUOT, EFBIG, ENOMEM, EAGAIN})
    if (code == std::error_condition(shortage, std::generic_category())) return korch::ErrorKind::resource;
  return korch::ErrorKind::io;
}

// For exceptions that pass through what does not let them (a thread, a destructor).
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    korch::end_at_once(korch::ErrorKind::resource, "out of memory");
  } catch (const std::system_error& e) {
    korch::end_at_once(kind_of(e.code()), e.what());
  } catch (const std::exception& e) {
    korch::end_at_once(korch::ErrorKind::internal, e.what());
  } catch (...) {
  }
  korch::end_at_once(korch::ErrorKind::internal, "internal error: terminated");
}

// The exit code, with all that is printed written out.
int run_and_report(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is a full disk: the write fails
  try {
    korch::install_interrupt_handler();
    korch::limit_memory_to_available();
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write the standard output");
    return code;
  } catch (const korch::Error& e) {
    if (e.kind() == korch::ErrorKind::interrupted) korch::end_interrupted();
    return report(e.what(), e.kind());
  } catch (const std::system_error& e) {
    return report(e.what(), kind_of(e.code()));
  } catch (const std::bad_alloc&) {
    return report("out of memory", korch::ErrorKind::resource);
  } catch (const std::exception& e) {
    return report(fmt::format("internal error: {}", e.what()), korch::ErrorKind::internal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(on_terminate);
  const int code = run_and_report(argc, argv);
  std::fflush(stderr);
  // Not exit: a library's threads that wait for memory (OpenBLAS's do) would be waited for.
  ::_exit(code);
}
