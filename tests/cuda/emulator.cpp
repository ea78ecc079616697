#include "emulator.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "checked_object.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/base/error.h"
#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/codegen/cuda/emulated_text.h"
#include "korch/device/device.h"

namespace korch::testing {
namespace {

constexpr unsigned char kFreshByte = 0x7f;  // what nobody wrote, where that is checked
constexpr const char* kParted = "some threads of a block wait at a barrier that others do not reach";

struct Dimension {
  unsigned x;
};
using Barrier = void (*)();
using AccessFunction = void (*)(const void*, unsigned long, unsigned, const void*);
using Entry = void (*)(void* const*);

// Saves the registers that a function keeps, on this stack, whose place it notes, and goes on with another
// one that was left like that.
extern "C" void korch_switch_stack(void** left, void* entered);
asm(R"(
  .text
  .type korch_switch_stack, @function
korch_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size korch_switch_stack, . - korch_switch_stack
)");

// The threads of a block, block after block. A fiber runs until it meets others, of its warp or of its block,
// or until the end of its block, or until a checker stops it.
class Fibers {
 public:
  // `number`: where the threads look for theirs. `site`: where they tell where in the code they meet.
  Fibers(int64_t threads, ThreadOrder order, unsigned* number, std::function<void()> body,
         MemoryChecker* checker = nullptr, const void* const* site = nullptr)
      : order_(order),
        number_(number),
        body_(std::move(body)),
        checker_(checker),
        site_(site),
        fibers_(threads),
        stacks_(std::make_unique_for_overwrite<char[]>(threads * kStackBytes)) {
    // As if each had left its stack just before it entered run_bodies, whose frame is aligned as a call's is.
    constexpr size_t kKept = 6;
    for (int64_t thread = 0; thread < threads; ++thread) {
      char* end = stacks_.get() + (thread + 1) * kStackBytes;
      auto* top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(end) & ~uintptr_t{15});
      *--top = nullptr;
      *--top = reinterpret_cast<void*>(&run_bodies);
      for (size_t kept = 0; kept < kKept; ++kept) *--top = nullptr;
      fibers_[thread].stack = top;
    }
  }

  enum class End { all_ended, parted, stopped };

  // All threads from the start of the body to its end; `parted` where some wait for others that never come.
  // After another end than the first, no block can run.
  End run_block() {
    active_ = this;
    for (Fiber& fiber : fibers_) fiber.place = Place::running;
    const size_t warps = (fibers_.size() + kWarp - 1) / kWarp;
    do {
      for (size_t turn = 0; turn < warps; ++turn) {
        first_ = in_order(turn, warps) * kWarp;
        lanes_ = std::min(kWarp, fibers_.size() - first_);
        do {
          turn_ = 0;
          if (Fiber* next = next_of_warp()) korch_switch_stack(&scheduler_, next->stack);
          if (stopped_) return End::stopped;
        } while (let_run(Place::at_warp, first_, first_ + lanes_) || let_run_after_barrier_of_warp());
        if (checker_ != nullptr) checker_->end_warp();
      }
    } while (let_run_after_barrier());
    const bool ended = std::all_of(fibers_.begin(), fibers_.end(),
                                   [](const Fiber& fiber) { return fiber.place == Place::ended; });
    return ended ? End::all_ended : End::parted;
  }

  MemoryRange stacks() const {
    return {reinterpret_cast<uintptr_t>(stacks_.get()), fibers_.size() * kStackBytes, "stacks"};
  }

  static void wait_for_block() { active_->meet(Place::at_block); }
  static void wait_for_warp() { active_->meet(Place::at_warp); }
  static void wait_for_warp_in_order() { active_->meet(Place::at_warp_barrier); }
  static void access(const void* address, unsigned long bytes, unsigned kind, const void* site) {
    const MemoryAccess access{reinterpret_cast<uintptr_t>(address),
                              bytes,
                              (kind & 1) != 0,
                              (kind & 2) == 0,
                              site,
                              *active_->number_,
                              (kind & 4) != 0};
    if (!active_->checker_->access(access)) active_->stop();
  }
  static void go_astray() {
    active_->checker_->report(
        Mistake::outside, "registers",
        "thread " + std::to_string(*active_->number_) + " beside an array in registers");
    active_->stop();
  }

 private:
  static constexpr int64_t kStackBytes = (64 << 10) + 320;  // or all tops would share a few lines of caches
  static constexpr size_t kWarp = 32;
  enum class Place { running, at_warp, at_warp_barrier, at_block, ended };

  struct Fiber {
    void* stack = nullptr;
    Place place = Place::running;
    const void* site = nullptr;
  };

  static void run_bodies() {
    for (;;) {
      active_->body_();
      active_->leave(Place::ended);
    }
  }

  // If all of these have met there, they run on.
  bool let_run(Place place, size_t begin, size_t end) {
    for (size_t thread = begin; thread < end; ++thread)
      if (fibers_[thread].place != place || fibers_[thread].site != fibers_[begin].site) return false;
    for (size_t thread = begin; thread < end; ++thread) fibers_[thread].place = Place::running;
    return true;
  }

