// Stands before the C library: counts the calls that take from the system, and lets the one fail that the
// plan names. A failing call is told as the system would tell it: null or -1 with ENOMEM, ENOSPC or EAGAIN.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "fault_plan.h"

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

using korch::FaultKind;
using korch::FaultMode;
using korch::FaultPlan;

FaultPlan* plan = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;  // this library itself

bool in_main = false;

struct Range {
  uintptr_t begin, end;
};
Range compiler_code[8];
int compiler_ranges = 0;
Range program_code = {0, 0};
uintptr_t program_base = 0;

int note_code(dl_phdr_info* info, size_t, void*) {
  const bool is_program = program_code.end == 0;  // comes first
  const bool is_compiler =
      strstr(info->dlpi_name, "libLLVM") != nullptr || strstr(info->dlpi_name, "libclang") != nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const Range range = {info->dlpi_addr + segment.p_vaddr,
                         info->dlpi_addr + segment.p_vaddr + segment.p_memsz};
    if (is_program) {
      program_code = range;
      program_base = info->dlpi_addr;
    }
    if (is_compiler && compiler_ranges < 8) compiler_code[compiler_ranges++] = range;
  }
  return 0;
}

bool in(const Range& range, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= range.begin && at < range.end;
}

bool in_compiler(const void* address) {
  for (int i = 0; i < compiler_ranges; ++i)
    if (in(compiler_code[i], address)) return true;
  return false;
}

__attribute__((constructor)) void start() {
  inside = true;
  const char* file = getenv("KORCH_FAULTS");
  const int fd = file == nullptr ? -1 : static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_RDWR, 0));
  if (fd >= 0) {
    auto* mapped = reinterpret_cast<void*>(
        syscall(SYS_mmap, nullptr, sizeof(FaultPlan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    syscall(SYS_close, fd);
    void* warm[4];
    backtrace(warm, 4);  // loads what it needs now
    dl_iterate_phdr(note_code, nullptr);
    if (mapped != MAP_FAILED) plan = static_cast<FaultPlan*>(mapped);
  }
  inside = false;
}

struct Place {
  uint64_t stack = 0;    // hash of the innermost frames
  uint64_t program = 0;  // the innermost address in the program itself
  bool compiler = false;
};

Place look(const void* caller) {
  constexpr int kFrames = 28, kHashed = 14;
  Place place;
  if (in_compiler(caller)) {
    place.compiler = true;
    return place;
  }
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  for (int i = 0; i < count; ++i) {
    if (i < kHashed)
      place.stack = (place.stack ^ reinterpret_cast<uint64_t>(frames[i])) * 0x9e3779b97f4a7c15u;
    if (place.program == 0 && in(program_code, frames[i]))
      place.program = reinterpret_cast<uintptr_t>(frames[i]) - program_base;
    place.compiler = place.compiler || in_compiler(frames[i]);
  }
  place.stack ^= place.stack >> 29;
  return place;
}

uint64_t seen[1 << 17];  // stacks

bool is_new(uint64_t stack) {
  constexpr uint64_t kMask = (1 << 17) - 1;
  uint64_t at = stack & kMask;
  for (uint64_t tried = 0; tried < kMask && seen[at] != 0; ++tried, at = (at + 1) & kMask)
    if (seen[at] == stack) return false;
  seen[at] = stack;
  return true;
}

bool drawn(uint64_t number) {
  uint64_t x = (number + 1) * 0x9e3779b97f4a7c15u ^ plan->seed * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return plan->compiler_calls != 0 && x % plan->compiler_calls < plan->compiler_samples;
}

bool wanted(const Place& place) {
  if (plan->own == korch::OwnCalls::all) return true;
  if (plan->own == korch::OwnCalls::none) return false;
  return (place.stack >> 17) % plan->stack_share == plan->seed % plan->stack_share && is_new(place.stack);
}

// A buffer that LLVM or clang asks for within itself: version 19 uses it without looking whether it got one,
// and nothing outside of them can turn this into an exit code.
bool unchecked_by_compiler() {
  void* frames[8];
  const int count = backtrace(frames, 8);
  bool is_buffer = false;
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_sname == nullptr) continue;
    if (strstr(info.dli_sname, "MemBuffer") != nullptr)
      is_buffer = true;
    else if (is_buffer)
      return in_compiler(frames[i]);
  }
  return false;
}

// In the child: true, and nothing fails any more. In the parent: false, with the child's end written down.
bool fail_in_child(const Place& place, uint64_t call) {
  const pid_t child = fork();
  if (child == 0) {
    plan = nullptr;
    alarm(korch::kHangSeconds);
    const int null = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0));
    if (getenv("KORCH_FAULTS_VERBOSE") == nullptr)
      for (int fd = 1; fd <= 2; ++fd) syscall(SYS_dup2, null, fd);
    return true;
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  if (plan->outcomes < korch::kMostOutcomes)
    plan->outcome[plan->outcomes++] = {call, place.program, status, place.compiler ? 1u : 0u};
  return false;
}

