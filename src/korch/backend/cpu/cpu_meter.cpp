#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "korch/backend/cpu/compiler.h"
#include "korch/backend/cpu/cpu_parts.h"
#include "korch/backend/random_content.h"
#include "korch/base/ceil_div.h"
#include "korch/base/interrupt.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/library.h"

namespace korch {
namespace {

constexpr int kMaxRepetitions = 32;  // of the kernel in the program that is timed
// What one pass through the ring takes at most, the share of it that is enough measuring time, and the least
// samples.
constexpr double kQuick_s = 0.008, kThorough_s = 0.035, kEnough = 0.6;
constexpr double kSlow_s = 0.001;  // what pages in matters little in a kernel that takes as long
constexpr int kMinSamples = 2;
constexpr int kMaxSamples = 400;
constexpr int64_t kLeastRingPerL2 = 2;  // activations of all repetitions, in units of all L2 caches
constexpr int64_t kTouchParts = 16;     // that workers share a touch in

int64_t aligned(int64_t bytes) {
  return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

// A step that writes one word of every cache line of its one argument back: the lines end up where a producer
// that shares its work among the workers leaves them. args: {buffer, its size in bytes as an int64}.
int32_t touch(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* bytes = static_cast<volatile char*>(context->args[0]);
  const int64_t lines = *static_cast<const int64_t*>(context->args[1]);
  for (int64_t line = lines * begin / kTouchParts; line < lines * end / kTouchParts; ++line)
    bytes[line * kCacheLineBytes] = bytes[line * kCacheLineBytes];
  return KORCH_KERNEL_OK;
}
const rt::Phase kTouchPhase{touch, kTouchParts, 1};

struct PoolDeleter {
  void operator()(rt::Pool* pool) const { rt::Pool::destroy(pool); }
};
struct ExecutorDeleter {
  void operator()(rt::Executor* executor) const { rt::Executor::destroy(executor); }
};

// The mean, as a plan's latency is a sum: on a shared machine a kernel takes either of two times, and the
// median is one of them. Without the slowest samples, which are interruptions.
Cost summarize(std::vector<double> samples, Care care) {
  constexpr size_t kKeptOf20 = 19;
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size(), kept = std::max<size_t>(1, n * kKeptOf20 / 20);
  const double sum = std::accumulate(samples.begin(), samples.begin() + kept, 0.0);
  return {sum / static_cast<double>(kept), samples[n / 4], samples[n - 1 - n / 4], static_cast<int>(n), care};
}

// Memory that is kept from one kernel to the next, so that it is paged in once.
class Buffer {
 public:
  unsigned char* at_least(int64_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<unsigned char*>(
          std::aligned_alloc(kCacheLineBytes, static_cast<size_t>(aligned(bytes)))));
      if (memory_ == nullptr) throw Error(ErrorKind::resource, "out of memory while measuring a kernel");
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  int64_t bytes_ = 0;
  std::unique_ptr<unsigned char, Free> memory_;
};

using ExecutorPointer = std::unique_ptr<rt::Executor, ExecutorDeleter>;

struct KernelCode {
  std::vector<rt::Phase> phases;
  const rt::LibraryFunction* library = nullptr;
};

Result<KernelCode> code_of(const MeasuredKernel& job, LoadedKernels& loaded) {
  KernelCode code;
  if (job.kernel->source.empty()) {
    code.library =
        rt::find_library_function(job.kernel->call.library.c_str(), job.kernel->call.function.c_str());
    if (code.library == nullptr) return Refusal{RefusalReason::library_refused, "unknown library function"};
    for (const KernelPhase& phase : job.kernel->phases)
      code.phases.push_back({code.library->run, phase.grid, phase.grain});
    return code;
  }
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : job.kernel->phases) symbols.push_back(phase.symbol);
  Result<std::vector<void*>> functions = loaded.load(*job.object, symbols);
  if (!functions) return functions.refusal();
  for (size_t i = 0; i < symbols.size(); ++i) {
    const KernelPhase& phase = job.kernel->phases[i];
    for (int64_t round = 0; round < phase.rounds; ++round)
      code.phases.push_back({reinterpret_cast<korch_kernel_fn>(functions.value()[i]), phase.grid, phase.grain,
                             round * phase.grid});
  }
  return code;
}

// The program that is timed: [touch inputs, kernel] repeated. Each repetition has its own copy of the
// constants and the next slot of a ring of activations: what a kernel reads was just made, what it writes to
// was last used some steps ago.
class Trial {
 public:
  Trial(const MeasuredKernel& job, const Device& target, int64_t footprint_bytes, Buffer& weights,
        RandomContent& content)
      : job_(job), content_(content) {
    for (int64_t bytes : job.input_bytes) input_offsets_.push_back(reserve(bytes));
    for (int64_t bytes : job.output_bytes) output_offsets_.push_back(reserve(bytes));
    for (int64_t bytes : job.kernel->temporary_bytes) temporary_offsets_.push_back(reserve(bytes));
    for (const auto& constant : job.constants) copy_bytes_ += aligned(static_cast<int64_t>(constant->size()));
    const auto at_least = [](int64_t total, int64_t each) {
      return each == 0 ? 1 : std::clamp<int64_t>(ceil_div(total, each), 1, kMaxRepetitions);
    };
    const int64_t cold = 2 * target.cache_bytes();  // nothing that was used this many bytes ago is cached
    const int64_t l2_bytes = target.own_bytes() * target.workers;
    copies_ = at_least(std::min(footprint_bytes, cold), copy_bytes_);
    slots_ = at_least(std::clamp(footprint_bytes, kLeastRingPerL2 * l2_bytes, cold), slot_bytes_);
    repetitions_ = std::max(copies_, slots_);
    place_weights(weights);
  }

