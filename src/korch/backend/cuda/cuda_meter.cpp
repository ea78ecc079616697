#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "korch/backend/cuda/cuda_parts.h"
#include "korch/backend/cuda/gpu_session.h"
#include "korch/backend/gpu_here.h"
#include "korch/backend/random_content.h"
#include "korch/base/ceil_div.h"
#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/runtime/abi.h"

namespace korch {
namespace {

using rt::cuda::Address;

constexpr int64_t kPlaceBytes = 256;  // between places, as cuMemAlloc aligns
// What a graph of repetitions takes at least, and how often it is replayed.
constexpr double kQuickGraph_us = 500, kThoroughGraph_us = 2000;
constexpr int kQuickReplays = 3, kThoroughReplays = 5;
constexpr int64_t kMostRepetitions = 1000;  // of the kernel in a graph
constexpr int64_t kRingPerL2 = 2;           // arguments of all repetitions, in units of the L2 cache
constexpr int kProbes = 3;                  // launches by which the repetitions are numbered

int64_t in_places(int64_t bytes) {
  return ceil_div(bytes, kPlaceBytes) * kPlaceBytes;
}

// Behind one another, from 0.
class Places {
 public:
  int64_t add(int64_t bytes) {
    const int64_t at = end_;
    end_ += in_places(bytes);
    return at;
  }
  int64_t end() const { return end_; }

 private:
  int64_t end_ = 0;
};

struct EventDeleter {
  const rt::cuda::Driver* driver;
  void operator()(void* event) const { driver->destroy_event(event); }
};
using GpuEvent = std::unique_ptr<void, EventDeleter>;

GpuEvent new_event(GpuSession& session) {
  void* event = nullptr;
  session.check(session.driver().create_event(&event, 0), "cuEventCreate");
  return {event, {&session.driver()}};
}

// Runs a graph of kernels, one after the other.
class KernelChain {
 public:
  explicit KernelChain(GpuSession& session) : session_(session) {
    session.check(session.driver().create_graph(&graph_, 0), "cuGraphCreate");
  }
  ~KernelChain() {
    if (executable_ != nullptr) session_.driver().destroy_executable(executable_);
    session_.driver().destroy_graph(graph_);
  }
  KernelChain(const KernelChain&) = delete;
  KernelChain& operator=(const KernelChain&) = delete;

  void add(void* function, unsigned blocks, std::vector<Address>& addresses) {
    std::vector<void*> arguments;
    for (Address& address : addresses) arguments.push_back(&address);
    const rt::cuda::KernelNode node = {function, blocks,           1,      1, tile::kCudaThreads, 1, 1,
                                       0,        arguments.data(), nullptr};
    void* added = nullptr;
    session_.check(session_.driver().add_kernel(&added, graph_, &last_, last_ != nullptr ? 1 : 0, &node),
                   "cuGraphAddKernelNode");
    last_ = added;
  }

  // Microseconds of one run.
  double run(void* begin, void* end) {
    const rt::cuda::Driver& driver = session_.driver();
    if (executable_ == nullptr)
      session_.check(driver.instantiate(&executable_, graph_, 0), "cuGraphInstantiate");
    session_.check(driver.record(begin, session_.stream()), "cuEventRecord");
    session_.check(driver.launch_graph(executable_, session_.stream()), "cuGraphLaunch");
    session_.check(driver.record(end, session_.stream()), "cuEventRecord");
    session_.wait();
    return session_.microseconds(begin, end);
  }

 private:
  GpuSession& session_;
  void *graph_ = nullptr, *executable_ = nullptr, *last_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// A kernel with its arguments on the GPU: constants in some copies, the others in a ring of slots.
class GpuTrial {
 public:
  GpuTrial(const MeasuredKernel& job, const Device& target, int64_t footprint_bytes,
           std::vector<void*> functions, GpuSession& session, RandomContent& content)
      : job_(job), functions_(std::move(functions)), session_(session), content_(content) {
    Places slot, copy;
    for (int64_t bytes : job.input_bytes) inputs_.push_back(slot.add(bytes));
    for (int64_t bytes : job.output_bytes) outputs_.push_back(slot.add(bytes));
    for (int64_t bytes : job.kernel->temporary_bytes) temporaries_.push_back(slot.add(bytes));
    for (const auto& constant : job.constants)
      constants_.push_back(copy.add(static_cast<int64_t>(constant->size())));
    slot_bytes_ = slot.end();
    copy_bytes_ = copy.end();
    const int64_t cold = kRingPerL2 * target.cache_bytes();
    const auto as_many = [](int64_t total, int64_t each) {
      return each == 0 ? 1 : std::clamp<int64_t>(total / each + 1, 1, kMostRepetitions);
    };
    slots_ = as_many(cold, slot_bytes_);
    copies_ = as_many(std::min(footprint_bytes, cold), copy_bytes_);
  }

