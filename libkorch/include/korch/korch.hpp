// libkorch for C++: compile a network, load an executable, run it. Over korch/compile.h, korch/load.h and
// korch/korch.h, where everything is explained; this file is compiled by who includes it (C++17).
//
//   korch::compile("model.onnx", "model.so");
//   const korch::Executable model("model.so");
//   korch::Instance instance(model);
//   instance.run(inputs, outputs);
#ifndef KORCH_KORCH_HPP
#define KORCH_KORCH_HPP

#include <korch/compile.h>
#include <korch/korch.h>
#include <korch/load.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace korch {

// Of korch::compile and of loading.
class Failure : public std::runtime_error {
 public:
  Failure(korch_error kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  korch_error kind() const { return kind_; }

 private:
  korch_error kind_;
};

// Of instances and pools.
class RunFailure : public std::runtime_error {
 public:
  RunFailure(korch_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  korch_status status() const { return status_; }

 private:
  korch_status status_;
};

// As korch_compile_options.
struct CompilerOptions {
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, std::vector<int64_t>> least_shapes;  // where `shapes` are the most of a range
  int threads = 0;
  std::string accuracy, target;  // empty: "standard", "native"
  std::string database;          // empty: below ~/.cache
  bool use_database = true;
  double budget_s = 0;
  bool measure = true, verify = true;
  std::vector<std::pair<std::string, std::string>> options;  // further ones: {"schedule", "barrier"}
  std::string program;                                       // empty: the one installed with libkorch
  // False ends the compilation. What it throws ends it too, and is thrown on.
  std::function<bool(const std::string& stage, int64_t done, int64_t total)> progress;
};

namespace detail {

struct Watch {
  const CompilerOptions& options;
  std::vector<std::string> warnings;
  std::exception_ptr thrown;
};

inline int32_t on_progress(void* user, const char* stage, int64_t done, int64_t total) {
  auto* watch = static_cast<Watch*>(user);
  try {
    return watch->options.progress(stage, done, total) ? 0 : 1;
  } catch (...) {
    watch->thrown = std::current_exception();
    return 1;
  }
}

inline void on_warning(void* user, const char* warning) {
  auto* watch = static_cast<Watch*>(user);
  try {
    watch->warnings.emplace_back(warning);
  } catch (...) {
    watch->thrown = std::current_exception();
  }
}

inline std::vector<korch_shape> shapes_of(const std::map<std::string, std::vector<int64_t>>& by_name) {
  std::vector<korch_shape> shapes;
  for (const auto& [name, dims] : by_name)
    shapes.push_back({name.c_str(), dims.data(), static_cast<uint32_t>(dims.size())});
  return shapes;
}

inline std::vector<std::string> compile(korch_compile_options& c, const std::string& output,
                                        const CompilerOptions& options) {
  const std::vector<korch_shape> shapes = shapes_of(options.shapes);
  const std::vector<korch_shape> least_shapes = shapes_of(options.least_shapes);
  std::vector<korch_option> further;
  for (const auto& [name, value] : options.options) further.push_back({name.c_str(), value.c_str()});
  Watch watch{options, {}, nullptr};
  c.struct_size = sizeof c;
  c.output_path = output.c_str();
  c.shapes = shapes.data();
  c.shape_count = static_cast<uint32_t>(shapes.size());
  c.least_shapes = least_shapes.data();
  c.least_shape_count = static_cast<uint32_t>(least_shapes.size());
  c.options = further.data();
  c.option_count = static_cast<uint32_t>(further.size());
  c.threads = options.threads;
  c.accuracy = options.accuracy.empty() ? nullptr : options.accuracy.c_str();
  c.target = options.target.empty() ? nullptr : options.target.c_str();
  c.database = !options.use_database ? "" : options.database.empty() ? nullptr : options.database.c_str();
  c.budget_s = options.budget_s;
  c.no_measure = !options.measure;
  c.no_verify = !options.verify;
  c.program = options.program.empty() ? nullptr : options.program.c_str();
  c.progress = options.progress ? on_progress : nullptr;
  c.warn = on_warning;
  c.user = &watch;
  std::vector<char> message(1 << 16);
  const korch_error error = korch_compile(&c, message.data(), message.size());
  if (watch.thrown) std::rethrow_exception(watch.thrown);
  if (error != KORCH_ERROR_NONE) throw Failure(error, message.data());
  return watch.warnings;
}

}  // namespace detail

// An ONNX file, or the bytes of one, becomes the executable `output`. Returns warnings; throws Failure.
inline std::vector<std::string> compile(const std::string& model, const std::string& output,
                                        const CompilerOptions& options = {}) {
  korch_compile_options c{};
  c.model_path = model.c_str();
  return detail::compile(c, output, options);
}

inline std::vector<std::string> compile_bytes(const void* model, size_t size_bytes, const std::string& output,
                                              const CompilerOptions& options = {}) {
  korch_compile_options c{};
  c.model_bytes = model;
  c.model_size_bytes = size_bytes;
  return detail::compile(c, output, options);
}

// A loaded executable; copies share it, and it stays loaded as long as they and their instances are there.
class Executable {
 public:
  explicit Executable(const std::string& path) : functions_(new korch_executable{}, unload) {
    functions_->struct_size = sizeof(korch_executable);
    std::vector<char> message(1 << 12);
    const korch_error error = korch_load(path.c_str(), functions_.get(), message.data(), message.size());
    if (error != KORCH_ERROR_NONE) throw Failure(error, message.data());
  }