  Result<Cost> run(const KernelCode& code, rt::Pool* pool, rt::Mapping* activations, Care care) {
    ExecutorPointer executor;
    if (std::optional<Refusal> refusal = prepare(code, pool, activations, &executor)) return *refusal;
    fill_slot(0);
    fit_integers(*executor);
    Result<Cost> cost = sample(*executor, care);
    set_repetitions(repetitions_);  // the executor destroys what it created
    return cost;
  }

  Result<std::string> outputs(const KernelCode& code, rt::Pool* pool, rt::Mapping* activations) {
    ExecutorPointer executor;
    if (std::optional<Refusal> refusal = prepare(code, pool, activations, &executor)) return *refusal;
    std::memset(arena_, 0, static_cast<size_t>(slot_bytes_));
    fill_slot(0);
    fit_integers(*executor);
    set_repetitions(1);
    const rt::RunStatus status = executor->run(nullptr, nullptr);
    set_repetitions(repetitions_);
    if (status.error != rt::RunError::none) return run_failed(status);
    std::string bytes;
    for (size_t i = 0; i < output_offsets_.size(); ++i)
      bytes.append(reinterpret_cast<const char*>(arena_) + output_offsets_[i],
                   static_cast<size_t>(job_.output_bytes[i]));
    return bytes;
  }

 private:
  // Where ones are indices that leave an axis, of one element or after some arithmetic, all integers are 0.
  void fit_integers(rt::Executor& executor) {
    const auto is_index = [](const TensorType& type) { return is_integer(type.dtype); };
    if (std::none_of(job_.inputs.begin(), job_.inputs.end(), is_index)) return;
    set_repetitions(1);
    const bool leaves = executor.run(nullptr, nullptr).error == rt::RunError::index_out_of_range;
    set_repetitions(repetitions_);
    if (!leaves) return;
    integers_are_zero_ = true;
    fill_slot(0);
  }

  static Refusal run_failed(const rt::RunStatus& status) {
    return Refusal{RefusalReason::run_failed, fmt::format("run error {}", static_cast<int>(status.error))};
  }

  std::optional<Refusal> prepare(const KernelCode& code, rt::Pool* pool, rt::Mapping* activations,
                                 ExecutorPointer* executor) {
    make_steps(code);
    program_ = {steps_.data(),
                static_cast<uint32_t>(steps_.size()),
                static_cast<uint32_t>(pool->threads()),
                static_cast<uint64_t>(slot_bytes_ * slots_),
                static_cast<uint64_t>(job_.kernel->scratch_bytes),
                true};
    rt::RunStatus status;
    executor->reset(rt::Executor::create(&program_, weights_, pool->workers(), &status, activations));
    if (*executor == nullptr)
      return Refusal{status.error == rt::RunError::library_refused ? RefusalReason::library_refused
                                                                   : RefusalReason::out_of_memory,
                     "the step cannot be prepared"};
    arena_ = static_cast<unsigned char*>((*executor)->arena());
    return std::nullopt;
  }

  int64_t reserve(int64_t bytes) {
    const int64_t offset = slot_bytes_;
    slot_bytes_ += aligned(bytes);
    return offset;
  }

  // Weights: one word per input (its cache lines) and a one, then the copies of the constants, each filled
  // when it is first needed.
  void place_weights(Buffer& buffer) {
    constants_at_ = aligned(static_cast<int64_t>((job_.inputs.size() + 1) * sizeof(int64_t)));
    weights_ = buffer.at_least(constants_at_ + copy_bytes_ * copies_ + kCacheLineBytes);
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      const int64_t lines = (job_.input_bytes[i] + kCacheLineBytes - 1) / kCacheLineBytes;
      std::memcpy(weights_ + i * sizeof lines, &lines, sizeof lines);
    }
    const int64_t one = 1;
    std::memcpy(weights_ + job_.inputs.size() * sizeof one, &one, sizeof one);
    place_constants(0);
  }

