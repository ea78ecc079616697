#include "trace.h"

#include <llvm/Support/CommandLine.h>

#include <cstring>
#include <iterator>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/error.h"

namespace korch::testing {
namespace {

Trace* current = nullptr;

// AVX's masked accesses are no loads and stores that clang instruments.
constexpr const char* kPreamble = R"(
typedef float traced_f __attribute__((vector_size(32)));
typedef int traced_i __attribute__((vector_size(32)));
template <typename P> static inline traced_f traced_maskload(P* p, traced_i mask) {
  traced_f v = {};
  for (int i = 0; i < 8; ++i) if (mask[i] < 0) v[i] = ((const volatile float*)p)[i];
  return v;
}
template <typename P> static inline void traced_maskstore(P* p, traced_i mask, traced_f v) {
  for (int i = 0; i < 8; ++i) if (mask[i] < 0) ((volatile float*)p)[i] = v[i];
}
#define __builtin_ia32_maskloadps256(p, mask) traced_maskload(p, (traced_i)(mask))
#define __builtin_ia32_maskstoreps256(p, mask, v) traced_maskstore(p, (traced_i)(mask), (traced_f)(v))
)";

// A call for every access. Nothing else reads these options: no other code is instrumented.
void set_options_of_instrumentation() {
  static const bool done = [] {
    const char* options[] = {"korch",
                             "-asan-instrumentation-with-call-threshold=0",
                             "-asan-stack=0",
                             "-asan-globals=0",
                             "-asan-memory-access-callback-prefix=korch_traced_",
                             "-asan-kernel-mem-intrinsic-prefix=1"};
    return llvm::cl::ParseCommandLineOptions(std::size(options), options);
  }();
  KORCH_ASSERT(done, "LLVM has other options");
}

}  // namespace

std::string compile_traced(const std::string& source, const std::string& code) {
  set_options_of_instrumentation();
  // kernel-address: without anything that a run-time library would have to begin.
  return compile_object(kPreamble + source, code, {"-fsanitize=kernel-address"}).value();
}

Trace::Trace() {
  KORCH_ASSERT(current == nullptr, "two traces at a time");
  current = this;
}
Trace::~Trace() {
  current = nullptr;
}

size_t Trace::watch(const void* begin, size_t bytes, size_t around) {
  memories_.push_back(
      {static_cast<const char*>(begin), bytes, around, std::vector<char>(bytes), std::vector<char>(bytes)});
  return memories_.size() - 1;
}

void Trace::record(uintptr_t address, size_t bytes, Access access) {
  const char* const at = reinterpret_cast<const char*>(address);
  for (size_t i = 0; i < memories_.size(); ++i) {
    const size_t number = (last_ + i) % memories_.size();  // mostly the one before
    Memory& memory = memories_[number];
    if (at + bytes <= memory.begin - memory.around || at >= memory.begin + memory.bytes + memory.around)
      continue;
    last_ = number;
    if (at < memory.begin || at + bytes > memory.begin + memory.bytes) {
      ++astray_;
      return;
    }
    std::vector<char>& touched = access == Access::load ? memory.loaded : memory.stored;
    std::memset(touched.data() + (at - memory.begin), 1, bytes);
    return;
  }
}

namespace {

void record(uintptr_t address, size_t bytes, Trace::Access access) {
  if (current != nullptr) current->record(address, bytes, access);
}

}  // namespace
}  // namespace korch::testing

// What instrumented code calls.
extern "C" {
#define KORCH_TRACED(bytes)                                                       \
  void korch_traced_load##bytes(uintptr_t address) {                              \
    korch::testing::record(address, bytes, korch::testing::Trace::Access::load);  \
  }                                                                               \
  void korch_traced_store##bytes(uintptr_t address) {                             \
    korch::testing::record(address, bytes, korch::testing::Trace::Access::store); \
  }
KORCH_TRACED(1)
KORCH_TRACED(2)
KORCH_TRACED(4)
KORCH_TRACED(8)
KORCH_TRACED(16)
#undef KORCH_TRACED
void korch_traced_loadN(uintptr_t address, size_t bytes) {
  korch::testing::record(address, bytes, korch::testing::Trace::Access::load);
}
void korch_traced_storeN(uintptr_t address, size_t bytes) {
  korch::testing::record(address, bytes, korch::testing::Trace::Access::store);
}
void* korch_traced_memset(void* to, int value, size_t bytes) {
  korch::testing::record(reinterpret_cast<uintptr_t>(to), bytes, korch::testing::Trace::Access::store);
  return std::memset(to, value, bytes);
}
void* korch_traced_memcpy(void* to, const void* from, size_t bytes) {
  korch::testing::record(reinterpret_cast<uintptr_t>(from), bytes, korch::testing::Trace::Access::load);
  korch::testing::record(reinterpret_cast<uintptr_t>(to), bytes, korch::testing::Trace::Access::store);
  return std::memcpy(to, from, bytes);
}
void* korch_traced_memmove(void* to, const void* from, size_t bytes) {
  korch::testing::record(reinterpret_cast<uintptr_t>(from), bytes, korch::testing::Trace::Access::load);
  korch::testing::record(reinterpret_cast<uintptr_t>(to), bytes, korch::testing::Trace::Access::store);
  return std::memmove(to, from, bytes);
}
}
