#include "korch/profile/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "korch/codegen/cpu/compiler.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/library.h"
#include "korch/tensor/host_tensor.h"

namespace korch {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int kMaxConstantCopies = 32;       // enough to leave every cache for constants that are worth it
constexpr double kSecondsPerKernel = 0.015;  // measuring time after warm-up, unless kMinSamples takes longer
constexpr int kMinSamples = 5;
constexpr int kMaxSamples = 400;
constexpr int64_t kCacheLine = 64;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A step that writes one word of every cache line of its one argument back: the lines end up where a producer that
// shares its work among the workers leaves them. args: {buffer, its size in bytes as an int64}.
int32_t touch(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* bytes = static_cast<volatile char*>(context->args[0]);
  const int64_t lines = *static_cast<const int64_t*>(context->args[1]);
  for (int64_t line = lines * begin / 16; line < lines * end / 16; ++line) bytes[line * kCacheLine] = bytes[line * kCacheLine];
  return KORCH_KERNEL_OK;
}
const rt::Phase kTouchPhase{touch, 16, 1};

// Repeats a block of random content; integers and bools are 0 or 1, which every index and mask allows.
void fill_random(unsigned char* data, int64_t bytes, DType dtype) {
  constexpr int64_t kBlock = 1 << 14;  // elements
  HostTensor block(TensorType{DType::f64, {kBlock}});
  uint64_t state = 0x9e3779b97f4a7c15;
  for (int64_t i = 0; i < kBlock; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      sum += static_cast<double>(state >> 40) / (1 << 24);
    }
    block.mutable_data<double>()[i] = is_float(dtype) ? (sum - 2) * 1.7 : static_cast<double>(sum > 2);
  }
  const HostTensor content = converted(block, dtype);
  for (int64_t at = 0; at < bytes; at += content.bytes())
    std::memcpy(data + at, content.raw(), static_cast<size_t>(std::min(bytes - at, content.bytes())));
}

struct PoolDeleter {
  void operator()(rt::Pool* pool) const { rt::Pool::destroy(pool); }
};
struct ExecutorDeleter {
  void operator()(rt::Executor* executor) const { rt::Executor::destroy(executor); }
};

Cost summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  return {samples[n / 2], samples[n / 4], samples[n - 1 - n / 4], static_cast<int>(n)};
}

}  // namespace

struct Meter::State {
  Target target;
  int64_t weights_bytes;
  std::unique_ptr<rt::Pool, PoolDeleter> pool;
  LoadedKernels loaded;
};

namespace {

// The program that is timed: [touch inputs, kernel] repeated, each repetition with its own copy of the constants.
class Trial {
 public:
  Trial(const MeasuredKernel& job, const Target& target, int64_t weights_bytes) : job_(job) {
    for (size_t i = 0; i < job.inputs.size(); ++i) add_activation(job.input_bytes[i]);
    for (int64_t bytes : job.output_bytes) output_offsets_.push_back(reserve(bytes));
    for (int64_t bytes : job.kernel->temporary_bytes) temporary_offsets_.push_back(reserve(bytes));
    int64_t constant_bytes = 0;
    for (const std::string& constant : job.constants) constant_bytes += aligned(static_cast<int64_t>(constant.size()));
    const int64_t working_set = std::min(weights_bytes, 2 * target.l3_bytes);
    copies_ = constant_bytes == 0 ? 1
                                  : static_cast<int>(std::clamp<int64_t>(working_set / constant_bytes, 1, kMaxConstantCopies));
    place_weights();
  }

  Result<Cost> run(const std::vector<rt::Phase>& phases, const rt::LibraryFunction* library, rt::Pool* pool) {
    make_steps(phases, library);
    const rt::Program program{steps_.data(), static_cast<uint32_t>(steps_.size()), static_cast<uint32_t>(pool->threads()),
                              static_cast<uint64_t>(arena_bytes_), static_cast<uint64_t>(job_.kernel->scratch_bytes)};
    rt::RunStatus status;
    std::unique_ptr<rt::Executor, ExecutorDeleter> executor(
        rt::Executor::create(&program, weights_.get(), pool, &status));
    if (executor == nullptr)
      return Refusal{status.error == rt::RunError::library_refused ? RefusalReason::library_refused : RefusalReason::run_failed,
                     "the step cannot be prepared"};
    for (size_t i = 0; i < job_.inputs.size(); ++i)
      fill_random(static_cast<unsigned char*>(executor->arena()) + input_offsets_[i], job_.input_bytes[i], job_.inputs[i].dtype);
    return sample(*executor);
  }

 private:
  int64_t reserve(int64_t bytes) {
    const int64_t offset = arena_bytes_;
    arena_bytes_ += aligned(bytes);
    return offset;
  }

  void add_activation(int64_t bytes) { input_offsets_.push_back(reserve(bytes)); }

  // Weights: one word per input (its cache lines), then the copies of the constants.
  void place_weights() {
    int64_t bytes = aligned(static_cast<int64_t>(job_.inputs.size() * sizeof(int64_t)));
    constants_at_ = bytes;
    for (const std::string& constant : job_.constants) one_copy_bytes_ += aligned(static_cast<int64_t>(constant.size()));
    bytes += one_copy_bytes_ * copies_;
    weights_.reset(static_cast<unsigned char*>(std::aligned_alloc(kAlignment, static_cast<size_t>(aligned(bytes + 1)))));
    if (weights_ == nullptr) throw Error(ErrorKind::resource, "out of memory while measuring a kernel");
    for (size_t i = 0; i < job_.inputs.size(); ++i) {
      const int64_t lines = (job_.input_bytes[i] + kCacheLine - 1) / kCacheLine;
      std::memcpy(weights_.get() + i * sizeof lines, &lines, sizeof lines);
    }
    int64_t at = constants_at_;
    for (int copy = 0; copy < copies_; ++copy)
      for (const std::string& constant : job_.constants) {
        std::memcpy(weights_.get() + at, constant.data(), constant.size());
        at += aligned(static_cast<int64_t>(constant.size()));
      }
  }