  // Places everything, and fills the first slot and copy.
  void prepare(GpuMemory& memory) {
    int64_t most_blocks = 1;
    for (const KernelPhase& phase : job_.kernel->phases) most_blocks = std::max(most_blocks, phase.grid);
    Places places;
    const int64_t ring = places.add(slot_bytes_ * slots_), copies = places.add(copy_bytes_ * copies_),
                  status = places.add(sizeof(int32_t)),
                  workspace = places.add(job_.kernel->scratch_bytes * most_blocks);
    const Address start = memory.at_least(static_cast<uint64_t>(places.end() + kPlaceBytes));
    ring_ = start + static_cast<Address>(ring);
    weights_ = start + static_cast<Address>(copies);
    status_ = start + static_cast<Address>(status);
    workspace_ = start + static_cast<Address>(workspace);
    zero(ring_, slot_bytes_);
    zero(status_, sizeof(int32_t));
    for (size_t i = 0; i < inputs_.size(); ++i) fill(input(0, i), job_.input_bytes[i], job_.inputs[i].dtype);
    for (size_t i = 0; i < constants_.size(); ++i)
      put(weights_ + static_cast<Address>(constants_[i]), job_.constants[i]->data(),
          static_cast<int64_t>(job_.constants[i]->size()));
  }

  // Where ones are indices that leave an axis, all integers are 0.
  void fit_integers() {
    if (std::none_of(job_.inputs.begin(), job_.inputs.end(),
                     [](const TensorType& type) { return is_integer(type.dtype); }))
      return;
    if (run() == KORCH_KERNEL_OK) return;
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (is_integer(job_.inputs[i].dtype)) zero(input(0, i), job_.input_bytes[i]);
  }

  // Once, on the first slot; KORCH_KERNEL_OK, or the code that it ends with.
  int32_t run() {
    zero(status_, sizeof(int32_t));
    launch(0);
    int32_t status = 0;
    get(&status, status_, sizeof status);
    return status == 0 ? KORCH_KERNEL_OK : KORCH_KERNEL_INDEX_OUT_OF_RANGE;
  }

  Cost measure(Care care) {
    const GpuEvent begin = new_event(session_), end = new_event(session_);
    const bool quick = care == Care::quick;
    const double once_us = launched_us(begin.get(), end.get());
    const auto repetitions = std::clamp<int64_t>(
        std::llround((quick ? kQuickGraph_us : kThoroughGraph_us) / once_us), 1, kMostRepetitions);
    fill_ring(repetitions);
    KernelChain empty(session_), chain(session_);
    for (int64_t r = 0; r < repetitions; ++r)
      for (size_t phase = 0; phase < functions_.size(); ++phase) {
        std::vector<Address> addresses = arguments(r);
        chain.add(functions_[phase], blocks(phase), addresses);
      }
    const int replays = quick ? kQuickReplays : kThoroughReplays;
    std::vector<double> nothing_us, samples;
    for (int replay = -1; replay < replays; ++replay) {  // the first warms up
      throw_if_interrupted();
      const double empty_us = empty.run(begin.get(), end.get()), us = chain.run(begin.get(), end.get());
      if (replay < 0) continue;
      nothing_us.push_back(empty_us);
      samples.push_back(us);
    }
    for (double& us : samples) us = std::max(0.0, us - median(nothing_us)) / static_cast<double>(repetitions);
    std::sort(samples.begin(), samples.end());
    const size_t n = samples.size();
    return {median(samples), samples[n / 4], samples[n - 1 - n / 4], static_cast<int>(n), care};
  }

