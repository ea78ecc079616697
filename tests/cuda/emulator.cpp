#include "emulator.h"

#include <setjmp.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/error.h"
#include "korch/device/device.h"

namespace korch::testing {
namespace {

struct Dimension {
  unsigned x;
};
using Barrier = void (*)();
using Entry = void (*)(void* const*);

constexpr const char* kCudaNames = R"(#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct emulated_dimension { unsigned x; };
extern "C" {
emulated_dimension threadIdx, blockIdx, gridDim;
void (*emulated_barrier)();
double acos(double), acosh(double), asin(double), asinh(double), atan(double), atanh(double), ceil(double), cos(double),
    cosh(double), erf(double), exp(double), expm1(double), fabs(double), floor(double), fmod(double, double), log(double),
    log1p(double), pow(double, double), rint(double), sin(double), sinh(double), sqrt(double), tan(double), tanh(double),
    trunc(double);
float acosf(float), acoshf(float), asinf(float), asinhf(float), atanf(float), atanhf(float), ceilf(float),
    copysignf(float, float), cosf(float), coshf(float), erff(float), expf(float), expm1f(float), fabsf(float),
    floorf(float), fmodf(float, float), logf(float), log1pf(float), powf(float, float), rintf(float), sinf(float),
    sinhf(float), sqrtf(float), tanf(float), tanhf(float), truncf(float);
}
static inline void __syncthreads() { emulated_barrier(); }
#pragma clang fp contract(off)
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
#pragma clang fp contract(fast)
static inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
static inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
)";

// The kernel with its arguments from an array, as a launch passes them.
constexpr const char* kEntry = R"(
template <class T, T... places> struct emulated_places {};
template <class... Types, int... places>
void emulated_call(void (*kernel)(Types...), void* const* arguments, emulated_places<int, places...>) {
  kernel((Types)arguments[places]...);
}
template <class... Types> void emulated_call(void (*kernel)(Types...), void* const* arguments) {
  emulated_call(kernel, arguments, __make_integer_seq<emulated_places, int, sizeof...(Types)>());
}
template <class... Types> unsigned emulated_count(void (*)(Types...)) { return sizeof...(Types); }
extern "C" void emulated_entry(void* const* arguments) { emulated_call()";
constexpr const char* kParameters = R"(, arguments); }
extern "C" unsigned emulated_parameters() { return emulated_count()";

// The threads of a block, block after block. A fiber runs until its next barrier or the end of its block.
// Contexts make the fibers; from then on they switch by jumps, which unlike swapcontext cost no system call.
class Fibers {
 public:
  Fibers(int64_t threads, std::function<void()> body)
      : body_(std::move(body)),
        fibers_(threads),
        stacks_(std::make_unique_for_overwrite<char[]>(threads * kStackBytes)) {
    for (int64_t thread = 0; thread < threads; ++thread) {
      ucontext_t& start = fibers_[thread].start;
      getcontext(&start);
      start.uc_stack.ss_sp = stacks_.get() + thread * kStackBytes;
      start.uc_stack.ss_size = kStackBytes;
      makecontext(&start, &run_bodies, 0);
    }
  }

  // All threads from the start of the body to its end; `enter` is told the thread that runs next.
  void run_block(ThreadOrder order, const std::function<void(int64_t)>& enter) {
    const int64_t count = static_cast<int64_t>(fibers_.size());
    for (int64_t ended = 0; ended == 0;) {
      for (int64_t turn = 0; turn < count; ++turn) {
        const int64_t thread = order == ThreadOrder::ascending ? turn : count - 1 - turn;
        enter(thread);
        resume(fibers_[thread]);
        ended += at_barrier_ ? 0 : 1;
      }
      if (ended != 0 && ended != count)
        throw Error(ErrorKind::internal,
                    "some threads of a block wait at a barrier that others do not reach");
    }
  }

  static void wait_at_barrier() { active_->leave(true); }

 private:
  static constexpr int64_t kStackBytes = 64 << 10;

  struct Fiber {
    ucontext_t start;
    jmp_buf state;
    bool started = false;
  };

  static void run_bodies() {
    for (;;) {
      active_->body_();
      active_->leave(false);
    }
  }

  void resume(Fiber& fiber) {
    active_ = this;
    current_ = &fiber;
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.started) _longjmp(fiber.state, 1);
    fiber.started = true;
    setcontext(&fiber.start);
  }

  void leave(bool at_barrier) {
    at_barrier_ = at_barrier;
    if (_setjmp(current_->state) == 0) _longjmp(scheduler_, 1);
  }

  std::function<void()> body_;
  std::vector<Fiber> fibers_;
  std::unique_ptr<char[]> stacks_;
  jmp_buf scheduler_;
  Fiber* current_ = nullptr;
  bool at_barrier_ = false;
  static thread_local Fibers* active_;  // makecontext passes no pointers
};

thread_local Fibers* Fibers::active_ = nullptr;

}  // namespace

struct Emulator::LoadedKernel {
  LoadedKernels loaded;
  Entry entry = nullptr;
  Dimension *thread = nullptr, *block = nullptr, *grid = nullptr;
  Barrier* barrier = nullptr;
  size_t parameters = 0;
};

Emulator::Emulator() = default;
Emulator::~Emulator() = default;

Result<Gpu::Function> Emulator::load(const std::string& source, const std::string& symbol) {
  const std::string text = kCudaNames + source + kEntry + symbol + kParameters + symbol + "); }\n";
  const Result<std::string> object = compile_object(text, name(Isa::portable));
  if (!object.ok()) return object.refusal();
  auto kernel = std::make_unique<LoadedKernel>();
  const Result<std::vector<void*>> found = kernel->loaded.load(
      object.value(),
      {"emulated_entry", "threadIdx", "blockIdx", "gridDim", "emulated_barrier", "emulated_parameters"});
  if (!found.ok()) return found.refusal();
  kernel->entry = reinterpret_cast<Entry>(found.value()[0]);
  kernel->thread = static_cast<Dimension*>(found.value()[1]);
  kernel->block = static_cast<Dimension*>(found.value()[2]);
  kernel->grid = static_cast<Dimension*>(found.value()[3]);
  kernel->barrier = static_cast<Barrier*>(found.value()[4]);
  *kernel->barrier = &Fibers::wait_at_barrier;
  kernel->parameters = reinterpret_cast<unsigned (*)()>(found.value()[5])();
  kernels_.push_back(std::move(kernel));
  return static_cast<Function>(kernels_.back().get());
}

size_t Emulator::parameters(Function function) const {
  return static_cast<const LoadedKernel*>(function)->parameters;
}

Gpu::Pointer Emulator::allocate(size_t bytes) {
  return reinterpret_cast<Pointer>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
}

void Emulator::free(Pointer pointer) {
  std::free(reinterpret_cast<void*>(pointer));
}

void Emulator::fill(Pointer pointer, unsigned char byte, size_t bytes) {
  std::memset(reinterpret_cast<void*>(pointer), byte, bytes);
}

void Emulator::to_device(Pointer pointer, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(pointer), from, bytes);
}

void Emulator::to_host(void* to, Pointer pointer, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(pointer), bytes);
}

double Emulator::run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) {
  const LoadedKernel& kernel = *static_cast<const LoadedKernel*>(function);
  std::vector<void*> pointers;
  for (Pointer argument : arguments) pointers.push_back(reinterpret_cast<void*>(argument));
  Fibers fibers(threads, [&] { kernel.entry(pointers.data()); });
  kernel.grid->x = static_cast<unsigned>(blocks);
  for (int64_t block = 0; block < blocks; ++block) {
    kernel.block->x = static_cast<unsigned>(block);
    fibers.run_block(order_, [&](int64_t thread) { kernel.thread->x = static_cast<unsigned>(thread); });
  }
  return 1;
}

}  // namespace korch::testing