  bool let_run_after_barrier_of_warp() {
    if (!let_run(Place::at_warp_barrier, first_, first_ + lanes_)) return false;
    if (checker_ != nullptr) checker_->warp_barrier(first_ / kWarp);
    return true;
  }

  bool let_run_after_barrier() {
    if (!let_run(Place::at_block, 0, fibers_.size())) return false;
    if (checker_ != nullptr) checker_->barrier();
    return true;
  }

  void meet(Place place) {
    if (checker_ != nullptr && !checker_->step()) stop();
    if (site_ != nullptr) current_->site = *site_;
    leave(place);
  }

  // Ends the block in the midst of this thread.
  void stop() {
    stopped_ = true;
    korch_switch_stack(&current_->stack, scheduler_);
  }

  size_t in_order(size_t turn, size_t of) const {
    return order_ == ThreadOrder::ascending ? turn : of - 1 - turn;
  }

  // The one whose turn it is; null: none of the warp runs any more.
  Fiber* next_of_warp() {
    while (turn_ < lanes_) {
      const size_t thread = first_ + in_order(turn_++, lanes_);
      if (fibers_[thread].place != Place::running) continue;
      *number_ = static_cast<unsigned>(thread);
      return current_ = &fibers_[thread];
    }
    return nullptr;
  }

  void leave(Place place) {
    Fiber* left = current_;
    left->place = place;
    const Fiber* next = next_of_warp();
    korch_switch_stack(&left->stack, next != nullptr ? next->stack : scheduler_);
  }

  const ThreadOrder order_;
  unsigned* const number_;
  const std::function<void()> body_;
  MemoryChecker* const checker_;   // null: none
  const void* const* const site_;  // null: untold
  bool stopped_ = false;
  std::vector<Fiber> fibers_;
  std::unique_ptr<char[]> stacks_;
  void* scheduler_ = nullptr;  // its stack
  Fiber* current_ = nullptr;
  size_t first_ = 0, lanes_ = 0, turn_ = 0;  // of the warp that runs
  static thread_local Fibers* active_;       // stacks begin without arguments
};

thread_local Fibers* Fibers::active_ = nullptr;

}  // namespace

// Each worker has code and data of its own: blocks share nothing but global memory.
struct Emulator::LoadedKernel {
  struct Copy {
    LoadedKernels loaded;
    Entry entry = nullptr;
    Dimension *thread = nullptr, *block = nullptr, *grid = nullptr;
    const void** site = nullptr;             // of checked ones
    std::vector<MemoryRange> shared_arrays;  // likewise
  };
  std::vector<std::unique_ptr<Copy>> copies;
  size_t parameters = 0;
  bool is_checked = false;
};

Emulator::Emulator(Checks checks)
    : checker_(checks == Checks::memory ? std::make_unique<MemoryChecker>() : nullptr) {}
Emulator::~Emulator() = default;

Result<Gpu::Function> Emulator::load(const std::string& source, const std::string& symbol) {
  const Result<std::string> object =
      checks() ? compile_checked(source, symbol)
               : compile_object(tile::emulated_text(source, {symbol}), name(Isa::portable));
  if (!object.ok()) return object.refusal();
  return load_as(object.value(), symbol, checks());
}

Result<Gpu::Function> Emulator::load_object(const std::string& object, const std::string& symbol) {
  return load_as(object, symbol, false);
}

Result<Gpu::Function> Emulator::load_as(const std::string& object, const std::string& symbol, bool checked) {
  auto kernel = std::make_unique<LoadedKernel>();
  kernel->is_checked = checked;
  std::vector<std::string> symbols = {tile::emulated_entry(symbol),
                                      tile::emulated_parameters(symbol),
                                      "threadIdx",
                                      "blockIdx",
                                      "gridDim",
                                      "emulated_barrier",
                                      "emulated_warp",
                                      "emulated_warp_barrier"};
  const size_t told = symbols.size();
  if (checked)
    symbols.insert(symbols.end(),
                   {"emulated_site", "emulated_access", "emulated_astray", "emulated_no_array"});
  for (int worker = 0; worker < (checked ? 1 : usable_cpus()); ++worker) {
    auto copy = std::make_unique<LoadedKernel::Copy>();
    const Result<std::vector<void*>> found = copy->loaded.load(object, symbols);
    if (!found.ok()) return found.refusal();
    const std::vector<void*>& at = found.value();
    copy->entry = reinterpret_cast<Entry>(at[0]);
    kernel->parameters = reinterpret_cast<unsigned (*)()>(at[1])();
    copy->thread = static_cast<Dimension*>(at[2]);
    copy->block = static_cast<Dimension*>(at[3]);
    copy->grid = static_cast<Dimension*>(at[4]);
    *static_cast<Barrier*>(at[5]) = &Fibers::wait_for_block;
    *static_cast<Barrier*>(at[6]) = &Fibers::wait_for_warp;
    *static_cast<Barrier*>(at[7]) = &Fibers::wait_for_warp_in_order;
    if (checked) {
      copy->site = static_cast<const void**>(at[told]);
      *static_cast<AccessFunction*>(at[told + 1]) = &Fibers::access;
      *static_cast<Barrier*>(at[told + 2]) = &Fibers::go_astray;
      copy->shared_arrays = shared_arrays(object, reinterpret_cast<uintptr_t>(at[told + 3]));
    }
    kernel->copies.push_back(std::move(copy));
  }
  kernels_.push_back(std::move(kernel));
  return static_cast<Function>(kernels_.back().get());
}

