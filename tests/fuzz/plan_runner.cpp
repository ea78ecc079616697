#include "plan_runner.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/files.h"
#include "korch/package/executable.h"
#include "korch/package/loaded.h"
#include "korch/package/tables.h"
#include "korch/plan/plan_json.h"
#include "korch/runtime/executor.h"
#include "korch/runtime/library.h"

namespace korch::fuzz {
namespace {

constexpr unsigned char kPoison = 0xff;  // NaN in every type of float, and no bool
constexpr int64_t kFence = 4096;         // bytes before and after what a kernel may write
constexpr unsigned char kFenceByte = 0xa5;

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Bytes between two fences.
class Fenced {
 public:
  explicit Fenced(int64_t bytes)
      : bytes_(bytes), memory_(static_cast<size_t>(2 * kFence + aligned(bytes)) + 64) {
    const auto at = reinterpret_cast<uintptr_t>(memory_.data());
    start_ = memory_.data() + (64 - at % 64) % 64;
    std::memset(start_, kFenceByte, static_cast<size_t>(2 * kFence + aligned(bytes)));
    std::memset(data(), kPoison, static_cast<size_t>(bytes));
  }
  unsigned char* data() const { return start_ + kFence; }
  bool is_intact() const {
    const auto intact = [&](const unsigned char* from, const unsigned char* to) {
      while (from != to)
        if (*from++ != kFenceByte) return false;
      return true;
    };
    return intact(start_, data()) && intact(data() + bytes_, data() + aligned(bytes_) + kFence);
  }

 private:
  int64_t bytes_;
  mutable std::vector<unsigned char> memory_;
  unsigned char* start_;
};

struct PoolDeleter {
  void operator()(rt::Pool* pool) const { rt::Pool::destroy(pool); }
};
struct ExecutorDeleter {
  void operator()(rt::Executor* executor) const { rt::Executor::destroy(executor); }
};

rt::Pool* pool_of(int threads) {
  static std::vector<std::unique_ptr<rt::Pool, PoolDeleter>> pools;
  for (const auto& pool : pools)
    if (pool->threads() == threads) return pool.get();
  pools.emplace_back(rt::Pool::create(threads));
  KORCH_ASSERT(pools.back() != nullptr, "no threads");
  return pools.back().get();
}

// The tables that `package` writes, with what the linker fills in there.
class Tables {
 public:
  Tables(const BuiltPlan& built, LoadedKernels& loaded) : built_(built), plan_(built.plan), loaded_(loaded) {}

  std::optional<std::string> make(const MemoryPlan& memory, const WeightsLayout& weights, const void* at) {
    addresses_[kWeightsSymbol] = at;
    for (size_t k = 0; k < plan_.kernels.size(); ++k)
      if (std::optional<std::string> trouble = load(static_cast<int>(k), plan_.kernels[k])) return trouble;
    add({"korch", "copy", {}, {}});
    blob_ = model_tables(plan_, {{shape_plans_of(plan_)[0], memory, std::nullopt}}, weights, Isa::portable);
    for (const DataLink& link : blob_.links())
      *blob_.at<rt::Ref<void>>({link.offset}) = addresses_.at(link.symbol);
    return std::nullopt;
  }

  const rt::Program& program() { return blob_.at<rt::Model>({})->shape_plans[0].program; }

 private:
  bool add(const LibraryCall& call) {
    const rt::LibraryFunction* function =
        rt::find_library_function(call.library.c_str(), call.function.c_str());
    if (function == nullptr) return false;
    addresses_[function->run_symbol] = reinterpret_cast<const void*>(function->run);
    addresses_[function->ops_symbol] = function->ops;
    return true;
  }

  std::optional<std::string> load(int k, const Kernel& kernel) {
    if (kernel.source.empty()) {
      if (!add(kernel.call)) return "no library function " + kernel.call.function;
      return std::nullopt;
    }
    std::vector<std::string> symbols;
    for (const KernelPhase& phase : kernel.phases) symbols.push_back(phase.symbol);
    const Result<std::vector<void*>> functions = loaded_.load(built_.objects[k], symbols);
    if (!functions) return functions.refusal().detail;
    for (size_t i = 0; i < symbols.size(); ++i)
      addresses_[linked_symbol(k, symbols[i])] = functions.value()[i];
    return std::nullopt;
  }

