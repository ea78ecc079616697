#include "emulator.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/error.h"
#include "korch/codegen/cuda/emulated_text.h"
#include "korch/device/device.h"

namespace korch::testing {
namespace {

struct Dimension {
  unsigned x;
};
using Barrier = void (*)();
using Entry = void (*)(void* const*);

// The threads of a block, block after block. A fiber runs until it meets others, of its warp or of its block,
// or until the end of its block. Contexts make the fibers; from then on they switch by jumps, which unlike
// swapcontext cost no system call.
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
    for (Fiber& fiber : fibers_) fiber.place = Place::running;
    do {
      for (int64_t turn = 0; turn < count; ++turn) {
        const int64_t thread = order == ThreadOrder::ascending ? turn : count - 1 - turn;
        if (fibers_[thread].place != Place::running) continue;
        enter(thread);
        resume(fibers_[thread]);
      }
    } while (go_on());
  }

  static void wait_for_block() { active_->leave(Place::at_block); }
  static void wait_for_warp() { active_->leave(Place::at_warp); }

 private:
  static constexpr int64_t kStackBytes = 64 << 10;
  static constexpr size_t kWarp = 32;
  enum class Place { running, at_warp, at_block, ended };

  struct Fiber {
    ucontext_t start;
    jmp_buf state;
    bool started = false;
    Place place = Place::running;
  };

  static void run_bodies() {
    for (;;) {
      active_->body_();
      active_->leave(Place::ended);
    }
  }

  // Those that have all met run on; false when the block has ended.
  bool go_on() {
    bool is_met = false;
    for (size_t first = 0; first < fibers_.size(); first += kWarp)
      is_met = let_run(Place::at_warp, first, std::min(first + kWarp, fibers_.size())) || is_met;
    if (is_met || let_run(Place::at_block, 0, fibers_.size())) return true;
    for (const Fiber& fiber : fibers_)
      if (fiber.place != Place::ended)
        throw Error(ErrorKind::internal,
                    "some threads of a block wait at a barrier that others do not reach");
    return false;
  }

  bool let_run(Place place, size_t begin, size_t end) {
    for (size_t thread = begin; thread < end; ++thread)
      if (fibers_[thread].place != place) return false;
    for (size_t thread = begin; thread < end; ++thread) fibers_[thread].place = Place::running;
    return true;
  }

  void resume(Fiber& fiber) {
    active_ = this;
    current_ = &fiber;
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.started) _longjmp(fiber.state, 1);
    fiber.started = true;
    setcontext(&fiber.start);
  }

  void leave(Place place) {
    current_->place = place;
    if (_setjmp(current_->state) == 0) _longjmp(scheduler_, 1);
  }

  std::function<void()> body_;
  std::vector<Fiber> fibers_;
  std::unique_ptr<char[]> stacks_;
  jmp_buf scheduler_;
  Fiber* current_ = nullptr;
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
  const Result<std::string> object =
      compile_object(tile::emulated_text(source, {symbol}), name(Isa::portable));
  if (!object.ok()) return object.refusal();
  return load_object(object.value(), symbol);
}

Result<Gpu::Function> Emulator::load_object(const std::string& object, const std::string& symbol) {
  auto kernel = std::make_unique<LoadedKernel>();
  const Result<std::vector<void*>> found =
      kernel->loaded.load(object, {tile::emulated_entry(symbol), "threadIdx", "blockIdx", "gridDim",
                                   "emulated_barrier", tile::emulated_parameters(symbol), "emulated_warp"});
  if (!found.ok()) return found.refusal();
  kernel->entry = reinterpret_cast<Entry>(found.value()[0]);
  kernel->thread = static_cast<Dimension*>(found.value()[1]);
  kernel->block = static_cast<Dimension*>(found.value()[2]);
  kernel->grid = static_cast<Dimension*>(found.value()[3]);
  kernel->barrier = static_cast<Barrier*>(found.value()[4]);
  *kernel->barrier = &Fibers::wait_for_block;
  *static_cast<Barrier*>(found.value()[6]) = &Fibers::wait_for_warp;
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