  std::string output_bytes() {
    std::string bytes;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const size_t at = bytes.size();
      bytes.resize(at + static_cast<size_t>(job_.output_bytes[i]));
      get(bytes.data() + at, ring_ + static_cast<Address>(outputs_[i]), job_.output_bytes[i]);
    }
    return bytes;
  }

  // With what is at these addresses of this process, in the order of the arguments.
  int32_t run_on(void* const* host) {
    const std::vector<Address> places = arguments(0);
    const std::vector<int64_t> sizes = argument_bytes();
    for (size_t i = 0; i < sizes.size(); ++i) put(places[i], host[i], sizes[i]);
    const int32_t status = run();
    for (size_t i = inputs_.size() + constants_.size(); i < sizes.size(); ++i)
      get(host[i], places[i], sizes[i]);
    return status;
  }

 private:
  Address input(int64_t slot, size_t i) const {
    return ring_ + static_cast<Address>(slot * slot_bytes_ + inputs_[i]);
  }

  unsigned blocks(size_t phase) const {
    return static_cast<unsigned>(std::max<int64_t>(1, job_.kernel->phases[phase].grid));
  }

  std::vector<int64_t> argument_bytes() const {
    std::vector<int64_t> sizes = job_.input_bytes;
    for (const auto& constant : job_.constants) sizes.push_back(static_cast<int64_t>(constant->size()));
    sizes.insert(sizes.end(), job_.output_bytes.begin(), job_.output_bytes.end());
    sizes.insert(sizes.end(), job_.kernel->temporary_bytes.begin(), job_.kernel->temporary_bytes.end());
    return sizes;
  }

  // Of a repetition, as print_cuda.h lists parameters.
  std::vector<Address> arguments(int64_t repetition) const {
    const Address slot = ring_ + static_cast<Address>(repetition % slots_ * slot_bytes_),
                  copy = weights_ + static_cast<Address>(repetition % copies_ * copy_bytes_);
    std::vector<Address> all;
    for (int64_t at : inputs_) all.push_back(slot + static_cast<Address>(at));
    for (int64_t at : constants_) all.push_back(copy + static_cast<Address>(at));
    for (const std::vector<int64_t>* places : {&outputs_, &temporaries_})
      for (int64_t at : *places) all.push_back(slot + static_cast<Address>(at));
    all.push_back(status_);
    all.push_back(workspace_);
    return all;
  }

  void launch(int64_t repetition) {
    std::vector<Address> addresses = arguments(repetition);
    std::vector<void*> pointers;
    for (Address& address : addresses) pointers.push_back(&address);
    for (size_t phase = 0; phase < functions_.size(); ++phase)
      session_.check(session_.driver().launch(functions_[phase], blocks(phase), 1, 1, tile::kCudaThreads, 1,
                                              1, 0, session_.stream(), pointers.data(), nullptr),
                     "cuLaunchKernel");
  }

  // The least of some launches.
  double launched_us(void* begin, void* end) {
    double least = INFINITY;
    for (int probe = 0; probe < kProbes; ++probe) {
      session_.check(session_.driver().record(begin, session_.stream()), "cuEventRecord");
      launch(0);
      session_.check(session_.driver().record(end, session_.stream()), "cuEventRecord");
      session_.wait();
      least = std::min(least, session_.microseconds(begin, end));
    }
    return std::max(least, 1.0);
  }

  void fill_ring(int64_t repetitions) {
    for (int64_t slot = 1; slot < std::min(slots_, repetitions); ++slot)
      copy(ring_ + static_cast<Address>(slot * slot_bytes_), ring_, slot_bytes_);
    for (int64_t c = 1; c < std::min(copies_, repetitions); ++c)
      copy(weights_ + static_cast<Address>(c * copy_bytes_), weights_, copy_bytes_);
  }

  // A block from here; the GPU repeats it.
  void fill(Address to, int64_t bytes, DType dtype) {
    const HostTensor& block = content_.block(dtype);
    int64_t filled = std::min(bytes, block.bytes());
    put(to, block.raw(), filled);
    for (int64_t more; filled < bytes; filled += more)
      copy(to + static_cast<Address>(filled), to, more = std::min(filled, bytes - filled));
  }