  const BuiltPlan& built_;
  const Plan& plan_;
  LoadedKernels& loaded_;
  std::map<std::string, const void*> addresses_;
  Blob blob_;
};

struct Observation {
  const Plan* plan;
  const std::function<void(int, int, const void*)>* observe;
};

void observe_step(void* user, uint32_t number, void* const* args) {
  const auto& observation = *static_cast<Observation*>(user);
  if (number >= observation.plan->steps.size()) return;  // a copy to a graph output
  const PlanStep& step = observation.plan->steps[number];
  for (size_t i = 0; i < step.outputs.size(); ++i)
    (*observation.observe)(static_cast<int>(number), static_cast<int>(i),
                           args[step.inputs.size() + step.constants.size() + i]);
}

const char* text(rt::RunError error) {
  switch (error) {
    case rt::RunError::none:
      return "none";
    case rt::RunError::out_of_memory:
      return "out of memory";
    case rt::RunError::library_refused:
      return "the library refuses its call";
    case rt::RunError::index_out_of_range:
      return "an index is out of range";
    case rt::RunError::gpu_failed:
      return "a GPU failed";
    case rt::RunError::library_failed:
      return "the library fails";
    case rt::RunError::unknown_code:
      return "a kernel gave an unknown code";
    case rt::RunError::loop_without_end:
      return "a loop has no end";
    case rt::RunError::cancelled:
      return "cancelled";
    case rt::RunError::parallel_failed:
      return "not every task ran";
  }
  return "";
}

// Step by step, observed, and as the graph of launches that a run is.
PlanRun run_on_gpu(const BuiltPlan& built, const Device& target, const std::vector<HostTensor>& inputs,
                   const std::function<void(int, int, const void*)>& observe) {
  const TempDir folder;
  const std::string file = folder.path() + "/plan.so";
  write_executable({&built.plan, place(built.plan, target), built.objects, built.constant_bytes,
                    plan_to_json(built.plan), target, true},
                   file);
  LoadedExecutable loaded(file);
  PlanRun run;
  try {
    std::vector<HostTensor> outputs = loaded.allocate_outputs();
    const Observation observation{&built.plan, &observe};
    loaded.run_observed(inputs, outputs, [&](int step, void* const* args) {
      observe_step(const_cast<Observation*>(&observation), static_cast<uint32_t>(step), args);
    });
    run.outputs = loaded.run(inputs);
  } catch (const Error& error) {
    run.trouble = error.what();
  }
  return run;
}

}  // namespace

PlanRun run_plan(const BuiltPlan& built, const Device& target, const std::vector<HostTensor>& inputs,
                 const std::function<void(int, int, const void*)>& observe) {
  if (target.is_gpu()) return run_on_gpu(built, target, inputs, observe);
  const Plan& plan = built.plan;
  PlanRun run;
  WeightsLayout layout;
  for (const std::string& bytes : built.constant_bytes) {
    layout.offsets.push_back(layout.size_bytes);
    layout.size_bytes += aligned(static_cast<int64_t>(bytes.size()));
  }
  const std::vector<int64_t>& offsets = layout.offsets;
  Fenced weights(layout.size_bytes);
  const MemoryPlan memory = plan_memory(plan);
  LoadedKernels loaded;
  Tables tables(built, loaded);
  if ((run.trouble = tables.make(memory, layout, weights.data()))) return run;
  for (size_t c = 0; c < offsets.size(); ++c)
    std::memcpy(weights.data() + offsets[c], built.constant_bytes[c].data(), built.constant_bytes[c].size());
  std::vector<Fenced> in, out;
  std::vector<const void*> in_pointers;
  std::vector<void*> out_pointers;
  for (const HostTensor& input : inputs) {
    in.emplace_back(input.bytes());
    if (input.bytes() > 0) std::memcpy(in.back().data(), input.raw(), static_cast<size_t>(input.bytes()));
    in_pointers.push_back(in.back().data());
  }
  for (const PlanIo& output : plan.outputs) {
    out.emplace_back(output.type.bytes());
    out_pointers.push_back(out.back().data());
  }

  rt::RunStatus status;
  const std::unique_ptr<rt::Executor, ExecutorDeleter> executor(
      rt::Executor::create(&tables.program(), weights.data(), pool_of(plan.threads)->workers(), &status));
  const auto failed = [&](const char* when) {
    const auto step = static_cast<size_t>(std::max(status.step, 0));
    run.trouble = fmt::format("{} {}: step {}", when, text(status.error), status.step);
    if (step < plan.steps.size())
      *run.trouble += fmt::format(" ({}, {})", plan.steps[step].label, plan.steps[step].implementation);
    return run;
  };
  if (executor == nullptr) return failed("preparing:");
  std::memset(executor->arena(), kPoison, static_cast<size_t>(memory.arena_bytes));
  Observation observation{&plan, &observe};
  rt::RunOptions options;
  options.observe = observe_step;
  options.observe_user = &observation;
  status = executor->run(in_pointers.data(), out_pointers.data(), options);
  if (status.error != rt::RunError::none) return failed("running:");

  for (size_t i = 0; i < in.size() && !run.trouble; ++i)
    if (!in[i].is_intact() ||
        std::memcmp(in[i].data(), inputs[i].raw(), static_cast<size_t>(inputs[i].bytes())) != 0)
      run.trouble = fmt::format("input {} was written to", i);
  for (size_t c = 0; c < offsets.size() && !run.trouble; ++c)
    if (std::memcmp(weights.data() + offsets[c], built.constant_bytes[c].data(),
                    built.constant_bytes[c].size()) != 0)
      run.trouble = fmt::format("constant {} was written to", c);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!run.trouble && !out[i].is_intact()) run.trouble = fmt::format("wrote outside of output {}", i);
    HostTensor output(plan.outputs[i].type);
    if (output.bytes() > 0)
      std::memcpy(output.mutable_raw(), out[i].data(), static_cast<size_t>(output.bytes()));
    run.outputs.push_back(output);
  }
  if (!run.trouble && !weights.is_intact()) run.trouble = "wrote outside of the constants";
  return run;
}

}  // namespace korch::fuzz
