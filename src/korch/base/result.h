// Result<T>: a value, or a refusal with an enumerated reason that reports count. Nothing is thrown for what
// is expected to happen (a candidate that no kernel exists for, a kernel that does not compile).
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "korch/base/error.h"

namespace korch {

enum class RefusalReason {
  no_kernel_family,    // no code generator or library covers this combination of primitives
  unsupported_type,    // dtype without a kernel
  unsupported_layout,  // layout without a kernel
  redundant_work,      // every parallelization would compute reductions many times over
  scratch_too_large,   // stages do not fit the per-worker scratch
  compile_failed,      // the compiler rejected generated code (a bug worth looking at)
  miscompiled,         // the compiler made code that is known to be wrong
  unproven,            // it cannot be shown that its accesses stay inside of their buffers
  spills,              // a product whose tile the registers cannot hold
  library_refused,     // the runtime has no such function, or it refuses
  run_failed,          // the kernel reported an error while measured
  out_of_memory,       // to measure it in
  struck               // it proved wrong in an earlier plan
};

const char* name(RefusalReason reason);

struct Refusal {
  RefusalReason reason;
  std::string detail;
};

template <typename T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Refusal refusal) : state_(std::move(refusal)) {}
  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  const T& value() const& {
    KORCH_ASSERT(ok(), "value of a refused result: " + refusal_text());
    return std::get<T>(state_);
  }
  T&& value() && {
    KORCH_ASSERT(ok(), "value of a refused result: " + refusal_text());
    return std::get<T>(std::move(state_));
  }
  const Refusal& refusal() const { return std::get<Refusal>(state_); }

 private:
  std::string refusal_text() const {
    return ok() ? std::string() : std::string(name(refusal().reason)) + ": " + refusal().detail;
  }
  std::variant<T, Refusal> state_;
};

}  // namespace korch
