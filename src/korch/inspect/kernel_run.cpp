#include "korch/inspect/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "korch/codegen/cpu/compiler.h"
#include "korch/codegen/cpu/cpu_kernel.h"
#include "korch/kernel/interpret.h"
#include "korch/profile/measure.h"
#include "korch/runtime/abi.h"

namespace korch {
namespace {

using tile::Buffer;
using tile::BufferRole;

bool is_given(const Buffer& buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::constant;
}

int64_t least_checked_extent(const tile::TileGraph& graph) {
  int64_t least = 8;
  for (int id = 0; id < graph.pool.size(); ++id)
    if (graph.pool[id].kind == tile::ExprKind::checked) least = std::min(least, graph.pool[id].integer);
  return least;
}

std::vector<HostTensor> random_arguments(const tile::TileGraph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t extent = least_checked_extent(graph);
  std::vector<HostTensor> arguments;
  for (const Buffer& buffer : graph.buffers) {
    if (!is_given(buffer)) continue;
    HostTensor wide(TensorType{DType::f64, {buffer.elements}});
    for (int64_t i = 0; i < buffer.elements; ++i) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      wide.mutable_data<double>()[i] = is_float(buffer.type) ? 4 * unit - 2
                                       : buffer.type == DType::bool_
                                           ? std::round(unit)
                                           : std::floor(unit * static_cast<double>(extent));
    }
    arguments.push_back(converted(wide, buffer.type));
  }
  return arguments;
}

HostTensor bytes_of(int64_t count) {
  return HostTensor(TensorType{DType::u8, {count}});
}

// The outputs, flat. Slices one after the other: what threads do to them is the executor's matter.
std::vector<HostTensor> run_phases(const tile::TileGraph& graph, const Kernel& kernel,
                                   const std::string& object, std::vector<HostTensor> arguments) {
  LoadedKernels loaded;
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : kernel.phases) symbols.push_back(phase.symbol);
  const Result<std::vector<void*>> functions = loaded.load(object, symbols);
  if (!functions)
    throw Error(ErrorKind::internal, "the kernel cannot be loaded: " + functions.refusal().detail);
  std::vector<HostTensor> outputs, temporaries;
  std::vector<void*> pointers;
  size_t given = 0;
  for (const Buffer& buffer : graph.buffers) {
    if (buffer.role == BufferRole::scratch) continue;
    if (is_given(buffer)) {
      pointers.push_back(arguments[given++].mutable_raw());
      continue;
    }
    std::vector<HostTensor>& list = buffer.role == BufferRole::output ? outputs : temporaries;
    list.emplace_back(TensorType{buffer.type, {buffer.elements}});
    pointers.push_back(list.back().mutable_raw());
  }
  HostTensor scratch = bytes_of(kernel.scratch_bytes + 64);
  const korch_kernel_context context{pointers.data(), scratch.mutable_raw(), nullptr, 0};
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    const auto function = reinterpret_cast<korch_kernel_fn>(functions.value()[i]);
    if (const int32_t code = function(&context, 0, kernel.phases[i].slices()); code != KORCH_KERNEL_OK)
      throw Error(ErrorKind::invalid, fmt::format("the kernel ends with code {}", code));
  }
  return outputs;
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
}

KernelOutput compared(const HostTensor& got, const HostTensor& native, const HostTensor& exact) {
  constexpr double kOfNoise = 20, kOfMagnitude = 1e-6;
  KernelOutput output;
  double noise = 0, magnitude = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double wanted = element_as_double(exact, i);
    const double error = distance(element_as_double(got, i), wanted);
    if (error > output.error) {
      output.error = error;
      output.at = i;
    }
    const double rounding = distance(element_as_double(native, i), wanted);
    if (std::isfinite(rounding)) noise = std::max(noise, rounding);
    if (std::isfinite(wanted)) magnitude = std::max(magnitude, std::abs(wanted));
  }
  if (is_float(got.dtype())) output.allowed = std::max(kOfNoise * noise, kOfMagnitude * magnitude);
  return output;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

KernelRun run_kernel_alone(const tile::ScheduledGraph& graph, const Device& target, uint64_t seed) {
  const Kernel kernel = tile::cpu_kernel(graph, target);
  const Result<std::string> object = compile_object(kernel.source, target.code);
  if (!object) throw Error(ErrorKind::internal, "the kernel's text is refused: " + object.refusal().detail);
  const std::vector<HostTensor> arguments = random_arguments(graph, seed);
  const std::vector<HostTensor> exact = tile::interpret(graph, arguments, tile::Arithmetic::float64);
  const std::vector<HostTensor> native = tile::interpret(graph, arguments, tile::Arithmetic::native);
  const std::vector<HostTensor> got = run_phases(graph, kernel, object.value(), arguments);
  KernelRun run;
  MeasuredKernel measured;
  measured.kernel = &kernel;
  measured.object = &object.value();
  size_t given = 0;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const Buffer& buffer = graph.buffers[i];
    if (buffer.role == BufferRole::output) {
      const size_t number = run.outputs.size();
      run.outputs.push_back(compared(got[number], native[number], exact[number]));
      run.outputs.back().name = graph.name(static_cast<int>(i));
      measured.output_bytes.push_back(buffer.bytes());
    } else if (is_given(buffer)) {
      const HostTensor& argument = arguments[given++];
      if (buffer.role == BufferRole::constant) {
        measured.constants.emplace_back(static_cast<const char*>(argument.raw()), argument.bytes());
        continue;
      }
      measured.inputs.push_back({buffer.type, {buffer.elements}});
      measured.input_bytes.push_back(buffer.bytes());
    }
  }
  const Result<Cost> cost = Meter(target, target.own_bytes()).measure(measured, Care::thorough);
  if (!cost) throw Error(ErrorKind::internal, "the kernel cannot be measured: " + cost.refusal().detail);
  run.us = cost.value().us;
  run.low_us = cost.value().low_us;
  run.high_us = cost.value().high_us;
  return run;
}

std::string text_difference(const std::string& first, const std::string& second) {
  const std::vector<std::string> a = lines_of(first), b = lines_of(second);
  // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<std::string> lines;
  bool differ = false;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back("  " + a[i]);
      ++i, ++j;
      continue;
    }
    differ = true;
    if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      lines.push_back("- " + a[i++]);
    else
      lines.push_back("+ " + b[j++]);
  }
  if (!differ) return {};
  constexpr size_t kContext = 2;
  std::string text;
  bool skipping = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    bool near = false;
    for (size_t k = i - std::min(i, kContext); k <= i + kContext && k < lines.size(); ++k)
      near = near || lines[k][0] != ' ';
    if (near) text += lines[i] + "\n";
    if (!near && !skipping) text += "  ...\n";
    skipping = !near;
  }
  return text;
}

}  // namespace korch
