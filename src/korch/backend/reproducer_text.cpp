#include "korch/backend/reproducer_text.h"

#include <fmt/format.h>

#include "korch/base/error.h"

namespace korch {
namespace {

// The type of C++ that values are compared in.
const char* cpp_type(DType type) {
  if (type == DType::f32) return "float";
  if (type == DType::f64) return "double";
  if (type == DType::f16) return "_Float16";
  if (type == DType::bf16) return "__bf16";
  if (type == DType::i8) return "int8_t";
  if (type == DType::i16) return "int16_t";
  if (type == DType::i32) return "int32_t";
  if (type == DType::i64) return "int64_t";
  if (type == DType::u8) return "uint8_t";
  if (type == DType::u16) return "uint16_t";
  if (type == DType::u32) return "uint32_t";
  if (type == DType::u64) return "uint64_t";
  if (type == DType::bool_) return "uint8_t";
  KORCH_ASSERT(false, std::string("a kernel on ") + name(type));
  return "";
}

}  // namespace

std::string comparing_functions() {
  return R"(
static std::string content(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
// Says where the difference is the largest multiple of what is allowed, and whether it is allowed.
template <typename T>
static bool compare(int output, const void* memory, const std::string& wanted, const std::string& tolerance) {
  const T* a = reinterpret_cast<const T*>(wanted.data());
  const T* b = static_cast<const T*>(memory);
  const float* allowed = reinterpret_cast<const float*>(tolerance.data());
  double worst = -1, largest = 0;
  size_t at = 0;
  for (size_t i = 0; i < wanted.size() / sizeof(T); ++i) {
    const double x = double(a[i]), y = double(b[i]);
    if (std::isinf(allowed[i])) continue;
    const bool same = a[i] == b[i] || (std::isnan(x) && std::isnan(y));
    const double difference = same                                   ? 0
                              : std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y)
                                                                     : INFINITY;
    const double share = same ? 0 : allowed[i] > 0 ? difference / allowed[i] : INFINITY;
    if (share > worst) worst = share, largest = difference, at = i;
  }
  if (worst < 0) return true;
  std::printf("output %d: largest difference %g, at element %zu in memory: %g instead of %g, allowed %g: %s\n",
              output, largest, at, double(b[at]), double(a[at]), allowed[at], worst <= 1 ? "right" : "wrong");
  return worst <= 1;
}
)";
}

std::string compared_output(const ReproducedKernel& shown, size_t output, const std::string& memory) {
  return fmt::format(
      "  right &= compare<{0}>({1}, {2}, content(\"expected_{1}.bin\"), content(\"allowed_{1}.bin\"));\n",
      cpp_type(shown.outputs[output].type), output, memory);
}

}  // namespace korch
