#include "korch/onnx/generator.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace korch::onnx {
namespace {

struct Spec {
  std::string kind;
  std::vector<std::string> arguments;
};

Spec split_spec(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t colon = std::min(text.find(':', at), text.size());
    parts.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  return {parts[0], {parts.begin() + 1, parts.end()}};
}

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::invalid, fmt::format("generator of {}: {}", name, what));
}

double number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') fail(name, "'" + text + "' is not a number");
  return value;
}

int64_t integer(const std::string& name, const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0) fail(name, "'" + text + "' is not an integer");
  return value;
}

uint64_t fnv1a(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : name) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

// SplitMix64, read by counter.
uint64_t random_bits(uint64_t start, int64_t index) {
  uint64_t z = start + (static_cast<uint64_t>(index) + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename T, typename F>
HostTensor filled(DType dtype, const Shape& shape, F element) {
  HostTensor result(TensorType{dtype, shape});
  T* data = result.mutable_data<T>();
  const int64_t count = result.elements();
  for (int64_t i = 0; i < count; ++i) data[i] = element(i);
  return result;
}

}  // namespace

HostTensor generate_tensor(const std::string& name, const Shape& shape, const std::string& spec) {
  const auto [kind, arguments] = split_spec(spec);
  const bool constant = kind == "const";
  if (!constant && kind != "normal" && kind != "uniform" && kind != "randint")
    fail(name, "unknown kind '" + kind + "'");
  if (arguments.size() != (constant ? 1 : 3)) fail(name, "wrong number of arguments in '" + spec + "'");
  if (constant) {
    const auto value = static_cast<float>(number(name, arguments[0]));
    return filled<float>(DType::f32, shape, [value](int64_t) { return value; });
  }
  const uint64_t start = fnv1a(name) ^ static_cast<uint64_t>(integer(name, arguments[2]));
  if (kind == "randint") {
    const int64_t low = integer(name, arguments[0]);
    const auto range = static_cast<uint64_t>(integer(name, arguments[1]) - low);
    return filled<int64_t>(DType::i64, shape, [=](int64_t i) {
      return low + static_cast<int64_t>((random_bits(start, i) >> 32) * range >> 32);
    });
  }
  const double a = number(name, arguments[0]), b = number(name, arguments[1]);
  if (kind == "uniform") {
    const double step = (b - a) / 0x1p24;
    return filled<float>(DType::f32, shape, [=](int64_t i) {
      return static_cast<float>(a + static_cast<double>(random_bits(start, i) >> 40) * step);
    });
  }
  const double scale =
      b / std::sqrt((0x1p32 - 1) / 3);  // standard deviation of the sum of four 16-bit fields
  return filled<float>(DType::f32, shape, [=](int64_t i) {
    const uint64_t z = random_bits(start, i);
    const auto sum = static_cast<int64_t>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
    return static_cast<float>(a + static_cast<double>(sum - 131070) * scale);
  });
}

}  // namespace korch::onnx