size_t Emulator::parameters(Function function) const {
  return static_cast<const LoadedKernel*>(function)->parameters;
}

Gpu::Pointer Emulator::allocate(size_t bytes) {
  const auto begin = reinterpret_cast<Pointer>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  if (checks()) {
    std::memset(reinterpret_cast<void*>(begin), kFreshByte, bytes);
    checker_->add(begin, bytes);
  }
  return begin;
}

void Emulator::free(Pointer pointer) {
  if (checks()) checker_->remove(pointer);
  std::free(reinterpret_cast<void*>(pointer));
}

void Emulator::fill(Pointer pointer, unsigned char byte, size_t bytes) {
  std::memset(reinterpret_cast<void*>(pointer), byte, bytes);
  if (checks()) checker_->written_by_host(pointer, bytes);
}

void Emulator::to_device(Pointer pointer, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(pointer), from, bytes);
  if (checks()) checker_->written_by_host(pointer, bytes);
}

void Emulator::to_host(void* to, Pointer pointer, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(pointer), bytes);
  if (checks()) checker_->read_by_host(pointer, bytes);
}

double Emulator::run(Function function, int64_t blocks, int64_t threads, std::vector<Pointer> arguments) {
  const LoadedKernel& kernel = *static_cast<const LoadedKernel*>(function);
  std::vector<void*> pointers;
  for (Pointer argument : arguments) pointers.push_back(reinterpret_cast<void*>(argument));
  if (kernel.is_checked) {
    launch_memory_.arguments = std::move(arguments);
    run_checked(kernel, blocks, threads, pointers);
    return 1;
  }
  const auto workers = std::min<int64_t>(blocks, static_cast<int64_t>(kernel.copies.size()));
  std::atomic<bool> failed = false;
  run_in_parallel(static_cast<size_t>(workers), static_cast<int>(workers), [&](size_t worker) {
    LoadedKernel::Copy& copy = *kernel.copies[worker];
    Fibers fibers(threads, order_, &copy.thread->x, [&] { copy.entry(pointers.data()); });
    copy.grid->x = static_cast<unsigned>(blocks);
    for (auto block = static_cast<int64_t>(worker); block < blocks && !failed; block += workers) {
      copy.block->x = static_cast<unsigned>(block);
      if (fibers.run_block() != Fibers::End::all_ended) failed = true;
    }
  });
  if (checks())  // nobody saw which
    for (Pointer argument : arguments) checker_->written_by_host(argument, SIZE_MAX / 2);
  if (failed) throw Error(ErrorKind::internal, kParted);
  return 1;
}

// Block after block, so that each is one of the checker's.
void Emulator::run_checked(const LoadedKernel& kernel, int64_t blocks, int64_t threads,
                           const std::vector<void*>& arguments) {
  LoadedKernel::Copy& copy = *kernel.copies[0];
  Fibers fibers(
      threads, order_, &copy.thread->x, [&] { copy.entry(arguments.data()); }, checker_.get(), copy.site);
  std::vector<MemoryRange> ignored = {
      fibers.stacks(),
      {reinterpret_cast<uintptr_t>(arguments.data()), arguments.size() * sizeof(void*), "arguments"}};
  for (const Dimension* own : {copy.thread, copy.block, copy.grid})
    ignored.push_back({reinterpret_cast<uintptr_t>(own), sizeof *own, "number"});
  checker_->begin_launch(launch_memory_, copy.shared_arrays, ignored);
  copy.grid->x = static_cast<unsigned>(blocks);
  const int64_t looked_at = std::min(blocks, most_blocks_);
  for (int64_t number = 0; number < looked_at; ++number) {
    const int64_t block = looked_at == 1 ? 0 : number * (blocks - 1) / (looked_at - 1);
    copy.block->x = static_cast<unsigned>(block);
    checker_->begin_block(block);
    for (const MemoryRange& array : copy.shared_arrays)
      std::memset(reinterpret_cast<void*>(array.begin), kFreshByte, array.bytes);
    const Fibers::End end = fibers.run_block();
    if (end == Fibers::End::parted) checker_->report(Mistake::parted, "", kParted);
    if (end != Fibers::End::all_ended) return;
  }
}

}  // namespace korch::testing