bool fails(FaultKind kind, const void* caller) {
  if (plan == nullptr || inside || (plan->from_main != 0 && !in_main) ||
      (plan->kinds & static_cast<uint32_t>(kind)) == 0)
    return false;
  const int code = errno;
  inside = true;
  bool result = false;
  if (plan->mode != FaultMode::forked) {
    const uint64_t number = __atomic_add_fetch(&plan->calls, 1, __ATOMIC_RELAXED);
    result = plan->mode == FaultMode::nth && number == plan->fail_at && !unchecked_by_compiler();
    if (result) {
      const Place place = look(caller);
      plan->failed = 1;
      plan->outcome[0] = {number, place.program, 0, place.compiler ? 1u : 0u};
    }
  } else {
    const Place place = look(caller);
    if (place.compiler) {
      const uint64_t number = ++plan->calls_compiler;
      result = plan->compiler_samples > 0 && drawn(number) && !unchecked_by_compiler() &&
               fail_in_child(place, number);
    } else {
      const uint64_t number = ++plan->calls;
      result = wanted(place) && fail_in_child(place, number);
    }
  }
  inside = false;
  errno = code;
  return result;
}

template <typename Function>
Function next(const char* name) {
  const bool before = inside;
  inside = true;
  auto* const function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  inside = before;
  return function;
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define FAIL_WITH(kind, code, value)    \
  if (fails(FaultKind::kind, CALLER)) { \
    errno = code;                       \
    return value;                       \
  }

extern "C" {

void* malloc(size_t size) {
  FAIL_WITH(memory, ENOMEM, nullptr)
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  FAIL_WITH(memory, ENOMEM, nullptr)
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  FAIL_WITH(memory, ENOMEM, nullptr)
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  FAIL_WITH(memory, ENOMEM, nullptr)
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (fails(FaultKind::memory, CALLER)) return ENOMEM;
  void* made = __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  FAIL_WITH(memory, ENOMEM, MAP_FAILED)
  const long result = syscall(SYS_mmap, address, size, protection, flags, fd, offset);
  return reinterpret_cast<void*>(result);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & (O_WRONLY | O_RDWR)) != 0) FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & (O_WRONLY | O_RDWR)) != 0) FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int mkstemp(char* name) {
  FAIL_WITH(write, ENOSPC, -1)
  return next<int (*)(char*)>("mkstemp")(name);
}
int mkstemp64(char* name) {
  FAIL_WITH(write, ENOSPC, -1)
  return next<int (*)(char*)>("mkstemp64")(name);
}
char* mkdtemp(char* name) {
  FAIL_WITH(write, ENOSPC, nullptr)
  return next<char* (*)(char*)>("mkdtemp")(name);
}
int mkdir(const char* path, mode_t mode) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_mkdir, path, mode));
}
ssize_t write(int fd, const void* data, size_t size) {
  if (fd > 2) FAIL_WITH(write, ENOSPC, -1)
  return syscall(SYS_write, fd, data, size);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  FAIL_WITH(write, ENOSPC, -1)
  return syscall(SYS_pwrite64, fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t at) {
  FAIL_WITH(write, ENOSPC, -1)
  return syscall(SYS_pwrite64, fd, data, size, at);
}
int ftruncate(int fd, off_t size) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int ftruncate64(int fd, off_t size) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
int posix_fallocate(int fd, off_t at, off_t size) {
  if (fails(FaultKind::write, CALLER)) return ENOSPC;
  return next<int (*)(int, off_t, off_t)>("posix_fallocate")(fd, at, size);
}
int fsync(int fd) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_fsync, fd));
}
int fchmod(int fd, mode_t mode) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_fchmod, fd, mode));
}
int rename(const char* from, const char* to) {
  FAIL_WITH(write, ENOSPC, -1)
  return static_cast<int>(syscall(SYS_rename, from, to));
}

sighandler_t signal(int number, sighandler_t handler) {
  in_main = true;
  return next<sighandler_t (*)(int, sighandler_t)>("signal")(number, handler);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (fails(FaultKind::thread, CALLER)) return EAGAIN;
  static auto* const real =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(thread, attributes, run, argument);
}

void* dlopen(const char* file, int flags) {
  if (fails(FaultKind::library, CALLER))
    return next<void* (*)(const char*, int)>("dlopen")("/no/such/library", flags);
  static auto* const real = next<void* (*)(const char*, int)>("dlopen");
  return real(file, flags);
}

}  // extern "C"

namespace {

// As the standard says: the handler is asked, and throws or ends the process.
[[noreturn]] void no_memory() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

}  // namespace

// The caller of new is the code that wants memory; malloc would only see the standard library.
void* operator new(size_t size) {
  void* memory = fails(FaultKind::memory, CALLER) ? nullptr : __libc_malloc(size);
  if (memory == nullptr) no_memory();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return fails(FaultKind::memory, CALLER) ? nullptr : __libc_malloc(size);
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* memory =
      fails(FaultKind::memory, CALLER) ? nullptr : __libc_memalign(static_cast<size_t>(alignment), size);
  if (memory == nullptr) no_memory();
  return memory;
}