  void make_steps(const std::vector<rt::Phase>& phases, const rt::LibraryFunction* library) {
    phases_ = phases;
    const size_t args_per_kernel = input_offsets_.size() + job_.constants.size() + output_offsets_.size() + temporary_offsets_.size();
    refs_.reserve((args_per_kernel + 2 * input_offsets_.size()) * copies_);  // pointers into it stay valid
    int64_t constant_at = constants_at_;
    for (int copy = 0; copy < copies_; ++copy) {
      for (size_t i = 0; i < input_offsets_.size(); ++i) {
        const rt::BufferRef* args = end_of_refs();
        add_ref(rt::kArena, input_offsets_[i]);
        add_ref(rt::kWeights, static_cast<int64_t>(i * sizeof(int64_t)));
        steps_.push_back({&kTouchPhase, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "touch"});
      }
      const rt::BufferRef* args = end_of_refs();
      for (int64_t offset : input_offsets_) add_ref(rt::kArena, offset);
      for (const std::string& constant : job_.constants) {
        add_ref(rt::kWeights, constant_at);
        constant_at += aligned(static_cast<int64_t>(constant.size()));
      }
      for (int64_t offset : output_offsets_) add_ref(rt::kArena, offset);
      for (int64_t offset : temporary_offsets_) add_ref(rt::kArena, offset);
      const LibraryCall& call = job_.kernel->call;
      kernel_steps_.push_back(steps_.size());
      steps_.push_back({phases_.data(), static_cast<uint32_t>(phases_.size()), args, static_cast<uint32_t>(args_per_kernel),
                        library != nullptr ? library->ops : nullptr, call.params.data(),
                        static_cast<uint32_t>(call.params.size()), call.floats.data(),
                        static_cast<uint32_t>(call.floats.size()), "kernel"});
    }
  }

  const rt::BufferRef* end_of_refs() const { return refs_.data() + refs_.size(); }
  void add_ref(rt::Region region, int64_t offset) { refs_.push_back({region, 0, static_cast<uint64_t>(offset)}); }

  Result<Cost> sample(rt::Executor& executor) {
    std::vector<double> step_us(steps_.size()), samples;
    rt::RunOptions options;
    options.step_us = step_us.data();
    double total_s = 0;
    for (bool warm_up = true;; warm_up = false) {
      const rt::RunStatus status = executor.run(nullptr, nullptr, options);
      if (status.error != rt::RunError::none)
        return Refusal{RefusalReason::run_failed, fmt::format("run error {}", static_cast<int>(status.error))};
      if (warm_up) continue;
      for (size_t step : kernel_steps_) {
        samples.push_back(step_us[step]);
        total_s += step_us[step] * 1e-6;
      }
      if (static_cast<int>(samples.size()) >= kMaxSamples) break;
      if (total_s >= kSecondsPerKernel && static_cast<int>(samples.size()) >= kMinSamples) break;
    }
    return summarize(std::move(samples));
  }

  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };

  const MeasuredKernel& job_;
  std::vector<int64_t> input_offsets_, output_offsets_, temporary_offsets_;
  int64_t arena_bytes_ = 0, constants_at_ = 0, one_copy_bytes_ = 0;
  int copies_ = 1;
  std::unique_ptr<unsigned char, Free> weights_;
  std::vector<rt::Phase> phases_;
  std::vector<rt::BufferRef> refs_;
  std::vector<rt::Step> steps_;
  std::vector<size_t> kernel_steps_;
};

}  // namespace

Meter::Meter(const Target& target, int64_t weights_bytes) : state_(std::make_unique<State>()) {
  state_->target = target;
  state_->weights_bytes = weights_bytes;
}

Meter::~Meter() = default;

Result<Cost> Meter::measure(const MeasuredKernel& job) {
  if (state_->pool == nullptr) {
    state_->pool.reset(rt::Pool::create(state_->target.threads));
    if (state_->pool == nullptr) throw Error(ErrorKind::resource, "cannot start the worker threads");
  }
  std::vector<rt::Phase> phases;
  const rt::LibraryFunction* library = nullptr;
  if (job.kernel->source.empty()) {
    library = rt::find_library_function(job.kernel->call.library.c_str(), job.kernel->call.function.c_str());
    if (library == nullptr) return Refusal{RefusalReason::library_refused, "unknown library function"};
    for (const KernelPhase& phase : job.kernel->phases) phases.push_back({library->run, phase.grid, phase.grain});
  } else {
    std::vector<std::string> symbols;
    for (const KernelPhase& phase : job.kernel->phases) symbols.push_back(phase.symbol);
    Result<std::vector<void*>> functions = state_->loaded.load(*job.object, symbols);
    if (!functions) return functions.refusal();
    for (size_t i = 0; i < symbols.size(); ++i)
      phases.push_back({reinterpret_cast<korch_kernel_fn>(functions.value()[i]), job.kernel->phases[i].grid,
                        job.kernel->phases[i].grain});
  }
  return Trial(job, state_->target, state_->weights_bytes).run(phases, library, state_->pool.get());
}

}  // namespace korch