  void place_constants(int64_t copy) {
    for_each_constant(copy, [&](const std::string& constant, int64_t at) {
      std::memcpy(weights_ + at, constant.data(), constant.size());
    });
  }

  template <typename F>
  void for_each_constant(int64_t copy, const F& f) const {
    int64_t at = constants_at_ + copy * copy_bytes_;
    for (const auto& constant : job_.constants) {
      f(*constant, at);
      at += aligned(static_cast<int64_t>(constant->size()));
    }
  }

  void fill_slot(int64_t slot) {
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      unsigned char* at = arena_ + slot * slot_bytes_ + input_offsets_[i];
      if (integers_are_zero_ && is_integer(job_.inputs[i].dtype))
        std::memset(at, 0, static_cast<size_t>(job_.input_bytes[i]));
      else
        content_.fill(at, job_.input_bytes[i], job_.inputs[i].dtype);
    }
  }

  // What is needed is a limit on the extent 1, the last argument.
  void make_limits(size_t one_arg) {
    for (const NeededSlices& needed : job_.needed) {
      int64_t row = 0;
      for (int p = 0; p < needed.phase; ++p) row += job_.kernel->phases[static_cast<size_t>(p)].rounds;
      limits_.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(one_arg), needed.stride,
                         needed.count, needed.needed, 0, 1});
    }
  }

  void make_steps(const KernelCode& code) {
    phases_ = code.phases;
    const size_t args_per_kernel = input_offsets_.size() + job_.constants.size() + output_offsets_.size() +
                                   temporary_offsets_.size() + 1;
    make_limits(args_per_kernel - 1);
    refs_.reserve((args_per_kernel + 2 * input_offsets_.size()) *
                  repetitions_);  // pointers into it stay valid
    for (int64_t repetition = 0; repetition < repetitions_; ++repetition) {
      const int64_t slot_at = repetition % slots_ * slot_bytes_;
      for (size_t i = 0; i < input_offsets_.size(); ++i) {
        const rt::BufferRef* args = end_of_refs();
        add_ref(rt::kArena, slot_at + input_offsets_[i]);
        add_ref(rt::kWeights, static_cast<int64_t>(i * sizeof(int64_t)));
        steps_.push_back({&kTouchPhase, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "touch"});
      }
      const rt::BufferRef* args = end_of_refs();
      for (int64_t offset : input_offsets_) add_ref(rt::kArena, slot_at + offset);
      for_each_constant(repetition % copies_,
                        [&](const std::string&, int64_t at) { add_ref(rt::kWeights, at); });
      for (int64_t offset : output_offsets_) add_ref(rt::kArena, slot_at + offset);
      for (int64_t offset : temporary_offsets_) add_ref(rt::kArena, slot_at + offset);
      add_ref(rt::kWeights, static_cast<int64_t>(input_offsets_.size() * sizeof(int64_t)));
      const LibraryCall& call = job_.kernel->call;
      kernel_steps_.push_back(steps_.size());
      steps_.push_back({phases_.data(), static_cast<uint32_t>(phases_.size()), args,
                        static_cast<uint32_t>(args_per_kernel),
                        code.library != nullptr ? code.library->ops : nullptr, call.params.data(),
                        static_cast<uint32_t>(call.params.size()), call.floats.data(),
                        static_cast<uint32_t>(call.floats.size()), "kernel"});
      steps_.back().limits = limits_.data();
      steps_.back().limit_count = static_cast<uint32_t>(limits_.size());
    }
  }

  const rt::BufferRef* end_of_refs() const { return refs_.data() + refs_.size(); }
  void add_ref(rt::MemoryKind memory, int64_t offset) {
    refs_.push_back({memory, 0, static_cast<uint64_t>(offset)});
  }

  // How much of the program the next run executes; the executor reads it at each run.
  void set_repetitions(int64_t count) {
    program_.step_count = static_cast<uint32_t>(kernel_steps_[count - 1] + 1);
  }

  // One repetition to page in, and, unless that took long, another to see how long it takes. A kernel that
  // takes all of the time is then sampled as it is; others go through the ring, and before a thorough look
  // once to warm up.
  Result<Cost> sample(rt::Executor& executor, Care care) {
    const double wanted_s = care == Care::quick ? kQuick_s : kThorough_s;
    std::vector<double> step_us(steps_.size()), samples;
    rt::RunOptions options;
    options.step_us = step_us.data();
    enum { page_in, probe, warm_up, measure } round = page_in;
    int64_t count = 1;
    double total_s = 0;
    for (;;) {
      throw_if_interrupted();
      set_repetitions(count);
      const rt::RunStatus status = executor.run(nullptr, nullptr, options);
      if (status.error != rt::RunError::none) return run_failed(status);
      const double first_s = step_us[kernel_steps_[0]] * 1e-6;
      if (round == page_in && first_s < kSlow_s) {
        round = probe;
        continue;
      }
      if (round == page_in || round == probe) {
        count =
            std::clamp<int64_t>(static_cast<int64_t>(wanted_s / std::max(first_s, 1e-9)), 1, repetitions_);
        for (int64_t copy = 1; copy < std::min(count, copies_); ++copy) place_constants(copy);
        for (int64_t slot = 1; slot < std::min(count, slots_); ++slot) fill_slot(slot);
        round = count == 1 || care == Care::quick ? measure : warm_up;
        continue;
      }
      if (round == warm_up) {
        round = measure;
        continue;
      }
      for (int64_t i = 0; i < count; ++i) {
        samples.push_back(step_us[kernel_steps_[i]]);
        total_s += samples.back() * 1e-6;
      }
      if (static_cast<int>(samples.size()) >= kMaxSamples) break;
      if (total_s >= kEnough * wanted_s && static_cast<int>(samples.size()) >= kMinSamples) break;
    }
    return summarize(std::move(samples), care);
  }

  const MeasuredKernel& job_;
  RandomContent& content_;
  bool integers_are_zero_ = false;
  std::vector<int64_t> input_offsets_, output_offsets_, temporary_offsets_;  // in a slot
  int64_t slot_bytes_ = 0, slots_ = 1;
  int64_t copy_bytes_ = 0, copies_ = 1, constants_at_ = 0;
  int64_t repetitions_ = 1;
  unsigned char* weights_ = nullptr;
  unsigned char* arena_ = nullptr;
  std::vector<rt::Phase> phases_;
  std::vector<rt::SliceLimit> limits_;
  std::vector<rt::BufferRef> refs_;
  std::vector<rt::Step> steps_;
  std::vector<size_t> kernel_steps_;
  rt::Program program_{};
};

