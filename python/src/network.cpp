#include "network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

#include "gpu_array.h"
#include "korch/base/error.h"
#include "korch/inspect/explain.h"
#include "korch/inspect/explain_page.h"
#include "korch/plan/plan_json.h"

namespace nb = nanobind;

namespace korch::python {
namespace {

// How soon who waits sees Ctrl-C, or that Python ends.
constexpr std::chrono::milliseconds kPatience{50};
constexpr size_t kAlignment = 64;  // bytes: with which the C interface is fastest

// Calls that run in this process, for the one moment when nobody but all threads together knows them:
// Python's end. Read and written with the GIL.
struct RunningCalls {
  pid_t process = ::getpid();
  int count = 0;
  bool python_ends = false;
};

RunningCalls& running_calls() {
  static RunningCalls calls;
  // The child of a fork has none of the threads that were in a call.
  if (calls.process != ::getpid()) calls = {};
  return calls;
}

void require_open(bool closed) {
  if (closed) throw Error(ErrorKind::usage, "the executable is closed");
  if (running_calls().python_ends) throw Error(ErrorKind::usage, "Python is ending: no more calls");
}

// Made and destroyed with the GIL, and so outside of what releases it.
struct CountedCall {
  CountedCall() { ++running_calls().count; }
  ~CountedCall() { --running_calls().count; }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory allocate(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  Memory memory(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

nb::object numpy_array(Memory memory, const TensorType& type) {
  const std::vector<size_t> shape(type.shape.begin(), type.shape.end());
  void* data = memory.get();
  const nb::capsule owner(memory.release(), [](void* p) noexcept { std::free(p); });
  return nb::cast(
      nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, dlpack_of(type.dtype)));
}

std::vector<nb::object> items(nb::handle sequence, const char* role, size_t wanted) {
  std::vector<nb::object> result;
  for (nb::handle item : nb::iter(sequence)) result.push_back(nb::borrow(item));
  if (result.size() != wanted)
    throw Error(ErrorKind::invalid,
                fmt::format("the executable has {} {}{}, {} {} given", wanted, role, wanted == 1 ? "" : "s",
                            result.size(), result.size() == 1 ? "is" : "are"));
  return result;
}

// The caller's arrays during one call: where an input does not lie as the C interface wants it, a copy of it.
// All are in this process's memory, or all in that of the executable's GPU.
class Arguments {
 public:
  // `with_state`: a state has the inputs and outputs that are its.
  Arguments(const LoadedCode& code, bool with_state)
      : kept_inputs_(code.inputs.size()), kept_outputs_(code.outputs.size()) {
    for (const StatePair& state : code.states) {
      kept_inputs_[static_cast<size_t>(state.input)] = with_state;
      kept_outputs_[static_cast<size_t>(state.output)] = with_state;
    }
  }

  // The GPU whose memory they are in.
  std::optional<int> gpu() const { return gpu_; }

  void add_inputs(nb::handle arrays, const LoadedCode& code) {
    skip_kept_inputs();
    for (nb::object& array : items(arrays, "input", free_ones(kept_inputs_))) {
      const PlanIo& io = code.inputs[inputs_.size()];
      std::vector<int> open;
      for (const OpenDimension& dimension : code.dimensions)
        for (const auto& [input, axis] : dimension.axes)
          if (input == static_cast<int>(inputs_.size())) open.push_back(axis);
      const ArrayView& view = hold(std::move(array), io, "input", Access::read, open);
      const int64_t bytes = TensorType{io.type.dtype, view.shape()}.bytes();
      void* data = view.data();
      require_fit(view, io, "input", code);
      if (!view.is_plain()) {
        copies_.push_back(allocate(static_cast<size_t>(bytes)));
        data = copies_.back().get();
        view.copy_to(data);
      }
      inputs_.push_back(data);
      dims_.push_back(view.shape().data());
      regions_.push_back({data, bytes, "input", &io});
      skip_kept_inputs();
    }
  }

  void add_outputs(nb::handle arrays, const LoadedCode& code) {
    skip_kept_outputs();
    for (nb::object& array : items(arrays, "output", free_ones(kept_outputs_))) {
      const PlanIo& io = code.outputs[outputs_.size()];
      results_.append(array);
      const ArrayView& view = hold(std::move(array), io, "output", Access::write);
      require_fit(view, io, "output", code);
      void* data = view.data();
      require_apart({data, io.type.bytes(), "output", &io});
      outputs_.push_back(data);
      skip_kept_outputs();
    }
  }

  void make_outputs(const std::vector<PlanIo>& ios) {
    for (const PlanIo& io : ios) {
      if (kept_outputs_[outputs_.size()]) {
        outputs_.push_back(nullptr);
        continue;
      }
      if (gpu_) {
        GpuMemory memory(*gpu_, static_cast<size_t>(io.type.bytes()));
        outputs_.push_back(memory.address());
        results_.append(nb::cast(GpuArray(std::move(memory), io.type, *gpu_)));
        continue;
      }
      Memory memory = allocate(static_cast<size_t>(io.type.bytes()));
      outputs_.push_back(memory.get());
      results_.append(numpy_array(std::move(memory), io.type));
    }
  }

  const void* const* inputs() const { return inputs_.data(); }
  const int64_t* const* input_dims() const { return dims_.data(); }
  void* const* outputs() const { return outputs_.data(); }
  nb::list results() const { return results_; }
  // The executable's numbers of the results.
  std::vector<size_t> result_numbers() const {
    std::vector<size_t> numbers;
    for (size_t o = 0; o < kept_outputs_.size(); ++o)
      if (!kept_outputs_[o]) numbers.push_back(o);
    return numbers;
  }

 private:
  static size_t free_ones(const std::vector<bool>& kept) {
    return static_cast<size_t>(std::count(kept.begin(), kept.end(), false));
  }
  void skip_kept_inputs() {
    while (inputs_.size() < kept_inputs_.size() && kept_inputs_[inputs_.size()]) {
      inputs_.push_back(nullptr);
      dims_.push_back(nullptr);
    }
  }
  void skip_kept_outputs() {
    while (outputs_.size() < kept_outputs_.size() && kept_outputs_[outputs_.size()])
      outputs_.push_back(nullptr);
  }

  struct Region {
    const void* data;
    int64_t size_bytes;
    const char* role;
    const PlanIo* io;
  };

  const ArrayView& hold(nb::object array, const PlanIo& io, const char* role, Access access,
                        const std::vector<int>& open = {}) {
    views_.push_back(std::make_unique<ArrayView>(array, io, role, access, open));
    return *views_.back();
  }

  // The first array decides in which memory all are.
  void require_fit(const ArrayView& view, const PlanIo& io, const char* role, const LoadedCode& code) {
    if (views_.size() == 1) gpu_ = view.gpu();
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::invalid, fmt::format("{} '{}' {}", role, io.name, why));
    };
    const auto place = [](std::optional<int> gpu) {
      return gpu ? fmt::format("the memory of GPU {}", *gpu) : std::string("the CPU's memory");
    };
    if (view.gpu() != gpu_)
      refuse(fmt::format("is in {}, others are in {}: all must be in one", place(view.gpu()), place(gpu_)));
    if (!gpu_) return;
    if (!code.is_for_gpu())
      refuse(fmt::format("is in {}, and the executable is for a CPU: copy it to the CPU first", place(gpu_)));
    if (*gpu_ != 0) refuse(fmt::format("is in {}, and the executable runs on GPU 0", place(gpu_)));
    if (!view.is_plain()) refuse("is not row-major without gaps (C-contiguous) and aligned: copy it first");
  }