  const korch_model_info& model() const { return *functions_->model; }
  // The C interface, for what these classes do not cover.
  const korch_executable& functions() const { return *functions_; }

  // Throws RunFailure unless it is KORCH_OK.
  void require(korch_status status) const {
    if (status != KORCH_OK) throw RunFailure(status, functions_->status_text(status));
  }
  // Of the C interface (korch/korch.h). Throws Failure.
  void require_version(uint32_t version, const std::string& what) const {
    if (model().api_version < version)
      throw Failure(KORCH_ERROR_IO, what + " needs version " + std::to_string(version) +
                                        " of the C interface, the executable has version " +
                                        std::to_string(model().api_version) + ": compile it again");
  }

 private:
  static void unload(korch_executable* functions) {
    korch_unload(functions);
    delete functions;
  }
  std::shared_ptr<korch_executable> functions_;
};

// Threads that instances share, of any executables: korch_pool.
class Pool {
 public:
  explicit Pool(Executable code, int threads = 0) : code_(std::move(code)) {
    code_.require_version(3, "a shared pool");
    code_.require(code_.functions().pool_create(threads, &pool_));
  }
  ~Pool() { code_.functions().pool_free(pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  // For korch_options::pool.
  korch_pool* get() const { return pool_; }

 private:
  Executable code_;
  korch_pool* pool_ = nullptr;
};

// What a run leaves for the next one: korch_state. Calls throw RunFailure; KORCH_BUSY while a run has it.
class State {
 public:
  explicit State(Executable code) : code_(std::move(code)) {
    code_.require_version(8, "a state");
    code_.require(code_.functions().state_create(&state_));
  }
  ~State() { code_.functions().state_free(state_); }  // outside of a run
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void reset() { code_.require(code_.functions().state_reset(state_)); }
  void rewind(int64_t length) { code_.require(code_.functions().state_rewind(state_, length)); }
  void copy_from(State& other) { code_.require(code_.functions().state_copy(state_, other.state_)); }
  int64_t length() const { return code_.functions().state_length(state_); }
  // For korch_run_options::state.
  korch_state* get() const { return state_; }

 private:
  Executable code_;
  korch_state* state_ = nullptr;
};

// One caller at a time; several instances of an executable share its code and weights.
class Instance {
 public:
  // threads 0: as compiled, but no more than the process may use.
  explicit Instance(Executable code, int threads = 0) : code_(std::move(code)) {
    code_.require(code_.functions().create(threads, &instance_));
  }
  Instance(Executable code, const korch_options& options) : code_(std::move(code)) {
    code_.require_version(3, "an instance with options");
    code_.require(code_.functions().create_with(&options, &instance_));
  }
  ~Instance() {
    if (instance_ != nullptr) code_.functions().free(instance_);
  }
  Instance(Instance&& other) noexcept : code_(other.code_), instance_(other.instance_) {
    other.instance_ = nullptr;
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Throws RunFailure.
  void run(const void* const* inputs, void* const* outputs) {
    check(code_.functions().run(instance_, inputs, outputs));
  }
  void run(const void* const* inputs, void* const* outputs, const korch_run_options& options) {
    code_.require_version(3, "a run with options");
    check(code_.functions().run_with(instance_, inputs, outputs, &options));
  }
  // With a state in the places of its inputs and outputs; `input_dims`: korch_run_options.
  void run(const void* const* inputs, void* const* outputs, const State& state,
           const int64_t* const* input_dims = nullptr) {
    korch_run_options options{};
    options.struct_size = sizeof options;
    options.input_dims = input_dims;
    options.state = state.get();
    run(inputs, outputs, options);
  }
  const korch_model_info& model() const { return code_.model(); }
  // For what Executable::functions() offers beyond this class.
  korch_instance* get() const { return instance_; }

 private:
  void check(korch_status status) {
    if (status == KORCH_OK) return;
    const std::string detail = code_.functions().last_error(instance_);
    throw RunFailure(status, detail.empty() ? code_.functions().status_text(status) : detail);
  }
  Executable code_;
  korch_instance* instance_ = nullptr;
};

}  // namespace korch

#endif