class CpuMeter : public Meter {
 public:
  CpuMeter(const Device& device, int64_t footprint_bytes)
      : device_(device), footprint_bytes_(footprint_bytes) {}

  Result<Cost> measure(const MeasuredKernel& job, Care care) override {
    rt::Pool* workers = pool();
    const Result<KernelCode> code = code_of(job, loaded_);
    if (!code) return code.refusal();
    return Trial(job, device_, footprint_bytes_, weights_, content_)
        .run(code.value(), workers, &activations_, care);
  }

  Result<std::string> outputs(const MeasuredKernel& job) override {
    rt::Pool* workers = pool();
    const Result<KernelCode> code = code_of(job, loaded_);
    if (!code) return code.refusal();
    return Trial(job, device_, footprint_bytes_, weights_, content_)
        .outputs(code.value(), workers, &activations_);
  }

  Result<int32_t> run(const MeasuredKernel& job, void* const* arguments) override {
    const Result<KernelCode> code = code_of(job, loaded_);
    if (!code) return code.refusal();
    KORCH_ASSERT(code.value().library == nullptr, "a library's call runs within an executable");
    Buffer scratch;
    const korch_kernel_context context{
        arguments, scratch.at_least(job.kernel->scratch_bytes + kCacheLineBytes), nullptr, 0};
    for (const rt::Phase& phase : code.value().phases)
      if (const int32_t end = phase.function(&context, phase.first, phase.first + phase.grid);
          end != KORCH_KERNEL_OK)
        return end;
    return KORCH_KERNEL_OK;
  }

  void release_memory() override {
    weights_ = {};
    activations_.release();
  }

 private:
  rt::Pool* pool() {
    if (pool_ == nullptr) {
      pool_.reset(rt::Pool::create(device_.workers));
      if (pool_ == nullptr) throw Error(ErrorKind::resource, "cannot start the worker threads");
    }
    return pool_.get();
  }

  const Device device_;
  const int64_t footprint_bytes_;
  std::unique_ptr<rt::Pool, PoolDeleter> pool_;
  LoadedKernels loaded_;
  Buffer weights_;
  rt::Mapping activations_;
  RandomContent content_;
};

}  // namespace

std::unique_ptr<Meter> cpu_meter(const Device& device, int64_t footprint_bytes) {
  return std::make_unique<CpuMeter>(device, footprint_bytes);
}

}  // namespace korch