  void require_apart(const Region& output) {
    const auto start = [](const Region& r) { return reinterpret_cast<uintptr_t>(r.data); };
    const auto end = [&](const Region& r) { return start(r) + static_cast<uintptr_t>(r.size_bytes); };
    for (const Region& other : regions_)
      if (start(output) < end(other) && start(other) < end(output))
        throw Error(ErrorKind::invalid,
                    fmt::format("the array for output '{}' shares memory with that for {} '{}'",
                                output.io->name, other.role, other.io->name));
    regions_.push_back(output);
  }

  std::vector<bool> kept_inputs_, kept_outputs_;  // by a state
  std::optional<int> gpu_;
  std::vector<std::unique_ptr<ArrayView>> views_;
  std::vector<Memory> copies_;
  std::vector<Region> regions_;
  std::vector<const void*> inputs_;
  std::vector<const int64_t*> dims_;
  std::vector<void*> outputs_;
  nb::list results_;
};

// The dense array of this shape that an array's memory begins with.
nb::object leading(const nb::object& array, const Shape& shape) {
  nb::list extents;
  for (const int64_t extent : shape) extents.append(extent);
  const nb::object flat = array.attr("reshape")(-1);
  const nb::object front = flat[nb::slice(nb::int_(0), nb::int_(element_count(shape)), nb::int_(1))];
  return front.attr("reshape")(nb::tuple(extents));
}

// An instance while a call has it.
class Lease {
 public:
  explicit Lease(std::shared_ptr<InstancePool> pool) : pool_(std::move(pool)), instance_(pool_->take()) {}
  ~Lease() { pool_->give_back(std::move(instance_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  LoadedExecutable* operator->() const { return instance_.get(); }

 private:
  std::shared_ptr<InstancePool> pool_;
  std::unique_ptr<LoadedExecutable> instance_;
};

}  // namespace

InstancePool::InstancePool(std::shared_ptr<const LoadedCode> code, int threads, int most)
    : code_(std::move(code)), threads_(threads), process_(::getpid()), may_make_(most) {}

std::unique_ptr<LoadedExecutable> InstancePool::take() {
  std::unique_ptr<LoadedExecutable> instance;
  {
    const std::lock_guard lock(mutex_);
    require_open(closed_);
    if (!idle_.empty()) {
      instance = std::move(idle_.back());
      idle_.pop_back();
      return instance;
    }
    if (may_make_ > 0) {
      instance = std::make_unique<LoadedExecutable>(code_, threads_);
      --may_make_;
      return instance;
    }
    waiting_.push_back(&instance);
  }
  for (;;) {
    {
      const nb::gil_scoped_release release;
      std::unique_lock lock(mutex_);
      freed_.wait_for(lock, kPatience, [&] { return instance != nullptr || closed_; });
      if (instance != nullptr) break;
    }
    const bool interrupted = PyErr_CheckSignals() != 0;
    const std::lock_guard lock(mutex_);
    if (!interrupted && !closed_ && !running_calls().python_ends) continue;
    std::erase(waiting_, &instance);
    if (instance != nullptr) hand_on(std::move(instance));
    if (interrupted) throw nb::python_error();
    require_open(closed_);
  }
  return instance;
}

void InstancePool::hand_on(std::unique_ptr<LoadedExecutable> instance) {
  if (closed_) return;
  if (waiting_.empty()) {
    idle_.push_back(std::move(instance));
    return;
  }
  *waiting_.front() = std::move(instance);
  waiting_.pop_front();
  freed_.notify_all();
}

void InstancePool::give_back(std::unique_ptr<LoadedExecutable> instance) {
  const std::lock_guard lock(mutex_);
  hand_on(std::move(instance));
}

void InstancePool::close() {
  std::vector<std::unique_ptr<LoadedExecutable>> idle;
  std::lock_guard lock(mutex_);
  closed_ = true;
  idle.swap(idle_);
  freed_.notify_all();
}

bool InstancePool::is_of_this_process() const {
  return process_ == ::getpid();
}

Network::Network(const std::string& path, int threads, int instances)
    : threads_(threads), instances_(instances) {
  require_open(closed_);
  const CountedCall call;
  const nb::gil_scoped_release release;  // all bytes of the file are read and checked
  code_ = std::make_shared<const LoadedCode>(read_executable(path));
  // What cannot be prepared is told now, not by the first call.
  pool_ = std::make_shared<InstancePool>(code_, threads, instances - 1);
  pool_->give_back(std::make_unique<LoadedExecutable>(code_, threads));
}

std::string Network::explain(int kernel) const {
  return korch::explain(plan_from_json(plan_json()), code_->info.needed, {kernel});
}

std::string Network::explain_html(const std::vector<double>& step_us) const {
  const Plan plan = plan_from_json(plan_json());
  return explain_page(code_->info.path, plan, korch::explain(plan, code_->info.needed, {}), {step_us, {}});
}

nb::list Network::run(nb::handle inputs, nb::handle outputs, LoadedState* state) {
  return run(inputs, outputs, nullptr, state);
}

std::vector<double> Network::profile(nb::handle inputs) {
  std::vector<double> step_us(code_->model->step_count);
  run(inputs, nb::none(), step_us.data(), nullptr);
  return step_us;
}

nb::list Network::run(nb::handle inputs, nb::handle outputs, double* step_us, LoadedState* state) {
  require_open(closed_);
  const CountedCall call;
  Arguments arguments(*code_, state != nullptr);
  arguments.add_inputs(inputs, *code_);
  if (outputs.is_none())
    arguments.make_outputs(code_->outputs);
  else
    arguments.add_outputs(outputs, *code_);
  if (arguments.gpu() && step_us != nullptr)
    throw Error(ErrorKind::usage, "kernels are timed on arrays in the CPU's memory");
  const std::vector<size_t> numbers = arguments.result_numbers();
  std::vector<Shape> shapes;
  {
    const Lease instance(pool_here());
    {
      const nb::gil_scoped_release release;
      if (arguments.gpu())
        instance->run_on_gpu(arguments.inputs(), arguments.outputs());
      else
        instance->run_on(arguments.inputs(), arguments.outputs(), step_us,
                         code_->dimensions.empty() ? nullptr : arguments.input_dims(),
                         state == nullptr ? nullptr : state->get());
    }
    for (size_t o : numbers) shapes.push_back(instance->output_shape(o));
  }
  nb::list results = arguments.results();
  for (size_t r = 0; r < shapes.size(); ++r)
    if (shapes[r] != code_->outputs[numbers[r]].type.shape) results[r] = leading(results[r], shapes[r]);
  return results;
}

// The child of a fork has the parent's memory, none of its threads, and maybe a mutex that one of them had
// locked: it makes a pool of its own, and leaves the parent's alone for good.
std::shared_ptr<InstancePool> Network::pool_here() {
  if (!pool_->is_of_this_process()) {
    new std::shared_ptr<InstancePool>(pool_);
    pool_ = std::make_shared<InstancePool>(code_, threads_, instances_);
  }
  return pool_;
}

void Network::close() {
  closed_ = true;
  pool_here()->close();
}

void end_calls() {
  running_calls().python_ends = true;
  while (running_calls().count > 0) {
    const nb::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace korch::python