  void zero(Address at, int64_t bytes) {
    constexpr int64_t kWord = 4;  // places are whole words
    if (bytes > 0)
      session_.check(session_.driver().fill_words(at, 0, static_cast<uint64_t>(ceil_div(bytes, kWord)),
                                                  session_.stream()),
                     "cuMemsetD32Async");
  }
  void copy(Address to, Address from, int64_t bytes) {
    if (bytes > 0)
      session_.check(session_.driver().copy(to, from, static_cast<uint64_t>(bytes), session_.stream()),
                     "cuMemcpyDtoDAsync");
  }
  void put(Address to, const void* from, int64_t bytes) {
    if (bytes > 0)
      session_.check(session_.driver().to_device(to, from, static_cast<uint64_t>(bytes), session_.stream()),
                     "cuMemcpyHtoDAsync");
  }
  void get(void* to, Address from, int64_t bytes) {
    session_.wait();
    if (bytes > 0)
      session_.check(session_.driver().to_host(to, from, static_cast<uint64_t>(bytes), session_.stream()),
                     "cuMemcpyDtoHAsync");
    session_.wait();
  }

  const MeasuredKernel& job_;
  const std::vector<void*> functions_;  // of each phase
  GpuSession& session_;
  RandomContent& content_;
  std::vector<int64_t> inputs_, constants_, outputs_, temporaries_;  // in a slot, or a copy
  int64_t slot_bytes_ = 0, slots_ = 1, copy_bytes_ = 0, copies_ = 1;
  Address ring_ = 0, weights_ = 0, status_ = 0, workspace_ = 0;
};

class CudaMeter : public Meter {
 public:
  CudaMeter(Device device, int64_t footprint_bytes)
      : device_(std::move(device)), footprint_bytes_(footprint_bytes) {}

  Result<Cost> measure(const MeasuredKernel& job, Care care) override {
    return with_trial<Cost>(job, [&](GpuTrial& trial) -> Result<Cost> {
      trial.fit_integers();
      return trial.measure(care);
    });
  }

  Result<std::string> outputs(const MeasuredKernel& job) override {
    return with_trial<std::string>(job, [&](GpuTrial& trial) -> Result<std::string> {
      trial.fit_integers();
      if (trial.run() != KORCH_KERNEL_OK)
        return Refusal{RefusalReason::run_failed, "an index leaves its axis"};
      return trial.output_bytes();
    });
  }

  Result<int32_t> run(const MeasuredKernel& job, void* const* arguments) override {
    return with_trial<int32_t>(job,
                               [&](GpuTrial& trial) -> Result<int32_t> { return trial.run_on(arguments); });
  }

  void release_memory() override {
    if (gpu_ == nullptr) return;
    const CurrentGpu current(gpu_->session);
    gpu_->memory.release();
  }

 private:
  struct Opened {
    GpuSession session;
    GpuMemory memory{session};
  };

  template <typename T, typename Use>
  Result<T> with_trial(const MeasuredKernel& job, const Use& use) {
    if (job.kernel->source.empty())
      return Refusal{RefusalReason::library_refused, "calls of the runtime's library do not run on GPUs"};
    if (gpu_ == nullptr) gpu_ = std::make_unique<Opened>();
    std::vector<std::string> symbols;
    for (const KernelPhase& phase : job.kernel->phases) symbols.push_back(phase.symbol);
    try {
      const CurrentGpu current(gpu_->session);
      GpuTrial trial(job, device_, footprint_bytes_, gpu_->session.functions(image_of(job), symbols),
                     gpu_->session, content_);
      trial.prepare(gpu_->memory);
      return use(trial);
    } catch (const GpuFailure& failure) {
      if (failure.code != rt::cuda::kOutOfMemory) gpu_ = nullptr;  // nothing works in it any more
      return refusal_of(failure);
    }
  }

  const std::string& image_of(const MeasuredKernel& job) {
    if (!is_emulated(device_)) return *job.object;
    std::string& image = emulated_[job.kernel->source];
    if (image.empty()) image = emulated_image(*job.kernel);
    return image;
  }

  const Device device_;
  const int64_t footprint_bytes_;
  std::unique_ptr<Opened> gpu_;
  RandomContent content_;
  std::map<std::string, std::string> emulated_;  // images, by source
};

}  // namespace

std::unique_ptr<Meter> cuda_meter(const Device& device, int64_t footprint_bytes) {
  return std::make_unique<CudaMeter>(device, footprint_bytes);
}

}  // namespace korch
